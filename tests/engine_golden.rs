//! Every operation against PyTorch 2.9.1: the cases of golden/ops.json, forward and backward.
//!
//! The tolerance is 2e-6, relative above 1 and absolute below: 17 units in the last place of an
//! f32, room for another order of additions. NaN must be NaN, and infinities must be exact.

#[path = "engine/close.rs"]
mod close;

use engine_room::{DType, OPS, Tensor};
use serde_json::Value;

const TOLERANCE: f64 = 2e-6;

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("golden/ops.json")).expect("golden/ops.json is JSON")
}

fn usizes(value: &Value) -> Vec<usize> {
    let entries = value.as_array().expect("a list").iter();
    entries.map(|entry| entry.as_u64().expect("a size") as usize).collect()
}

fn signed(value: &Value) -> Vec<isize> {
    let entries = value.as_array().expect("a list").iter();
    entries.map(|entry| entry.as_i64().expect("a dimension") as isize).collect()
}

/// The numbers of a tensor in the file; those that JSON lacks are strings.
fn numbers(tensor: &Value) -> Vec<f64> {
    let number = |entry: &Value| match entry {
        Value::String(word) => word.parse().expect("nan, inf or -inf"),
        _ => entry.as_f64().expect("a number"),
    };
    tensor["data"].as_array().expect("a list").iter().map(number).collect()
}

fn tensor(value: &Value) -> Tensor {
    let shape = usizes(&value["shape"]);
    let dtype = match value["dtype"].as_str().expect("a name") {
        "i64" => DType::I64,
        "bool" => DType::Bool,
        _ => DType::F32,
    };
    Tensor::from_vec(numbers(value), &shape).to(dtype)
}

fn call(op: &str, x: &[Tensor], args: &Value) -> Tensor {
    let dim = |name: &str| args[name].as_i64().expect("a dimension") as isize;
    let count = |name: &str| dim(name) as usize;
    let keepdim = || args["keepdim"].as_bool().expect("a bool");
    let number = |name: &str| args[name].as_f64().expect("a number");
    let scalar = || number("scalar");
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
        "add_scalar" => x[0].add_scalar(scalar()),
        "mul_scalar" => x[0].mul_scalar(scalar()),
        "div_scalar" => x[0].div_scalar(scalar()),
        "matmul" => x[0].matmul(&x[1]),
        "sum" => x[0].sum(),
        "mean" => x[0].mean(),
        "sum_dims" => x[0].sum_dims(&signed(&args["dims"]), keepdim()),
        "mean_dims" => x[0].mean_dims(&signed(&args["dims"]), keepdim()),
        "max_dims" => x[0].max_dims(&signed(&args["dims"]), keepdim()),
        "argmax" => x[0].argmax(dim("dim")),
        "softmax" => x[0].softmax(dim("dim")),
        "log_softmax" => x[0].log_softmax(dim("dim")),
        "cross_entropy" => x[0].cross_entropy(&x[1]),
        "gather" => x[0].gather(dim("dim"), &x[1]),
        "transpose" => x[0].transpose(dim("dim0"), dim("dim1")),
        "permute" => x[0].permute(&signed(&args["order"])),
        "flip" => x[0].flip(&signed(&args["dims"])),
        "narrow" => x[0].narrow(dim("dim"), count("start"), count("length")),
        "slice" => x[0].slice(dim("dim"), dim("start"), dim("end"), dim("step")),
        "select" => x[0].select(dim("dim"), dim("index")),
        "unfold" => x[0].unfold(dim("dim"), count("size"), count("step")),
        "reshape" => x[0].reshape(&usizes(&args["shape"])),
        "expand" => x[0].expand(&usizes(&args["shape"])),
        "maximum" => x[0].maximum(&x[1]),
        "minimum" => x[0].minimum(&x[1]),
        "clamp" => x[0].clamp(number("min"), number("max")),
        "clamp_min" => x[0].clamp_min(&x[1]),
        "remainder" => x[0].remainder(&x[1]),
        "where" => Tensor::where_cond(&x[0], &x[1], &x[2]),
        "masked_fill" => x[1].masked_fill(&x[0], number("value")),
        "prod_dims" => x[0].prod_dims(&signed(&args["dims"]), keepdim()),
        "min_dims" => x[0].min_dims(&signed(&args["dims"]), keepdim()),
        "cumsum" => x[0].cumsum(dim("dim")),
        "cummax" => x[0].cummax(dim("dim")).0,
        "sort" => x[0].sort(dim("dim")).0,
        "bmm" => x[0].matmul(&x[1]),
        "take" => x[0].take(&x[1]),
        "index_select" => x[0].index_select(dim("dim"), &x[1]),
        "index" => x[0].index(&indices(args["form"].as_str().expect("a form"), &x[1])),
        _ => changed(op, x, args),
    }
}

/// `:` is all of a dimension and anything else the index tensor.
fn indices<'a>(form: &str, index: &'a Tensor) -> Vec<Option<&'a Tensor>> {
    form.split(',').map(|part| (part != ":").then_some(index)).collect()
}

/// A copy of the first input after a change in place.
fn changed(op: &str, x: &[Tensor], args: &Value) -> Tensor {
    let scalar = || args["scalar"].as_f64().expect("a number");
    let accumulate = || args["accumulate"].as_bool().expect("a bool");
    let y = x[0].copy();
    match op {
        "add_" => y.add_(&x[1], scalar()),
        "mul_" => y.mul_(&x[1]),
        "copy_" => y.copy_(&x[1]),
        "fill_" => y.select(1, 1).fill_(scalar()),
        "zero_" => y.select(1, 1).zero_(),
        "masked_fill_" => y.masked_fill_(&x[1], scalar()),
        "put_" => y.put_(&x[1], &x[2], accumulate()),
        "index_put_" => y.index_put_(&[None, Some(&x[1])], &x[2], accumulate()),
        _ => panic!("golden/ops.json has cases of {op}, which this test does not know"),
    }
    y
}

/// What is wrong with `got`, if anything.
fn compare(what: &str, got: &Tensor, want: &Value) -> Option<String> {
    let shape = usizes(&want["shape"]);
    if got.shape() != shape {
        return Some(format!("{what}: shape {:?} instead of {shape:?}", got.shape()));
    }
    if got.dtype() == DType::I64 {
        let want: Vec<i64> = numbers(want).iter().map(|&x| x as i64).collect();
        return (got.to_vec::<i64>() != want).then(|| format!("{what}: {got} not {want:?}"));
    }
    let found = close::difference(&got.to_vec::<f32>(), &numbers(want), TOLERANCE)?;
    Some(format!("{what} {found}"))
}

/// Runs a case forward and backward.
fn faults(case: &Value) -> Vec<String> {
    let inputs: Vec<Tensor> =
        case["inputs"].as_array().expect("a list").iter().map(tensor).collect();
    for x in inputs.iter().filter(|x| x.dtype() == DType::F32) {
        x.clone().requires_grad_(true);
    }
    let y = call(case["op"].as_str().expect("a name"), &inputs, &case["args"]);
    let mut found: Vec<String> = compare("y", &y, &case["output"]).into_iter().collect();
    if y.requires_grad() {
        y.backward_with(&tensor(&case["dy"]));
        let grads = case["grads"].as_array().expect("a list");
        for (i, (x, want)) in inputs.iter().zip(grads).enumerate() {
            match (x.grad(), want.is_null()) {
                (Some(grad), false) => found.extend(compare(&format!("dx{i}"), &grad, want)),
                (None, true) => {}
                _ => found.push(format!("dx{i} is there or not, but should not or should")),
            }
        }
    }
    found
}

#[test]
fn every_case_agrees_with_pytorch() {
    let cases = cases();
    assert!(cases.len() >= 200, "only {} cases", cases.len());
    let mut report = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        for fault in faults(case) {
            report.push(format!("case {at}, {} {}: {fault}", case["op"], case["args"]));
        }
    }
    assert!(report.is_empty(), "{} of {}:\n{}", report.len(), cases.len(), report.join("\n"));
}

#[test]
fn every_row_of_ops_has_cases() {
    let cases = cases();
    let named = |name: &str| cases.iter().any(|case| case["op"] == name);
    // A copy, and its own gradient's gradient: these two come from the reference in engine_ops.rs.
    // Casts have golden values of their own.
    let elsewhere = ["copy", "scatter_add", "to"];
    for row in OPS.iter().filter(|row| !elsewhere.contains(&row.name)) {
        assert!(named(row.name) || named(&format!("{}_dims", row.name)), "no case of {}", row.name);
    }
}
