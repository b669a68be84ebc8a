//! The most memory that a thread holds while it does something: an allocator that counts.
//!
//! Shared by the engine's tests and the fuzz targets: a reader of files must not take more memory
//! than a small multiple of the file, whatever numbers stand in it.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has taken and not given back, and the most that were.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// `#[global_allocator] static PEAK: peak::Counting = peak::Counting;`
pub struct Counting;

/// Runs `f` and gives the most bytes that this thread held at a time beyond those it held before.
pub fn peak<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    MOST.set(before);
    let result = f();
    (result, (MOST.get() - before) as usize)
}

/// A thread that is ending has no counters any more, and nobody who asks for them.
fn count(bytes: isize) {
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(live.get())));
    });
}

// SAFETY: every block comes from `System` and goes back to it with the layout it came with, and
// counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller promises what `System::alloc` asks.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller promises that `pointer` came from here, thus from `System`, with this
        // layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // The system may hold both for a moment, so both are counted.
        count(new_size as isize);
        count(-(layout.size() as isize));
        // SAFETY: the caller promises that `pointer` came from `System` with this layout, and that
        // `new_size` is a valid size for its alignment.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}
