//! For the engine's tests: runs golden cases, which say what PyTorch 2.9.1 computes.
//!
//! The files are golden/*.json, made by the scripts beside them. A case is one call, forward and
//! backward, and is run with its operands in several layouts. A line of types says only what type
//! the result has for each type of the operands. Each test brings the `call` of its operations.
//!
//! The tolerance is 2e-6, relative above 1 and absolute below: 17 units in the last place of an
//! f32, room for another order of additions. NaN must be NaN, and infinities must be exact.
#![allow(dead_code, reason = "each test needs some of it")]

#[path = "close.rs"]
mod close;

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine_room::{DType, Misuse, Tensor};
use serde_json::Value;

const TOLERANCE: f64 = 2e-6;

/// Runs an operation by name. It panics for a name that it does not know: see [`unknown`].
pub type Call = fn(&str, &[Tensor], Args) -> Tensor;

/// What else a call is given, by name.
#[derive(Clone, Copy)]
pub struct Args<'a>(pub &'a Value);

impl Args<'_> {
    pub fn has(self, name: &str) -> bool {
        !self.0[name].is_null()
    }

    pub fn dim(self, name: &str) -> isize {
        self.0[name].as_i64().expect("a dimension") as isize
    }

    pub fn size(self, name: &str) -> usize {
        self.0[name].as_u64().expect("a size") as usize
    }

    pub fn int(self, name: &str) -> i64 {
        self.0[name].as_i64().expect("an integer")
    }

    pub fn flag(self, name: &str) -> bool {
        self.0[name].as_bool().expect("true or false")
    }

    pub fn word(&self, name: &str) -> &str {
        self.0[name].as_str().expect("a word")
    }

    /// A number; those that JSON lacks are strings.
    pub fn number(self, name: &str) -> f64 {
        number(&self.0[name])
    }

    pub fn scalar(self) -> f64 {
        self.number("scalar")
    }

    pub fn dims(self, name: &str) -> Vec<isize> {
        let entries = self.0[name].as_array().expect("a list").iter();
        entries.map(|entry| entry.as_i64().expect("a dimension") as isize).collect()
    }

    pub fn sizes(self, name: &str) -> Vec<usize> {
        sizes(&self.0[name])
    }
}

/// The cases of a file.
pub fn cases(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("the golden file is JSON")
}

/// For the last arm of a [`Call`].
pub fn unknown(op: &str) -> ! {
    panic!("the golden file has cases of {op}, which this test does not know")
}

/// Runs every case and fails with a list of all that differ.
#[track_caller]
pub fn check(cases: &[Value], call: Call) {
    let mut report = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let found = if case["types"].is_null() { faults(case, call) } else { types(case, call) };
        let what = format!("case {at}, {} {}", case["op"], case["args"]);
        report.extend(found.iter().map(|fault| format!("{what}: {fault}")));
    }
    let of = cases.len();
    assert!(report.is_empty(), "{} faults in {of}:\n{}", report.len(), report.join("\n"));
}

fn sizes(value: &Value) -> Vec<usize> {
    let entries = value.as_array().expect("a list").iter();
    entries.map(|entry| entry.as_u64().expect("a size") as usize).collect()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(word) => word.parse().expect("nan, inf or -inf"),
        _ => value.as_f64().expect("a number"),
    }
}

fn numbers(tensor: &Value) -> Vec<f64> {
    tensor["data"].as_array().expect("a list").iter().map(number).collect()
}

fn integers(tensor: &Value) -> Vec<i64> {
    let entries = tensor["data"].as_array().expect("a list").iter();
    entries.map(|entry| entry.as_i64().expect("an integer")).collect()
}

fn dtype(name: &str) -> DType {
    let found = DType::ALL.into_iter().find(|dtype| dtype.to_string() == name);
    found.unwrap_or_else(|| panic!("no type {name}"))
}

/// The tensor that is written so.
pub fn tensor(value: &Value) -> Tensor {
    let (shape, dtype) = (sizes(&value["shape"]), dtype(value["dtype"].as_str().expect("a name")));
    match dtype.is_floating_point() {
        true => Tensor::from_vec(numbers(value), &shape).to(dtype),
        false => Tensor::from_vec(integers(value), &shape).to(dtype),
    }
}

/// Lays the elements of an operand out in a storage, in one of several ways.
type LaidOut = fn(&Tensor) -> Tensor;

const LAYOUTS: [(&str, LaidOut); 3] =
    [("packed", Tensor::clone), ("turned", turned), ("spaced", spaced)];

/// The same numbers in a storage that lies the other way round.
fn turned(x: &Tensor) -> Tensor {
    if x.shape().len() < 2 { x.clone() } else { x.transpose(0, -1).copy().transpose(0, -1) }
}

/// The same numbers as every second element of a storage, from the second on.
fn spaced(x: &Tensor) -> Tensor {
    let apart: Vec<usize> = x.shape().iter().copied().chain([2]).collect();
    let between = Tensor::full_on(&apart, 1, x.dtype(), x.device());
    let places = between.select(-1, 1);
    places.copy_(x);
    places
}

/// Runs a case forward and backward, with its operands in every layout.
fn faults(case: &Value, call: Call) -> Vec<String> {
    let mut found = Vec::new();
    for (name, laid_out) in LAYOUTS {
        let read = |value: &Value| laid_out(&tensor(value));
        let written = case["inputs"].as_array().expect("a list").iter();
        let inputs: Vec<Tensor> = written.map(|value| leaf(&read(value))).collect();
        let y = call(case["op"].as_str().expect("a name"), &inputs, Args(&case["args"]));
        let mut here: Vec<String> = compare("y", &y, case, &case["output"]).into_iter().collect();
        if y.requires_grad() && here.is_empty() {
            y.backward_with(&read(&case["dy"]));
        }
        if here.is_empty() {
            here = gradient_faults(case, &inputs);
        }
        found.extend(here.iter().map(|fault| format!("{name}: {fault}")));
    }
    found
}

fn leaf(x: &Tensor) -> Tensor {
    let x = x.detach();
    if x.dtype().is_floating_point() { x.requires_grad_(true) } else { x }
}

fn gradient_faults(case: &Value, inputs: &[Tensor]) -> Vec<String> {
    let mut found = Vec::new();
    let grads = case["grads"].as_array().expect("a list");
    for (i, (x, want)) in inputs.iter().zip(grads).enumerate() {
        match (x.grad(), want.is_null()) {
            (Some(grad), false) => found.extend(compare(&format!("dx{i}"), &grad, case, want)),
            (None, true) => {}
            _ => found.push(format!("dx{i} is there or not, but should not or should")),
        }
    }
    found
}

/// What is wrong with `got`, if anything. A case may have a tolerance of its own.
pub fn compare(what: &str, got: &Tensor, case: &Value, want: &Value) -> Option<String> {
    let (shape, dtype) = (sizes(&want["shape"]), dtype(want["dtype"].as_str().expect("a name")));
    if got.shape() != shape || got.dtype() != dtype {
        return Some(format!("{what}: {} instead of {dtype} {shape:?}", got.brief()));
    }
    if !dtype.is_floating_point() {
        let want = integers(want);
        let got = got.to(DType::I64).to_vec::<i64>();
        return (got != want).then(|| format!("{what}: {got:?} instead of {want:?}"));
    }
    let tolerance = case["tolerance"].as_f64().unwrap_or(TOLERANCE);
    let got = got.detach().to(DType::F32).to_vec::<f32>();
    let found = close::difference(&got, &numbers(want), tolerance)?;
    Some(format!("{what} {found}"))
}

/// Checks a line of types: for each list of operand types, the type of the result or "error".
fn types(case: &Value, call: Call) -> Vec<String> {
    let shapes: Vec<Vec<usize>> =
        case["shapes"].as_array().expect("a list").iter().map(sizes).collect();
    let mut found = Vec::new();
    for line in case["types"].as_array().expect("a list") {
        let line = line.as_str().expect("a line");
        let (operands, want) = line.rsplit_once(' ').expect("operands and a result");
        let operands = operands.split(' ').zip(&shapes);
        let ones: Vec<Tensor> =
            operands.map(|(name, shape)| Tensor::ones(shape).to(dtype(name))).collect();
        let op = case["op"].as_str().expect("a name");
        let got = outcome(|| call(op, &ones, Args(&case["args"])));
        if got != want {
            found.push(format!("{line}: {got} instead"));
        }
    }
    found
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
