//! For tests of what a profile records.

use std::sync::{Mutex, MutexGuard, PoisonError};

use engine_room::Device;
use engine_room::driver::HostMemory;
use engine_room::profiler::Profile;

/// One profile at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Holds off the other tests of the process.
pub fn alone() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The simulated GPU whose clock tells the time.
pub const SIM: Device = Device::Sim(0);

/// Moves the clock on: a copy of one byte.
pub fn tick() {
    let driver = SIM.driver();
    let at = driver.alloc(1).expect("there is memory");
    let mut byte = [0];
    driver.copy_to_host(&mut byte, at, HostMemory::Pageable, driver.default_stream()).unwrap();
    driver.free(at).unwrap();
}

/// Every span of the host lies within the span that it is a part of.
pub fn is_nested(profile: &Profile) {
    for event in profile.events() {
        assert!(event.start_ns <= event.end_ns, "{event:?}");
        if let Some(parent) = event.parent {
            let outer = &profile.events()[parent];
            assert_eq!(outer.lane, event.lane);
            let within = outer.start_ns <= event.start_ns && event.end_ns <= outer.end_ns;
            assert!(within, "{event:?} in {outer:?}");
        }
    }
}
