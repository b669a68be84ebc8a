//! What tells the time of a recording.

use std::time::Instant;

use crate::device::Device;
use crate::device::driver::{Nanoseconds, Ran};
use crate::device::sim;
use crate::error::misuse;

/// The clock of a recording, at zero when it is made.
#[derive(Debug)]
pub(super) enum Clock {
    /// The computer's.
    Measured(Instant),
    /// Those of simulated GPUs: *modelled*, and the same every time.
    Modelled(Modelled),
}

/// What the host's calls to simulated GPUs take. Each of these has a clock of its own, which the
/// calls to it move; one host makes all calls, so its time is the sum.
#[derive(Debug)]
pub(super) struct Modelled {
    now: Nanoseconds,
    /// The GPUs, and what the host's time on each was when it was looked at last, since the GPU was
    /// made: a program may set the clock to zero meanwhile.
    seen: Vec<(usize, Nanoseconds)>,
}

impl Clock {
    /// That of a recording of these devices.
    ///
    /// # Panics
    /// If the time of some is modelled and that of others measured.
    #[track_caller]
    pub fn of(devices: &[Device]) -> Clock {
        let simulated = |device: &Device| match device {
            Device::Sim(n) => Some((*n, sim::lasting_ns(*n).1)),
            _ => None,
        };
        let seen: Vec<_> = devices.iter().filter_map(simulated).collect();
        match seen.len() {
            0 => Clock::Measured(Instant::now()),
            all if all == devices.len() => Clock::Modelled(Modelled { now: 0, seen }),
            _ => {
                let message = "the time of simulated GPUs is modelled and that of the others \
                               measured, and no clock shows both; profile them apart";
                misuse("profile", &[], message.to_string())
            }
        }
    }

    /// The host's nanoseconds since the recording began.
    pub fn now(&mut self) -> Nanoseconds {
        match self {
            Clock::Measured(start) => start.elapsed().as_nanos() as u64,
            Clock::Modelled(modelled) => modelled.now(),
        }
    }

    /// From when to when work of a device ran that says so itself, by the clock of the recording.
    pub fn of_device(&mut self, device: Device, ran: Ran) -> (Nanoseconds, Nanoseconds) {
        let (now, own) = match (self, device) {
            (Clock::Modelled(modelled), Device::Sim(n)) => {
                (modelled.now() + sim::lasting_ns(n).0, modelled.own(n))
            }
            _ => (0, 0),
        };
        let here = |ns: Nanoseconds| (ns + now).saturating_sub(own);
        (here(ran.start_ns), here(ran.end_ns))
    }
}

impl Modelled {
    fn now(&mut self) -> Nanoseconds {
        for (n, seen) in &mut self.seen {
            let (_, host) = sim::lasting_ns(*n);
            self.now += host - *seen;
            *seen = host;
        }
        self.now
    }

    fn own(&self, gpu: usize) -> Nanoseconds {
        self.seen.iter().find(|(n, _)| *n == gpu).map_or(0, |&(_, seen)| seen)
    }
}
