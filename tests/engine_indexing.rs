//! What joins, cuts, repeats and selects, against PyTorch 2.9.1: golden/indexing.json.

#[path = "engine/golden.rs"]
mod golden;
#[path = "engine/refused.rs"]
mod refused;

use std::sync::Arc;

use engine_room::{DType, Tensor};
use golden::{Args, cases, check, unknown};
use refused::refused;

fn call(op: &str, x: &[Tensor], args: Args) -> Tensor {
    let (dim, all) = (|| args.dim("dim"), || x.iter().collect::<Vec<_>>());
    match op {
        "cat" => Tensor::cat(&all(), dim()),
        "stack" => Tensor::stack(&all(), dim()),
        "split" => x[0].split(&args.sizes("sizes"), 1).remove(args.size("which")),
        "chunk" => x[0].chunk(args.size("count"), 1).remove(args.size("which")),
        "repeat" => x[0].repeat(&args.sizes("counts")),
        "repeat_interleave" => x[0].repeat_interleave(args.size("count"), dim()),
        "flatten" => x[0].flatten(args.dim("start"), args.dim("end")),
        "roll" => x[0].roll(args.dim("shift"), dim()),
        "diag" => x[0].diag(),
        "tril" => x[0].tril(args.dim("diagonal")),
        "triu" => x[0].triu(args.dim("diagonal")),
        "topk" => x[0].topk(args.size("count"), dim(), args.flag("largest")).0,
        "topk_index" => x[0].topk(args.size("count"), dim(), args.flag("largest")).1,
        "nonzero" => x[0].nonzero(),
        "masked_select" => x[0].masked_select(&x[1]),
        "unique" => x[0].unique().0,
        "unique_inverse" => x[0].unique().1,
        "unique_counts" => x[0].unique().2,
        "bincount" => x[0].bincount(args.size("least")),
        "one_hot" => x[0].one_hot(args.size("classes")),
        "scatter" => x[0].scatter(dim(), &x[1], &x[2]),
        "scatter_scalar" => x[0].scatter_scalar(dim(), &x[1], args.number("value")),
        "index_add" => x[0].index_add(dim(), &x[1], &x[2]),
        "argsort" => x[0].argsort(dim()),
        _ => unknown(op),
    }
}

#[test]
fn every_case_agrees_with_pytorch() {
    check(&cases(include_str!("golden/indexing.json")), call);
}

#[test]
fn parts_are_views_and_joined_tensors_are_not() {
    let x = Tensor::arange(12).reshape(&[3, 4]);
    let shared = |y: &Tensor| Arc::ptr_eq(x.storage(), y.storage());
    assert!(x.split(&[1, 3], 1).iter().chain(&x.chunk(2, 0)).all(shared));
    let copies =
        [Tensor::cat(&[&x], 0), x.repeat(&[1, 1]), x.repeat_interleave(1, 0), x.roll(0, 1)];
    assert!(!copies.iter().any(shared));
}

#[test]
fn joined_types_are_promoted() {
    let (bytes, halves) = (Tensor::ones(&[2]).to(DType::U8), Tensor::ones(&[1]).to(DType::F16));
    let joined = Tensor::cat(&[&bytes, &halves], 0);
    assert_eq!((joined.dtype(), joined.shape()), (DType::F16, &[3][..]));
}

#[test]
fn misuse_is_refused() {
    let (x, labels) = (Tensor::ones(&[2, 3]), Tensor::from_vec(vec![0i64, 3], &[2]));
    let refusals = [
        ("cat", "nothing", refused(|| Tensor::cat(&[], 0))),
        ("cat", "equal sizes", refused(|| Tensor::cat(&[&x, &Tensor::ones(&[2, 2])], 0))),
        ("cat", "without dimensions", refused(|| Tensor::cat(&[&Tensor::scalar(1.0)], 0))),
        ("stack", "one shape", refused(|| Tensor::stack(&[&x, &Tensor::ones(&[3])], 0))),
        ("split", "add up to 3", refused(|| x.split(&[1, 1], 1))),
        ("chunk", "at least one", refused(|| x.chunk(0, 1))),
        ("repeat", "1 counts for 2", refused(|| x.repeat(&[2]))),
        ("flatten", "before", refused(|| x.flatten(1, 0))),
        ("tril", "matrix", refused(|| labels.tril(0))),
        ("topk", "only 3", refused(|| x.topk(4, 1, true))),
        ("one_hot", "label 3", refused(|| labels.one_hot(3))),
        ("one_hot", "i64", refused(|| x.one_hot(3))),
        ("masked_select", "shape", refused(|| x.masked_select(&x))),
        ("bincount", "list", refused(|| x.bincount(0))),
        ("diag", "matrix", refused(|| Tensor::ones(&[1, 1, 1]).diag())),
        ("index_add", "list", refused(|| x.index_add(0, &labels, &Tensor::ones(&[3, 3])))),
    ];
    for (op, says, refusal) in refusals {
        assert!(refusal.op == op && refusal.message.contains(says), "{refusal}");
        assert!(refusal.at.contains("engine_indexing.rs"), "{refusal} at {}", refusal.at);
    }
}
