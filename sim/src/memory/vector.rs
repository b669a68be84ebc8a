//! Reads and writes of 8 lanes at once, by AVX2.
//!
//! Other host threads may access the same bytes at the same time. In Rust's terms only atomic
//! accesses may do so, of which the compiler makes one instruction a lane. So these instructions
//! are written out: what a vector instruction does to memory, on this processor, is to read or
//! write each aligned word of it as a relaxed atomic access would, in some order.
#![expect(unsafe_code, reason = "vectors of memory that host threads share need written-out code")]

use std::arch::asm;
use std::arch::x86_64::{__m128i, __m256i, _mm_loadu_si128, _mm256_loadu_si256};
use std::arch::x86_64::{_mm256_set1_epi32, _mm256_storeu_si256};

use super::cells::Cell;
use super::shape::{Shape, Step};

/// Whether this processor can run what is here.
pub(super) fn are_there() -> bool {
    is_x86_feature_detected!("avx2")
}

/// Reads 32 bits a lane.
///
/// # Safety
/// [`are_there`]; what begins at each of the shape's offsets from `start` is 4 aligned bytes of
/// one [`super::Cells`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn read_words(start: *mut u8, shape: &Shape, to: &mut [u32; 32]) {
    for group in 0..4 {
        let lanes = &shape.offsets().as_chunks::<8>().0[group];
        let to = &mut to.as_chunks_mut::<8>().0[group];
        // SAFETY: the caller vouches for each lane; a run of words is what its 8 lanes read. The
        // target has 32 bytes.
        unsafe {
            let first = start.add(lanes[0] as usize);
            let value = match shape.steps()[group] {
                Step::Same => same_word(first),
                Step::Run(4) => run(first),
                _ => gather_words(start, lanes),
            };
            _mm256_storeu_si256(to.as_mut_ptr().cast(), value);
        }
    }
}

/// Reads 64 bits a lane.
///
/// # Safety
/// As of [`read_words`], of 8 bytes.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn read_doubles(start: *mut u8, shape: &Shape, to: &mut [u64; 32]) {
    for group in 0..8 {
        let lanes = &shape.offsets().as_chunks::<4>().0[group];
        let to = &mut to.as_chunks_mut::<4>().0[group];
        // SAFETY: as in `read_words`.
        unsafe {
            let first = start.add(lanes[0] as usize);
            let value = match shape.steps()[group / 2] {
                Step::Same => same_double(first),
                Step::Run(8) => run(first),
                _ => gather_doubles(start, lanes),
            };
            _mm256_storeu_si256(to.as_mut_ptr().cast(), value);
        }
    }
}

/// Writes 32 bits a lane; where lanes write the same word, the last one does.
///
/// # Safety
/// As of [`read_words`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn write_words(start: *mut u8, shape: &Shape, from: &[u32; 32]) {
    for group in 0..4 {
        let lanes = &shape.offsets().as_chunks::<8>().0[group];
        let from = &from.as_chunks::<8>().0[group];
        // SAFETY: as in `read_words`; the source has 32 bytes.
        unsafe {
            match shape.steps()[group] {
                Step::Same => from[7].store(start.add(lanes[0] as usize)),
                Step::Run(4) => {
                    let value = _mm256_loadu_si256(from.as_ptr().cast());
                    write_run(start.add(lanes[0] as usize), value);
                }
                _ => {
                    for lane in 0..8 {
                        from[lane].store(start.add(lanes[lane] as usize));
                    }
                }
            }
        }
    }
}

/// Writes 64 bits a lane; where lanes write the same, the last one does.
///
/// # Safety
/// As of [`read_words`], of 8 bytes.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn write_doubles(start: *mut u8, shape: &Shape, from: &[u64; 32]) {
    for group in 0..8 {
        let lanes = &shape.offsets().as_chunks::<4>().0[group];
        let from = &from.as_chunks::<4>().0[group];
        // SAFETY: as in `write_words`.
        unsafe {
            match shape.steps()[group / 2] {
                Step::Run(8) => {
                    let value = _mm256_loadu_si256(from.as_ptr().cast());
                    write_run(start.add(lanes[0] as usize), value);
                }
                _ => {
                    for lane in 0..4 {
                        from[lane].store(start.add(lanes[lane] as usize));
                    }
                }
            }
        }
    }
}

/// 32 bytes.
///
/// # Safety
/// They can be read at `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn run(at: *const u8) -> __m256i {
    let value;
    // SAFETY: the caller vouches for the bytes; nothing else is touched.
    unsafe {
        asm!("vmovdqu {value}, ymmword ptr [{at}]", at = in(reg) at, value = out(ymm_reg) value,
            options(nostack, preserves_flags, readonly));
    }
    value
}

/// Writes 32 bytes.
///
/// # Safety
/// They can be written at `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn write_run(at: *mut u8, value: __m256i) {
    // SAFETY: the caller vouches for the bytes; nothing else is touched.
    unsafe {
        asm!("vmovdqu ymmword ptr [{at}], {value}", at = in(reg) at, value = in(ymm_reg) value,
            options(nostack, preserves_flags));
    }
}

/// 4 bytes, 8 times.
///
/// # Safety
/// They can be read at `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn same_word(at: *const u8) -> __m256i {
    let value;
    // SAFETY: as in `run`.
    unsafe {
        asm!("vpbroadcastd {value}, dword ptr [{at}]", at = in(reg) at, value = out(ymm_reg) value,
            options(nostack, preserves_flags, readonly));
    }
    value
}

/// 8 bytes, 4 times.
///
/// # Safety
/// They can be read at `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn same_double(at: *const u8) -> __m256i {
    let value;
    // SAFETY: as in `run`.
    unsafe {
        asm!("vpbroadcastq {value}, qword ptr [{at}]", at = in(reg) at, value = out(ymm_reg) value,
            options(nostack, preserves_flags, readonly));
    }
    value
}

/// 4 bytes at each of 8 places.
///
/// # Safety
/// They can be read so many bytes beyond `start`; no distance is 2 GiB or more.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn gather_words(start: *const u8, lanes: &[u32; 8]) -> __m256i {
    let value;
    // SAFETY: the source has 32 bytes. The rest is as in `run`.
    unsafe {
        let lanes = _mm256_loadu_si256(lanes.as_ptr().cast());
        asm!("vpgatherdd {value}, dword ptr [{start} + {lanes}], {all}", start = in(reg) start,
            lanes = in(ymm_reg) lanes, all = inout(ymm_reg) _mm256_set1_epi32(-1) => _,
            value = out(ymm_reg) value, options(nostack, preserves_flags, readonly));
    }
    value
}

/// 8 bytes at each of 4 places.
///
/// # Safety
/// As of [`gather_words`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn gather_doubles(start: *const u8, lanes: &[u32; 4]) -> __m256i {
    let value;
    // SAFETY: the source has 16 bytes. The rest is as in `run`.
    unsafe {
        let lanes: __m128i = _mm_loadu_si128(lanes.as_ptr().cast());
        asm!("vpgatherdq {value}, qword ptr [{start} + {lanes}], {all}", start = in(reg) start,
            lanes = in(xmm_reg) lanes, all = inout(ymm_reg) _mm256_set1_epi32(-1) => _,
            value = out(ymm_reg) value, options(nostack, preserves_flags, readonly));
    }
    value
}
