//! Work in chunks: over all processor cores, with the widest instructions that they have.
//!
//! How work is cut into chunks depends on its size alone, never on the number of threads, so the
//! results have the same bits on every machine.

use std::mem::MaybeUninit;
use std::ops::Range;

use rayon::prelude::*;

use crate::memory::room;

/// Elements of a chunk: small enough for a core's cache, large enough to be worth handing over.
pub const CHUNK: usize = 16 * 1024;

/// Elements from which on handing chunks to other threads pays: waking them takes microseconds.
const MANY: usize = 4 * CHUNK;

/// Whether work on so many elements is handed to other threads.
pub fn is_worth_threads(elements: usize) -> bool {
    elements >= MANY && rayon::current_num_threads() > 1
}

/// f(i) for each i below `count`, in order; each one is work on `cost` elements.
pub fn collect<A: Send>(count: usize, cost: usize, f: impl Fn(usize) -> A + Sync + Send) -> Vec<A> {
    match is_worth_threads(count.saturating_mul(cost)) {
        true => {
            (0..count).into_par_iter().with_min_len(CHUNK.div_ceil(cost.max(1))).map(f).collect()
        }
        false => (0..count).map(f).collect(),
    }
}

/// A vector of `numel` elements that `write` fills, chunk by chunk: it is given the numbers of the
/// elements and the room for them, and must write all of it.
pub fn build<U: Send>(
    numel: usize,
    write: impl Fn(Range<usize>, &mut [MaybeUninit<U>]) + Sync,
) -> Vec<U> {
    let mut out = room(numel);
    let space = &mut out.spare_capacity_mut()[..numel];
    if !is_worth_threads(numel) {
        write(0..numel, space);
    } else {
        space.par_chunks_mut(CHUNK).enumerate().for_each(|(i, chunk)| {
            write(i * CHUNK..i * CHUNK + chunk.len(), chunk);
        });
    }
    // SAFETY: `room` made space for `numel` elements, the chunks are all of it, and `write` has
    // filled each of them.
    unsafe { out.set_len(numel) };
    out
}

/// As [`build`] in `bands` pieces, each of which has `size` elements.
pub fn build_bands<U: Send>(
    bands: usize,
    numel: usize,
    size: impl Fn(usize) -> usize,
    write: impl Fn(usize, &mut [MaybeUninit<U>]) + Sync,
) -> Vec<U> {
    let mut out = room(numel);
    let mut space = &mut out.spare_capacity_mut()[..numel];
    let cut = |band| {
        let piece = space.split_off_mut(..size(band)).expect("the bands are all of it");
        (band, piece)
    };
    let mut pieces: Vec<_> = (0..bands).map(cut).collect();
    assert_eq!(pieces.iter().map(|(_, piece)| piece.len()).sum::<usize>(), numel);
    let one = |(band, piece): &mut (usize, &mut [MaybeUninit<U>])| write(*band, piece);
    match is_worth_threads(numel) {
        true => pieces.par_iter_mut().for_each(one),
        false => pieces.iter_mut().for_each(one),
    }
    // SAFETY: `room` made space for `numel` elements, the pieces are all of it, and `write` has
    // filled each of them.
    unsafe { out.set_len(numel) };
    out
}

/// A loop that is compiled twice: for vectors of 256 bits with fused multiply-adds, and for any
/// processor. Its `run` is marked `#[inline(always)]`, and so is all that it calls in the loop: only
/// what is inside `avx2` itself may use the wide instructions.
pub trait Loop {
    /// What comes out of it.
    type Output;
    /// Runs it.
    fn run(self) -> Self::Output;
}

/// Runs a loop with the widest instructions that this processor has.
#[inline(always)]
pub fn vectorized<L: Loop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
    {
        // SAFETY: the processor has just said that it has these instructions.
        return unsafe { avx2(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn avx2<L: Loop>(work: L) -> L::Output {
    work.run()
}
