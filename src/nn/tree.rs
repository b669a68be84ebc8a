//! Walks over a module tree: what the methods of [`Module`] do.

use crate::Tensor;
use crate::nn::module::{Module, Part, Parts};
use crate::nn::parameter::{Buffer, Parameter};

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

pub fn named_parameters(parts: Parts) -> Vec<(String, Parameter)> {
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

pub fn named_buffers(parts: Parts<'_>) -> Vec<(String, &Buffer)> {
    let mut found = Vec::new();
    leaves(parts, "", &mut |name, part| {
        if let Part::Buffer(buffer) = part {
            found.push((name, buffer));
        }
    });
    found
}

pub fn state_dict(parts: Parts) -> Vec<(String, Tensor)> {
    let mut found = Vec::new();
    leaves(parts, "", &mut |name, part| match part {
        Part::Parameter(parameter) => found.push((name, parameter.get().detach())),
        Part::Buffer(buffer) if buffer.is_persistent() => found.push((name, buffer.get())),
        _ => {}
    });
    found
}

pub fn train(parts: Parts, on: bool) {
    leaves(parts, "", &mut |_, part| {
        if let Part::Training(training) = part {
            training.set(on);
        }
    });
}

/// Exchanges every tensor for what `f` makes of it; a shared parameter once.
pub fn convert(parts: Parts, f: &dyn Fn(Tensor) -> Tensor) {
    let mut done: Vec<Parameter> = Vec::new();
    leaves(parts, "", &mut |_, part| match part {
        Part::Parameter(parameter) if !done.iter().any(|other| other.is(parameter)) => {
            parameter.set(f(parameter.get()));
            done.push(parameter.clone());
        }
        Part::Buffer(buffer) => buffer.set(f(buffer.get())),
        _ => {}
    });
}

/// Drops a gradient, or fills it with zeros if there is one.
pub fn zero_grad(x: &Tensor, set_to_none: bool) {
    if set_to_none {
        return x.zero_grad();
    }
    if let Some(gradient) = x.grad() {
        gradient.zero_();
    }
}

pub fn apply(parts: Parts, visit: &mut dyn FnMut(&str, &dyn Module)) {
    below(parts, "", visit);
}

fn below(parts: Parts, prefix: &str, visit: &mut dyn FnMut(&str, &dyn Module)) {
    for (name, part) in parts.0 {
        if let Part::Module(module) = part {
            let name = format!("{prefix}{name}");
            below(module.parts(), &format!("{name}."), visit);
            visit(&name, module);
        }
    }
}
