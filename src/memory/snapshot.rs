//! Snapshots: the segments and blocks of a device, and the history that led to them.
//!
//! A snapshot has the shape of PyTorch's `torch.cuda.memory._snapshot()`, so that its tools read
//! it: `python -m torch.cuda._memory_viz trace FILE`. Where PyTorch has the Python stack of an
//! allocation, there is one frame that names the operation; each entry also has its `op`, its
//! `role` and its `module`.

use crate::device::Device;
use crate::memory::Role;
use crate::memory::caching::{BlockState, SegmentState, State};
use crate::memory::device::allocator;
use crate::memory::history::{Action, TraceEntry, apply};
use crate::memory::ledger::{ByRole, ledger};
use crate::memory::running::Label;
use crate::memory::value::Value;

/// Keeps up to `max_entries` entries of a device's history from now on, the newest ones; 0 stops
/// it. What was kept before is forgotten (PyTorch's `_record_memory_history`).
pub fn record_memory_history(device: Device, max_entries: usize) {
    match device {
        Device::Cpu => {
            let mut ledger = ledger(Device::Cpu);
            let live = ledger.by_role();
            ledger.history.start(max_entries, live);
        }
        device => allocator(device).start_history(max_entries),
    }
}

/// The memory of a device at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Of which device.
    pub device: Device,
    /// The segments by address; the host has none.
    pub segments: Vec<SegmentState>,
    /// What happened, oldest first.
    pub trace: Vec<TraceEntry>,
    /// Bytes by role that were live before the first entry.
    before: ByRole,
}

/// Takes a snapshot. What it holds of the past is what [`record_memory_history`] has kept.
pub fn memory_snapshot(device: Device) -> Snapshot {
    if device == Device::Cpu {
        let ledger = ledger(Device::Cpu);
        let (before, trace) = (ledger.history.before(), ledger.history.entries());
        return Snapshot { device, segments: Vec::new(), trace, before };
    }
    let allocator = allocator(device);
    let (before, trace) = allocator.history();
    Snapshot { device, segments: allocator.segments(), trace, before }
}

impl Snapshot {
    /// Bytes by role, in the order of [`Role::ALL`]: before the first entry of the trace, and after
    /// each. Bytes are those that tensors asked for, and count as what they turned out to be for.
    pub fn time_line(&self) -> Vec<[u64; Role::ALL.len()]> {
        let mut live = self.before;
        let mut points = vec![live];
        for entry in &self.trace {
            apply(&mut live, entry);
            points.push(live);
        }
        points
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        self.value().to_string()
    }

    /// As the pickle that PyTorch's `_memory_viz` reads.
    pub fn to_pickle(&self) -> Vec<u8> {
        self.value().to_pickle()
    }

    fn value(&self) -> Value {
        let number = match self.device {
            Device::Cpu => 0,
            Device::Sim(n) | Device::Cuda(n) => n,
        };
        // PyTorch has one list for each device, in their order.
        let mut traces = vec![Value::List(Vec::new()); number];
        traces.push(Value::List(self.trace.iter().map(entry).collect()));
        let segments = self.segments.iter().map(|it| segment(number as u64, it)).collect();
        Value::Dict(vec![
            ("segments", Value::List(segments)),
            ("device_traces", Value::List(traces)),
        ])
    }
}

fn segment(device: u64, segment: &SegmentState) -> Value {
    let in_state = |states: &[State]| -> u64 {
        let blocks = segment.blocks.iter().filter(|block| states.contains(&block.state));
        blocks.map(|block| block.size).sum()
    };
    let requested = segment.blocks.iter().map(|block| block.requested).sum::<u64>();
    Value::Dict(vec![
        ("device", device.into()),
        ("address", segment.address.into()),
        ("total_size", segment.size.into()),
        ("allocated_size", in_state(&[State::Allocated]).into()),
        ("active_size", in_state(&[State::Allocated, State::AwaitingFree]).into()),
        ("requested_size", requested.into()),
        ("stream", (segment.stream as u64).into()),
        ("segment_type", if segment.small { "small" } else { "large" }.into()),
        ("frames", Value::List(Vec::new())),
        ("blocks", Value::List(segment.blocks.iter().map(block).collect())),
    ])
}

fn block(block: &BlockState) -> Value {
    let state = match block.state {
        State::Allocated => "active_allocated",
        State::AwaitingFree => "active_awaiting_free",
        State::Free => "inactive",
    };
    let mut pairs = vec![
        ("address", block.address.into()),
        ("size", block.size.into()),
        ("requested_size", block.requested.into()),
        ("state", state.into()),
    ];
    // What a free block was taken for is over.
    let label = if block.state == State::Free { Label::NONE } else { block.label };
    pairs.extend(labelled(label));
    Value::Dict(pairs)
}

fn entry(entry: &TraceEntry) -> Value {
    let address = if entry.action == Action::Oom { "device_free" } else { "addr" };
    let mut pairs = vec![
        ("action", entry.action.name().into()),
        (address, entry.address.into()),
        ("size", entry.size.into()),
        ("stream", (entry.stream as u64).into()),
    ];
    pairs.extend(labelled(entry.label));
    Value::Dict(pairs)
}

/// A label, and as the one frame of a stack.
fn labelled(label: Label) -> [(&'static str, Value); 4] {
    let op = label.op.to_string();
    let frame =
        vec![("name", op.as_str().into()), ("filename", label.module.into()), ("line", 0.into())];
    let frames = if label.op.name.is_empty() { Vec::new() } else { vec![Value::Dict(frame)] };
    [
        ("frames", Value::List(frames)),
        ("op", op.as_str().into()),
        ("role", label.role.name().into()),
        ("module", label.module.into()),
    ]
}
