//! What a training step is in numbers: the parameters of a model, and one weight of them.

use std::fmt;

/// An entry of a model's list of parameters.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name in a checkpoint: `blocks.0.attn.weight`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Whether it stays in fp32 whatever the others are stored in, as weights of norms often do.
    pub keep_f32: bool,
    /// The index of an earlier entry if this one is the same memory under a second name.
    pub tied_to: Option<usize>,
}

/// One weight in one step of training.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The weight before the step, a number of the format.
    pub weight: f64,
    /// The gradient that exact arithmetic would give.
    pub gradient: f64,
    /// What the loss is multiplied by before the backward pass; 1 if it is not scaled.
    pub loss_scale: f64,
    /// The optimizer subtracts this much of the gradient.
    pub learning_rate: f64,
}

/// What becomes of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The weight changes.
    Fine,
    /// The gradient is stored as infinity or NaN.
    Overflow,
    /// The gradient is not zero and is stored as zero.
    Underflow,
    /// The gradient arrives, and the weight stays exactly what it was.
    UpdateLost,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Step { weight, gradient, loss_scale, learning_rate } = self;
        write!(
            f,
            "weight {weight}, gradient {gradient:.3e}, loss scale {loss_scale}, learning rate \
             {learning_rate:.3e}"
        )
    }
}
