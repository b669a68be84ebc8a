//! Groups of parameters with a learning rate and a weight decay of their own.

use crate::error::misuse;
use crate::nn::Parameter;

/// Some parameters and what is special about them: often the biases and the norms do not decay.
/// All else, such as the betas, is the optimizer's and the same for all groups.
#[derive(Clone, Debug)]
pub struct ParamGroup {
    /// The parameters. An optimizer that has them remembers something for each one, so they stay.
    pub params: Vec<Parameter>,
    /// How far a step goes.
    pub lr: f64,
    /// The strength of the pull towards 0.
    pub weight_decay: f64,
}

/// Refuses groups that an optimizer could not work on, under its name.
#[track_caller]
pub(super) fn check(op: &'static str, groups: &[ParamGroup]) {
    for group in groups {
        non_negative(op, "learning rate", group.lr);
        non_negative(op, "weight decay", group.weight_decay);
    }
    let places: Vec<(usize, usize, &Parameter)> = (0..groups.len())
        .flat_map(|g| groups[g].params.iter().enumerate().map(move |(i, param)| (g, i, param)))
        .collect();
    if places.is_empty() {
        let message = "there are no parameters; pass model.parameters()".to_string();
        misuse(op, &[], message);
    }
    for (at, (g, i, param)) in places.iter().enumerate() {
        if let Some((h, j, _)) = places[..at].iter().find(|(_, _, other)| other.is(param)) {
            let message = format!(
                "parameter {i} of group {g} is also parameter {j} of group {h}, and would be \
                 stepped twice; list each one once, as Module::parameters does"
            );
            misuse(op, &[&param.get().brief()], message);
        }
    }
}

/// Refuses what is below 0, and NaN.
#[track_caller]
pub(super) fn non_negative(op: &'static str, what: &str, value: f64) {
    if value.is_nan() || value < 0.0 {
        misuse(op, &[&value], format!("the {what} is 0 or more"));
    }
}
