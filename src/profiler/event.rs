//! What a profile consists of: spans of time on the host and on devices.

use std::panic::Location;

use crate::device::Device;
use crate::device::driver::Nanoseconds;

/// What an event is a span of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One round of a loop, between two calls of [`Steps::step`](crate::profiler::Steps::step).
    Step,
    /// What a program named itself, by [`record_function`](crate::profiler::record_function).
    Range,
    /// The forward pass of a module.
    Module,
    /// An operation.
    Op,
    /// The backward pass of an operation.
    Backward,
    /// A call of the host to the driver of a device.
    Call(Call),
    /// A kernel, on the device.
    Kernel,
    /// A copy, on the device.
    Copy,
}

/// A call of the host to a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// It puts a kernel into a stream.
    Launch,
    /// It puts a copy into a stream; with pageable memory it waits, too.
    Copy,
    /// It waits for the device.
    Synchronize,
    /// It asks for memory of the device.
    Alloc,
    /// It gives memory of the device back, and waits for the device before.
    Free,
    /// It reads kernels into the device.
    Load,
}

impl Kind {
    /// Whether it runs on a device and not on the host.
    pub fn is_on_device(self) -> bool {
        matches!(self, Kind::Kernel | Kind::Copy)
    }

    /// The word for it in traces: PyTorch's categories where it has one.
    pub fn category(self) -> &'static str {
        match self {
            Kind::Step | Kind::Range => "user_annotation",
            Kind::Module => "module",
            Kind::Op | Kind::Backward => "cpu_op",
            Kind::Call(_) => "cuda_runtime",
            Kind::Kernel => "kernel",
            Kind::Copy => "gpu_memcpy",
        }
    }
}

/// One span of time. Times count from the beginning of the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// `matmul`, `matmul backward`, the module's or the kernel's name.
    pub name: String,
    /// What it is a span of.
    pub kind: Kind,
    /// Where it runs.
    pub device: Device,
    /// The thread of the host, counted as they come up in the profile; the stream of a device.
    pub lane: usize,
    /// When it began.
    pub start_ns: Nanoseconds,
    /// When it ended, at the earliest when it began.
    pub end_ns: Nanoseconds,
    /// The event of the same thread that it is a direct part of.
    pub parent: Option<usize>,
    /// The call of the host that asked for it, if it runs on a device.
    pub cause: Option<usize>,
    /// The module that computed, `blocks.3.linear1`; empty outside any.
    pub module: &'static str,
    /// The shapes of an operation's operands, if they were to be recorded.
    pub shapes: Vec<Vec<usize>>,
    /// Bytes that it reads and writes at least: of the operands and the result of an operation, or
    /// between a kernel and the memory of its device, if these are known.
    pub bytes: u64,
    /// Bytes that a kernel asked the L2 cache for, if these are known.
    pub l2_bytes: u64,
    /// Floating-point operations, if these are known.
    pub flops: u64,
    /// Bytes of the host's memory that were allocated in it, without its parts, less those that
    /// were freed.
    pub allocated: i64,
    /// The same of the memory of devices.
    pub device_allocated: i64,
    /// Bytes that it copied although nobody wrote `copy`, without its parts.
    pub hidden_copy: u64,
    /// The line that called it.
    pub at: Option<&'static Location<'static>>,
}

impl Event {
    /// A span of the host's thread `lane`, of which nothing else is known.
    pub fn of_host(kind: Kind, name: impl Into<String>, lane: usize) -> Event {
        Event {
            name: name.into(),
            kind,
            device: Device::Cpu,
            lane,
            start_ns: 0,
            end_ns: 0,
            parent: None,
            cause: None,
            module: "",
            shapes: Vec::new(),
            bytes: 0,
            l2_bytes: 0,
            flops: 0,
            allocated: 0,
            device_allocated: 0,
            hidden_copy: 0,
            at: None,
        }
    }

    /// The same from when to when.
    pub fn between(mut self, start_ns: Nanoseconds, end_ns: Nanoseconds) -> Event {
        (self.start_ns, self.end_ns) = (start_ns, end_ns.max(start_ns));
        self
    }

    /// What it is a direct part of: work of a device, of the call that asked for it.
    pub(super) fn above(&self) -> Option<usize> {
        self.cause.or(self.parent)
    }

    /// How long it took.
    pub fn duration_ns(&self) -> Nanoseconds {
        self.end_ns.saturating_sub(self.start_ns)
    }
}
