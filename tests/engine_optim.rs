//! Optimizers: their trajectories against PyTorch 2.9.1, the given cases D01, D03 and D05, and what
//! they keep for each parameter.

#[path = "engine/optim.rs"]
mod optim;
#[path = "engine/refused.rs"]
mod refused;

use std::slice;

use engine_room::nn::{Module, Parameter, Parts};
use engine_room::optim::{AdamW, Optimizer, ParamGroup, Sgd};
use engine_room::{DType, Tensor};
use optim::{agree, floats, give, golden, numbers, optimizer, parameter, start, tensors};
use refused::refused;
use serde_json::Value;

fn named(name: &Value) -> DType {
    let found = DType::ALL.into_iter().find(|dtype| name == &dtype.to_string());
    found.expect("a type")
}

/// Every fifth state of a case's 50 steps.
fn path(golden: &Value, case: &Value) -> Vec<Vec<f32>> {
    let params = start(golden, named(&case["dtype"]));
    let mut optimizer = optimizer(case, params.clone());
    let holes = floats(&golden["holes"]);
    let mut path = Vec::new();
    for (step, grads) in golden["grads"].as_array().expect("a list").iter().enumerate() {
        for (param, grad) in params.iter().zip(tensors(golden, grads)) {
            give(param, &grad);
        }
        if case["holes"] == true && holes.contains(&(step as f64)) {
            params[1].get().zero_grad();
        }
        optimizer.step();
        if step % 5 == 4 {
            path.push(numbers(&params));
        }
    }
    path
}

/// To the last bit, in f32 and in the half types: the kernels do PyTorch's operations in its order,
/// with a multiplication and an addition rounded once where it does so too.
#[test]
fn fifty_steps_are_those_of_pytorch() {
    let golden = golden();
    let cases = golden["cases"].as_array().expect("a list");
    assert!(cases.len() >= 40, "{}", cases.len());
    for case in cases {
        let got = path(&golden, case);
        for (step, (got, want)) in got.iter().zip(case["path"].as_array().unwrap()).enumerate() {
            let what = format!("{} after step {}", case["options"], 5 * step + 5);
            let what = format!("{} {}, {what}", case["optimizer"], case["dtype"]);
            agree(&what, got, &floats(want), 0.0);
        }
    }
}

#[test]
fn d01_adamw_three_steps_with_decay_first() {
    let p = parameter(&[2.0, -1.0]);
    let mut adamw = AdamW::new(vec![p.clone()], 0.1).weight_decay(0.1);
    let steps = [
        ([0.5, -0.25], [1.880000002, -0.8900000039999998]),
        ([-0.1, 0.2], [1.810097395679324, -0.8752874994866316]),
        ([0.3, 0.0], [1.7255408002250776, -0.8620415417320703]),
    ];
    for (gradient, want) in steps {
        give(&p, &Tensor::from_vec(gradient.to_vec(), &[2]));
        adamw.step();
        agree("D01", &numbers(slice::from_ref(&p)), &want, 2e-6);
    }
}

/// Of the kind of D01: a decay without a gradient's help is (1 - lr decay) to the power of the
/// steps, whatever the learning rate does in between, and none if the learning rate is 0.
#[test]
fn decay_goes_by_the_learning_rate() {
    let p = parameter(&[3.0]);
    let mut adamw = AdamW::new(vec![p.clone()], 0.1).weight_decay(0.2);
    let mut want = 3.0;
    for lr in [0.1, 0.05, 0.0, 0.3] {
        adamw.groups_mut()[0].lr = lr;
        give(&p, &Tensor::zeros(&[1]));
        adamw.step();
        want *= 1.0 - lr * 0.2;
        agree("decay", &numbers(slice::from_ref(&p)), &[want], 1e-6);
    }
}

/// The numbers of one parameter after each gradient of a list; `None` is none.
fn walked(
    start: f32,
    make: impl Fn(Vec<Parameter>) -> Box<dyn Optimizer>,
    grads: &[Option<f32>],
) -> Vec<f32> {
    let p = parameter(&[start]);
    let mut optimizer = make(vec![p.clone()]);
    let after = grads.iter().map(|grad| {
        optimizer.zero_grad(true);
        if let Some(grad) = grad {
            give(&p, &Tensor::full(&[1], *grad));
        }
        optimizer.step();
        p.get().item()
    });
    after.collect()
}

#[test]
fn d03_no_gradient_is_not_a_zero_gradient() {
    let adamw = |p| Box::new(AdamW::new(p, 0.1).weight_decay(0.1)) as Box<dyn Optimizer>;
    agree("AdamW, none", &walked(1.0, adamw, &[None]), &[1.0], 1e-6);
    agree("AdamW, 0", &walked(1.0, adamw, &[Some(0.0)]), &[0.99], 1e-6);
    let sgd = |p| Box::new(Sgd::new(p, 0.1).momentum(0.9)) as Box<dyn Optimizer>;
    let path = walked(0.0, sgd, &[Some(1.0), None, Some(0.0)]);
    agree("Sgd, none", &path, &[-0.1, -0.1, -0.19], 1e-6);
    agree("Sgd, 0", &walked(0.0, sgd, &[Some(1.0), Some(0.0)]), &[-0.1, -0.19], 1e-6);
    // Of its kind: the first step of Adam is lr long, however late it comes: t counts its steps.
    let adam = |p| Box::new(AdamW::new(p, 0.1).weight_decay(0.0)) as Box<dyn Optimizer>;
    let path = walked(1.0, adam, &[None, None, Some(1e-3), None]);
    agree("late", &path, &[1.0, 1.0, 0.900001, 0.900001], 1e-6);
    // Filling with zeros is another thing than dropping.
    let p = parameter(&[1.0]);
    let mut sgd = Sgd::new(vec![p.clone()], 0.1).weight_decay(0.5);
    give(&p, &Tensor::full(&[1], 7.0));
    sgd.zero_grad(false);
    sgd.step();
    agree("zeros", &numbers(slice::from_ref(&p)), &[0.95], 1e-6);
    sgd.zero_grad(true);
    assert!(p.get().grad().is_none());
}

/// y = w (w x): one weight under two names.
struct Tied {
    a: Parameter,
    b: Parameter,
}

impl Module for Tied {
    fn parts(&self) -> Parts<'_> {
        Parts::new().parameter("a.weight", &self.a).parameter("b.weight", &self.b)
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        self.b.get().mul(&self.a.get().mul(x))
    }
}

#[test]
fn d05_tied_weights_are_stepped_once() {
    let a = Parameter::new(Tensor::full(&[1, 1], 2.0));
    let model = Tied { b: a.clone(), a };
    let listed: Vec<String> = model.named_parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!((&listed[..], model.num_parameters()), (&["a.weight".to_string()][..], 1));
    let mut sgd = Sgd::new(model.parameters(), 0.1);
    model.forward(&Tensor::full(&[1, 1], 3.0)).sum().backward();
    assert_eq!(model.a.get().grad().expect("it was used").item(), 12.0);
    sgd.step();
    agree("a", &numbers(slice::from_ref(&model.a)), &[0.8], 1e-6);
    agree("b", &numbers(slice::from_ref(&model.b)), &[0.8], 1e-6);
    let saved: Vec<String> = model.state_dict().names().map(str::to_string).collect();
    assert_eq!(saved, ["a.weight", "b.weight"]);
    // Of its kind: the same with state, and a refusal where the two are listed by hand.
    let mut adamw = AdamW::new(model.parameters(), 0.1);
    adamw.step();
    assert_eq!(adamw.state_dict().params.len(), 1);
    assert_eq!(adamw.state_dict().params[0].step, 1);
    let twice = refused(|| Sgd::new(vec![model.a.clone(), model.b.clone()], 0.1));
    assert!(twice.message.contains("parameter 1 of group 0 is also parameter 0"), "{twice}");
}

#[test]
fn what_cannot_be_optimized_is_refused() {
    let p = parameter(&[1.0]);
    let group = |lr| ParamGroup { params: vec![p.clone()], lr, weight_decay: 0.0 };
    let both = refused(|| AdamW::with_groups(vec![group(0.1), group(0.2)]));
    assert!(
        both.message.contains("parameter 0 of group 1 is also parameter 0 of group 0"),
        "{both}"
    );
    assert!(refused(|| AdamW::new(Vec::new(), 0.1)).message.contains("model.parameters()"));
    assert!(refused(|| Sgd::with_groups(vec![group(-0.1)])).message.contains("learning rate"));
    assert!(refused(|| AdamW::new(vec![p.clone()], f64::NAN)).message.contains("learning rate"));
    refused(|| AdamW::new(vec![p.clone()], 0.1).betas((0.9, 1.0)));
    refused(|| AdamW::new(vec![p.clone()], 0.1).eps(-1.0));
    refused(|| Sgd::new(vec![p.clone()], 0.1).momentum(-0.5));
    refused(|| Sgd::new(vec![p.clone()], 0.1).weight_decay(-0.5));
    refused(|| Sgd::new(vec![p.clone()], 0.1).nesterov(true).step());
    refused(|| Sgd::new(vec![p.clone()], 0.1).momentum(0.9).dampening(0.1).nesterov(true).step());
    let mut changed = Sgd::new(vec![p.clone()], 0.1);
    changed.groups_mut()[0].params.push(parameter(&[2.0]));
    assert!(refused(|| changed.step()).message.contains("make a new optimizer"));
}
