//! Counters of the kernels that a simulated GPU has run.

use std::collections::BTreeMap;

use engine_room_sim::counters::Counters;
use engine_room_sim::exec::Report;

use crate::device::driver::Nanoseconds;

/// Launches together: those of one kernel, or all of one device.
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
    fn add(&mut self, other: &Launches) {
        self.count += other.count;
        self.counters += other.counters;
        self.modelled_ns += other.modelled_ns;
    }
}

/// The launches of one device by the kernel's name.
#[derive(Default)]
pub(super) struct Record(BTreeMap<String, Launches>);

impl Record {
    /// One launch more.
    pub fn add(&mut self, kernel: &str, report: &Report) {
        let (counters, modelled_ns) = (report.counters, report.modelled_ns);
        let launch = Launches { count: 1, counters, modelled_ns };
        match self.0.get_mut(kernel) {
            Some(launches) => launches.add(&launch),
            None => drop(self.0.insert(kernel.to_string(), launch)),
        }
    }

    /// Those of one kernel.
    pub fn of(&self, kernel: &str) -> Launches {
        self.0.get(kernel).copied().unwrap_or_default()
    }

    /// Those of all kernels.
    pub fn sum(&self) -> Launches {
        let mut all = Launches::default();
        self.0.values().for_each(|launches| all.add(launches));
        all
    }
}
