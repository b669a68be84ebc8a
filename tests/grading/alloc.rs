//! The allocator of the graders: counts live bytes and refuses more than the child's cap.
//!
//! The parent runs without a cap; [`cap`] sets it in the child before the learner's code runs.
//! A refusal is written into the verdict file at once, because the runtime aborts right after it.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::record;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static CAP: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The most live bytes since [`peak_of`] began.
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// `#[global_allocator] static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;`
pub struct CappedAllocator;

/// From now on, refuses what would bring the live bytes above `bytes`.
pub(crate) fn cap(bytes: usize) {
    CAP.store(bytes, Relaxed);
}

/// Runs something, and says how many bytes beyond those live before were live at most meanwhile.
///
/// All threads of the process count, so a check calls this while nothing else runs. 0 in a program
/// without [`CappedAllocator`].
pub fn peak_of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let value = run();
    (value, PEAK.load(Relaxed).saturating_sub(before))
}

/// Counts `bytes` as live if they fit under the cap.
fn admit(bytes: usize) -> bool {
    let before = LIVE.fetch_add(bytes, Relaxed);
    if before.saturating_add(bytes) <= CAP.load(Relaxed) {
        PEAK.fetch_max(before + bytes, Relaxed);
        return true;
    }
    LIVE.fetch_sub(bytes, Relaxed);
    record::refused(bytes);
    false
}

/// Takes `bytes` back out of the count if the system had no memory either.
fn settle(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        LIVE.fetch_sub(bytes, Relaxed);
    }
    pointer
}

// SAFETY: every block comes from `System` and goes back to it with the layout it came with;
// a refusal is a null pointer, which `GlobalAlloc` allows, and nothing here allocates or unwinds.
unsafe impl GlobalAlloc for CappedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !admit(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises what `System::alloc` asks: a layout of non-zero size.
        settle(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !admit(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as in `alloc`.
        settle(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller promises that `pointer` came from this allocator, thus from `System`,
        // with this layout.
        unsafe { System.dealloc(pointer, layout) };
        LIVE.fetch_sub(layout.size(), Relaxed);
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let grown = new_size.saturating_sub(layout.size());
        if grown > 0 && !admit(grown) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises that `pointer` came from `System` with this layout, and that
        // `new_size` is a valid size for its alignment.
        let moved = settle(unsafe { System.realloc(pointer, layout, new_size) }, grown);
        if !moved.is_null() {
            LIVE.fetch_sub(layout.size().saturating_sub(new_size), Relaxed);
        }
        moved
    }
}
