//! Lab 06, Memory. Seven exercises; 6.2, 6.5 and 6.6 have two functions each.
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-06-memory`, ask for
//! a hint with `cargo run --bin course -- hint 6.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::memory::Role;
use engine_room::nn::{GptConfig, Module};
use engine_room::{Tensor, no_grad, rng};
use grading::exercise;

use super::again::Kept;
use super::blocks::{Block, Pool, Request, Segment};
use super::events::{ByRole, Event, Peak};
use super::layers::{Cost, Layer, Mode};
use super::step::{Moment, PeakBytes, Rule, Step};
use super::table::{Asked, Finding, MemoryTable, Row};

/// 6.1 What a tensor of so many bytes comes to at the allocator; `None` if a size that is needed
/// does not fit into 64 bits. A tensor of 0 bytes needs no block.
pub fn round_request(bytes: u64) -> Option<Request> {
    exercise!("6.1")
}

/// 6.2 Takes a block of at least `bytes` from a pool: the best free one, cut where the pool cuts.
/// Its address, or `None` if no free block is large enough.
pub fn take_block(segments: &mut [Segment], pool: Pool, bytes: u64) -> Option<u64> {
    exercise!("6.2")
}

/// 6.2 Takes the block at an address back, and merges it with the free blocks beside it in its
/// segment.
pub fn give_back(segments: &mut [Segment], start: u64) {
    exercise!("6.2")
}

/// 6.3 What `max_memory_allocated` says after a list of events, and what was live at that moment.
/// `before` is what was live before the first event, when the counters had just been reset.
pub fn peak(before: &ByRole, events: &[Event]) -> Peak {
    exercise!("6.3")
}

/// 6.4 What is wrong with the memory of a program, if anything is.
pub fn find_holder(table: &MemoryTable) -> Finding {
    exercise!("6.4")
}

/// 6.5 The first run of a block, in the forward pass: its output, computed without recording, and
/// what is kept until the backward pass.
pub fn first_run(block: &dyn Module, x: &Tensor) -> (Tensor, Kept) {
    exercise!("6.5")
}

/// 6.5 The second run, in the backward pass: the gradient of the input, given that of the output.
/// The parameters of the block get their gradients, too.
pub fn second_run(block: &dyn Module, kept: &Kept, dy: &Tensor) -> Tensor {
    exercise!("6.5")
}

/// 6.6 What a plan costs. It has one mode for each layer, and `Continue` stands only behind `Begin`
/// or `Continue`.
pub fn plan_cost(layers: &[Layer], plan: &[Mode]) -> Cost {
    exercise!("6.6")
}

/// 6.6 A plan whose peak is at most `budget`, with the fewest extra operations; `None` if there is
/// no plan that fits.
pub fn choose_plan(layers: &[Layer], budget: u64) -> Option<Vec<Mode>> {
    exercise!("6.6")
}

/// 6.7 Predict the bytes of each role at the peak of a training step, and when that is: at the
/// first of the moments at which the four roles hold the most together.
pub fn peak_of_step(config: &GptConfig, step: &Step) -> PeakBytes {
    exercise!("6.7")
}
