//! For the engine's tests and the fuzz targets: how much of the heap something takes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The heap is the process's, so whoever measures it is alone.
#[allow(dead_code, reason = "a fuzz target has one thread")]
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `f` gives, and how many bytes of the heap were in use at most while it ran, beyond those
/// before.
pub fn measured<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let result = f();
    (result, HEAP.peak_usage().saturating_sub(before))
}
