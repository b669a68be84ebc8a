//! Bytes that many host threads may read and write at once, as the threads of a GPU do.
//!
//! Every access is an atomic one of the host (relaxed, which costs nothing extra), so a kernel with
//! a race gets *some* value and never breaks the simulator. This is the only file of the memory
//! that holds `unsafe`: each block checks its bounds right there, or is handed a [`Span`] that was.
#![expect(unsafe_code, reason = "many host threads share these bytes, by atomics")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// What the bytes are aligned to: more than any access of PTX asks for.
const ALIGNMENT: usize = 64;

/// Bytes shared between host threads.
pub struct Cells {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the bytes are owned, and only ever read or written by atomic operations.
unsafe impl Send for Cells {}
// SAFETY: as above: sharing them means sharing atomics.
unsafe impl Sync for Cells {}

/// A number that one lane reads or writes at once.
pub trait Cell: Copy + Default {
    /// Its size in bytes, which is its alignment too.
    const BYTES: u64;
    /// Reads it.
    ///
    /// # Safety
    /// `at` points to that many bytes of one [`Cells`] and is a multiple of the size.
    unsafe fn load(at: *mut u8) -> Self;
    /// Writes it.
    ///
    /// # Safety
    /// As of [`Cell::load`].
    unsafe fn store(self, at: *mut u8);
    /// Replaces it by what `new` makes of it, in one step for all host threads; gives the old one.
    ///
    /// # Safety
    /// As of [`Cell::load`].
    unsafe fn update(at: *mut u8, new: impl FnMut(Self) -> Self) -> Self;
}

/// One more type of number: the atomic of the same size does the work.
macro_rules! cell {
    ($number:ty, $atomic:ty) => {
        impl Cell for $number {
            const BYTES: u64 = size_of::<$number>() as u64;

            // SAFETY: what the trait asks of the caller is all that is needed.
            #[inline(always)]
            unsafe fn load(at: *mut u8) -> Self {
                // SAFETY: the caller vouches for size and alignment; all access is atomic.
                unsafe { <$atomic>::from_ptr(at.cast()) }.load(Ordering::Relaxed)
            }

            // SAFETY: what the trait asks of the caller is all that is needed.
            #[inline(always)]
            unsafe fn store(self, at: *mut u8) {
                // SAFETY: the caller vouches for size and alignment; all access is atomic.
                unsafe { <$atomic>::from_ptr(at.cast()) }.store(self, Ordering::Relaxed);
            }

            // SAFETY: what the trait asks of the caller is all that is needed.
            #[inline(always)]
            unsafe fn update(at: *mut u8, mut new: impl FnMut(Self) -> Self) -> Self {
                // SAFETY: the caller vouches for size and alignment; all access is atomic.
                let cell = unsafe { <$atomic>::from_ptr(at.cast()) };
                let mut old = cell.load(Ordering::Relaxed);
                loop {
                    let (ok, seen) = (Ordering::SeqCst, Ordering::Relaxed);
                    match cell.compare_exchange_weak(old, new(old), ok, seen) {
                        Ok(old) => return old,
                        Err(now) => old = now,
                    }
                }
            }
        }
    };
}

cell!(u8, AtomicU8);
cell!(u16, AtomicU16);
cell!(u32, AtomicU32);
cell!(u64, AtomicU64);

impl Cells {
    /// So many bytes of zeros; `None` if the host has not got them.
    pub fn zeroed(len: usize) -> Option<Cells> {
        let layout = Layout::from_size_align(len.max(1), ALIGNMENT).ok()?;
        // SAFETY: the layout has at least one byte.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Cells { start, len })
    }

    /// How many bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    fn at<T: Cell>(&self, offset: usize) -> *mut u8 {
        let end = offset.checked_add(T::BYTES as usize);
        assert!(end.is_some_and(|end| end <= self.len));
        assert!(offset.is_multiple_of(T::BYTES as usize));
        // SAFETY: the lines above have checked that the offset lies within the allocation.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Reads one number.
    ///
    /// # Panics
    /// If it does not lie within, or not at a multiple of its size: so do the others here.
    #[inline(always)]
    pub fn load<T: Cell>(&self, offset: usize) -> T {
        // SAFETY: `at` checks bounds and alignment.
        unsafe { T::load(self.at::<T>(offset)) }
    }

    /// Writes one number.
    #[inline(always)]
    pub fn store<T: Cell>(&self, offset: usize, value: T) {
        // SAFETY: `at` checks bounds and alignment.
        unsafe { value.store(self.at::<T>(offset)) }
    }

    /// Replaces one number by what `new` makes of it, as one step; returns the old one.
    #[inline(always)]
    pub fn update<T: Cell>(&self, offset: usize, new: impl FnMut(T) -> T) -> T {
        // SAFETY: `at` checks bounds and alignment.
        unsafe { T::update(self.at::<T>(offset), new) }
    }

    /// Copies bytes out, from `offset`.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        for (i, words) in (offset..).step_by(8).zip(bytes.chunks_mut(8)) {
            if words.len() == 8 && i % 8 == 0 {
                words.copy_from_slice(&self.load::<u64>(i).to_le_bytes());
            } else {
                words.iter_mut().zip(i..).for_each(|(byte, i)| *byte = self.load(i));
            }
        }
    }

    /// Copies bytes in, from `offset`.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        for (i, words) in (offset..).step_by(8).zip(bytes.chunks(8)) {
            match words.try_into() {
                Ok(word) if i % 8 == 0 => self.store(i, u64::from_le_bytes(word)),
                _ => words.iter().zip(i..).for_each(|(&byte, i)| self.store(i, byte)),
            }
        }
    }

    /// Sets a range of bytes to one value.
    pub fn fill(&self, offset: usize, len: usize, byte: u8) {
        let chunk = [byte; 256];
        for at in (0..len).step_by(256) {
            self.write(offset + at, &chunk[..(len - at).min(256)]);
        }
    }

    /// The lanes of a request, if all of them lie in these bytes, the first of which has the
    /// address `base`.
    #[inline(always)]
    pub fn lanes<'a>(&'a self, base: u64, span: &'a Span) -> Option<Lanes<'a>> {
        let first = span.min.wrapping_sub(base);
        let inside = span.min >= base
            && span.end().is_some_and(|end| end - base <= self.len as u64)
            && (self.start.as_ptr() as u64).wrapping_add(first) & (span.align - 1) == 0;
        inside.then_some(Lanes { cells: self, base, span })
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        let layout = Layout::from_size_align(self.len.max(1), ALIGNMENT);
        if let Ok(layout) = layout {
            // SAFETY: `zeroed` allocated these bytes with the same layout, and nothing else frees.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

/// The addresses of the 32 lanes of one request, with their lowest and highest.
pub struct Span {
    /// Lane by lane; a lane that takes no part has the address of one that does.
    addresses: [u64; 32],
    min: u64,
    max: u64,
    /// Bytes that each lane touches from its address on.
    bytes: u64,
    /// What the addresses have been found to be multiples of: a power of two, at most `bytes`.
    align: u64,
}

impl Span {
    /// The span of a request of `bytes` bytes a lane that must be aligned to `align`, a power of
    /// two; `None` if one of the addresses is not.
    #[inline(always)]
    pub fn new(addresses: [u64; 32], bytes: u64, align: u64) -> Option<Span> {
        let (mut min, mut max, mut bits) = (u64::MAX, 0, 0);
        for &address in &addresses {
            min = min.min(address);
            max = max.max(address);
            bits |= address;
        }
        (bits & (align - 1) == 0).then_some(Span { addresses, min, max, bytes, align })
    }

    /// The lowest address.
    #[inline(always)]
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The highest address.
    #[inline(always)]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// One past the last byte; `None` beyond all addresses.
    #[inline(always)]
    pub fn end(&self) -> Option<u64> {
        self.max.checked_add(self.bytes)
    }

    /// The addresses lane by lane.
    #[inline(always)]
    pub fn addresses(&self) -> &[u64; 32] {
        &self.addresses
    }
}

/// A request of a warp that has been found to lie in some [`Cells`].
pub struct Lanes<'a> {
    cells: &'a Cells,
    base: u64,
    span: &'a Span,
}

impl Lanes<'_> {
    /// Where the number lies that a lane has `part` numbers beyond its address.
    #[inline(always)]
    fn at<T: Cell>(&self, lane: usize, part: u64) -> *mut u8 {
        let beyond = part * T::BYTES;
        assert!(T::BYTES <= self.span.align && beyond + T::BYTES <= self.span.bytes);
        let offset = (self.span.addresses[lane] - self.base) + beyond;
        // SAFETY: `Cells::lanes` has checked that [min, max + bytes) of the span, in which every
        // address lies, is within the cells; the number lies within the lane's bytes.
        unsafe { self.cells.start.as_ptr().add(offset as usize) }
    }

    /// Reads a lane's number.
    #[inline(always)]
    pub fn load<T: Cell>(&self, lane: usize, part: u64) -> T {
        // SAFETY: `at` points into the cells; the span's addresses and the start of the cells are
        // multiples of `align`, as the lowest address was checked against both.
        unsafe { T::load(self.at::<T>(lane, part)) }
    }

    /// Writes a lane's number.
    #[inline(always)]
    pub fn store<T: Cell>(&self, lane: usize, part: u64, value: T) {
        // SAFETY: as of `load`.
        unsafe { value.store(self.at::<T>(lane, part)) }
    }

    /// Replaces a lane's number by what `new` makes of it, as one step; returns the old one.
    #[inline(always)]
    pub fn update<T: Cell>(&self, lane: usize, new: impl FnMut(T) -> T) -> T {
        // SAFETY: as of `load`.
        unsafe { T::update(self.at::<T>(lane, 0), new) }
    }
}
