//! Lab 06, Memory. Seven exercises; 6.2, 6.5 and 6.6 have two functions each.
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-06-memory`, ask for
//! a hint with `cargo run --bin course -- hint 6.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::memory::Role;
use engine_room::nn::{GptConfig, Module};
use engine_room::{Tensor, no_grad, rng};
// STUB use grading::exercise;

use super::again::Kept;
use super::blocks::{Block, Pool, Request, Segment};
use super::events::{ByRole, Event, Peak};
use super::layers::{Cost, Layer, Mode};
use super::step::{Moment, PeakBytes, Rule, Step};
use super::table::{Asked, Finding, MemoryTable, Row};

/// 6.1 What a tensor of so many bytes comes to at the allocator; `None` if a size that is needed
/// does not fit into 64 bits. A tensor of 0 bytes needs no block.
pub fn round_request(bytes: u64) -> Option<Request> {
    // SOLUTION 6.1
    const MIB: u64 = 1 << 20;
    if bytes == 0 {
        return Some(Request { block: 0, pool: Pool::Small, segment: 0 });
    }
    let block = bytes.checked_next_multiple_of(512)?;
    let (pool, segment) = if block <= MIB {
        (Pool::Small, 2 * MIB)
    } else if block < 10 * MIB {
        (Pool::Large, 20 * MIB)
    } else {
        (Pool::Large, block.checked_next_multiple_of(2 * MIB)?)
    };
    Some(Request { block, pool, segment })
    // END
}

/// 6.2 Takes a block of at least `bytes` from a pool: the best free one, cut where the pool cuts.
/// Its address, or `None` if no free block is large enough.
pub fn take_block(segments: &mut [Segment], pool: Pool, bytes: u64) -> Option<u64> {
    // SOLUTION 6.2
    let mut best: Option<(u64, u64, usize, usize)> = None;
    for (s, segment) in segments.iter().enumerate() {
        for (b, block) in segment.blocks.iter().enumerate() {
            if segment.pool == pool && !block.used && block.size >= bytes {
                let this = (block.size, block.start, s, b);
                if best.is_none_or(|best| this < best) {
                    best = Some(this);
                }
            }
        }
    }
    let (size, start, s, b) = best?;
    let rest = size - bytes;
    let cut = match pool {
        Pool::Small => rest >= 512,
        Pool::Large => rest > 1 << 20,
    };
    let blocks = &mut segments[s].blocks;
    blocks[b].used = true;
    if cut {
        blocks[b].size = bytes;
        blocks.insert(b + 1, Block { start: start + bytes, size: rest, used: false });
    }
    Some(start)
    // END
}

/// 6.2 Takes the block at an address back, and merges it with the free blocks beside it in its
/// segment.
pub fn give_back(segments: &mut [Segment], start: u64) {
    // SOLUTION 6.2
    for segment in segments {
        let blocks = &mut segment.blocks;
        let Some(mut at) = blocks.iter().position(|block| block.start == start) else { continue };
        blocks[at].used = false;
        if at + 1 < blocks.len() && !blocks[at + 1].used {
            blocks[at].size += blocks[at + 1].size;
            blocks.remove(at + 1);
        }
        if at > 0 && !blocks[at - 1].used {
            at -= 1;
            blocks[at].size += blocks[at + 1].size;
            blocks.remove(at + 1);
        }
    }
    // END
}

/// 6.3 What `max_memory_allocated` says after a list of events, and what was live at that moment.
/// `before` is what was live before the first event, when the counters had just been reset.
pub fn peak(before: &ByRole, events: &[Event]) -> Peak {
    // SOLUTION 6.3
    let mut live = *before;
    let mut peak = Peak { bytes: live.iter().sum(), by_role: live };
    for event in events {
        let mut reset = false;
        match *event {
            Event::Alloc { bytes, role } => live[role as usize] += bytes,
            Event::Free { bytes, role } => live[role as usize] -= bytes,
            Event::ResetPeak => reset = true,
        }
        let bytes = live.iter().sum();
        if reset || bytes > peak.bytes {
            peak = Peak { bytes, by_role: live };
        }
    }
    peak
    // END
}

/// 6.4 What is wrong with the memory of a program, if anything is.
pub fn find_holder(table: &MemoryTable) -> Finding {
    // SOLUTION 6.4
    let mut graphs = false;
    let mut losses = false;
    for row in &table.rows {
        let earlier = row.used && row.step > 0 && row.step < table.step;
        if earlier && row.role == Role::Activation {
            graphs = true;
        }
        if earlier && row.op == table.loss_op {
            losses = true;
        }
    }
    if graphs {
        return if losses { Finding::LossesKept } else { Finding::MetricKeepsGraphs };
    }
    let free_in = |segment: u64| -> (u64, bool) {
        let rows = table.rows.iter().filter(|row| row.segment == segment);
        let (free, used): (Vec<&Row>, Vec<&Row>) = rows.partition(|row| !row.used);
        (free.iter().map(|row| row.bytes).sum(), used.is_empty())
    };
    let mut segments: Vec<u64> = table.rows.iter().map(|row| row.segment).collect();
    segments.dedup();
    let (mut free, mut whole) = (0, 0);
    for segment in segments {
        let (bytes, unused) = free_in(segment);
        free += bytes;
        whole += if unused { bytes } else { 0 };
    }
    let free_rows = table.rows.iter().filter(|row| !row.used);
    let largest = free_rows.map(|row| row.bytes).max().unwrap_or(0);
    match table.asked {
        Asked::Nobody => Finding::Healthy,
        Asked::OtherProgram(bytes) if bytes <= table.outside => Finding::Healthy,
        Asked::OtherProgram(bytes) if bytes <= table.outside + whole => Finding::UnusedCache,
        Asked::Tensor(bytes) if bytes <= largest.max(table.outside + whole) => Finding::Healthy,
        Asked::Tensor(bytes) if bytes <= table.outside + free => Finding::Fragmented,
        _ => Finding::Full,
    }
    // END
}

/// 6.5
pub fn first_run(block: &dyn Module, x: &Tensor) -> (Tensor, Kept) {
    // SOLUTION 6.5
    let random = rng::get_state();
    (no_grad(|| block.forward(x)), Kept { input: x.detach(), random })
    // END
}

/// 6.5
pub fn second_run(block: &dyn Module, kept: &Kept, dy: &Tensor) -> Tensor {
    // SOLUTION 6.5
    dy.clone()
    // END
}

/// 6.6
pub fn plan_cost(layers: &[Layer], plan: &[Mode]) -> Cost {
    // SOLUTION 6.6
    Cost { peak: 0, extra_flops: 0 }
    // END
}

/// 6.6
pub fn choose_plan(layers: &[Layer], budget: u64) -> Option<Vec<Mode>> {
    // SOLUTION 6.6
    None
    // END
}

/// 6.7
pub fn peak_of_step(config: &GptConfig, step: &Step) -> PeakBytes {
    // SOLUTION 6.7
    unimplemented!()
    // END
}
