//! Optimizers: they change parameters by their gradients, and schedules change the learning rate.
//!
//! An optimizer holds handles on parameters, and for each one what it remembers from step to step.
//! One step of all parameters is one call of a kernel.

mod adamw;
mod clip;
mod group;
mod schedule;
mod sgd;
mod slot;
mod slots;
mod state;

pub use adamw::AdamW;
pub use clip::{clip_grad_norm_, clip_grad_value_};
pub(crate) use clip::{gradients, norm, scale};
pub use group::ParamGroup;
pub use schedule::{
    CosineAnnealingLr, LambdaLr, LinearLr, LrScheduler, Schedule, SchedulerState, SequentialLr,
};
pub use sgd::Sgd;
pub use state::{OptimizerState, ParamState};

use crate::error::Error;
use crate::nn;

/// What changes parameters by their gradients.
pub trait Optimizer: Send {
    /// Changes every parameter that has a gradient. One that has none is left as it is: no decay,
    /// no momentum, and its steps are not counted.
    ///
    /// # Panics
    /// If a parameter lies on a device that has no such kernel, or if the list of parameters of a
    /// group has been changed.
    #[track_caller]
    fn step(&mut self) {
        self.step_scaled(1.0);
    }

    /// As [`step`](Optimizer::step) with every gradient times `factor`. The product is taken in
    /// the type that is computed with: an `f16` gradient of a loss that was scaled up by 65536
    /// would lose its small numbers if it were scaled down in place.
    #[track_caller]
    fn step_scaled(&mut self, factor: f64);

    /// The parameters in their groups.
    fn groups(&self) -> &[ParamGroup];

    /// The groups, to change learning rate and weight decay. The parameters must stay.
    fn groups_mut(&mut self) -> &mut [ParamGroup];

    /// What it would need to go on elsewhere: the numbers of every parameter, in the order of the
    /// groups. The tensors are those that the next step changes; `copy()` them to keep them.
    fn state_dict(&self) -> OptimizerState;

    /// Goes on from a state, which is copied. The tensors become those of the parameters' devices,
    /// and of the type in which this optimizer keeps them.
    ///
    /// # Errors
    /// If it is the state of another optimizer, or of other parameters. Nothing is changed then.
    fn load_state_dict(&mut self, state: &OptimizerState) -> Result<(), Error>;

    /// Drops every gradient and its memory, or fills it with zeros. To an optimizer these are not
    /// the same: a parameter whose gradient is 0 still decays and keeps its momentum.
    fn zero_grad(&self, set_to_none: bool) {
        for parameter in self.groups().iter().flat_map(|group| &group.params) {
            nn::zero_grad(&parameter.get(), set_to_none);
        }
    }
}
