//! Walks over a module tree: what the methods of [`Module`] do.

use crate::Tensor;
use crate::error::misuse;
use crate::nn::module::{Module, Part, Parts};
use crate::nn::parameter::{Buffer, Parameter};
use crate::nn::state_dict::StateDict;
use crate::ops::To;

/// Calls `visit` for every part that is no module, with its full name, in order.
fn leaves<'a>(parts: Parts<'a>, prefix: &str, visit: &mut dyn FnMut(String, Part<'a>)) {
    for (name, part) in parts.0 {
        let name = format!("{prefix}{name}");
        match part {
            Part::Module(module) => leaves(module.parts(), &format!("{name}."), visit),
            part => visit(name, part),
        }
    }
}

pub(super) fn named_parameters(parts: Parts) -> Vec<(String, Parameter)> {
    let mut found: Vec<(String, Parameter)> = Vec::new();
    leaves(parts, "", &mut |name, part| {
        if let Part::Parameter(parameter) = part
            && !found.iter().any(|(_, other)| other.is(parameter))
        {
            found.push((name, parameter.clone()));
        }
    });
    found
}

pub(super) fn named_buffers(parts: Parts<'_>) -> Vec<(String, &Buffer)> {
    let mut found: Vec<(String, &Buffer)> = Vec::new();
    leaves(parts, "", &mut |name, part| {
        if let Part::Buffer(buffer) = part
            && !found.iter().any(|&(_, other)| std::ptr::eq(other, buffer))
        {
            found.push((name, buffer));
        }
    });
    found
}

#[track_caller]
pub(super) fn state_dict(parts: Parts) -> StateDict {
    let mut found = Vec::new();
    leaves(parts, "", &mut |name, part| match part {
        Part::Parameter(parameter) => found.push((name, parameter.get().detach())),
        Part::Buffer(buffer) if buffer.is_persistent() => found.push((name, buffer.get())),
        _ => {}
    });
    let mut state = StateDict::new();
    for (name, x) in found {
        if state.insert(&name, x).is_err() {
            let message = "two parts of the module have this name; rename one".to_string();
            misuse("state_dict", &[&name], message);
        }
    }
    state
}

pub(super) fn train(parts: Parts, on: bool) {
    leaves(parts, "", &mut |_, part| {
        if let Part::Training(training) = part {
            training.set(on);
        }
    });
}

pub(super) fn is_training(parts: Parts) -> bool {
    let mut any = false;
    leaves(parts, "", &mut |_, part| {
        any |= matches!(part, Part::Training(training) if training.is_on());
    });
    any
}

/// Exchanges every tensor that is `due` for a converted one. A shared one is due once only.
pub(super) fn convert(parts: Parts, due: &dyn Fn(&Tensor) -> bool, target: To) {
    leaves(parts, "", &mut |_, part| match part {
        Part::Parameter(parameter) if due(&parameter.get()) => {
            parameter.set(parameter.get().detach().to(target));
        }
        Part::Buffer(buffer) if due(&buffer.get()) => {
            buffer.set(buffer.get().detach().to(target));
        }
        _ => {}
    });
}

/// Drops a gradient, or fills it with zeros if there is one.
pub(crate) fn zero_grad(x: &Tensor, set_to_none: bool) {
    if set_to_none {
        return x.zero_grad();
    }
    if let Some(gradient) = x.grad() {
        gradient.zero_();
    }
}

pub(super) fn apply(parts: Parts, prefix: &str, visit: &mut dyn FnMut(&str, &dyn Module)) {
    for (name, part) in parts.0 {
        if let Part::Module(module) = part {
            let name = format!("{prefix}{name}");
            apply(module.parts(), &format!("{name}."), visit);
            visit(&name, module);
        }
    }
}
