//! Reductions, scans, softmax and layer normalisation on a GPU against the CPU.

#[path = "gpu/agree.rs"]
mod agree;

use agree::agree;
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor, sim};

/// The types that are computed with, and how exact a result of normal numbers is.
const FLOATS: [(DType, f64); 3] = [(DType::F32, 3e-6), (DType::F16, 1e-3), (DType::BF16, 8e-3)];
const INTEGERS: [DType; 4] = [DType::I64, DType::I32, DType::U8, DType::Bool];

/// Lengths at the limits of a warp, of a short row and of a block.
const LENGTHS: [usize; 9] = [1, 2, 31, 32, 33, 255, 1023, 1025, 4100];

fn normal(shape: &[usize], dtype: DType, generator: &mut Generator) -> Tensor {
    Tensor::randn(shape, generator).to(dtype)
}

/// Small integers with many equal ones.
fn integers(shape: &[usize], dtype: DType, generator: &mut Generator) -> Tensor {
    let low = if dtype == DType::U8 || dtype == DType::Bool { 0 } else { -9 };
    Tensor::randint(low, if dtype == DType::Bool { 2 } else { 10 }, shape, generator).to(dtype)
}

/// Numbers in which each seventh is the value.
fn with(value: f32, shape: &[usize], generator: &mut Generator) -> Tensor {
    let numbers = Tensor::randn(shape, generator).to_vec::<f32>();
    let mixed = numbers.into_iter().enumerate().map(|(i, x)| if i % 7 == 3 { value } else { x });
    Tensor::from_vec(mixed.collect(), shape)
}

/// Every reduction to floating-point numbers, over some dimensions.
type Reduction = (&'static str, fn(&Tensor, &[isize]) -> Tensor);
const REDUCTIONS: [Reduction; 10] = [
    ("sum", |x, dims| x.sum_dims(dims, false)),
    ("mean", |x, dims| x.mean_dims(dims, true)),
    ("max", |x, dims| x.max_dims(dims, false)),
    ("min", |x, dims| x.min_dims(dims, false)),
    ("norm 1", |x, dims| x.norm_dims(1.0, dims, false)),
    ("norm 2", |x, dims| x.norm_dims(2.0, dims, false)),
    ("norm inf", |x, dims| x.norm_dims(f64::INFINITY, dims, false)),
    ("var", |x, dims| x.var_dims(dims, false, 0)),
    ("std", |x, dims| x.std_dims(dims, false, 1)),
    ("logsumexp", |x, dims| x.logsumexp(dims, false)),
];

#[test]
fn rows_and_columns_of_all_lengths() {
    let mut generator = Generator::new(811);
    for (name, reduce) in REDUCTIONS {
        for (i, &len) in LENGTHS.iter().enumerate() {
            let (dtype, tolerance) = FLOATS[i % 3];
            let x = normal(&[5, len], dtype, &mut generator);
            agree(name, std::slice::from_ref(&x), tolerance, |x| reduce(&x[0], &[1]));
            agree(name, &[x], tolerance, |x| reduce(&x[0].transpose(0, 1), &[0]));
            let x = normal(&[len, 37], dtype, &mut generator);
            agree(name, &[x], tolerance, |x| reduce(&x[0], &[0]));
        }
    }
}

#[test]
fn any_dimensions_of_any_view() {
    let mut generator = Generator::new(812);
    let views: [fn(&Tensor) -> Tensor; 5] = [
        |x| x.clone(),
        |x| x.permute(&[2, 0, 3, 1]),
        |x| x.slice(3, 1, 30, 3).slice(1, 0, 9, 2),
        |x| x.narrow(2, 1, 1).expand(&[4, 9, 6, 33]),
        |x| x.select(1, 4).unsqueeze(0).expand(&[2, 4, 5, 33]),
    ];
    for (name, reduce) in REDUCTIONS {
        for view in views {
            for _ in 0..3 {
                let x = normal(&[4, 9, 5, 33], DType::F32, &mut generator);
                let all = generator.permutation(4);
                let dims: Vec<isize> = all.iter().map(|&dim| dim as isize).collect();
                let dims = &dims[..1 + generator.below(4)];
                agree(&format!("{name} {dims:?}"), &[x], 3e-6, |x| reduce(&view(&x[0]), dims));
            }
        }
    }
    let x = normal(&[2, 3, 2, 3, 2, 3, 2, 3], DType::F32, &mut generator);
    agree("sum", &[x], 3e-6, |x| {
        x[0].permute(&[7, 0, 6, 1, 5, 2, 4, 3]).sum_dims(&[1, 3, 4, 6], false)
    });
}

#[test]
fn integers_are_reduced_as_such() {
    let mut generator = Generator::new(813);
    for dtype in INTEGERS {
        for shape in [[3, 1], [33, 40], [1025, 3], [2, 5000]] {
            for dims in [[0].as_slice(), &[1], &[0, 1]] {
                let x = [integers(&shape, dtype, &mut generator)];
                agree("sum", &x, 0.0, |x| x[0].sum_dims(dims, false));
                agree("prod", &x, 0.0, |x| x[0].prod_dims(dims, false));
                agree("max", &x, 0.0, |x| x[0].max_dims(dims, false));
                agree("min", &x, 0.0, |x| x[0].min_dims(dims, false));
            }
            let x = [integers(&shape, dtype, &mut generator)];
            agree("argmax", &x, 0.0, |x| x[0].argmax(1));
            agree("argmin", &x, 0.0, |x| x[0].argmin(0));
            agree("argmax", &x, 0.0, |x| x[0].argmax_all());
            agree("cumsum", &x, 0.0, |x| x[0].cumsum(1));
            agree("cumprod", &x, 0.0, |x| x[0].cumprod(1));
            agree("argsort", &x, 0.0, |x| x[0].argsort(1));
        }
    }
    let big = Tensor::from_vec(vec![i64::MAX, 2, i64::MIN, -1], &[2, 2]);
    agree("prod", &[big], 0.0, |x| x[0].prod_dims(&[0], false));
}

#[test]
fn products() {
    let mut generator = Generator::new(814);
    for (dtype, tolerance) in FLOATS {
        for shape in [[1, 1], [32, 33], [3, 1025], [4100, 2]] {
            let near_one = |x: f32| if x < 0.5 { -0.99 - x / 30.0 } else { 1.01 - x / 40.0 };
            let x = Tensor::rand(&shape, &mut generator).to_vec::<f32>();
            let x = [Tensor::from_vec(x.into_iter().map(near_one).collect(), &shape).to(dtype)];
            for dim in [0, 1] {
                agree("prod", &x, tolerance, |x| x[0].prod_dims(&[dim], false));
            }
            agree("cumprod", &x, tolerance, |x| x[0].cumprod(1));
        }
    }
}

#[test]
fn scans_and_places() {
    let mut generator = Generator::new(815);
    for (i, &len) in LENGTHS.iter().enumerate() {
        let (dtype, tolerance) = FLOATS[i % 3];
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.25] {
            let x = [with(value, &[3, len], &mut generator).to(dtype)];
            agree("argmax", &x, 0.0, |x| x[0].argmax(1));
            agree("argmin", &x, 0.0, |x| x[0].argmin(1));
            agree("argmin", &x, 0.0, |x| x[0].transpose(0, 1).argmin(1));
            agree("cumsum", &x, tolerance, |x| x[0].cumsum(1));
            agree("cummax", &x, 0.0, |x| x[0].cummax(1).1);
            agree("cummin", &x, 0.0, |x| x[0].cummin(1).1);
            agree("cummin", &x, 0.0, |x| x[0].transpose(0, 1).cummin(0).0);
        }
    }
    for dtype in INTEGERS {
        let x = [integers(&[3, 300], dtype, &mut generator)];
        agree("cummax", &x, 0.0, |x| x[0].cummax(1).1);
        agree("cummin", &x, 0.0, |x| x[0].cummin(1).1);
    }
}

#[test]
fn infinities_and_nan_go_where_they_go_on_the_cpu() {
    let mut generator = Generator::new(816);
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for shape in [[1, 33], [2, 5], [2, 1100], [1, 4]] {
            let mixed = with(value, &shape, &mut generator);
            let only = Tensor::full(&shape, value);
            for x in [mixed, only] {
                for (name, reduce) in REDUCTIONS {
                    agree(name, std::slice::from_ref(&x), 3e-6, |x| reduce(&x[0], &[1]));
                }
                for (dtype, tolerance) in FLOATS {
                    let x = [x.to(dtype)];
                    agree("softmax", &x, tolerance, |x| x[0].softmax(1));
                    agree("log_softmax", &x, tolerance, |x| x[0].log_softmax(1));
                }
            }
        }
    }
}

#[test]
fn nothing_to_reduce_and_nothing_to_give() {
    for shape in [[0, 3], [3, 0], [0, 0]] {
        for dims in [[0].as_slice(), &[1], &[0, 1]] {
            let x = [Tensor::zeros(&shape)];
            agree("sum", &x, 0.0, |x| x[0].sum_dims(dims, false));
            agree("prod", &x, 0.0, |x| x[0].prod_dims(dims, false));
            agree("norm", &x, 0.0, |x| x[0].norm_dims(2.0, dims, false));
            agree("var", &x, 0.0, |x| x[0].var_dims(dims, false, 1));
            agree("logsumexp", &x, 0.0, |x| x[0].logsumexp(dims, false));
        }
        let x = [Tensor::zeros(&shape)];
        agree("softmax", &x, 0.0, |x| x[0].softmax(1));
        agree("cumsum", &x, 0.0, |x| x[0].cumsum(1));
        agree("argsort", &x, 0.0, |x| x[0].argsort(1));
        agree("layer_norm", &x, 0.0, |x| x[0].layer_norm(&[shape[1]], None, None, 1e-5));
    }
    let one = [Tensor::scalar(2.5)];
    agree("sum", &one, 0.0, |x| x[0].sum());
    agree("softmax", &one, 0.0, |x| x[0].softmax(0));
    agree("argmax", &one, 0.0, |x| x[0].argmax(0));
    agree("cumsum", &one, 0.0, |x| x[0].cumsum(0));
}

#[test]
fn sorted_rows() {
    let mut generator = Generator::new(817);
    for (i, len) in [1, 2, 3, 31, 33, 100, 1023, 1025, 2049, 5000].into_iter().enumerate() {
        let (dtype, _) = FLOATS[i % 3];
        let x = [with(f32::NAN, &[3, len], &mut generator).to(dtype)];
        agree("argsort", &x, 0.0, |x| x[0].argsort(1));
        let x = [integers(&[2, len], DType::I64, &mut generator)];
        agree("argsort", &x, 0.0, |x| x[0].argsort(1));
    }
}

#[test]
fn softmax_of_rows() {
    let mut generator = Generator::new(818);
    for (dtype, tolerance) in FLOATS {
        for len in LENGTHS {
            let x = [normal(&[9, len], dtype, &mut generator)];
            agree("softmax", &x, tolerance, |x| x[0].softmax(-1));
            agree("log_softmax", &x, tolerance, |x| x[0].log_softmax(-1));
        }
        let large = [Tensor::from_vec((0..60).map(|i| i as f32 * 4.0 - 90.0).collect(), &[2, 30])];
        let large = large.map(|x| x.to(dtype));
        agree("softmax", &large, tolerance, |x| x[0].expand(&[5, 2, 30]).softmax(-1));
        agree("log_softmax", &large, tolerance, |x| x[0].expand(&[5, 2, 30]).log_softmax(-1));
    }
}

#[test]
fn normalised_rows() {
    let mut generator = Generator::new(819);
    for (dtype, tolerance) in FLOATS {
        for len in LENGTHS {
            let shapes: [&[usize]; 3] = [&[4, len], &[len], &[len]];
            let x = shapes.map(|shape| normal(shape, dtype, &mut generator));
            let tolerance = 2.0 * tolerance;
            agree("layer_norm", &x, tolerance, |x| {
                x[0].layer_norm(&[len], Some(&x[1]), Some(&x[2]), 1e-5)
            });
            agree("layer_norm", &x, tolerance, |x| x[0].layer_norm(&[len], None, None, 1e-5));
            agree("rms_norm", &x, tolerance, |x| x[0].rms_norm(&[len], Some(&x[1]), 1e-6));
        }
    }
    let x = [&[6, 8][..], &[4, 3], &[4, 3]].map(|shape| normal(shape, DType::F32, &mut generator));
    agree("layer_norm", &x, 1e-5, |x| {
        let [weight, bias] = [1, 2].map(|i| x[i].transpose(0, 1));
        x[0].narrow(0, 1, 4).unfold(1, 4, 2).layer_norm(&[3, 4], Some(&weight), Some(&bias), 1e-5)
    });
}

/// The gradient of x[of] of a function's result, which is weighted by its own square.
fn gradient(x: &[Tensor], of: usize, call: impl Fn(&[Tensor]) -> Tensor) -> Tensor {
    let x: Vec<Tensor> = x.iter().map(|x| x.detach().requires_grad_(true)).collect();
    let y = call(&x).to(DType::F32);
    y.mul(&y).add(&y).sum().backward();
    x[of].grad().expect("every input has a gradient")
}

type Function = fn(&Tensor) -> Tensor;

#[test]
fn gradients_of_reductions_and_scans() {
    let mut generator = Generator::new(821);
    let calls: [(&str, Function); 7] = [
        ("prod", |x| x.prod_dims(&[0], false)),
        ("softmax", |x| x.softmax(0)),
        ("log_softmax", |x| x.log_softmax(1)),
        ("cumsum", |x| x.cumsum(0)),
        ("cumprod", |x| x.cumprod(1)),
        ("cummax", |x| x.cummax(1).0),
        ("sort", |x| x.sort(1).0),
    ];
    for shape in [[1, 2], [3, 33], [33, 32]] {
        let x = [normal(&shape, DType::F32, &mut generator)];
        for (name, reduce) in REDUCTIONS {
            for dim in [0, 1] {
                agree(name, &x, 1e-5, |x| gradient(x, 0, |x| reduce(&x[0], &[dim])));
            }
        }
        for (name, call) in calls {
            agree(name, &x, 1e-5, |x| gradient(x, 0, |x| call(&x[0].mul_scalar(0.7))));
        }
    }
}

#[test]
fn gradients_of_normalised_rows() {
    let mut generator = Generator::new(822);
    for (dtype, tolerance) in FLOATS {
        for [rows, len] in [[1, 1], [3, 33], [70, 32], [1025, 8], [2, 1025], [40, 100]] {
            let shapes: [&[usize]; 3] = [&[rows, len], &[len], &[len]];
            let x = shapes.map(|shape| normal(shape, dtype, &mut generator));
            for of in 0..3 {
                agree(&format!("layer_norm {of}"), &x, 2.0 * tolerance, |x| {
                    let norm =
                        |x: &[Tensor]| x[0].layer_norm(&[len], Some(&x[1]), Some(&x[2]), 1e-5);
                    gradient(x, of, norm)
                });
            }
            for of in 0..2 {
                agree(&format!("rms_norm {of}"), &x, 2.0 * tolerance, |x| {
                    gradient(&x[..2], of, |x| x[0].rms_norm(&[len], Some(&x[1]), 1e-6))
                });
            }
            agree("layer_norm", &x, 2.0 * tolerance, |x| {
                gradient(&x[..1], 0, |x| x[0].layer_norm(&[len], None, None, 1e-5))
            });
        }
    }
}

/// The mean of the squares less the square of the mean would leave nothing of the variance.
#[test]
fn the_variance_around_a_large_mean() {
    let mut generator = Generator::new(823);
    let x = [normal(&[5, 3000], DType::F32, &mut generator)];
    let shifted = [x[0].add_scalar(3000.0)];
    agree("var", &shifted, 1e-5, |x| x[0].var_dims(&[1], false, 1));
    agree("layer_norm", &shifted, 1e-3, |x| x[0].layer_norm(&[3000], None, None, 1e-5));
}

/// The device on which nothing else runs.
const COUNTED: usize = 63;

/// What a call counts: launches, sectors for each request that reads and
/// that writes, bytes that are read for each element of x, and instructions for each of them.
fn counted(x: &Tensor, call: impl Fn(&Tensor) -> Tensor) -> (u64, [f64; 4]) {
    let x = x.to(Device::Sim(COUNTED));
    sim::reset(COUNTED);
    let _y = call(&x);
    let (launches, numel) = (sim::launches(COUNTED), x.numel() as f64);
    let of = launches.counters;
    let per = |sectors: u64, requests: u64| sectors as f64 / requests.max(1) as f64;
    let figures = [
        per(of.global_load_sectors, of.global_load_requests),
        per(of.global_store_sectors, of.global_store_requests),
        32.0 * of.global_load_sectors as f64 / numel,
        of.lane_instructions as f64 / numel,
    ];
    (launches.count, figures)
}

/// A warp that reads 32 neighbours of type f32 touches four sectors, and each element is read as
/// often as the kernels say.
#[test]
fn neighbours_read_neighbours() {
    let mut generator = Generator::new(820);
    let square = normal(&[512, 512], DType::F32, &mut generator);
    let long = normal(&[4, 65_536], DType::F32, &mut generator);
    let thin = normal(&[65_536, 4], DType::F32, &mut generator);
    let rows: [(&str, &Tensor, Function, u64, f64); 16] = [
        ("sum of rows", &square, |x| x.sum_dims(&[1], false), 1, 4.0),
        ("sum of columns", &square, |x| x.sum_dims(&[0], false), 2, 4.1),
        ("sum of all", &square, |x| x.sum(), 2, 4.1),
        ("sum of long rows", &long, |x| x.sum_dims(&[1], false), 2, 4.1),
        ("sum of four columns", &thin, |x| x.sum_dims(&[0], false), 2, 4.1),
        ("sum of rows, turned", &square, |x| x.transpose(0, 1).sum_dims(&[1], false), 2, 4.1),
        ("max of rows", &square, |x| x.max_dims(&[1], false), 1, 4.0),
        ("norm of all", &square, |x| x.norm(2.0), 2, 4.1),
        ("var of rows", &square, |x| x.var_dims(&[1], false, 1), 2, 8.1),
        ("logsumexp of rows", &square, |x| x.logsumexp(&[1], false), 1, 4.0),
        ("argmax of rows", &square, |x| x.argmax(1), 1, 4.0),
        ("cumsum of rows", &square, |x| x.cumsum(1), 1, 4.0),
        ("softmax of rows", &square, |x| x.softmax(1), 1, 8.0),
        ("softmax of long rows", &long, |x| x.softmax(1), 1, 8.0),
        ("layer_norm", &square, |x| x.layer_norm(&[512], None, None, 1e-5), 1, 12.0),
        ("layer_norm of long rows", &long, |x| x.layer_norm(&[65_536], None, None, 1e-5), 1, 12.0),
    ];
    for (name, x, call, launches, bytes) in rows {
        let (count, figures) = counted(x, call);
        let [loads, stores, read, instructions] = figures;
        println!("{name:25}{count:3}{loads:7.2}{stores:7.2}{read:7.2}{instructions:7.1}");
        assert!(count == launches && read <= bytes && loads <= 4.0, "{name}: {count} {figures:?}");
    }
}
