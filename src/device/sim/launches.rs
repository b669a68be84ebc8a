//! Counters of the kernels that a simulated GPU has run.

use engine_room_sim::counters::Counters;
use engine_room_sim::exec::Report;

use crate::device::driver::Nanoseconds;

/// The launches of one device together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Launches {
    /// How many kernels ran.
    pub count: u64,
    /// What they did.
    pub counters: Counters,
    /// The *modelled* time that they take, without the calls and without waiting for a turn.
    pub modelled_ns: Nanoseconds,
}

impl Launches {
    pub(super) fn add(&mut self, report: &Report) {
        self.count += 1;
        self.counters += report.counters;
        self.modelled_ns += report.modelled_ns;
    }
}
