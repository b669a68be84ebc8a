//! For the engine's tests of optimizers: the trajectories of golden/optim.json, and parameters
//! whose gradients are given.
#![allow(dead_code, reason = "each test needs some of it")]

use engine_room::nn::Parameter;
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::{DType, Tensor};
use serde_json::Value;

/// What PyTorch 2.9.1 computes: make_optim.py says what is in it.
pub fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/optim.json")).expect("the golden file is JSON")
}

pub fn floats(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(float).collect()
}

/// A number; those that JSON lacks are words.
pub fn float(value: &Value) -> f64 {
    match value {
        Value::String(word) => word.parse().expect("nan, inf or -inf"),
        _ => value.as_f64().unwrap_or_else(|| panic!("{value} is no number")),
    }
}

/// The parameters of the golden trajectories, at their start.
pub fn start(golden: &Value, dtype: DType) -> Vec<Parameter> {
    let tensors = tensors(golden, &golden["starts"]);
    tensors.into_iter().map(|x| Parameter::new(x.to(dtype))).collect()
}

/// Tensors of the parameters' shapes with these numbers.
pub fn tensors(golden: &Value, numbers: &Value) -> Vec<Tensor> {
    let mut rest = floats(numbers).into_iter().map(|x| x as f32);
    let shapes = golden["shapes"].as_array().expect("a list").iter();
    let shapes = shapes.map(|shape| floats(shape).iter().map(|&n| n as usize).collect());
    let cut = |shape: Vec<usize>| {
        let numel = shape.iter().product();
        Tensor::from_vec(rest.by_ref().take(numel).collect(), &shape)
    };
    shapes.map(cut).collect()
}

/// Leaves exactly this gradient.
pub fn give(parameter: &Parameter, gradient: &Tensor) {
    let x = parameter.get();
    x.zero_grad();
    x.mul(&gradient.to(x.dtype())).sum().backward();
}

/// All numbers of some parameters, one after the other.
pub fn numbers(params: &[Parameter]) -> Vec<f32> {
    params.iter().flat_map(|param| values(&param.get())).collect()
}

pub fn values(x: &Tensor) -> Vec<f32> {
    x.detach().to(DType::F32).to_vec()
}

/// A parameter with these numbers.
pub fn parameter(values: &[f32]) -> Parameter {
    Parameter::new(Tensor::from_vec(values.to_vec(), &[values.len()]))
}

/// The optimizer of a case. What the case does not name stays at the default.
pub fn optimizer(case: &Value, params: Vec<Parameter>) -> Box<dyn Optimizer> {
    let options = &case["options"];
    let number = |name: &str, otherwise: f64| options[name].as_f64().unwrap_or(otherwise);
    let flag = |name: &str| options[name].as_bool().unwrap_or(false);
    let (lr, master) = (number("lr", f64::NAN), case["master"].as_bool().unwrap_or(true));
    if case["optimizer"] == "Sgd" {
        let sgd = Sgd::new(params, lr)
            .momentum(number("momentum", 0.0))
            .dampening(number("dampening", 0.0))
            .weight_decay(number("weight_decay", 0.0));
        let sgd = sgd.nesterov(flag("nesterov")).maximize(flag("maximize"));
        return Box::new(sgd.master_weights(master));
    }
    let mut adamw = AdamW::new(params, lr).master_weights(master);
    if let Some(&[beta1, beta2]) = options.get("betas").map(floats).as_deref() {
        adamw = adamw.betas((beta1, beta2));
    }
    if let Some(weight_decay) = options["weight_decay"].as_f64() {
        adamw = adamw.weight_decay(weight_decay);
    }
    Box::new(adamw.eps(number("eps", 1e-8)))
}

/// Relative to what it should be, and exact at 0; for a tolerance of 0, to the last bit.
#[track_caller]
pub fn agree(what: &str, got: &[f32], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (at, (&got, &want)) in got.iter().zip(want).enumerate() {
        let close = (f64::from(got) - want).abs() <= tolerance * want.abs();
        let same = got == want as f32 || (got.is_nan() && want.is_nan());
        assert!(close || same, "{what}, at {at}: {got}, not {want}");
    }
}
