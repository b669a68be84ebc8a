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
    let mib = 1 << 20;
    if bytes == 0 {
        return Some(Request { block: 0, pool: Pool::Small, segment: 0 });
    }
    let block = bytes.checked_next_multiple_of(512)?;
    let (pool, segment) = if block <= mib {
        (Pool::Small, 2 * mib)
    } else if block < 10 * mib {
        (Pool::Large, 20 * mib)
    } else {
        (Pool::Large, block.checked_next_multiple_of(2 * mib)?)
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
    let (mut graphs, mut losses) = (false, false);
    let (mut free, mut largest, mut unused) = (0, 0, 0);
    for row in &table.rows {
        if row.used && row.step > 0 && row.step < table.step {
            graphs |= row.role == Role::Activation;
            losses |= row.op == table.loss_op;
        }
        if !row.used {
            free += row.bytes;
            largest = row.bytes.max(largest);
            let in_use = table.rows.iter().any(|other| other.used && other.segment == row.segment);
            if !in_use {
                unused += row.bytes;
            }
        }
    }
    if graphs {
        return if losses { Finding::LossesKept } else { Finding::MetricKeepsGraphs };
    }
    let outside = table.outside;
    match table.asked {
        Asked::Nobody => Finding::Healthy,
        Asked::Tensor(bytes) if bytes <= largest => Finding::Healthy,
        Asked::Tensor(bytes) if bytes <= outside + unused => Finding::Healthy,
        Asked::OtherProgram(bytes) if bytes <= outside => Finding::Healthy,
        Asked::OtherProgram(bytes) if bytes <= outside + unused => Finding::UnusedCache,
        Asked::Tensor(bytes) | Asked::OtherProgram(bytes) if bytes <= outside + free => {
            Finding::Fragmented
        }
        _ => Finding::Full,
    }
    // END
}

/// 6.5 The first run of a block, in the forward pass: its output, computed without recording, and
/// what is kept until the backward pass.
pub fn first_run(block: &dyn Module, x: &Tensor) -> (Tensor, Kept) {
    // SOLUTION 6.5
    let random = rng::get_state();
    let y = no_grad(|| block.forward(x));
    (y, Kept { input: x.clone(), random })
    // END
}

/// 6.5 The second run, in the backward pass: the gradient of the input, given that of the output.
/// The parameters of the block get their gradients, too.
pub fn second_run(block: &dyn Module, kept: &Kept, dy: &Tensor) -> Tensor {
    // SOLUTION 6.5
    let before = rng::get_state();
    rng::set_state(kept.random);
    let x = kept.input.detach().requires_grad_(true);
    let y = block.forward(&x);
    rng::set_state(before);
    y.backward_with(dy);
    x.grad().unwrap()
    // END
}

/// 6.6 What a plan costs. It has one mode for each layer, and `Continue` stands only behind `Begin`
/// or `Continue`.
pub fn plan_cost(layers: &[Layer], plan: &[Mode]) -> Cost {
    // SOLUTION 6.6
    let mut cost = Cost { peak: 0, extra_flops: 0 };
    let mut stored = 0; // from here on, until the backward pass comes back to here
    let mut again = 0; // what the segment holds besides while it runs again
    for (layer, mode) in layers.iter().zip(plan) {
        match mode {
            Mode::Keep => {
                stored += layer.input + layer.kept;
                again = 0;
            }
            Mode::Begin => {
                stored += layer.input;
                again = layer.kept;
                cost.extra_flops += layer.flops;
            }
            Mode::Continue => {
                again += layer.input + layer.kept;
                cost.extra_flops += layer.flops;
            }
        }
        cost.peak = cost.peak.max(stored + again);
    }
    cost
    // END
}

/// 6.6 A plan whose peak is at most `budget`, with the fewest extra operations; `None` if there is
/// no plan that fits.
pub fn choose_plan(layers: &[Layer], budget: u64) -> Option<Vec<Mode>> {
    // SOLUTION 6.6
    let mut plans: Vec<Vec<Mode>> = vec![Vec::new()];
    for _ in layers {
        let mut longer = Vec::new();
        for plan in &plans {
            let in_segment = matches!(plan.last(), Some(Mode::Begin | Mode::Continue));
            for mode in [Mode::Keep, Mode::Begin, Mode::Continue] {
                let mut next = plan.clone();
                next.push(mode);
                let is_plan = mode != Mode::Continue || in_segment;
                if is_plan && plan_cost(layers, &next).peak <= budget {
                    longer.push(next);
                }
            }
        }
        plans = longer;
    }
    plans.into_iter().min_by_key(|plan| plan_cost(layers, plan).extra_flops)
    // END
}

/// 6.7 Predict the bytes of each role at the peak of a training step, and when that is: at the
/// first of the moments at which the four roles hold the most together.
pub fn peak_of_step(config: &GptConfig, step: &Step) -> PeakBytes {
    // SOLUTION 6.7
    let [vocab, context] = [config.vocab as u64, config.context as u64];
    let [width, layers, heads] = [config.width, config.layers, config.heads].map(|n| n as u64);
    let block_weights = 12 * width * width + 13 * width;
    let head_weights = if config.tied { 0 } else { vocab * width };
    let norm_weights = 2 * width;
    let weights = (vocab + context) * width + layers * block_weights + norm_weights + head_weights;
    let above_blocks = norm_weights + vocab * width; // tied or not, the head computes a gradient
    let numbers = match step.rule {
        Rule::Sgd => 0,
        Rule::SgdMomentum => 1,
        Rule::AdamW => 2,
    };

    let places = step.batch * step.time;
    let mask = if config.dropout > 0.0 { places * width } else { 0 };
    let tokens = 16 * places;
    let input = 4 * places * width;
    let block = input + 4 * places * (15 * width + heads + 4) + 2 * mask;
    let stored = if step.recompute { input } else { block };
    let end = 4 * places * (2 * width + 2 + vocab);

    let at = |moment, activations, with_gradient| PeakBytes {
        moment,
        parameters: 4 * weights,
        gradients: 4 * with_gradient,
        optimizer: 4 * numbers * weights,
        activations: tokens + activations,
    };
    let mut moments = vec![at(Moment::Loss, mask + layers * stored + end, 0)];
    for i in (0..layers).rev() {
        let with_gradient = above_blocks + (layers - 1 - i) * block_weights;
        moments.push(at(Moment::Block(i), mask + i * stored + block, with_gradient));
    }
    moments.push(at(Moment::Step, 0, weights));
    let mut peak = moments[0];
    for it in moments {
        if it.gradients + it.activations > peak.gradients + peak.activations {
            peak = it;
        }
    }
    peak
    // END
}
