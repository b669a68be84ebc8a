//! Changes in place, through views and recorded, against PyTorch 2.9.1: the programs of
//! golden/in_place.json. After each step every tensor is compared, changed or not.

#[path = "engine/program.rs"]
mod program;
#[path = "engine/refused.rs"]
mod refused;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use engine_room::{Misuse, Storage, Tensor};
use program::{Program, numbers};
use refused::refused;
use serde_json::Value;

/// What the refusal must say, by the reason that golden/make_in_place.py gives.
const SAYS: [(&str, &str); 5] = [
    ("leaf", "a leaf that requires a gradient"),
    ("view of leaf", "a leaf that requires a gradient"),
    ("overlap", "shows one element in several places"),
    ("source", "show some of the same elements"),
    ("no_grad view", "made while nothing was recorded"),
];

fn programs() -> Vec<Value> {
    serde_json::from_str(include_str!("golden/in_place.json")).expect("golden/in_place.json")
}

fn words(list: &Value) -> Vec<&str> {
    let entries = list.as_array().expect("a list").iter();
    entries.map(|entry| entry.as_str().expect("a word")).collect()
}

/// Of a few f32 operations, or of many more in f64 than a program has.
fn tolerance(case: &Value) -> f64 {
    let single = words(&case["leaves"]).iter().any(|leaf| leaf.starts_with("f32"));
    if single { 2e-5 } else { 1e-10 }
}

/// Each element times its place, counted from 1: a value at another place gives another sum. And
/// the sum of the magnitudes, which a tolerance is relative to.
fn checksum(x: &Tensor) -> (f64, f64) {
    let parts = numbers(x).into_iter().zip(1..).map(|(x, place)| x * f64::from(place));
    parts.fold((0.0, 1.0), |(sum, scale), part| (sum + part, scale + part.abs()))
}

/// The versions of the storages, by their addresses in the process.
fn versions(program: &Program) -> BTreeMap<*const Storage, u64> {
    let storages = program.tensors.iter().map(|(_, x)| x.storage());
    storages.map(|storage| (Arc::as_ptr(storage), storage.version())).collect()
}

/// The loss: each tensor times weights of which some are negative and none is 0, then all summed.
fn loss(program: &Program, names: &[&str]) -> Tensor {
    let weighted = |name: &&str| {
        let x = program.get(name);
        let weights = (0..x.numel()).map(|i| (i * 3 % 7) as f64 - 2.5).collect();
        x.mul(&Tensor::from_vec(weights, x.shape()).to(x.dtype())).sum()
    };
    names.iter().map(weighted).reduce(|a, b| a.add(&b)).expect("a tensor")
}

/// A program on its way, and what PyTorch says that each tensor sums up to.
struct Replay<'a> {
    case: &'a Value,
    program: Program,
    sums: BTreeMap<String, f64>,
}

impl Replay<'_> {
    fn new(case: &Value) -> Replay<'_> {
        let program = Program::new(words(&case["leaves"]).into_iter());
        let sums = program.tensors.iter().map(|(name, x)| (name.clone(), checksum(x).0)).collect();
        Replay { case, program, sums }
    }

    /// Runs a step that must succeed.
    fn step(&mut self, number: usize, text: &str) -> Result<(), String> {
        let (op, x) = self.program.target(text);
        let mut want = versions(&self.program);
        if op.ends_with('_') {
            *want.get_mut(&Arc::as_ptr(x.storage())).expect("it is a tensor's") += 1;
        }
        let run = catch_unwind(AssertUnwindSafe(|| self.program.step(text)));
        run.map_err(|payload| match payload.downcast_ref::<Misuse>() {
            Some(refusal) => format!("is refused: {refusal}"),
            None => "panics".to_string(),
        })?;
        let entries = self.case["sums"][number].as_array().expect("a list");
        for pair in entries.chunks(2) {
            let name = pair[0].as_str().expect("a name").to_string();
            self.sums.insert(name, pair[1].as_f64().expect("a number"));
        }
        self.check_numbers()?;
        let got = versions(&self.program);
        let same = got.iter().all(|(storage, version)| version == want.get(storage).unwrap_or(&0));
        if same { Ok(()) } else { Err(format!("versions {got:?} instead of {want:?}")) }
    }

    fn check_numbers(&self) -> Result<(), String> {
        for (name, x) in &self.program.tensors {
            let ((got, scale), want) = (checksum(x), self.sums[name]);
            // NaN is close to nothing.
            let close = (got - want).abs() <= tolerance(self.case) * scale;
            if !close {
                return Err(format!("{name} sums up to {got} instead of {want}: {x}"));
            }
        }
        Ok(())
    }

    /// Runs a step that must be refused and change nothing.
    fn refusal(&mut self, text: &str) -> Result<(), String> {
        let (op, _) = self.program.target(text);
        let before = versions(&self.program);
        let refusal = refused(|| self.program.step(text));
        let kinds = words(&self.case["error"]["kinds"]);
        let said = SAYS.iter().filter(|(kind, _)| kinds.contains(kind));
        if refusal.op != op || !said.clone().any(|(_, words)| refusal.message.contains(words)) {
            return Err(format!("{kinds:?} is refused as {refusal}"));
        }
        self.check_numbers()?;
        if versions(&self.program) == before { Ok(()) } else { Err("counts a version".into()) }
    }

    /// A backward pass that must find a saved tensor changed.
    fn spoilt(&self, loss: &Tensor) -> Result<(), String> {
        let refusal = refused(|| loss.backward());
        let error = &self.case["error"];
        let writers = words(&error["by"]);
        let named = |by: &&str| refusal.message.contains(&format!("last by {by}:"));
        if refusal.op == error["op"] && writers.iter().any(named) {
            return Ok(());
        }
        Err(format!("{error} is refused as {refusal}"))
    }

    fn check_gradients(&self) -> Result<(), String> {
        let grads = self.case["grads"].as_array().expect("a list");
        for ((name, x), want) in self.program.tensors.iter().zip(grads) {
            let got = x.grad().map(|grad| numbers(&grad));
            let want: Option<Vec<f64>> = serde_json::from_value(want.clone()).expect("numbers");
            let close = |(got, want): (&f64, &f64)| {
                (got - want).abs() <= tolerance(self.case) * (1.0 + want.abs())
            };
            let right = match (&got, &want) {
                (Some(got), Some(want)) => {
                    got.len() == want.len() && got.iter().zip(want).all(close)
                }
                (None, None) => true,
                _ => false,
            };
            if !right {
                return Err(format!("gradient of {name}: {got:?} instead of {want:?}"));
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let error = &self.case["error"];
        for (number, text) in words(&self.case["steps"]).into_iter().enumerate() {
            let at = |fault| format!("step {number}, {text}: {fault}");
            if error["at"] == number {
                return self.refusal(text).map_err(at);
            }
            self.step(number, text).map_err(at)?;
        }
        let loss = loss(&self.program, &words(&self.case["loss"]));
        if error["at"] == "backward" {
            return self.spoilt(&loss);
        }
        loss.backward();
        self.check_numbers()?;
        self.check_gradients()
    }
}

/// Runs a program and says what is wrong.
fn fault(case: &Value) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| Replay::new(case).run())) {
        Ok(result) => result.err(),
        Err(payload) => Some(match payload.downcast_ref::<Misuse>() {
            Some(refusal) => format!("is refused: {refusal}"),
            None => format!("panics: {:?}", payload.downcast_ref::<String>()),
        }),
    }
}

#[test]
fn programs_do_what_they_do_in_pytorch() {
    let programs = programs();
    let mut report = Vec::new();
    for (at, case) in programs.iter().enumerate() {
        if let Some(fault) = fault(case) {
            report.push(format!("program {at}: {fault}\n{case}\n"));
        }
    }
    assert!(report.is_empty(), "{} of {}:\n{}", report.len(), programs.len(), report.join("\n"));
}

/// What makes the test above worth something.
#[test]
fn there_are_programs_of_every_kind() {
    let programs = programs();
    let count = |holds: &dyn Fn(&Value) -> bool| programs.iter().filter(|case| holds(case)).count();
    assert!(programs.len() >= 400);
    assert!(count(&|case| case["name"].is_string()) >= 40);
    assert!(count(&|case| case["grads"].is_array()) >= 250);
    for (kind, _) in SAYS {
        assert!(count(&|case| case["error"]["kinds"][0] == kind) >= 10, "{kind}");
    }
    assert!(count(&|case| case["error"]["at"] == "backward") >= 40);
    let steps = |op: &str| {
        let uses = |text: &&str| text.trim_start_matches("no_grad ").starts_with(op);
        programs.iter().map(|case| words(&case["steps"]).iter().filter(|t| uses(t)).count()).sum()
    };
    for op in ["add_ ", "mul_ ", "zero_ ", "fill_ ", "copy_ ", "masked_fill_ ", "index_put_ "] {
        let count: usize = steps(op);
        assert!(count >= 50, "{op} in {count} steps");
    }
}
