//! Which steps of a loop are recorded.

use std::cell::{Cell, RefCell};

use crate::profiler::event::Kind;
use crate::profiler::recording::{self, Span, span};

/// Rounds of steps: some are let pass, some are recorded and thrown away, some are recorded and
/// kept. PyTorch's `torch.profiler.schedule`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Steps before the first round.
    pub skip_first: u64,
    /// Steps that are not recorded, at the beginning of each round.
    pub wait: u64,
    /// Steps that are recorded and dropped: the first ones pay for what later ones find ready.
    pub warmup: u64,
    /// Steps that are kept; at least one.
    pub active: u64,
    /// Rounds; 0 for as many as there are steps.
    pub repeat: u64,
}

/// What happens to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfilerAction {
    /// It is not recorded.
    None,
    /// It is recorded and dropped.
    Warmup,
    /// It is recorded and kept. PyTorch has a fourth action for the last of these in a round, at
    /// which it hands the round over; here all rounds are in one profile.
    Record,
}

impl Schedule {
    /// What happens to step number `step`, counted from 0.
    pub fn action(&self, step: u64) -> ProfilerAction {
        let round = self.wait.saturating_add(self.warmup).saturating_add(self.active);
        let Some(step) = step.checked_sub(self.skip_first) else { return ProfilerAction::None };
        if self.active == 0 || (self.repeat > 0 && step / round >= self.repeat) {
            return ProfilerAction::None;
        }
        match step % round {
            at if at < self.wait => ProfilerAction::None,
            at if at - self.wait < self.warmup => ProfilerAction::Warmup,
            _ => ProfilerAction::Record,
        }
    }
}

/// Counts the steps of a program that is profiled.
pub struct Steps {
    schedule: Option<Schedule>,
    number: Cell<u64>,
    /// The step that runs.
    open: RefCell<Option<Span>>,
}

impl Steps {
    /// Begins step 0.
    #[track_caller]
    pub(super) fn new(schedule: Option<Schedule>) -> Steps {
        let steps = Steps { schedule, number: Cell::new(0), open: RefCell::new(None) };
        steps.begin();
        steps
    }

    /// Says that a step has ended; the next one begins. With a schedule a step is a span, so what
    /// began in it and has not ended ends with it.
    #[track_caller]
    pub fn step(&self) {
        self.open.take();
        self.number.set(self.number.get() + 1);
        self.begin();
    }

    #[track_caller]
    fn begin(&self) {
        let number = self.number.get();
        let action = self.schedule.map_or(ProfilerAction::Record, |it| it.action(number));
        let on = action != ProfilerAction::None;
        recording::switch(on, action == ProfilerAction::Record);
        if self.schedule.is_some() && on {
            let name = format!("ProfilerStep#{number}");
            self.open.replace(Some(span(Kind::Step, name)));
        }
    }
}
