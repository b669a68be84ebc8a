//! What the experiments train, on which GPU.

use engine_room::nn::{Gpt, GptConfig, Mlp, Module};
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::profiler::{Event, Profile};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor, sim};
use engine_room_labs::Output;

/// The simulated GPU of the experiments.
pub const GPU: usize = 0;

/// The simulated GPU, as the named one; each experiment begins with a clock at zero.
///
/// # Errors
/// If another device was asked for.
pub fn simulated(output: &mut Output, gpu: sim::Gpu) -> Result<Device, String> {
    if let Device::Cuda(_) = output.device()? {
        let message = "its times are those of a modelled clock: leave --device away";
        return Err(message.to_string());
    }
    output.value("device", "sim");
    sim::select_gpu(GPU, gpu);
    sim::reset(GPU);
    Ok(Device::Sim(GPU))
}

/// Nanoseconds as seconds.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

/// How long the device has computed or copied.
pub fn device_ns(profile: &Profile) -> u64 {
    let work = profile.events().iter().filter(|event| event.kind.is_on_device());
    work.map(Event::duration_ns).sum()
}

/// From the first event to the last.
pub fn wall_ns(profile: &Profile) -> u64 {
    let start = profile.events().iter().map(|event| event.start_ns).min().unwrap_or(0);
    profile.events().iter().map(|event| event.end_ns).max().unwrap_or(0) - start
}

/// Three layers of one width, SGD, and a batch that lies on the device.
pub struct Network {
    pub model: Mlp,
    pub optimizer: Sgd,
    pub x: Tensor,
    pub y: Tensor,
}

impl Network {
    pub fn new(width: usize, batch: usize, device: Device, seed: u64) -> Network {
        let mut generator = Generator::new(seed);
        let model = Mlp::new(&[width; 4], &mut generator);
        model.to_device(device);
        let optimizer = Sgd::new(model.parameters(), 0.1);
        let x = Tensor::randn(&[batch, width], &mut generator).to(device);
        let y = Tensor::randn(&[batch, width], &mut generator).to(device);
        Network { model, optimizer, x, y }
    }

    /// The mean of the squared errors.
    pub fn loss(&self, forecast: &Tensor) -> Tensor {
        let wrong = forecast.sub(&self.y);
        wrong.mul(&wrong).mean()
    }

    /// One step; its loss stays on the device.
    pub fn step(&mut self) -> Tensor {
        self.optimizer.zero_grad(true);
        let loss = self.loss(&self.model.forward(&self.x));
        loss.backward();
        self.optimizer.step();
        loss.detach()
    }
}

/// A GPT, AdamW, and texts that lie on the device.
pub struct Language {
    model: Gpt,
    optimizer: AdamW,
    tokens: Tensor,
    next: Tensor,
}

/// Its sizes.
pub const GPT: GptConfig =
    GptConfig { vocab: 512, context: 64, width: 64, layers: 2, heads: 2, dropout: 0.0, tied: true };

impl Language {
    pub fn new(batch: usize, device: Device, seed: u64) -> Language {
        let mut generator = Generator::new(seed);
        let model = Gpt::new(&GPT, &mut generator);
        model.to_device(device);
        let optimizer = AdamW::new(model.parameters(), 1e-3);
        let vocab = GPT.vocab as i64;
        let tokens = Tensor::randint(0, vocab, &[batch, GPT.context], &mut generator);
        let next = Tensor::randint(0, vocab, &[batch * GPT.context], &mut generator);
        Language { model, optimizer, tokens: tokens.to(device), next: next.to(device) }
    }

    pub fn step(&mut self) {
        self.optimizer.zero_grad(true);
        let logits = self.model.forward(&self.tokens).view(&[-1, GPT.vocab as isize]);
        logits.cross_entropy(&self.next).backward();
        self.optimizer.step();
    }
}
