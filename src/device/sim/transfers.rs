//! Counters of the copies that a simulated GPU has made.

use std::fmt;

use crate::device::driver::{Nanoseconds, Route};

/// What went over one route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Calls that copied something.
    pub count: u64,
    /// Bytes they copied.
    pub bytes: u64,
    /// The *modelled* time that the copies take, without the calls and without waiting for a turn.
    pub modelled_ns: Nanoseconds,
}

/// The copies of one device by direction and kind of host memory. Prints as a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transfers([Traffic; Route::ALL.len()]);

impl Transfers {
    /// What went over a route.
    pub fn on(&self, route: Route) -> Traffic {
        self.0[index(route)]
    }

    pub(super) fn add(&mut self, route: Route, bytes: u64, modelled_ns: Nanoseconds) {
        let traffic = &mut self.0[index(route)];
        traffic.count += 1;
        traffic.bytes += bytes;
        traffic.modelled_ns += modelled_ns;
    }
}

fn index(route: Route) -> usize {
    Route::ALL.iter().position(|&other| other == route).expect("ALL has every route")
}

impl fmt::Display for Transfers {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:<20} {:>7} {:>14} {:>14}", "copies", "count", "bytes", "modelled us")?;
        for route in Route::ALL {
            let Traffic { count, bytes, modelled_ns } = self.on(route);
            let us = modelled_ns as f64 / 1e3;
            write!(f, "\n{:<20} {count:>7} {bytes:>14} {us:>14.3}", route.name())?;
        }
        Ok(())
    }
}
