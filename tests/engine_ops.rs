//! Operations against naive references in `f64`, on every kind of layout, and their gradients
//! against finite differences.

#[path = "engine/close.rs"]
mod close;
#[path = "engine/naive.rs"]
mod naive;
#[path = "engine/reference.rs"]
mod reference;
#[path = "engine/refused.rs"]
mod refused;

use std::collections::BTreeSet;

use engine_room::autograd::{Ctx, Graph, Op, apply, gradcheck};
use engine_room::rng::Generator;
use engine_room::{DType, OPS, Tensor};
use naive::Naive;
use refused::refused;

#[track_caller]
fn agree(what: &str, got: &Tensor, want: &Naive) {
    assert_eq!(got.shape(), want.shape, "{what}");
    let values = got.detach().to(DType::F32).to_vec::<f32>();
    if let Some(fault) = close::difference(&values, &want.data, 2e-6) {
        panic!("{what} of {:?} {fault}", want.shape);
    }
}

fn naive(x: &Tensor) -> Naive {
    Naive { shape: x.shape().to_vec(), data: x.detach().to(DType::F64).to_vec() }
}

/// Tensors of every kind: packed, transposed, broadcast with stride 0 in front, in the middle and
/// at the end, without dimensions, of size 1 and 0, and with rows longer than a block of a kernel.
fn layouts() -> Vec<Tensor> {
    let mut rng = Generator::new(2);
    // Long rows hold positive numbers, so that the sum is as large as what is rounded.
    let long = [Tensor::rand(&[3, 1100], &mut rng), Tensor::rand(&[1100, 3], &mut rng)];
    let mut rand = |shape: &[usize]| Tensor::rand(shape, &mut rng).mul_scalar(4.0).add_scalar(-2.0);
    vec![
        rand(&[2, 3, 4]),
        rand(&[4, 3, 2]).transpose(0, 2),
        rand(&[2, 4, 3]).transpose(1, 2),
        rand(&[3, 2, 4]).transpose(0, 1),
        rand(&[3, 4]).expand(&[2, 3, 4]),
        rand(&[2, 1, 4]).expand(&[2, 3, 4]),
        rand(&[2, 3, 1]).expand(&[2, 3, 4]),
        rand(&[1, 3, 1]).expand(&[4, 3, 2]).transpose(0, 2),
        rand(&[]),
        rand(&[]).expand(&[2, 3]),
        rand(&[1]),
        rand(&[1, 1, 1]),
        rand(&[4, 1]).transpose(0, 1),
        rand(&[0]),
        rand(&[2, 0, 3]),
        rand(&[3, 0, 2]).transpose(0, 2),
        rand(&[1]).expand(&[0]),
        long[0].clone(),
        long[1].transpose(0, 1),
    ]
}

#[test]
fn elementwise_on_any_layout() {
    for x in layouts() {
        let n = naive(&x);
        agree("neg", &x.neg(), &n.map(|x| -x));
        agree("exp", &x.exp(), &n.map(f64::exp));
        agree("tanh", &x.tanh(), &n.map(f64::tanh));
        agree("log", &x.log(), &n.map(f64::ln));
        agree("relu", &x.relu(), &n.map(|x| x.max(0.0)));
        agree("add_scalar", &x.add_scalar(0.5), &n.map(|x| x + 0.5));
        agree("mul_scalar", &x.mul_scalar(-3.0), &n.map(|x| x * -3.0));
        agree("copy", &x.copy(), &n);
        agree("contiguous", &x.contiguous(), &n);
        assert!(x.copy().is_contiguous() && x.contiguous().is_contiguous());
    }
}

#[test]
fn two_operands_of_any_layouts() {
    for (a, b) in layouts().iter().flat_map(|a| layouts().into_iter().map(move |b| (a.clone(), b)))
    {
        let (na, nb) = (naive(&a), naive(&b));
        let Some(sum) = na.zip(&nb, |a, b| a + b) else {
            assert_eq!(refused(|| a.div(&b)).op, "div");
            continue;
        };
        agree("add", &a.add(&b), &sum);
        agree("sub", &a.sub(&b), &na.zip(&nb, |a, b| a - b).expect("they fit"));
        agree("mul", &a.mul(&b), &na.zip(&nb, |a, b| a * b).expect("they fit"));
        agree("div", &a.div(&b), &na.zip(&nb, |a, b| a / b).expect("they fit"));
    }
}

/// Every choice of dimensions, as a list in any order, counted from the front or from the back.
fn subsets(rank: usize) -> Vec<Vec<usize>> {
    (1..1 << rank)
        .map(|set: usize| (0..rank).rev().filter(|dim| set >> dim & 1 == 1).collect())
        .collect()
}

#[test]
fn reductions_of_any_layout() {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let max = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for x in layouts() {
        let (n, rank) = (naive(&x), x.shape().len());
        let all: Vec<usize> = (0..rank).collect();
        agree("sum", &x.sum(), &n.reduce(&all, false, |x| x.iter().sum()));
        agree("mean", &x.mean(), &n.reduce(&all, false, mean));
        for (dims, keepdim) in
            subsets(rank).into_iter().flat_map(|d| [(d.clone(), false), (d, true)])
        {
            let named: Vec<isize> = dims.iter().map(|&d| d as isize - rank as isize).collect();
            let sum = n.reduce(&dims, keepdim, |x| x.iter().sum());
            agree("sum", &x.sum_dims(&named, keepdim), &sum);
            agree("mean", &x.mean_dims(&named, keepdim), &n.reduce(&dims, keepdim, mean));
            if dims.iter().all(|&dim| n.shape[dim] > 0) {
                agree("max", &x.max_dims(&named, keepdim), &n.reduce(&dims, keepdim, max));
            }
        }
    }
}

#[test]
fn rows_of_any_layout() {
    let first_max =
        |x: &[f64]| (1..x.len()).fold(0, |best, i| if x[i] > x[best] { i } else { best }) as f64;
    for x in layouts() {
        let n = naive(&x);
        for dim in (0..x.shape().len()).filter(|&dim| n.shape[dim] > 0) {
            let exps = n.map(f64::exp);
            let sum = exps.reduce(&[dim], true, |x| x.iter().sum());
            let softmax = exps.zip(&sum, |a, b| a / b).expect("they fit");
            agree("softmax", &x.softmax(dim as isize), &softmax);
            agree("log_softmax", &x.log_softmax(dim as isize), &softmax.map(f64::ln));
            agree("argmax", &x.argmax(dim as isize), &n.reduce(&[dim], false, first_max));
        }
    }
    let number = Tensor::scalar(3.0);
    assert_eq!((number.softmax(0).item(), number.log_softmax(-1).item()), (1.0, 0.0));
    assert_eq!(number.argmax(0).to_vec::<i64>(), [0]);
    assert_eq!(number.sum_dims(&[0], true).shape(), [0; 0]);
}

#[test]
fn products_of_any_matrices() {
    let mut rng = Generator::new(4);
    let mut kinds = |m: usize, n: usize| {
        let mut rand = |shape: &[usize]| Tensor::rand(shape, &mut rng).add_scalar(-0.5);
        let columns = rand(&[m, 1]).expand(&[m, n]);
        [rand(&[m, n]), rand(&[n, m]).transpose(0, 1), rand(&[n]).expand(&[m, n]), columns]
    };
    for [m, k, n] in
        [[2, 3, 4], [1, 1, 1], [5, 1, 7], [33, 65, 17], [0, 3, 2], [2, 0, 3], [2, 3, 0]]
    {
        let (left, right) = (kinds(m, k), kinds(k, n));
        for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
            agree("matmul", &a.matmul(b), &naive(a).matmul(&naive(b)));
        }
    }
}

#[test]
fn indexed_on_any_layout() {
    let mut rng = Generator::new(6);
    for x in layouts().iter().filter(|x| x.numel() > 0 && x.numel() < 100 && !x.shape().is_empty())
    {
        let rank = x.shape().len();
        for dim in 0..rank {
            // The index is smaller than x where it may be, longer in `dim`, and not contiguous.
            let mut shape: Vec<usize> = x.shape().iter().map(|&size| size.div_ceil(2)).collect();
            shape[dim] = 5;
            shape.swap(0, rank - 1);
            let numel = shape.iter().product();
            let places = (0..numel).map(|_| rng.below(x.shape()[dim]) as i64).collect();
            let index = Tensor::from_vec::<i64>(places, &shape).transpose(0, -1);
            let (n, at) = (naive(x), naive(&index));
            agree("gather", &x.gather(dim as isize, &index), &n.gather(dim, &at));
            let src = Tensor::rand(&shape, &mut rng).transpose(0, -1);
            let want = n.scatter_add(dim, &at, &naive(&src));
            agree("scatter_add", &x.scatter_add(dim as isize, &index, &src), &want);
        }
    }
}

#[test]
fn in_place_on_any_layout() {
    for x in layouts() {
        let n = naive(&x);
        let sizes = x.shape().iter().zip(x.strides());
        if x.numel() > 0 && sizes.clone().any(|(&size, &stride)| size > 1 && stride == 0) {
            assert!(refused(|| x.fill_(1.0)).message.contains("expanded"));
            continue;
        }
        let version = x.storage().version();
        x.add_(&x, 0.5);
        agree("add_ of itself", &x, &n.map(|x| x + 0.5 * x));
        x.fill_(7.0);
        agree("fill_", &x, &n.map(|_| 7.0));
        assert_eq!(x.storage().version(), version + 2);
    }
    let x = Tensor::arange(9).reshape(&[3, 3]);
    assert!(refused(|| x.add_(&x.transpose(0, 1), 2.0)).message.contains("different places"));
    x.add_(&x.transpose(0, 1).copy(), 2.0);
    assert_eq!(x.to_vec::<f32>(), [0.0, 7.0, 14.0, 5.0, 12.0, 19.0, 10.0, 17.0, 24.0]);
}

/// The same numbers in a storage that lies the other way round.
fn turned(x: &Tensor) -> Tensor {
    if x.shape().len() < 2 { x.copy() } else { x.transpose(0, -1).copy().transpose(0, -1) }
}

#[test]
fn the_layout_changes_neither_results_nor_gradients() {
    let mut rng = Generator::new(31);
    for row in OPS {
        let inputs = (row.sample)(&mut rng);
        let run = |inputs: &[Tensor], dy: Option<Tensor>| {
            for x in inputs.iter().filter(|x| x.dtype() == DType::F32) {
                x.clone().requires_grad_(true);
            }
            let y = (row.call)(inputs);
            assert_eq!(y.requires_grad(), row.has_gradient, "{}", row.name);
            if !row.has_gradient {
                return (y.clone(), y, vec![None; inputs.len()]);
            }
            let random = || Tensor::rand(y.shape(), &mut Generator::new(1)).to(y.dtype());
            let dy = dy.unwrap_or_else(random);
            y.backward_with(&dy);
            (y, dy, inputs.iter().map(Tensor::grad).collect::<Vec<_>>())
        };
        let (y, dy, gradients) = run(&inputs, None);
        let others: Vec<Tensor> = inputs.iter().map(|x| turned(&x.detach())).collect();
        let (other_y, _, other_gradients) = run(&others, Some(turned(&dy)));
        agree(row.name, &other_y, &naive(&y));
        for (x, (got, want)) in inputs.iter().zip(other_gradients.iter().zip(&gradients)) {
            let wanted = row.has_gradient && x.dtype() == DType::F32;
            assert_eq!(want.is_some(), wanted, "{}", row.name);
            if let (Some(got), Some(want)) = (got, want) {
                assert!(want.shape() == x.shape() && want.is_contiguous(), "{}", row.name);
                agree(row.name, got, &naive(want));
            }
        }
    }
}

#[test]
fn gradients_of_every_op_agree_with_finite_differences() {
    for seed in 0..5 {
        for row in OPS.iter().filter(|row| row.has_gradient) {
            let inputs = (row.sample)(&mut Generator::new(seed));
            if let Err(error) = gradcheck(row.call, &inputs, 1e-2, 1e-2) {
                panic!("{} with seed {seed}: {error}", row.name);
            }
        }
    }
}

/// Rows that record other operations, or nothing.
const COMPOSED: &str = "
    addmm bce_with_logits cat chunk clamp_max_scalar clamp_min_scalar cross_entropy cummax
    cummin diag dot dropout embedding flatten huber_loss index l1_loss
    masked_fill masked_fill_tensor masked_select max_along maximum_scalar mean min_along
    minimum_scalar mse_loss mv narrow nll_loss outer remainder_scalar repeat repeat_interleave
    roll scatter scatter_scalar smooth_l1_loss sort split square stack sub_scalar topk tril
    triu
";

/// The names that operations record under are the names in the table, each with a row.
#[test]
fn every_recorded_op_has_a_row() {
    let mut seen = BTreeSet::new();
    for row in OPS.iter().filter(|row| row.has_gradient) {
        let inputs = (row.sample)(&mut Generator::new(0));
        for x in inputs.iter().filter(|x| x.dtype() == DType::F32) {
            x.clone().requires_grad_(true);
        }
        let graph = Graph::of(&(row.call)(&inputs));
        seen.extend(graph.nodes().iter().map(|node| node.name).filter(|&name| name != "leaf"));
    }
    let rows: BTreeSet<_> = OPS.iter().map(|row| row.name).collect();
    assert_eq!(rows.len(), OPS.len(), "two rows have one name");
    let composed: BTreeSet<_> = COMPOSED.split_whitespace().collect();
    let flat = OPS.iter().filter(|row| !row.has_gradient).map(|row| row.name);
    let unseen = composed.into_iter().chain(flat).collect::<BTreeSet<_>>();
    assert_eq!(rows.difference(&seen).copied().collect::<BTreeSet<_>>(), unseen);
    assert_eq!(seen.difference(&rows).count(), 0, "{seen:?}");
}

/// y = a·b + b with a backward pass that is right or has a fault.
struct Planted(&'static str);

impl Op<2> for Planted {
    fn name(&self) -> &'static str {
        self.0
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save(a);
        ctx.save(b);
        a.mul(b).add(b)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let (a, b) = (ctx.saved(0), ctx.saved(1));
        let (da, db) = (dy.mul(&b), dy.mul(&a.add_scalar(1.0)));
        let replaced = |value: f32| {
            let mut values = da.to_vec::<f32>();
            values[4] = value;
            Tensor::from_vec(values, da.shape())
        };
        match self.0 {
            "factor 2" => [Some(da.mul_scalar(2.0)), Some(db)],
            "sign" => [Some(da), Some(db.neg())],
            "one element" => [Some(replaced(0.0)), Some(db)],
            "nan" => [Some(replaced(f32::NAN)), Some(db)],
            "infinity" => [Some(replaced(f32::INFINITY)), Some(db)],
            "a term" => [Some(da), Some(dy.mul(&a))],
            "an input" => [Some(da), None],
            "swapped" => [Some(db), Some(da)],
            "dy" => [Some(b), Some(db)],
            "5 percent" => [Some(da), Some(db.mul_scalar(1.05))],
            _ => [Some(da), Some(db)],
        }
    }
}

#[test]
fn gradcheck_finds_planted_faults() {
    let mut rng = Generator::new(12);
    let mut rand = || Tensor::rand(&[2, 3], &mut rng).add_scalar(0.5);
    let inputs = [rand(), rand()];
    let check = |fault| {
        gradcheck(|x: &[Tensor]| apply(Planted(fault), [&x[0], &x[1]]), &inputs, 1e-2, 1e-2)
    };
    assert_eq!(check("none"), Ok(()));
    let faults = [
        ("factor 2", 0),
        ("sign", 1),
        ("one element", 0),
        ("nan", 0),
        ("infinity", 0),
        ("a term", 1),
        ("an input", 1),
        ("swapped", 0),
        ("dy", 0),
        ("5 percent", 1),
    ];
    for (fault, input) in faults {
        let error = check(fault).expect_err(fault);
        assert!(error.input == input || fault == "swapped", "{fault}: {error}");
        if ["one element", "nan", "infinity"].contains(&fault) {
            assert_eq!(error.element, 4, "{fault}");
        }
        assert!(
            (error.numeric - error.analytic).abs() > 0.01 || error.analytic.is_nan(),
            "{fault}"
        );
    }
    // A reduction of the result to one number may hide a fault; the random weights do not.
    let shifted = |x: &[Tensor]| apply(Planted("5 percent"), [&x[0], &x[1]]).sum();
    assert!(gradcheck(shifted, &inputs, 1e-2, 1e-2).is_err());
}
