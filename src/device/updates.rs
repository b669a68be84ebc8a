//! Steps of optimizers by name: what a backend is given to change parameters with.

use crate::device::View;

/// One parameter in a step of an optimizer. All of a call have one dtype and lie on one device,
/// each view has its elements side by side in logical order, and no storage is written twice.
pub struct Update<'a, Rule> {
    /// The parameter; read and written, unless there is a master copy, then written only.
    pub param: View<'a>,
    /// Its gradient, of the same dtype.
    pub grad: View<'a>,
    /// The parameter in the type that is computed with; read and written.
    pub master: Option<View<'a>>,
    /// What the optimizer keeps for each element, of the parameter's dtype or of the type that is
    /// computed with; read and written. AdamW: the running means of the gradient and of its
    /// square. SGD: the momentum buffer, or nothing.
    pub state: Vec<View<'a>>,
    /// What happens to each element.
    pub rule: Rule,
}

/// What AdamW does to a parameter in one step. Source: I. Loshchilov and F. Hutter, ICLR 2019,
/// algorithm 2, in the order of operations that PyTorch has.
///
/// ```text
/// g ← factor · g
/// p ← p · (1 − lr · weight_decay)
/// m ← m + (1 − β₁) · (g − m)
/// v ← β₂ · v + (1 − β₂) · g²
/// p ← p − (lr / (1 − β₁ᵗ)) · m / (√v / √(1 − β₂ᵗ) + ε)
/// ```
#[derive(Clone, Copy)]
pub struct AdamwRule {
    /// What the gradient is multiplied by: 1, or −1 to climb, or 1 / scale of a scaled loss.
    pub factor: f64,
    /// The learning rate.
    pub lr: f64,
    /// (β₁, β₂)
    pub betas: (f64, f64),
    /// ε
    pub eps: f64,
    /// The share of the parameter that is taken off, times the learning rate.
    pub weight_decay: f64,
    /// t: which step of this parameter it is, from 1 on.
    pub step: u64,
}

/// What SGD does to a parameter in one step; without a momentum buffer, b is g.
///
/// ```text
/// g ← factor · g + weight_decay · p
/// b ← momentum · b + (1 − dampening) · g        the first time: b ← g
/// p ← p − lr · b                                 Nesterov: p ← p − lr · (g + momentum · b)
/// ```
#[derive(Clone, Copy)]
pub struct SgdRule {
    /// What the gradient is multiplied by: 1, or −1 to climb, or 1 / scale of a scaled loss.
    pub factor: f64,
    /// The learning rate.
    pub lr: f64,
    /// The share of the buffer that stays.
    pub momentum: f64,
    /// The share of the gradient that is left out of the buffer.
    pub dampening: f64,
    /// Whether the step looks one momentum ahead.
    pub nesterov: bool,
    /// The share of the parameter that is added to its gradient.
    pub weight_decay: f64,
    /// Whether it is the parameter's first step.
    pub first: bool,
}
