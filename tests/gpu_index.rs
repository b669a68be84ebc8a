//! The GPU's kernels that go by an index, against the CPU's: gather, take, index_select and
//! embedding, what is added at an index, and their gradients. Named in .ci/run.

#[path = "gpu/agree.rs"]
mod agree;

use agree::agree;
use engine_room::nn::Parameter;
use engine_room::rng::Generator;
use engine_room::{CrossEntropy, DType, Reduction, Tensor};

const SEED: u64 = 91;

/// Numbers of elements around the sizes of warps and blocks.
const COUNTS: [usize; 7] = [0, 1, 31, 32, 33, 1023, 1025];

const MOVED: [DType; 8] = [
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::F64,
    DType::I64,
    DType::I32,
    DType::U8,
    DType::Bool,
];
const ADDED: [DType; 5] = [DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32];

/// Eighths from −4 to 4, so that a half type holds them, and small sums of them, as they are.
fn numbers(shape: &[usize], dtype: DType, generator: &mut Generator) -> Tensor {
    Tensor::randint(-32, 33, shape, generator).to(DType::F32).div_scalar(8.0).to(dtype)
}

fn indices(below: usize, shape: &[usize], generator: &mut Generator) -> Tensor {
    Tensor::randint(0, below as i64, shape, generator)
}

/// What a view of a tensor is called, and the view.
type View = (&'static str, fn(&Tensor) -> Tensor);

/// Views that keep a matrix a matrix of the same sizes, or exchange them.
const VIEWS: [View; 4] = [
    ("packed", |x| x.clone()),
    ("transposed", |x| x.transpose(0, 1)),
    ("sliced", |x| x.slice(0, 0, x.shape()[0] as isize, 2)),
    ("expanded", |x| x.narrow(1, 0, 1).expand(x.shape())),
];

#[test]
fn gather_in_all_types_layouts_and_sizes() {
    let mut generator = Generator::new(SEED);
    for dtype in MOVED {
        for count in COUNTS {
            let x = numbers(&[7, count.max(1)], dtype, &mut generator);
            let index = indices(7, &[5, count], &mut generator);
            agree("gather along 0", &[x.clone(), index], 0.0, |x| x[0].gather(0, &x[1]));
            let index = indices(count.max(1), &[6, count], &mut generator);
            agree("gather along 1", &[x, index], 0.0, |x| x[0].gather(1, &x[1]));
        }
    }
    for (name, view) in VIEWS {
        let x = numbers(&[40, 40], DType::F32, &mut generator);
        let index = indices(20, &[20, 40], &mut generator);
        agree(name, &[x, index], 0.0, |x| view(&x[0]).gather(0, &view(&x[1]).narrow(1, 0, 20)));
    }
    let x = numbers(&[2, 3, 2, 2, 1, 2, 3, 5], DType::F32, &mut generator);
    let index = indices(2, &[2, 3, 2, 2, 1, 2, 3, 4], &mut generator);
    agree("gather of rank 8", &[x, index], 0.0, |x| {
        x[0].transpose(1, 6).gather(3, &x[1].transpose(1, 6))
    });
}

#[test]
fn scatter_add_in_all_types_layouts_and_sizes() {
    let mut generator = Generator::new(SEED);
    for dtype in ADDED {
        for count in COUNTS {
            let x = numbers(&[7, count.max(1)], dtype, &mut generator);
            let src = numbers(&[5, count], dtype, &mut generator);
            let index = indices(7, &[5, count], &mut generator);
            let inputs = [x.clone(), index, src.clone()];
            // Sums of some eighths are exact in every order.
            agree("scatter_add along 0", &inputs, 0.0, |x| x[0].scatter_add(0, &x[1], &x[2]));
            let index = indices(count.max(1), &[5, count], &mut generator);
            agree("scatter_add along 1", &[x, index, src], 0.0, |x| {
                x[0].scatter_add(1, &x[1], &x[2])
            });
        }
    }
    for (name, view) in VIEWS {
        let x = numbers(&[40, 40], DType::F32, &mut generator);
        let (index, src) = (indices(20, &[40, 40], &mut generator), x.clone());
        agree(name, &[x, index, src], 0.0, |x| {
            view(&x[0]).scatter_add(0, &view(&x[1]), &view(&x[2]))
        });
    }
}

/// A thousand numbers for one place: the order of the additions is free, so the sums agree within
/// n roundings at most; that of a half type is rounded once.
#[test]
fn many_for_one_place() {
    let mut generator = Generator::new(SEED);
    for (dtype, tolerance) in [(DType::F32, 1e-5), (DType::F16, 1e-3), (DType::BF16, 8e-3)] {
        let x = Tensor::rand(&[1, 3], &mut generator).to(dtype);
        let (index, src) =
            (indices(1, &[1025, 3], &mut generator), Tensor::rand(&[1025, 3], &mut generator));
        agree("1,025 for one place", &[x, index, src.to(dtype)], tolerance, |x| {
            x[0].scatter_add(0, &x[1], &x[2])
        });
    }
}

#[test]
fn index_select_and_index_add() {
    let mut generator = Generator::new(SEED);
    for dtype in MOVED {
        for (count, width) in COUNTS.into_iter().flat_map(|n| [(n, 3), (5, n)]) {
            let x = numbers(&[9, width], dtype, &mut generator);
            let index = indices(9, &[count], &mut generator);
            agree("index_select", &[x.clone(), index.clone()], 0.0, |x| {
                x[0].index_select(0, &x[1])
            });
            if ADDED.contains(&dtype) {
                let src = numbers(&[count, width], dtype, &mut generator);
                // Sums of some eighths are exact in every order, but not of a thousand in a half.
                let tolerance = if dtype.size() == 2 { 8e-3 } else { 0.0 };
                agree("index_add", &[x, index, src], tolerance, |x| {
                    x[0].index_add(0, &x[1], &x[2])
                });
            }
        }
    }
    for (name, view) in VIEWS {
        let x = numbers(&[20, 20], DType::F32, &mut generator);
        let index = indices(10, &[40, 2], &mut generator);
        agree(name, &[x.clone(), index.clone()], 0.0, |x| {
            view(&x[0]).index_select(1, &x[1].select(1, 1))
        });
        agree(name, &[x, index], 0.0, |x| {
            let list = x[1].slice(0, 0, 40, 2).select(1, 0);
            let list = list.narrow(0, 0, view(&x[0]).shape()[1]);
            view(&x[0]).index_add(1, &list, &view(&x[0]))
        });
    }
}

#[test]
fn take_and_put() {
    let mut generator = Generator::new(SEED);
    for dtype in MOVED {
        for count in COUNTS {
            let x = numbers(&[6, 11], dtype, &mut generator);
            let index = Tensor::randint(-66, 66, &[count], &mut generator);
            let src = numbers(&[count], dtype, &mut generator);
            let inputs = [x, index, src];
            agree("take", &inputs, 0.0, |x| x[0].transpose(0, 1).take(&x[1]));
            // A thousand for 66 places: the last one wins.
            let put = |x: &[Tensor], accumulate| {
                let y = x[0].copy();
                y.transpose(0, 1).narrow(0, 2, 9).put_(
                    &x[1].remainder_scalar(54),
                    &x[2],
                    accumulate,
                );
                y
            };
            agree("put_", &inputs, 0.0, |x| put(x, false));
            if ADDED.contains(&dtype) {
                let tolerance = if dtype.size() == 2 { 8e-3 } else { 0.0 };
                agree("put_ and accumulate", &inputs, tolerance, |x| put(x, true));
            }
        }
    }
    let inputs = [numbers(&[70], DType::F32, &mut generator), indices(70, &[70], &mut generator)];
    for accumulate in [false, true] {
        agree("put_ from itself", &inputs, 0.0, |x| {
            let y = x[0].copy();
            y.put_(&x[1], &y.flip(&[0]), accumulate);
            y.put_(&x[1], &y, accumulate);
            y
        });
    }
}

/// The gradient of the first operand of what `call` makes.
fn gradient(x: &[Tensor], call: impl Fn(&Tensor, &[Tensor]) -> Tensor) -> Tensor {
    let leaf = Parameter::new(x[0].detach());
    let y = call(&leaf.get(), &x[1..]);
    y.mul(&y).sum().backward();
    leaf.get().grad().expect("it has been needed")
}

#[test]
fn gradients_are_those_of_the_cpu() {
    let mut generator = Generator::new(SEED);
    for (dtype, tolerance) in [(DType::F32, 1e-6), (DType::F16, 4e-3), (DType::BF16, 3e-2)] {
        let x = Tensor::rand(&[33, 5], &mut generator).to(dtype);
        let (index, list) =
            (indices(33, &[31, 5], &mut generator), indices(33, &[65], &mut generator));
        let at = |what, index: &Tensor, call: fn(&Tensor, &[Tensor]) -> Tensor| {
            agree(what, &[x.clone(), index.clone()], tolerance, |x| gradient(x, call));
        };
        at("gather", &index, |x, rest| x.gather(0, &rest[0]));
        at("take", &index, |x, rest| x.take(&rest[0]));
        at("index_select", &list, |x, rest| x.index_select(0, &rest[0]));
        at("embedding", &list, |x, rest| x.embedding(&rest[0], Some(3)));
        at("scatter_add", &index, |x, rest| {
            let wide = x.narrow(0, 0, 31);
            x.scatter_add(0, &rest[0], &wide)
        });
        at("index_add", &list, |x, rest| x.index_add(0, &rest[0].narrow(0, 0, 33), x));
        at("index_put_", &list, |x, rest| {
            let y = x.mul_scalar(2);
            y.index_put_(&[Some(&rest[0])], &x.narrow(0, 0, 1), false);
            y
        });
    }
}

/// An operation by its name, of a matrix and a list of rows.
type Call = (&'static str, fn(&Tensor, &Tensor) -> Tensor);

#[test]
fn lists_of_places_are_made_where_the_tensor_is() {
    let mut generator = Generator::new(SEED);
    let x = numbers(&[6, 7], DType::F32, &mut generator);
    let rows = Tensor::from_vec(vec![5i64, -1, 0], &[3]);
    let calls: [Call; 11] = [
        ("index", |x, rows| x.index(&[Some(rows), None])),
        ("index by a mask", |x, _| x.index(&[Some(&x.gt_scalar(0))])),
        ("index_put_", |x, rows| {
            let y = x.copy();
            y.index_put_(&[None, Some(rows)], &x.narrow(1, 0, 1), true);
            y
        }),
        ("masked_select", |x, _| x.masked_select(&x.gt_scalar(0.5))),
        ("nonzero", |x, _| x.gt_scalar(0.5).nonzero()),
        ("unique", |x, _| x.unique().1),
        ("bincount", |x, _| x.abs().to(DType::I64).reshape(&[-1]).bincount(9)),
        ("topk", |x, _| x.topk(3, 1, true).0),
        ("scatter", |x, rows| {
            let columns = rows.abs().unsqueeze(1);
            x.scatter(0, &columns, &x.narrow(0, 0, 3).narrow(1, 0, 1))
        }),
        ("diag", |x, _| x.diag().diag()),
        ("one_hot", |_, rows| rows.abs().one_hot(6)),
    ];
    for (name, call) in calls {
        agree(name, &[x.clone(), rows.clone()], 0.0, |x| call(&x[0], &x[1]));
    }
}

#[test]
fn cross_entropy_and_its_gradient() {
    let mut generator = Generator::new(SEED);
    let weight = Tensor::rand(&[17], &mut generator);
    for (rows, dtype) in [(1, DType::F32), (33, DType::F32), (65, DType::F16), (65, DType::BF16)] {
        let x = Tensor::randn(&[rows, 17], &mut generator).to(dtype);
        let targets = indices(17, &[rows], &mut generator);
        let inputs = [x, targets, weight.to(dtype)];
        let tolerance = if dtype == DType::F32 { 2e-6 } else { 1e-2 };
        for label_smoothing in [0.0, 0.125] {
            for ignore_index in [-100, 3] {
                let loss = |x: &Tensor, rest: &[Tensor]| {
                    let weight = Some(&rest[1]);
                    let reduction = Reduction::Mean;
                    let options = CrossEntropy { weight, ignore_index, label_smoothing, reduction };
                    x.cross_entropy_with(&rest[0], options)
                };
                agree("cross_entropy", &inputs, tolerance, |x| loss(&x[0], &x[1..]));
                agree("its gradient", &inputs, tolerance, |x| gradient(x, loss));
            }
        }
    }
}
