//! What is kept from one training step to the next: by AdamW for a parameter, and by a loss scaler.

/// The numbers that AdamW is made with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamSettings {
    /// The learning rate.
    pub lr: f64,
    /// The share of the running mean of gradients that stays at each step.
    pub beta1: f64,
    /// The share of the running mean of squares that stays at each step.
    pub beta2: f64,
    /// What keeps the divisor from 0.
    pub eps: f64,
    /// The strength of the pull towards 0.
    pub weight_decay: f64,
}

/// What AdamW keeps for one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamState {
    /// How many steps were taken.
    pub step: u64,
    /// The running mean of the gradient, one number a weight.
    pub m: Vec<f32>,
    /// The running mean of its square, one number a weight.
    pub v: Vec<f32>,
}

impl AdamState {
    /// Before the first step of a parameter with so many weights.
    pub fn new(weights: usize) -> AdamState {
        AdamState { step: 0, m: vec![0.0; weights], v: vec![0.0; weights] }
    }
}

/// A dynamic loss scaler, with the names of PyTorch's `GradScaler`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossScaler {
    /// What the loss was multiplied by.
    pub scale: f32,
    /// What the scale is multiplied by after `growth_interval` steps in a row without overflow.
    pub growth_factor: f32,
    /// What it is multiplied by after an overflow.
    pub backoff_factor: f32,
    /// How many steps in a row without overflow make it grow; at least 1.
    pub growth_interval: u32,
    /// How many steps in a row there were since the scale changed last.
    pub growth_tracker: u32,
}
