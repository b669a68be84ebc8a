//! Bytes that many host threads may read and write at once, as the threads of a GPU do.
//!
//! Every access is an atomic one of the host (relaxed, which costs nothing extra), so a kernel with
//! a race gets *some* value and never breaks the simulator. This is the only file of the memory
//! that holds `unsafe`: each block checks its bounds right there, or those of a [`Shape`] before.
#![expect(unsafe_code, reason = "many host threads share these bytes, by atomics")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::shape::{Shape, Step};

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

    /// The lanes of a request whose lowest address is byte `at` of these bytes, if all of them lie
    /// within and are aligned.
    #[inline(always)]
    pub fn lanes<'a>(&'a self, at: u64, shape: &'a Shape) -> Option<Lanes<'a>> {
        let (len, reach) = (self.len as u64, u64::from(shape.reach()));
        let align = u64::from(shape.bytes() - 1);
        let aligned = (self.start.as_ptr() as u64).wrapping_add(at) & align == 0;
        if reach > len || at > len - reach || !aligned {
            return None;
        }
        // SAFETY: the line above has checked that the offset lies within the allocation.
        let start = unsafe { self.start.add(at as usize) };
        Some(Lanes { start, shape, alone: false, cells: PhantomData })
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

/// A request of a warp that has been found to lie in some [`Cells`].
pub struct Lanes<'a> {
    /// What the lowest lane accesses: it, and as many bytes as the shape reaches, are in the cells.
    start: NonNull<u8>,
    shape: &'a Shape,
    /// Whether one host thread has all these cells to itself.
    alone: bool,
    cells: PhantomData<&'a Cells>,
}

/// A number that vectors can read and write for all lanes at once.
pub trait Vector: Cell {
    /// Reads it in all lanes.
    fn load_all(lanes: &Lanes, part: u32, to: &mut [Self; 32]);
    /// Writes it in all lanes, in their order.
    fn store_all(lanes: &Lanes, part: u32, from: &[Self; 32]);
}

/// One more type of number whose vectors are these functions.
macro_rules! vector {
    ($number:ty, $read:path, $write:path) => {
        impl Vector for $number {
            #[inline(always)]
            fn load_all(lanes: &Lanes, part: u32, to: &mut [Self; 32]) {
                #[cfg(target_arch = "x86_64")]
                if lanes.are_prepared() {
                    let start = lanes.part::<Self>(part);
                    // SAFETY: only a processor that has vectors prepares a shape; `part` has
                    // checked that each lane's number is within the cells.
                    return unsafe { $read(start, lanes.shape, to) };
                }
                for (lane, to) in to.iter_mut().enumerate() {
                    *to = lanes.load(lane, part);
                }
            }

            #[inline(always)]
            fn store_all(lanes: &Lanes, part: u32, from: &[Self; 32]) {
                #[cfg(target_arch = "x86_64")]
                if lanes.are_prepared() {
                    let start = lanes.part::<Self>(part);
                    // SAFETY: as in `load_all`.
                    return unsafe { $write(start, lanes.shape, from) };
                }
                for (lane, &from) in from.iter().enumerate() {
                    lanes.store(lane, part, from);
                }
            }
        }
    };
}

vector!(u32, super::vector::read_words, super::vector::write_words);
vector!(u64, super::vector::read_doubles, super::vector::write_doubles);

impl Lanes<'_> {
    /// The same, of cells that no other host thread accesses: an update then needs no lock.
    #[inline(always)]
    pub fn alone(self) -> Self {
        Lanes { alone: true, ..self }
    }

    /// Whether all lanes are read at once as fast as one.
    #[inline(always)]
    pub fn are_prepared(&self) -> bool {
        self.shape.steps()[0] != Step::Scalar
    }

    /// Where the number lies that the lowest lane has `part` numbers beyond its address.
    #[inline(always)]
    fn part<T: Cell>(&self, part: u32) -> *mut u8 {
        let beyond = part * T::BYTES as u32;
        assert!(beyond + T::BYTES as u32 <= self.shape.bytes());
        // SAFETY: this is within the bytes of the lowest lane, all of which are in the cells.
        unsafe { self.start.as_ptr().add(beyond as usize) }
    }

    /// Where the number lies that a lane has `part` numbers beyond its address.
    #[inline(always)]
    fn at<T: Cell>(&self, lane: usize, part: u32) -> *mut u8 {
        let start = self.part::<T>(part);
        // SAFETY: the lane's bytes begin so far beyond the lowest one's, and are in the cells too.
        unsafe { start.add(self.shape.offsets()[lane] as usize) }
    }

    /// Reads a lane's number.
    #[inline(always)]
    pub fn load<T: Cell>(&self, lane: usize, part: u32) -> T {
        // SAFETY: `at` points into the cells. Start and offsets are multiples of the lane's bytes,
        // which are a power of two that is not less than the number's.
        unsafe { T::load(self.at::<T>(lane, part)) }
    }

    /// Writes a lane's number.
    #[inline(always)]
    pub fn store<T: Cell>(&self, lane: usize, part: u32, value: T) {
        // SAFETY: as of `load`.
        unsafe { value.store(self.at::<T>(lane, part)) }
    }

    /// Replaces a lane's number by what `new` makes of it, as one step; returns the old one.
    #[inline(always)]
    pub fn update<T: Cell>(&self, lane: usize, mut new: impl FnMut(T) -> T) -> T {
        if self.alone {
            let old = self.load(lane, 0);
            self.store(lane, 0, new(old));
            return old;
        }
        // SAFETY: as of `load`.
        unsafe { T::update(self.at::<T>(lane, 0), new) }
    }
}
