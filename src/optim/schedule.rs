//! Schedules: the learning rate as a function of how many steps were taken.
//!
//! A [`Schedule`] is a formula and remembers nothing. An [`LrScheduler`] counts the steps and puts
//! the rate into the optimizer. It counts what it is told, so it must be told of steps that were
//! taken, not of those that a loss scaler skipped:
//!
//! ```text
//! if scaler.step(&mut optimizer) {
//!     scheduler.step(&mut optimizer);
//! }
//! ```

use std::f64::consts::PI;

use crate::error::{Error, misuse};
use crate::optim::Optimizer;

/// A learning rate for each step.
pub trait Schedule: Send {
    /// The rate after `step` steps, where the optimizer was made with the rate `base`.
    fn lr(&self, base: f64, step: u64) -> f64;
}

/// From one factor in equal steps to another, where it stays: a warm-up, or a way down.
///
/// ```text
/// base · (start + (end − start) · min(step, total) / total)
/// ```
pub struct LinearLr {
    start_factor: f64,
    end_factor: f64,
    total_iters: u64,
}

impl LinearLr {
    /// From `start_factor` to `end_factor` in `total_iters` steps.
    ///
    /// # Panics
    /// If a factor is negative, or there are no steps.
    #[track_caller]
    pub fn new(start_factor: f64, end_factor: f64, total_iters: u64) -> LinearLr {
        if !(start_factor >= 0.0 && end_factor >= 0.0 && total_iters > 0) {
            let what = format!("{start_factor} to {end_factor} in {total_iters} steps");
            misuse("LinearLr", &[&what], "factors are 0 or more, steps 1 or more".to_string());
        }
        LinearLr { start_factor, end_factor, total_iters }
    }
}

impl Schedule for LinearLr {
    fn lr(&self, base: f64, step: u64) -> f64 {
        let done = step.min(self.total_iters) as f64 / self.total_iters as f64;
        base * (self.start_factor + (self.end_factor - self.start_factor) * done)
    }
}

/// Down half a cosine, slowly at both ends (I. Loshchilov and F. Hutter, ICLR 2017). After T_max
/// steps it comes up again, as in PyTorch; end the training there, or go on with another schedule.
///
/// ```text
/// eta_min + (base − eta_min) · (1 + cos(π · step / T_max)) / 2
/// ```
pub struct CosineAnnealingLr {
    t_max: u64,
    eta_min: f64,
}

impl CosineAnnealingLr {
    /// From the base to `eta_min` in `t_max` steps.
    ///
    /// # Panics
    /// If there are no steps, or the lowest rate is negative.
    #[track_caller]
    pub fn new(t_max: u64, eta_min: f64) -> CosineAnnealingLr {
        if t_max == 0 || eta_min.is_nan() || eta_min < 0.0 {
            let what = format!("to {eta_min} in {t_max} steps");
            let message = "the lowest rate is 0 or more, steps 1 or more".to_string();
            misuse("CosineAnnealingLr", &[&what], message);
        }
        CosineAnnealingLr { t_max, eta_min }
    }
}

impl Schedule for CosineAnnealingLr {
    fn lr(&self, base: f64, step: u64) -> f64 {
        let turn = PI * step as f64 / self.t_max as f64;
        self.eta_min + (base - self.eta_min) * (1.0 + turn.cos()) / 2.0
    }
}

/// The base times what a function says: base · f(step).
pub struct LambdaLr<F>(pub F);

impl<F: Fn(u64) -> f64 + Send> Schedule for LambdaLr<F> {
    fn lr(&self, base: f64, step: u64) -> f64 {
        base * (self.0)(step)
    }
}

/// One schedule after the other, each from its own step 0 on.
pub struct SequentialLr {
    schedules: Vec<Box<dyn Schedule>>,
    milestones: Vec<u64>,
}

impl SequentialLr {
    /// The second schedule begins at the first milestone, the third at the second, and so on.
    ///
    /// # Panics
    /// If there is not one milestone between every two schedules, or if they do not rise.
    #[track_caller]
    pub fn new(schedules: Vec<Box<dyn Schedule>>, milestones: Vec<u64>) -> SequentialLr {
        if schedules.len() != milestones.len() + 1 || !milestones.is_sorted_by(|a, b| a < b) {
            let what = format!("{} schedules, milestones {milestones:?}", schedules.len());
            let message = "needs rising milestones, one between every two schedules".to_string();
            misuse("SequentialLr", &[&what], message);
        }
        SequentialLr { schedules, milestones }
    }
}

impl Schedule for SequentialLr {
    fn lr(&self, base: f64, step: u64) -> f64 {
        let passed = self.milestones.partition_point(|&milestone| milestone <= step);
        let begun = if passed == 0 { 0 } else { self.milestones[passed - 1] };
        self.schedules[passed].lr(base, step - begun)
    }
}

/// Puts a schedule's rates into an optimizer.
pub struct LrScheduler {
    schedule: Box<dyn Schedule>,
    state: SchedulerState,
}

/// How far an [`LrScheduler`] has come: all that a checkpoint needs of it. The formula comes from
/// the program.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulerState {
    /// How many steps it was told of.
    pub last_epoch: u64,
    /// The rate with which each group was made.
    pub base_lrs: Vec<f64>,
}

impl LrScheduler {
    /// Takes the learning rates of the groups as bases, and puts in the rates of step 0.
    pub fn new(schedule: impl Schedule + 'static, optimizer: &mut dyn Optimizer) -> LrScheduler {
        let base_lrs = optimizer.groups().iter().map(|group| group.lr).collect();
        let state = SchedulerState { last_epoch: 0, base_lrs };
        let scheduler = LrScheduler { schedule: Box::new(schedule), state };
        scheduler.apply(optimizer);
        scheduler
    }

    /// Counts one step of the optimizer and puts in the rates for the next one. Call it after each
    /// step that was taken: for one that a loss scaler skipped the schedule would run ahead.
    pub fn step(&mut self, optimizer: &mut dyn Optimizer) {
        self.state.last_epoch += 1;
        self.apply(optimizer);
    }

    fn apply(&self, optimizer: &mut dyn Optimizer) {
        for (group, &base) in optimizer.groups_mut().iter_mut().zip(&self.state.base_lrs) {
            group.lr = self.schedule.lr(base, self.state.last_epoch);
        }
    }

    /// How far it has come.
    pub fn state_dict(&self) -> SchedulerState {
        self.state.clone()
    }

    /// Goes on from there. The optimizer's state has the rates, so load that too.
    ///
    /// # Errors
    /// If it is the state of a schedule for another number of groups.
    pub fn load_state_dict(&mut self, state: &SchedulerState) -> Result<(), Error> {
        self.check(state)?;
        self.state = state.clone();
        Ok(())
    }

    /// Whether it is a state that it could go on from.
    pub(crate) fn check(&self, state: &SchedulerState) -> Result<(), Error> {
        let (saved, own) = (state.base_lrs.len(), self.state.base_lrs.len());
        if saved != own {
            let message = format!(
                "LrScheduler: the saved state has {saved} groups, and this optimizer {own}; build \
                 the groups as they were when it was saved"
            );
            return Err(Error::Mismatch { message });
        }
        Ok(())
    }
}
