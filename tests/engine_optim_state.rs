//! What optimizers keep: its bytes, how it is saved, and how it follows a parameter that is moved,
//! converted or loaded.

#[path = "engine/failed.rs"]
mod failed;
#[path = "engine/optim.rs"]
mod optim;
#[path = "engine/refused.rs"]
mod refused;

use std::slice;

use engine_room::memory::{Role, bytes_by_role};
use engine_room::nn::Parameter;
use engine_room::optim::{AdamW, Optimizer, OptimizerState, Sgd};
use engine_room::{DType, Device, Tensor};
use failed::fails;
use optim::{agree, give, golden, numbers, optimizer, parameter, start, tensors};
use refused::refused;
use serde_json::{Value, json};

/// One step on the gradients of a line of the golden file.
fn step(golden: &Value, params: &[Parameter], optimizer: &mut dyn Optimizer, at: usize) {
    for (param, grad) in params.iter().zip(tensors(golden, &golden["grads"][at])) {
        give(param, &grad);
    }
    optimizer.step();
}

/// The state as it is now; the next step would change the tensors.
fn kept(optimizer: &dyn Optimizer) -> OptimizerState {
    let mut state = optimizer.state_dict();
    for (_, tensor) in state.params.iter_mut().flat_map(|param| &mut param.tensors) {
        *tensor = tensor.copy();
    }
    state
}

/// Name and type of each tensor that is kept for a parameter.
fn briefs(state: &OptimizerState, param: usize) -> Vec<String> {
    let tensors = state.params[param].tensors.iter();
    tensors.map(|(name, tensor)| format!("{name} {}", tensor.brief())).collect()
}

/// A run that stops, is restored into new parameters and a new optimizer, and goes on has the bits
/// of one that never stopped.
#[test]
fn a_restored_state_goes_on_with_the_same_bits() {
    let golden = golden();
    let cases = [
        json!({"optimizer": "AdamW", "options": {"lr": 0.01}}),
        json!({"optimizer": "Sgd", "options": {"lr": 0.1, "momentum": 0.9}}),
        json!({"optimizer": "Sgd", "options": {"lr": 0.1}}),
    ];
    for (case, dtype) in
        cases.iter().flat_map(|case| [DType::F32, DType::BF16, DType::F16].map(|d| (case, d)))
    {
        let params = start(&golden, dtype);
        let mut whole = optimizer(case, params.clone());
        (0..7).for_each(|at| step(&golden, &params, &mut *whole, at));
        whole.groups_mut()[0].lr = 0.03;
        let (saved, weights) = (kept(&*whole), params.iter().map(|p| p.get().detach().copy()));
        let again: Vec<Parameter> = weights.map(Parameter::new).collect();
        let mut resumed = optimizer(case, again.clone());
        resumed.load_state_dict(&saved).expect("it is the same optimizer");
        assert_eq!(resumed.groups()[0].lr, 0.03);
        for at in 7..15 {
            step(&golden, &params, &mut *whole, at);
            step(&golden, &again, &mut *resumed, at);
        }
        assert_eq!(numbers(&params), numbers(&again), "{case} {dtype}");
        assert_eq!(resumed.state_dict().params[1].step, 15);
    }
}

#[test]
fn the_state_has_names_types_and_an_order() {
    let golden = golden();
    let params = start(&golden, DType::BF16);
    let mut adamw = AdamW::new(params.clone(), 0.01);
    assert_eq!(briefs(&adamw.state_dict(), 0), [""; 0], "nothing is kept before the first step");
    step(&golden, &params, &mut adamw, 0);
    let state = adamw.state_dict();
    assert_eq!(briefs(&state, 0), ["exp_avg f32 [3]", "exp_avg_sq f32 [3]", "master f32 [3]"]);
    assert_eq!(briefs(&state, 1)[0], "exp_avg f32 [2, 2]");
    let mut sgd = Sgd::new(params.clone(), 0.01).momentum(0.5).master_weights(false);
    step(&golden, &params, &mut sgd, 0);
    assert_eq!(briefs(&sgd.state_dict(), 0), ["momentum_buffer bf16 [3]"]);
    let mut plain = Sgd::new(params.clone(), 0.01);
    step(&golden, &params, &mut plain, 0);
    assert_eq!(briefs(&plain.state_dict(), 0), ["master f32 [3]"]);
}

#[test]
fn a_state_that_does_not_fit_changes_nothing() {
    let golden = golden();
    let params = start(&golden, DType::F32);
    let mut adamw = AdamW::new(params.clone(), 0.01);
    step(&golden, &params, &mut adamw, 0);
    let saved = kept(&adamw);
    let mut sgd = Sgd::new(params.clone(), 0.5).momentum(0.9);
    fails(sgd.load_state_dict(&saved), &["Sgd", "parameter 0", "exp_avg", "momentum_buffer"]);
    let mut fewer = AdamW::new(params[..1].to_vec(), 0.5);
    fails(fewer.load_state_dict(&saved), &["has 2 parameters", "this optimizer 1"]);
    let mut turned = AdamW::new(vec![params[1].clone(), params[0].clone()], 0.5);
    fails(turned.load_state_dict(&saved), &["parameter 0", "f32 [3]", "f32 [2, 2]"]);
    let mut groups = saved.clone();
    groups.groups.push((0.1, 0.0));
    fails(turned.load_state_dict(&groups), &["2 groups", "this optimizer 1"]);
    assert_eq!((turned.groups()[0].lr, turned.state_dict().params[0].step), (0.5, 0));
}

/// A step of 0.001 is lost beside a 1 in bf16, whose next smaller number is 0.996.
#[test]
fn small_steps_add_up_in_the_master_copy() {
    let path = |master: bool| {
        let p = Parameter::new(Tensor::ones(&[1]).to(DType::BF16));
        let mut sgd = Sgd::new(vec![p.clone()], 1e-3).master_weights(master);
        for _ in 0..100 {
            give(&p, &Tensor::ones(&[1]));
            sgd.step();
        }
        numbers(&[p])
    };
    assert_eq!(path(false), [1.0]);
    agree("master", &path(true), &[0.9], 2f64.powi(-8));
}

/// The parameter decides: who sets it from outside is not overruled by the master copy.
#[test]
fn the_master_follows_a_change_from_outside() {
    let p = Parameter::new(Tensor::ones(&[1]).to(DType::F16));
    let mut sgd = Sgd::new(vec![p.clone()], 0.25);
    let mut stepped = || {
        give(&p, &Tensor::ones(&[1]));
        sgd.step();
        numbers(slice::from_ref(&p))[0]
    };
    assert_eq!(stepped(), 0.75);
    p.get().detach().fill_(8);
    assert_eq!(stepped(), 7.75);
    p.set(Tensor::full(&[1], 3.0).to(DType::F16));
    assert_eq!(stepped(), 2.75);
    p.set(p.get().to(DType::F32));
    assert_eq!(stepped(), 2.5);
    assert!(sgd.state_dict().params[0].tensors.is_empty(), "an f32 parameter has no master copy");
}

/// An exchange that leaves the numbers as they are leaves the master's finer ones too.
#[test]
fn the_master_outlives_a_move() {
    let (stay, go) = (parameter(&[1.0]), parameter(&[1.0]));
    for p in [&stay, &go] {
        p.set(p.get().to(DType::BF16));
    }
    let mut sgds = [&stay, &go].map(|p| Sgd::new(vec![p.clone()], 1e-3));
    for at in 0..64 {
        for (p, sgd) in [&stay, &go].into_iter().zip(&mut sgds) {
            give(p, &Tensor::ones(&[1]));
            sgd.step();
        }
        if at % 8 == 0 {
            go.set(go.get().detach().to(Device::Sim(0)).to(Device::Cpu));
        }
    }
    assert_eq!(numbers(&[stay]), numbers(&[go]));
}

#[test]
fn the_state_follows_the_type_of_its_parameter() {
    let golden = golden();
    let params = start(&golden, DType::F32);
    let mut adamw = AdamW::new(params.clone(), 0.01);
    step(&golden, &params, &mut adamw, 0);
    params.iter().for_each(|p| p.set(p.get().detach().to(DType::F64)));
    let mut step64 = |at: usize| {
        for (param, grad) in params.iter().zip(tensors(&golden, &golden["grads"][at])) {
            give(param, &grad);
        }
        adamw.step();
        briefs(&adamw.state_dict(), 0)
    };
    assert_eq!(step64(1), ["exp_avg f64 [3]", "exp_avg_sq f64 [3]"]);
    let moved = numbers(&params);
    let unmoved = start(&golden, DType::F32);
    let mut adamw = AdamW::new(unmoved.clone(), 0.01);
    (0..2).for_each(|at| step(&golden, &unmoved, &mut adamw, at));
    let want: Vec<f64> = numbers(&unmoved).into_iter().map(f64::from).collect();
    agree("f64 after f32", &moved, &want, 1e-6);
}

/// A parameter that is moved leaves its gradient behind, so the step passes it by; when it is back,
/// its state is too.
#[test]
fn a_parameter_that_is_elsewhere_is_passed_by() {
    let [stay, go] = [(); 2].map(|()| parameter(&[1.0, 2.0]));
    let mut adamws = [&stay, &go].map(|p| AdamW::new(vec![p.clone()], 0.1));
    let mut step = |at: usize, p: &Parameter| {
        give(p, &Tensor::ones(&[2]));
        adamws[at].step();
        if at == 1 {
            p.set(p.get().detach().to(Device::Sim(1)));
            adamws[at].step();
            p.set(p.get().detach().to(Device::Cpu));
        }
        adamws[at].state_dict().params[0].step
    };
    assert_eq!([step(0, &stay), step(1, &go)], [1, 1]);
    assert_eq!([step(0, &stay), step(1, &go)], [2, 2]);
    assert_eq!(numbers(&[stay]), numbers(&[go]));
}

#[test]
fn state_is_counted_as_the_optimizers() {
    let optimizer_bytes = || {
        let roles = bytes_by_role(Device::Cpu);
        roles.into_iter().find(|(role, _)| *role == Role::Optimizer).expect("it is a role").1
    };
    let of = |make: &dyn Fn(Vec<Parameter>) -> Box<dyn Optimizer>, dtype: DType| {
        let p = Parameter::new(Tensor::ones(&[1000]).to(dtype));
        let mut optimizer = make(vec![p.clone()]);
        give(&p, &Tensor::ones(&[1000]));
        optimizer.step();
        let state = optimizer.state_dict();
        let tensors = state.params[0].tensors.iter();
        tensors
            .map(|(_, tensor)| {
                assert_eq!(tensor.storage().role(), Role::Optimizer);
                tensor.nbytes()
            })
            .sum::<u64>()
    };
    let adamw = |p| Box::new(AdamW::new(p, 0.1)) as Box<dyn Optimizer>;
    let halves = |p| Box::new(AdamW::new(p, 0.1).master_weights(false)) as Box<dyn Optimizer>;
    let sgd = |p| Box::new(Sgd::new(p, 0.1)) as Box<dyn Optimizer>;
    assert_eq!(of(&adamw, DType::F32), 8000);
    assert_eq!(of(&adamw, DType::F16), 12000);
    assert_eq!(of(&halves, DType::F16), 4000);
    assert_eq!(of(&sgd, DType::F32), 0);
    // Other tests of this file run meanwhile, so only a lower bound is sure here.
    let held = AdamW::new(vec![parameter(&[0.0; 4096])], 0.1);
    let p = held.groups()[0].params[0].clone();
    give(&p, &Tensor::ones(&[4096]));
    let mut held = held;
    held.step();
    assert!(optimizer_bytes() >= 2 * 4 * 4096, "{}", optimizer_bytes());
}

/// A graph that saved a weight notices that a step has changed it.
#[test]
fn a_step_raises_the_version() {
    let w = parameter(&[1.0, 2.0]);
    let x = parameter(&[3.0, 4.0]);
    let y = w.get().mul(&x.get()).sum();
    let before = w.get().storage().version();
    let mut sgd = Sgd::new(vec![w.clone()], 0.1);
    give(&w, &Tensor::ones(&[2]));
    sgd.step();
    assert_eq!(w.get().storage().version(), before + 1);
    let stale = refused(|| y.backward());
    assert!(stale.message.contains("sgd_step"), "{stale}");
}

/// Parameters that are parts of one storage, in any order of strides, and of several types.
#[test]
fn parameters_may_share_a_storage_and_lie_in_any_order() {
    let flat = Tensor::arange(10);
    let rows = Parameter::new(flat.slice(0, 0, 6, 1).reshape(&[2, 3]));
    let turned = Parameter::new(flat.slice(0, 6, 10, 1).reshape(&[2, 2]).transpose(0, 1));
    let double = Parameter::new(Tensor::ones(&[2]).to(DType::F64));
    let params = [rows, turned, double];
    let mut sgd = Sgd::new(params.to_vec(), 0.5).momentum(0.9);
    let grads = [Tensor::ones(&[2, 3]), Tensor::arange(4).reshape(&[2, 2]), Tensor::ones(&[2])];
    params.iter().zip(&grads).for_each(|(p, grad)| give(p, grad));
    sgd.step();
    assert_eq!(flat.to_vec::<f32>(), [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 6.0, 6.0, 7.5, 7.5]);
    assert_eq!(numbers(&params[2..]), [0.5, 0.5]);
}

/// More elements than a chunk, beside tensors of a few and of none: each as if it were alone.
#[test]
fn large_and_small_tensors_are_stepped_alike() {
    let start = |n: usize| Parameter::new(Tensor::arange(n).mul_scalar(1e-3));
    let run = |params: &[Parameter]| {
        let mut adamw = AdamW::new(params.to_vec(), 0.01);
        for _ in 0..3 {
            params.iter().for_each(|p| give(p, &p.get().detach().sin()));
            adamw.step();
        }
    };
    let together = [200_001, 3, 0, 65_536, 7].map(start);
    run(&together);
    // The numbers of each begin like those of a larger one.
    let longest = numbers(&together[..1]);
    for p in &together[1..] {
        let got = numbers(slice::from_ref(p));
        assert!(got == longest[..got.len()], "{} elements", got.len());
    }
    let (few, all) = (start(100), start(200_001));
    run(slice::from_ref(&few));
    run(slice::from_ref(&all));
    assert!(numbers(&[all]) == longest && numbers(&[few]) == longest[..100]);
}
