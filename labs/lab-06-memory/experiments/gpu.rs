//! The simulated GPUs that the experiments run on: each has one of its own, which nobody has used.

use engine_room::memory::{BlockState, SegmentState, State};
use engine_room::{DType, Device, Tensor, sim};
use engine_room_labs::Output;
use engine_room_labs::memory_map::{Bar, Piece};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// The GPU with number `n`, with so many bytes of memory.
///
/// # Errors
/// If another device was asked for: a real one has the memory that it has, and the host no
/// allocator of this kind.
pub fn small(output: &mut Output, n: usize, bytes: u64) -> Result<Device, String> {
    if let Device::Cuda(_) = output.device()? {
        let message = "it needs a GPU whose memory can be made small: leave --device away";
        return Err(message.to_string());
    }
    output.value("device", "sim");
    sim::set_capacity(n, bytes);
    Ok(Device::Sim(n))
}

/// A tensor of so many bytes.
pub fn tensor(bytes: u64, gpu: Device) -> Tensor {
    Tensor::full_on(&[bytes as usize], 0.0, DType::U8, Device::Cpu).to(gpu)
}

/// A segment for a figure; `name` says what is in a block.
pub fn bar(segment: &SegmentState, label: String, name: impl Fn(&BlockState) -> String) -> Bar {
    let piece = |block: &BlockState| {
        let used = block.state == State::Allocated;
        Piece { name: if used { name(block) } else { String::new() }, bytes: block.size }
    };
    Bar { label, pieces: segment.blocks.iter().map(piece).collect() }
}
