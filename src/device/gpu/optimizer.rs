//! Steps of optimizers, one launch a parameter; see `kernels/optimizer.cu`.

use crate::device::driver::Params;
use crate::device::gpu::launch::{
    Target, address, count, each, kernel_for, launch, source, target,
};
use crate::device::{AdamwRule, SgdRule, Update};

/// One step of AdamW of each parameter.
pub fn adamw(updates: &[Update<AdamwRule>]) {
    updates.iter().for_each(|update| step("adamw_step", update, 2, adamw_numbers(&update.rule)));
}

/// One step of SGD of each parameter.
pub fn sgd(updates: &[Update<SgdRule>]) {
    updates.iter().for_each(|update| step("sgd_step", update, 1, sgd_numbers(&update.rule)));
}

/// Launches the step of one parameter; the kernel takes `lists` lists of state, and a null pointer
/// for one that there is not.
fn step<R>(op: &'static str, update: &Update<R>, lists: usize, rule: Params) {
    let (device, param) = (update.param.storage.device(), update.param);
    let wide = update.state.first().is_some_and(|state| state.dtype() != param.dtype());
    let name = if wide { format!("{op}_wide") } else { op.to_string() };
    let kernel = kernel_for(op, &name, param);
    let numel = count(op, param.layout.shape().numel());
    let (param, grad) = (target(op, param), source(op, update.grad));
    let master = update.master.map(|master| target(op, master));
    let state: Vec<Target> = update.state.iter().map(|&state| target(op, state)).collect();
    let mut params =
        Params::new().pointer(param.at).pointer(grad.at).pointer(address(master.as_ref()));
    for list in 0..lists {
        params = params.pointer(address(state.get(list)));
    }
    launch(device, op, &kernel, each(numel), &params.u32(numel).struct_of(&rule));
}

/// The struct `Adamw` of the kernel.
fn adamw_numbers(rule: &AdamwRule) -> Params {
    let (beta1, beta2) = rule.betas;
    let corrections = [beta1, beta2].map(|beta| 1.0 - beta.powf(rule.step as f64));
    let weight = 1.0 - beta1;
    let numbers = Params::new()
        .f32(rule.factor as f32)
        .f32((1.0 - rule.lr * rule.weight_decay) as f32)
        .f32(1.0 - weight as f32)
        .f32(weight as f32)
        .i32((weight < 0.5).into());
    numbers
        .f32(beta2 as f32)
        .f32((1.0 - beta2) as f32)
        .f32(corrections[1].sqrt() as f32)
        .f32(rule.eps as f32)
        .f32(-(rule.lr / corrections[0]) as f32)
}

/// The struct `Sgd` of the kernel.
fn sgd_numbers(rule: &SgdRule) -> Params {
    // The first buffer is the gradient, undampened. Before it, the buffer is 0.
    let share = if rule.first { 1.0 } else { 1.0 - rule.dampening };
    Params::new()
        .f32(rule.factor as f32)
        .f32(-rule.lr as f32)
        .f32(rule.momentum as f32)
        .f32(share as f32)
        .f32(rule.weight_decay as f32)
        .i32((rule.weight_decay != 0.0).into())
        .i32(rule.nesterov.into())
}
