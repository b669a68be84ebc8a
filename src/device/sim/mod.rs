//! Simulated GPUs: devices with memory, transfers and kernels of their own, on any computer.
//!
//! What moves is real: each device keeps its bytes apart from the host's, within a capacity that
//! can be set, and runs a kernel's PTX exactly. What takes time is *modelled*, from published
//! figures of a named [`Gpu`]. A device is made at its first use and is then there until the
//! program ends. The crate `engine_room_sim` does the work; here it becomes a driver.
//!
//! Why it pays to copy much at once, by `cargo run --example transfers`:
//!
//! ```text
//! 64 MiB to the device as  memory    copies       bytes   us (modelled)
//! 1 transfer               pageable       1    67108864          9694.4
//! 1 transfer               pinned         1    67108864          5602.4
//! 1,024 transfers          pageable    1024    67108864         19926.0
//! 1,024 transfers          pinned      1024    67108864         15833.1
//! The times are modelled from the published figures of a T4.
//! ```

mod device;
mod kernels;
mod launches;
mod transfers;

use std::fmt;
use std::sync::OnceLock;

pub use device::SimDevice;
pub use engine_room_sim::gpu::{
    COPY_CALL, COPY_LATENCY, Figures, Gpu, LAUNCH, LAUNCH_LATENCY, QUERY, STAGING, STAGING_BUFFER,
};
pub use launches::Launches;
pub use transfers::{Traffic, Transfers};

use crate::device::driver::Nanoseconds;
use crate::error::misuse;

/// How many simulated GPUs there can be: `Sim(0)` to `Sim(63)`.
pub const MAX_DEVICES: usize = 64;

static DEVICES: [OnceLock<SimDevice>; MAX_DEVICES] = [const { OnceLock::new() }; MAX_DEVICES];

/// The simulated GPU with number `n`.
///
/// # Panics
/// With a `Misuse` if `n` is not below [`MAX_DEVICES`]; so does each function below.
#[track_caller]
pub fn sim(n: usize) -> &'static SimDevice {
    match DEVICES.get(n) {
        Some(device) => device.get_or_init(|| SimDevice::new(n)),
        None => {
            let message = format!("there are {MAX_DEVICES} simulated GPUs, numbered from 0");
            misuse("sim", &[&n], message)
        }
    }
}

/// Bytes of memory of a simulated GPU.
#[track_caller]
pub fn capacity(n: usize) -> u64 {
    sim(n).state().device.memory.capacity()
}

/// Gives a simulated GPU more memory or less: a small one runs out soon. What it holds already
/// stays, even if that is more.
#[track_caller]
pub fn set_capacity(n: usize, bytes: u64) {
    sim(n).state().device.memory.set_capacity(bytes);
}

/// Lets a simulated GPU model another one from now on; its capacity becomes that one's too.
#[track_caller]
pub fn select_gpu(n: usize, gpu: Gpu) {
    let mut state = sim(n).state();
    state.device.gpu = gpu;
    state.device.memory.set_capacity(gpu.figures().capacity);
}

/// The copies of a simulated GPU since the last [`reset`].
#[track_caller]
pub fn transfers(n: usize) -> Transfers {
    sim(n).state().transfers
}

/// The kernels of a simulated GPU since the last [`reset`].
#[track_caller]
pub fn launches(n: usize) -> Launches {
    sim(n).state().launches.sum()
}

/// The launches of one kernel, by its name in the PTX (`add_f32`), since the last [`reset`].
#[track_caller]
pub fn launches_of(n: usize, kernel: &str) -> Launches {
    sim(n).state().launches.of(kernel)
}

/// The modelled clock of a simulated GPU.
#[track_caller]
pub fn clock(n: usize) -> Clock {
    let state = sim(n).state();
    let (host_ns, device_ns) = (state.timeline.host(), state.timeline.device());
    Clock { gpu: state.device.gpu, host_ns, device_ns }
}

/// When the clock of a simulated GPU was set to zero, and the host's time on it, both since the GPU
/// was made: for whoever goes on counting over a [`reset`].
pub(crate) fn lasting_ns(n: usize) -> (Nanoseconds, Nanoseconds) {
    let state = sim(n).state();
    let origin = state.timeline.origin();
    (origin, origin + state.timeline.host())
}

/// Waits for a simulated GPU, then sets its counters and its clock to zero. Its memory stays.
#[track_caller]
pub fn reset(n: usize) {
    let mut state = sim(n).state();
    state.timeline.reset();
    state.transfers = Transfers::default();
    state.launches = launches::Record::default();
}

/// What the *modelled* clock of a simulated GPU shows, counted from the last [`reset`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// The GPU whose figures were used last.
    pub gpu: Gpu,
    /// The host's time: what its calls to the device have taken, waiting included. What the host
    /// computes between them does not count.
    pub host_ns: Nanoseconds,
    /// When the last work of all streams is done; later than the host's time while work is pending.
    pub device_ns: Nanoseconds,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (host, device) = (self.host_ns as f64 / 1e3, self.device_ns as f64 / 1e3);
        write!(f, "host {host:.3} us, device {device:.3} us (modelled, {})", self.gpu)
    }
}
