//! What 7.6 trains: a forecast of sensors on the simulated GPU, and the counters that judge the
//! loop.

use engine_room::driver::{HostMemory, Route};
use engine_room::nn::{Mlp, Module};
use engine_room::profiler::{Call, Event, Kind, Profile, profile};
use engine_room::rng::Generator;
use engine_room::{Device, Error, Tensor};

/// Everything that the loop is given.
pub struct Training {
    pub device: Device,
    /// `(samples, times, channels)`, on the device, in the order in which a recorder writes.
    pub readings: Tensor,
    /// What is to be forecast: as many, in the same order, and on the device too.
    pub targets: Tensor,
    /// The mean of each reading: `(channels · times)`, channel by channel, in the host's memory.
    pub mean: Tensor,
    /// How much the error of each channel counts.
    pub importance: Vec<f32>,
    /// From `channels · times` readings to as many.
    pub model: Mlp,
    /// Samples of a step; the last step of an epoch can have fewer.
    pub batch: usize,
    pub epochs: usize,
    pub rate: f64,
}

/// How large a training is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub samples: usize,
    pub times: usize,
    pub channels: usize,
    pub batch: usize,
    pub epochs: usize,
}

/// The size at which the loop is profiled: its products take longer than their launches.
pub const PROFILED: Size = Size { samples: 512, times: 80, channels: 3, batch: 256, epochs: 5 };

impl Size {
    /// Steps of the whole training.
    pub fn steps(&self) -> u64 {
        (self.samples.div_ceil(self.batch) * self.epochs) as u64
    }
}

impl Training {
    /// Random readings, and targets that depend on them.
    pub fn new(size: &Size, device: Device, seed: u64) -> Training {
        let Size { samples, times, channels, batch, epochs } = *size;
        let mut generator = Generator::new(seed);
        let width = channels * times;
        let readings = Tensor::randn(&[samples, times, channels], &mut generator);
        let readings = readings.add(&Tensor::randn(&[times, channels], &mut generator));
        let mean = readings.mean_dims(&[0], false).transpose(0, 1).copy().view(&[width]);
        let importance = (0..channels).map(|_| 0.25 + generator.uniform()).collect();
        let model = Mlp::new(&[width, width, width], &mut generator);
        model.to_device(device);
        Training {
            device,
            readings: readings.to(device),
            targets: readings.tanh().to(device),
            mean,
            importance,
            model,
            batch,
            epochs,
            rate: 0.5,
        }
    }
}

/// What a training has asked of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// Kernels and copies that were launched, a step.
    pub launches: u64,
    /// Bytes that were copied from one place of the device's memory to another, in all steps
    /// together: packed in calls that do not say so, or by `copy`.
    pub packed: u64,
    /// Those of them that a backward pass packed.
    pub packed_backward: u64,
    /// Those of them that `copy` copied.
    pub copied: u64,
    /// Copies to the device.
    pub sent: u64,
    /// How often the host waited for the device before the last kernel was launched. A copy to the
    /// device counts as such.
    pub waits: u64,
    /// How often the driver was asked for memory, or given some back, and how often the cache was
    /// emptied.
    pub driver: u64,
    /// Copies to the device from pinned memory.
    pub pinned: u64,
    /// Bytes that went to the host before the last kernel was launched.
    pub fetched: u64,
}

impl Counters {
    /// Of a profile of so many steps.
    pub fn of(profile: &Profile, steps: u64) -> Counters {
        let events = profile.events();
        let of_call = |kinds: &'static [Call]| {
            let is_one = |kind: Kind| matches!(kind, Kind::Call(call) if kinds.contains(&call));
            (0..events.len()).filter(move |&at| is_one(events[at].kind))
        };
        let last = of_call(&[Call::Launch]).max().unwrap_or(0);
        let copies = |route: Route| {
            let name = route.name();
            events.iter().filter(move |event| event.kind == Kind::Copy && event.name == name)
        };
        let sent = |memory| copies(Route::ToDevice(memory)).count() as u64;
        let fetched = [HostMemory::Pageable, HostMemory::Pinned].map(|memory| {
            let before = copies(Route::ToHost(memory)).filter(|copy| copy.cause < Some(last));
            before.map(|copy| copy.bytes).sum::<u64>()
        });
        let emptied = events.iter().filter(|event| event.name == "empty_cache").count();
        let driver = of_call(&[Call::Alloc, Call::Free]).count() + emptied;
        let [hidden, packed_backward, copied] = packed(events);
        Counters {
            launches: of_call(&[Call::Launch]).count() as u64 / steps,
            packed: hidden + copied,
            packed_backward,
            copied,
            sent: sent(HostMemory::Pageable) + sent(HostMemory::Pinned),
            waits: of_call(&[Call::Synchronize]).filter(|&at| at < last).count() as u64,
            driver: driver as u64,
            pinned: sent(HostMemory::Pinned),
            fetched: fetched.iter().sum(),
        }
    }
}

/// Bytes of hidden copies, of those that are part of a backward pass, and of `copy`.
fn packed(events: &[Event]) -> [u64; 3] {
    let [mut hidden, mut backward, mut copied] = [0; 3];
    for event in events {
        let above = || std::iter::successors(event.parent, |&at| events[at].parent);
        hidden += event.hidden_copy;
        if above().any(|at| events[at].kind == Kind::Backward) {
            backward += event.hidden_copy;
        }
        if event.name == "copy" && !above().any(|at| events[at].hidden_copy > 0) {
            copied += event.bytes / 2; // read once, and written once
        }
    }
    [hidden, backward, copied]
}

/// Trains, and profiles it. An epoch before that pays for what the others find ready.
///
/// # Errors
/// If the device fails.
pub fn profiled(
    size: &Size,
    device: Device,
    seed: u64,
    train: fn(&Training) -> Vec<f32>,
) -> Result<Profile, Error> {
    let mut training = Training::new(size, device, seed);
    training.epochs = 1;
    train(&training);
    training.epochs = size.epochs;
    device.synchronize()?;
    let (_, profile) = profile(&[device], |_| train(&training))?;
    Ok(profile)
}
