//! Work in chunks: over all processor cores, with the widest instructions that they have.
//!
//! How work is cut into chunks depends on its size alone, never on the number of threads, so the
//! results have the same bits on every machine.

use std::hint::spin_loop;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::memory::room;

/// Elements of a chunk: small enough for a core's cache, large enough to be worth handing over.
pub const CHUNK: usize = 64 * 1024;

/// Elements from which on handing chunks to other threads pays: waking them takes microseconds.
const MANY: usize = CHUNK;

/// How often the calling thread looks whether the others are done before it goes to sleep: tens of
/// microseconds, since the last chunk takes no longer and waking up would.
const LOOKS: usize = 4_000;

/// Whether work on so many elements is handed to other threads.
fn is_worth_threads(elements: usize) -> bool {
    elements >= MANY && rayon::current_num_threads() > 1
}

/// f(i) for each i below `count`, in order; each one is work on `cost` elements.
pub fn collect<A: Send>(count: usize, cost: usize, f: impl Fn(usize) -> A + Sync) -> Vec<A> {
    let many = CHUNK.div_ceil(cost.max(1));
    build_bands(count, many, count.saturating_mul(cost), |band, out| {
        for (i, place) in out.iter_mut().enumerate() {
            place.write(f(band * many + i));
        }
    })
}

/// Hands each piece to `work`: in order, or in any order to several threads if `elements`, the work
/// of all of them, is worth it. The calling thread begins at once and the others join it as they
/// wake, each taking the next piece that is left.
pub fn share<P: Send>(
    pieces: impl Iterator<Item = P> + Send,
    elements: usize,
    work: impl Fn(P) + Sync,
) {
    if !is_worth_threads(elements) {
        return pieces.for_each(work);
    }
    let pieces = Mutex::new(pieces);
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    let helpers = rayon::current_num_threads() - 1;
    let done = AtomicUsize::new(0);
    rayon::in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| {
                run();
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        run();
        for _ in 0..LOOKS {
            if done.load(Ordering::Relaxed) == helpers {
                break;
            }
            spin_loop();
        }
    });
}

/// A vector of `numel` elements that `write` fills, chunk by chunk: it is given the numbers of the
/// elements and the room for them, and must write all of it.
pub fn build<U: Send>(
    numel: usize,
    write: impl Fn(Range<usize>, &mut [MaybeUninit<U>]) + Sync,
) -> Vec<U> {
    let mut out = room(numel);
    let space = &mut out.spare_capacity_mut()[..numel];
    if numel <= CHUNK {
        write(0..numel, space);
    } else {
        share(space.chunks_mut(CHUNK).enumerate(), numel, |(i, chunk)| {
            write(i * CHUNK..i * CHUNK + chunk.len(), chunk);
        });
    }
    // SAFETY: `room` made space for `numel` elements, the chunks are all of it, and `write` has
    // filled each of them.
    unsafe { out.set_len(numel) };
    out
}

/// As [`build`] in pieces of `size` elements, of which only the last may have fewer; all of them
/// are worth `work` elements.
pub fn build_bands<U: Send>(
    numel: usize,
    size: usize,
    work: usize,
    write: impl Fn(usize, &mut [MaybeUninit<U>]) + Sync,
) -> Vec<U> {
    let mut out = room(numel);
    let space = &mut out.spare_capacity_mut()[..numel];
    let bands = space.chunks_mut(size.max(1)).enumerate();
    share(bands, work, |(band, out)| write(band, out));
    // SAFETY: `room` made space for `numel` elements, the bands are all of it, and `write` has
    // filled each of them.
    unsafe { out.set_len(numel) };
    out
}

/// A loop that is compiled twice: for vectors of 256 bits with fused multiply-adds, and for any
/// processor. Its `run` is marked `#[inline(always)]`, and so is all that it calls in the loop:
/// only what is inside `avx2` itself may use the wide instructions.
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
