//! The *modelled* L2 cache: how many bytes a launch moves between it and the GPU's memory.
//!
//! The cache has the size of the named GPU's, lines of 128 bytes in four sectors of 32, sets of
//! 16 lines of which the least recently used one makes way, and begins each launch empty.
//!
//! - What a load or an atomic operation asks for and the cache has not is read, sector by sector.
//! - A store reads nothing: the cache keeps which bytes are new. What is stored is *written back*,
//!   once: when its line has to make way, or at the end of the launch. On a chip it would stay
//!   there until something else needs the place; but then the next kernel, which may not have
//!   written anything, would pay for it, and the same launch would count differently after another.
//!
//! The set of a line is its number modulo an odd number of sets. So lines at the distance of a
//! power of two spread over all sets, as the hashed addresses of a chip do. That a chip's memory
//! moves 64 bytes at a time, that its cache has two halves, and that it may begin warm, is not
//! modelled.
//!
//! # In which order
//! The order of the requests decides what makes way, and host threads run blocks in an order of
//! their own. So the requests of each warp are kept ([`Trace`]), and the cache sees them *wave by
//! wave*: the blocks that the GPU would hold at the same time, one request of each warp in turn.
//! This order knows neither host threads nor the seed that orders warps. (A chip would let a warp
//! wait that has missed; the order is one of those that are possible.)
//!
//! # When nothing can make way
//! If all live memory fits into the cache, then what is read are the sectors that a load or an
//! atomic operation is the first to touch, and what is written are those that are stored to. That
//! needs some bits a sector and no order of blocks, so it costs little: the usual case.
//!
//! # Memory of the host
//! The requests of up to three waves are kept, in 128 MiB each. If a launch makes more of them, one
//! of 2, 4, .. sets is watched and counted as so many: an estimate, the same on every host.

mod fitting;
mod footprint;
mod layout;
mod sets;
mod thinning;
mod trace;
mod waves;

pub(crate) use footprint::{Footprint, scatter};
pub(crate) use layout::Layout;
pub use sets::Sets;
pub use trace::{Kind, Run, Trace};
pub(crate) use waves::{Shape, Waves};

use fitting::Fitting;
use waves::Batch;

/// Bytes between the cache and the GPU's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// Sectors read because the cache did not have them.
    pub read: u64,
    /// Sectors written back.
    pub written: u64,
}

/// The cache of one launch.
enum Cache {
    /// Nothing has to make way.
    Fitting(Fitting),
    /// Lines in sets.
    Sets(Sets),
}

impl Cache {
    /// Runs the requests of one wave through, of which one of 2 to a power of the sets is left.
    fn wave(&mut self, batches: &[Batch], power: u32) -> Moved {
        match self {
            Cache::Fitting(cache) => cache.wave(batches.iter().flat_map(Batch::marks)),
            Cache::Sets(cache) => {
                let before = cache.moved();
                waves::in_turn(batches, |run| cache.touch(run));
                let after = cache.moved();
                let times = 1 << power;
                Moved {
                    read: (after.read - before.read) * times,
                    written: (after.written - before.written) * times,
                }
            }
        }
    }
}
