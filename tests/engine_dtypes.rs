//! Types of elements against PyTorch 2.9.1 (golden/dtypes.json, made by make_dtypes.py): which type
//! a result has for every pair of types, then arithmetic, reductions and gradients of each.

#[path = "engine/typed.rs"]
mod typed;

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine_room::{DType, Misuse, Scalar, Tensor, result_type};
use serde_json::Value;
use typed::{compare, list, named};

/// PyTorch has no kernel for these, but a right answer exists and the engine gives it.
const BEYOND_PYTORCH: [(&str, &str); 3] = [("argmax", "i64"), ("argmin", "i64"), ("clamp", "bool")];

fn golden(part: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("golden/dtypes.json")).expect("JSON");
    file[part].as_array().expect("a list").clone()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn dims(value: &Value) -> Vec<isize> {
    let entries = value.as_array().map_or(&[][..], |entries| entries).iter();
    entries.map(|entry| entry.as_i64().expect("an integer") as isize).collect()
}

fn tensor(value: &Value) -> Tensor {
    list(text(&value["data"]), named(text(&value["dtype"]))).reshape(&dims(&value["shape"]))
}

#[track_caller]
fn none(faults: Vec<String>, of: usize) {
    assert!(faults.is_empty(), "{} faults in {of}:\n{}", faults.len(), faults.join("\n"));
}

fn binary(op: &str, a: &Tensor, b: &Tensor) -> Tensor {
    match op {
        "add" => a.add(b),
        "sub" => a.sub(b),
        "mul" => a.mul(b),
        "div" => a.div(b),
        "floor_divide" => a.floor_divide(b),
        "trunc_divide" => a.trunc_divide(b),
        "remainder" => a.remainder(b),
        "maximum" => a.maximum(b),
        "minimum" => a.minimum(b),
        "eq" => a.eq(b),
        "ne" => a.ne(b),
        "lt" => a.lt(b),
        "le" => a.le(b),
        "gt" => a.gt(b),
        "ge" => a.ge(b),
        "where" => Tensor::where_cond(&Tensor::from_vec(vec![true], &[]), a, b),
        "clamp_min" => a.clamp_min(b),
        "matmul" => a.matmul(b),
        "add_" => in_place(a, |x| x.add_(b, 1)),
        "mul_" => in_place(a, |x| x.mul_(b)),
        "copy_" => in_place(a, |x| x.copy_(b)),
        _ => panic!("golden/dtypes.json has {op}, which this test does not know"),
    }
}

fn in_place(x: &Tensor, change: impl Fn(&Tensor)) -> Tensor {
    let x = x.copy();
    change(&x);
    x
}

fn unary(op: &str, x: &Tensor, args: &Value) -> Tensor {
    let dim = args["dim"].as_i64().unwrap_or(0) as isize;
    let (dims, keepdim) = (dims(&args["dims"]), args["keepdim"] == true);
    match op {
        "exp" => x.exp(),
        "log" => x.log(),
        "tanh" => x.tanh(),
        "neg" => x.neg(),
        "relu" => x.relu(),
        "sum" => x.sum_dims(&dims, keepdim),
        "prod" => x.prod_dims(&dims, keepdim),
        "mean" => x.mean_dims(&dims, keepdim),
        "max" => x.max_dims(&dims, keepdim),
        "min" => x.min_dims(&dims, keepdim),
        "argmax" => x.argmax(dim),
        "argmin" => x.argmin(dim),
        "cumsum" => x.cumsum(dim),
        "cummax" => x.cummax(dim).1,
        "sort" => x.sort(dim).1,
        "softmax" => x.softmax(dim),
        "log_softmax" => x.log_softmax(dim),
        "add_scalar" => x.add_scalar(number(&args["number"])),
        "mul_scalar" => x.mul_scalar(number(&args["number"])),
        "clamp" => x.clamp(number(&args["number"]), number(&args["number"])),
        "to" => x.to(named(text(&args["to"]))),
        _ => panic!("golden/dtypes.json has {op}, which this test does not know"),
    }
}

fn number(value: &Value) -> Scalar {
    match text(value) {
        "bool" => true.into(),
        "int" => 2.into(),
        "float" => 2.5.into(),
        word => match word.parse::<i64>() {
            Ok(whole) => whole.into(),
            Err(_) => word.parse::<f64>().expect("a number").into(),
        },
    }
}

/// The type of what `call` gives, or "error" if it is refused.
fn outcome(call: impl FnOnce() -> Tensor) -> String {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(y) => y.dtype().to_string(),
        Err(payload) => {
            payload.downcast::<Misuse>().expect("a refusal is a Misuse");
            "error".to_string()
        }
    }
}

fn ones(dtype: DType, kind: &Value) -> Tensor {
    let dims: &[usize] = if kind == "dims" { &[3] } else { &[] };
    Tensor::ones(dims).to(dtype)
}

#[test]
fn every_pair_of_types_gives_the_type_that_pytorch_gives() {
    let (tables, mut faults) = (golden("tables"), Vec::new());
    for table in &tables {
        let (op, rows) = (text(&table["op"]), table["table"].as_array().expect("rows"));
        for (a, row) in DType::ALL.into_iter().zip(rows) {
            for (b, want) in DType::ALL.into_iter().zip(text(row).split(' ')) {
                let (x, y) = (ones(a, &table["left"]), ones(b, &table["right"]));
                let got = outcome(|| binary(op, &x, &y));
                if got != want {
                    faults.push(format!("{op}({}, {}): {got} not {want}", x.brief(), y.brief()));
                }
                if op == "add" {
                    assert_eq!(result_type(&[&x, &y]).to_string(), want);
                    let both = [&table["left"], &table["right"]] == ["dims"; 2];
                    assert!(!both || DType::promote(a, b).to_string() == want, "{a} {b}");
                }
            }
        }
    }
    none(faults, tables.len() * 64);
}

#[test]
fn every_type_alone_or_beside_a_number_gives_the_type_that_pytorch_gives() {
    let (rows, mut faults) = (golden("rows"), Vec::new());
    for row in &rows {
        let op = text(&row["op"]);
        for (a, want) in DType::ALL.into_iter().zip(text(&row["row"]).split(' ')) {
            let x = ones(a, &row["left"]);
            let got = outcome(|| match op {
                "cummax" => x.cummax(0).0,
                "sort" => x.sort(0).0,
                _ => unary(op, &x, row),
            });
            let beyond = a == DType::Bool && BEYOND_PYTORCH.contains(&(op, got.as_str()));
            if got != want && !(want == "error" && beyond) {
                faults.push(format!("{op}({}) {}: {got} not {want}", x.brief(), row["number"]));
            }
        }
    }
    none(faults, rows.len() * 8);
}

/// Runs a case forward, and backward if it has gradients.
fn faults(case: &Value) -> Vec<String> {
    let inputs: Vec<Tensor> =
        case["inputs"].as_array().expect("a list").iter().map(tensor).collect();
    let grads = case["grads"].as_array();
    if grads.is_some() {
        for x in inputs.iter().filter(|x| x.dtype().is_floating_point()) {
            x.clone().requires_grad_(true);
        }
    }
    let op = text(&case["op"]);
    let y = match &inputs[..] {
        [x] => unary(op, x, &case["args"]),
        [a, b] => binary(op, a, b),
        _ => panic!("{} inputs", inputs.len()),
    };
    let tolerance = case["tolerance"].as_f64().unwrap_or(0.0);
    let mut found: Vec<String> =
        compare("y", &y, &tensor(&case["output"]), tolerance).into_iter().collect();
    let Some(grads) = grads else { return found };
    y.backward_with(&tensor(&case["dy"]));
    for (i, (x, want)) in inputs.iter().zip(grads).enumerate() {
        match x.grad() {
            Some(grad) => {
                found.extend(compare(&format!("dx{i}"), &grad, &tensor(want), tolerance));
            }
            None => assert!(want.is_null(), "no gradient dx{i}"),
        }
    }
    found
}

#[test]
fn arithmetic_of_every_type_agrees_with_pytorch() {
    let (cases, mut report) = (golden("cases"), Vec::new());
    for case in &cases {
        let briefs: Vec<String> =
            case["inputs"].as_array().expect("a list").iter().map(|x| tensor(x).brief()).collect();
        let found = faults(case);
        let what = format!("{} {} {}", case["op"], briefs.join(", "), case["args"]);
        report.extend(found.iter().map(|fault| format!("{what}: {fault}")));
    }
    none(report, cases.len());
}

/// Nothing that holds integers or truth values can be differentiated.
#[test]
fn a_cast_to_integers_ends_the_graph() {
    for (from, to) in [(DType::F32, DType::I64), (DType::F16, DType::U8), (DType::F64, DType::Bool)]
    {
        let x = ones(from, &"dims".into()).requires_grad_(true);
        let cut = x.to(to);
        assert!(!cut.requires_grad() && !cut.to(from).requires_grad(), "{from} to {to}");
        assert!(!x.eq(&x).requires_grad() && !x.argmax(0).requires_grad());
        x.add(&cut).sum().backward();
        assert_eq!(compare("", &x.grad().expect("a gradient"), &list("1 1 1", from), 0.0), None);
    }
}
