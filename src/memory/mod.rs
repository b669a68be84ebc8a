//! Memory: live, peak and per-role bytes of every device, counted from the first tensor on.
//!
//! A storage reports itself when it is made, when its role changes and when it is dropped. The
//! counters are plain atomics, so reading them never disturbs what they count.

mod copies;

pub(crate) use copies::count_hidden_copy;
pub use copies::{HiddenCopies, hidden_copies, reset_hidden_copies};

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::device::{Device, cuda, sim};
use crate::error::{Error, raise};

/// What the bytes of a storage are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Nothing in particular: inputs, results, temporaries.
    Other,
    /// A leaf that asks for a gradient.
    Parameter,
    /// The gradient of a leaf.
    Gradient,
    /// Saved by a graph for its backward pass; it stays so until it is freed.
    Activation,
    /// State of an optimizer.
    Optimizer,
}

impl Role {
    /// Every role, in the order of the counters.
    pub const ALL: [Role; 5] =
        [Role::Other, Role::Parameter, Role::Gradient, Role::Activation, Role::Optimizer];

    /// The word for it in tables.
    pub fn name(self) -> &'static str {
        match self {
            Role::Other => "other",
            Role::Parameter => "parameter",
            Role::Gradient => "gradient",
            Role::Activation => "activation",
            Role::Optimizer => "optimizer",
        }
    }
}

/// The counters of one device, in bytes.
struct Counters {
    live: AtomicU64,
    peak: AtomicU64,
    by_role: [AtomicU64; Role::ALL.len()],
}

impl Counters {
    const fn new() -> Counters {
        Counters {
            live: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            by_role: [const { AtomicU64::new(0) }; Role::ALL.len()],
        }
    }
}

static CPU: Counters = Counters::new();
static NONE: Counters = Counters::new();
static SIM: [Counters; sim::MAX_DEVICES] = [const { Counters::new() }; sim::MAX_DEVICES];
static CUDA: [Counters; cuda::MAX_DEVICES] = [const { Counters::new() }; cuda::MAX_DEVICES];

fn counters(device: Device) -> &'static Counters {
    match device {
        Device::Cpu => &CPU,
        // A device that does not exist has no memory; its driver says so.
        Device::Sim(n) => SIM.get(n).unwrap_or(&NONE),
        Device::Cuda(n) => CUDA.get(n).unwrap_or(&NONE),
    }
}

/// Bytes of all live storages of a device.
pub fn memory_allocated(device: Device) -> u64 {
    counters(device).live.load(Ordering::Relaxed)
}

/// The most bytes that were live at once since the last [`reset_peak_memory_stats`].
pub fn max_memory_allocated(device: Device) -> u64 {
    counters(device).peak.load(Ordering::Relaxed)
}

/// Starts the peak anew from what is live now.
pub fn reset_peak_memory_stats(device: Device) {
    let counters = counters(device);
    counters.peak.store(counters.live.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Live bytes of a device by role; the sum is [`memory_allocated`].
pub fn bytes_by_role(device: Device) -> [(Role, u64); Role::ALL.len()] {
    let by_role = &counters(device).by_role;
    Role::ALL.map(|role| (role, by_role[role as usize].load(Ordering::Relaxed)))
}

/// An empty vector with room for `numel` elements. If the host has no more memory it unwinds with
/// an [`Error`], where a plain `Vec` would end the program.
pub(crate) fn room<T>(numel: usize) -> Vec<T> {
    let mut values = Vec::new();
    if values.try_reserve_exact(numel).is_err() {
        raise(Error::OutOfMemory {
            device: Device::Cpu.to_string(),
            requested: (numel as u64).saturating_mul(size_of::<T>() as u64),
            allocated: memory_allocated(Device::Cpu),
            capacity: None,
        })
    }
    values
}

/// `numel` times the same value, in such a vector.
pub(crate) fn filled<T: Clone>(value: T, numel: usize) -> Vec<T> {
    let mut values = room(numel);
    values.resize(numel, value);
    values
}

/// The entry of one storage in the counters; dropping it takes the bytes out again.
#[derive(Debug)]
pub(crate) struct Tracked {
    device: Device,
    bytes: u64,
    role: AtomicU8,
}

impl Tracked {
    /// Counts `bytes` of `device` in, with no particular role.
    pub(crate) fn new(device: Device, bytes: u64) -> Tracked {
        let counters = counters(device);
        let live = counters.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // Most of the time it is no new peak, and a look is cheaper than a write.
        if live > counters.peak.load(Ordering::Relaxed) {
            counters.peak.fetch_max(live, Ordering::Relaxed);
        }
        counters.by_role[Role::Other as usize].fetch_add(bytes, Ordering::Relaxed);
        Tracked { device, bytes, role: AtomicU8::new(Role::Other as u8) }
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn role(&self) -> Role {
        Role::ALL[self.role.load(Ordering::Relaxed) as usize]
    }

    /// Moves the bytes from one role's counter to another's.
    pub(crate) fn set_role(&self, role: Role) {
        let by_role = &counters(self.device).by_role;
        let before = self.role.swap(role as u8, Ordering::Relaxed);
        by_role[before as usize].fetch_sub(self.bytes, Ordering::Relaxed);
        by_role[role as usize].fetch_add(self.bytes, Ordering::Relaxed);
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        let counters = counters(self.device);
        counters.live.fetch_sub(self.bytes, Ordering::Relaxed);
        counters.by_role[self.role() as usize].fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
