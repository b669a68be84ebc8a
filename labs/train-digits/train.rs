//! The training loop: batches, forward, backward, step, and a look at what is held out.

use engine_room::data::{DataLoader, Sampler, TensorDataset};
use engine_room::nn::Module;
use engine_room::optim::{
    AdamW, CosineAnnealingLr, LinearLr, LrScheduler, Optimizer, SequentialLr,
};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor, no_grad};
use engine_room_labs::metrics::{Mean, MetricsFile, accuracy};
use engine_room_labs::{Digits, Progress, Split};
use serde::Serialize;

use crate::Args;

/// One recipe for both models.
const BATCH: usize = 64;
const LEARNING_RATE: f64 = 8e-3;
const WEIGHT_DECAY: f64 = 0.3;

/// What an epoch came to: a line of the metrics file.
#[derive(Serialize)]
pub struct Epoch {
    /// Which of the two trainings.
    pub held_out: &'static str,
    /// Counted from 1.
    pub epoch: u32,
    /// Of the step that would come next.
    pub learning_rate: f64,
    /// The mean over the training's images, those of each batch measured before its step.
    pub loss: f64,
    /// The share of the held-out images that are read right. It decides nothing.
    pub accuracy: f64,
}

/// Trains a new model on one part of a split, and tests it on the other after every epoch.
///
/// # Errors
/// If the metrics cannot be written.
pub fn train(
    args: &Args,
    held_out: &'static str,
    split: &Split,
    metrics: &mut Option<MetricsFile>,
) -> Result<Vec<Epoch>, String> {
    let mut trainer = Trainer::new(args, &split.train)?;
    let progress = Progress::shown(!args.json, held_out, args.epochs.into());
    let mut done = Vec::new();
    for epoch in 1..=args.epochs {
        let loss = trainer.epoch();
        let accuracy = trainer.test(&split.test);
        let learning_rate = trainer.optimizer.groups()[0].lr;
        let row = Epoch { held_out, epoch, learning_rate, loss, accuracy };
        metrics.as_mut().map_or(Ok(()), |file| file.log(&row))?;
        progress.step(format!("loss {loss:.3}, {:.1}% read right", 100.0 * accuracy));
        done.push(row);
    }
    Ok(done)
}

struct Trainer {
    device: Device,
    model: Box<dyn Module>,
    optimizer: AdamW,
    scheduler: LrScheduler,
    loader: DataLoader<TensorDataset>,
}

impl Trainer {
    fn new(args: &Args, images: &Digits) -> Result<Trainer, String> {
        let device = args.device.device()?;
        let mut generator = Generator::new(args.seed);
        let model = args.model.build(&mut generator);
        model.to_device(device);
        let sampler = Sampler::random(images.len(), generator.next_u32().into());
        let (x, y) = images.tensors();
        let loader = DataLoader::new(TensorDataset::new(vec![x, y]), sampler, BATCH);
        let optimizer = AdamW::new(model.parameters(), LEARNING_RATE);
        let mut optimizer = optimizer.weight_decay(WEIGHT_DECAY);
        let steps = args.epochs as usize * loader.batches_per_epoch();
        let scheduler = LrScheduler::new(warm_up_and_cosine(steps as u64), &mut optimizer);
        Ok(Trainer { device, model, optimizer, scheduler, loader })
    }

    /// One step a batch. The mean loss.
    fn epoch(&mut self) -> f64 {
        self.model.train(true);
        let mut mean = Mean::default();
        for batch in &mut self.loader {
            let [x, y] = [0, 1].map(|part| batch[part].to(self.device));
            self.optimizer.zero_grad(true);
            let loss = self.model.forward(&x).cross_entropy(&y);
            loss.backward();
            self.optimizer.step();
            self.scheduler.step(&mut self.optimizer);
            mean.add(loss.item().into(), y.numel());
        }
        mean.value()
    }

    fn test(&self, images: &Digits) -> f64 {
        self.model.eval();
        let (x, y) = images.tensors();
        let scores: Tensor = no_grad(|| self.model.forward(&x.to(self.device)));
        accuracy(&scores, &y)
    }
}

/// Up to the full rate in the first tenth of the steps, while AdamW's running means still know
/// little, and down a half cosine in the others.
fn warm_up_and_cosine(steps: u64) -> SequentialLr {
    let warm_up = (steps / 10).max(1);
    let rise = LinearLr::new(0.1, 1.0, warm_up);
    let fall = CosineAnnealingLr::new((steps - warm_up).max(1), 0.0);
    SequentialLr::new(vec![Box::new(rise), Box::new(fall)], vec![warm_up])
}
