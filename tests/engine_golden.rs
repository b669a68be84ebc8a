//! Operations against PyTorch 2.9.1: the cases of golden/ops.json, and that none lacks some.

#[path = "engine/golden.rs"]
mod golden;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine_room::{OPS, Tensor};
use golden::{Args, cases, check, unknown};

fn call(op: &str, x: &[Tensor], args: Args) -> Tensor {
    match op {
        "add" => &x[0] + &x[1],
        "sub" => &x[0] - &x[1],
        "mul" => &x[0] * &x[1],
        "div" => &x[0] / &x[1],
        "neg" => x[0].neg(),
        "exp" => x[0].exp(),
        "log" => x[0].log(),
        "tanh" => x[0].tanh(),
        "relu" => x[0].relu(),
        "add_scalar" => x[0].add_scalar(args.scalar()),
        "mul_scalar" => x[0].mul_scalar(args.scalar()),
        "div_scalar" => x[0].div_scalar(args.scalar()),
        "matmul" => x[0].matmul(&x[1]),
        "sum" => x[0].sum(),
        "mean" => x[0].mean(),
        "sum_dims" => x[0].sum_dims(&args.dims("dims"), args.flag("keepdim")),
        "mean_dims" => x[0].mean_dims(&args.dims("dims"), args.flag("keepdim")),
        "max_dims" => x[0].max_dims(&args.dims("dims"), args.flag("keepdim")),
        "argmax" => x[0].argmax(args.dim("dim")),
        "softmax" => x[0].softmax(args.dim("dim")),
        "log_softmax" => x[0].log_softmax(args.dim("dim")),
        "cross_entropy" => x[0].cross_entropy(&x[1]),
        "gather" => x[0].gather(args.dim("dim"), &x[1]),
        "transpose" => x[0].transpose(args.dim("dim0"), args.dim("dim1")),
        "permute" => x[0].permute(&args.dims("order")),
        "flip" => x[0].flip(&args.dims("dims")),
        "narrow" => x[0].narrow(args.dim("dim"), args.size("start"), args.size("length")),
        "slice" => {
            x[0].slice(args.dim("dim"), args.dim("start"), args.dim("end"), args.dim("step"))
        }
        "select" => x[0].select(args.dim("dim"), args.dim("index")),
        "unfold" => x[0].unfold(args.dim("dim"), args.size("size"), args.size("step")),
        "reshape" => x[0].reshape(&args.sizes("shape")),
        "expand" => x[0].expand(&args.sizes("shape")),
        "maximum" => x[0].maximum(&x[1]),
        "minimum" => x[0].minimum(&x[1]),
        "clamp" => x[0].clamp(args.number("min"), args.number("max")),
        "clamp_min" => x[0].clamp_min(&x[1]),
        "remainder" => x[0].remainder(&x[1]),
        "where" => Tensor::where_cond(&x[0], &x[1], &x[2]),
        "masked_fill" => x[1].masked_fill(&x[0], args.number("value")),
        "prod_dims" => x[0].prod_dims(&args.dims("dims"), args.flag("keepdim")),
        "min_dims" => x[0].min_dims(&args.dims("dims"), args.flag("keepdim")),
        "cumsum" => x[0].cumsum(args.dim("dim")),
        "cummax" => x[0].cummax(args.dim("dim")).0,
        "sort" => x[0].sort(args.dim("dim")).0,
        "bmm" => x[0].matmul(&x[1]),
        "take" => x[0].take(&x[1]),
        "index_select" => x[0].index_select(args.dim("dim"), &x[1]),
        "index" => x[0].index(&indices(args.word("form"), &x[1])),
        _ => changed(op, x, args),
    }
}

/// `:` is all of a dimension and anything else the index tensor.
fn indices<'a>(form: &str, index: &'a Tensor) -> Vec<Option<&'a Tensor>> {
    form.split(',').map(|part| (part != ":").then_some(index)).collect()
}

/// A copy of the first input after a change in place.
fn changed(op: &str, x: &[Tensor], args: Args) -> Tensor {
    let accumulate = || args.flag("accumulate");
    let y = x[0].copy();
    match op {
        "add_" => y.add_(&x[1], args.scalar()),
        "mul_" => y.mul_(&x[1]),
        "copy_" => y.copy_(&x[1]),
        "fill_" => y.select(1, 1).fill_(args.scalar()),
        "zero_" => y.select(1, 1).zero_(),
        "masked_fill_" => y.masked_fill_(&x[1], args.scalar()),
        "put_" => y.put_(&x[1], &x[2], accumulate()),
        "index_put_" => y.index_put_(&[None, Some(&x[1])], &x[2], accumulate()),
        _ => unknown(op),
    }
    y
}

#[test]
fn every_case_agrees_with_pytorch() {
    let cases = cases(include_str!("golden/ops.json"));
    assert!(cases.len() >= 200, "only {} cases", cases.len());
    check(&cases, call);
}

/// The names of all operations that some golden file has cases of.
fn golden_names() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let files = fs::read_dir(folder).expect("the folder of golden files");
    let paths = files.map(|file| file.expect("a file").path());
    let texts = paths
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| fs::read_to_string(path).expect("a golden file"));
    let cases = texts.filter(|text| text.starts_with("[\n")).flat_map(|text| cases(&text));
    cases.filter_map(|case| case["op"].as_str().map(String::from)).collect()
}

#[test]
fn every_row_of_ops_has_cases() {
    let names = golden_names();
    // A copy, and its own gradient's gradient: these two come from the reference in engine_ops.rs.
    // Casts have golden values of their own, and those of linear stand with the modules.
    let elsewhere = ["copy", "linear", "scatter_add", "to"];
    let rows = OPS.iter().map(|row| row.name).filter(|name| !elsewhere.contains(name));
    let has = |name: &str| names.contains(name) || names.contains(&format!("{name}_dims"));
    let missing: Vec<&str> = rows.filter(|name| !has(name)).collect();
    assert!(missing.is_empty(), "no cases of {missing:?}");
}
