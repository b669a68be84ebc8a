//! Loading a state dict into a module: first everything is compared, then everything is copied.
//!
//! Contract: an error lists *all* that does not fit, and nothing was changed. As in PyTorch's
//! `load_state_dict`, a shape that differs is an error also when the loading is not strict: a copy
//! would broadcast `[1]` over 32 numbers without a word.
//!
//! A parameter that has several names in the module is filled if the state has one of them: files
//! that Hugging Face's libraries save have a tied weight once. (PyTorch alone would call the other
//! name missing; `safetensors.torch.load_model` does as is done here.)

use std::fmt::Write;

use crate::Tensor;
use crate::autograd::no_grad;
use crate::error::{Error, Quoted};
use crate::nn::state_dict::{StateDict, are_tied};

/// What the module has and the state lacks, and the other way round (PyTorch's
/// `_IncompatibleKeys`). In the order of the module, and of the state.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct IncompatibleKeys {
    /// Names of the module that the state lacks; these stayed as they were.
    pub missing: Vec<String>,
    /// Names of the state that the module lacks; these were not used.
    pub unexpected: Vec<String>,
}

/// Copies the state into the tensors of a module, or says what does not fit.
pub(super) fn load(
    what: &str,
    module: &StateDict,
    state: &StateDict,
    strict: bool,
) -> Result<IncompatibleKeys, Error> {
    let keys = check(what, module, state, strict)?;
    no_grad(|| {
        for (_, own, saved) in pairs(module, state) {
            let saved = fitting(own, saved).expect("the shapes were compared above");
            own.copy_(&saved.to(own.device()));
        }
    });
    Ok(keys)
}

/// Says what does not fit, and changes nothing: a checkpoint asks before it restores any part.
pub(crate) fn check(
    what: &str,
    module: &StateDict,
    state: &StateDict,
    strict: bool,
) -> Result<IncompatibleKeys, Error> {
    let keys =
        IncompatibleKeys { missing: missing(module, state), unexpected: absent(state, module) };
    let other_shape: Vec<String> = pairs(module, state)
        .filter(|(_, own, saved)| fitting(own, saved).is_none())
        .map(|(name, own, saved)| {
            let name = Quoted(name);
            format!("{name}: checkpoint {:?}, model {:?}", saved.shape(), own.shape())
        })
        .collect();
    match complaint(what, &keys, &other_shape, strict) {
        Some(message) => Err(Error::Mismatch { message }),
        None => Ok(keys),
    }
}

/// What both have: the name, the module's tensor and the saved one.
fn pairs<'a>(
    module: &'a StateDict,
    state: &'a StateDict,
) -> impl Iterator<Item = (&'a str, &'a Tensor, &'a Tensor)> {
    module.iter().filter_map(|(name, own)| Some((name, own, state.get(name)?)))
}

/// The names of the module that the state does not fill, under that name or another.
fn missing(module: &StateDict, state: &StateDict) -> Vec<String> {
    let mut missing = absent(module, state);
    missing.retain(|name| {
        let own = module.get(name).expect("it is a name of the module");
        !pairs(module, state).any(|(_, other, _)| are_tied(own, other))
    });
    missing
}

/// The names of `some` that `others` lack.
fn absent(some: &StateDict, others: &StateDict) -> Vec<String> {
    some.names().filter(|name| others.get(name).is_none()).map(str::to_string).collect()
}

/// The saved tensor under the shape of the module's. The one exception to "the same shape" is
/// PyTorch's: `[1]` goes into a tensor without dimensions, since PyTorch 0.3 knew no such tensors.
fn fitting(own: &Tensor, saved: &Tensor) -> Option<Tensor> {
    match (own.shape(), saved.shape()) {
        (a, b) if a == b => Some(saved.detach()),
        ([], [1]) => Some(saved.detach().reshape::<usize>(&[])),
        _ => None,
    }
}

/// All that is wrong in one message; `None` if nothing is.
fn complaint(
    what: &str,
    keys: &IncompatibleKeys,
    other_shape: &[String],
    strict: bool,
) -> Option<String> {
    let mut lines = String::new();
    let mut list = |title: &str, what: &[String], first: &str, between: &str| {
        if !what.is_empty() {
            let _ = write!(lines, "\n  {title} ({}):{first}{}", what.len(), what.join(between));
        }
    };
    let quoted = |names: &[String]| -> Vec<String> {
        names.iter().map(|name| Quoted(name).to_string()).collect()
    };
    if strict {
        list("missing from the checkpoint", &quoted(&keys.missing), " ", ", ");
        list("unexpected in the checkpoint", &quoted(&keys.unexpected), " ", ", ");
    }
    list("of another shape", other_shape, "\n    ", "\n    ");
    let advice = match (lines.is_empty(), other_shape.is_empty()) {
        (true, _) => return None,
        (false, true) => "pass strict = false to load what fits and leave the rest as it is",
        (false, false) => "build the model with the sizes of the checkpoint",
    };
    Some(format!("the checkpoint does not fit {what}, and nothing was loaded; {advice}{lines}"))
}
