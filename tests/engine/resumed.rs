//! For the engine's tests: trainings that can stop after any step and go on from a file, and a
//! trace of all that they compute.

use std::path::Path;

use engine_room::amp::{GradScaler, autocast};
use engine_room::data::{DataLoader, Sampler, TensorDataset};
use engine_room::nn::{BatchNorm1d, Dropout, Gpt, GptConfig, Linear, Module, Relu, Sequential};
use engine_room::optim::{
    AdamW, CosineAnnealingLr, LinearLr, LrScheduler, Optimizer, SequentialLr, Sgd,
};
use engine_room::rng::{Generator, manual_seed};
use engine_room::serialize::{Checkpoint, MapLocation};
use engine_room::{DType, Error, Tensor};

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Task {
    /// Dropout and batch norm; AdamW; f16 under autocast.
    Mlp,
    /// A small GPT with tied weights and dropout; Sgd with momentum.
    Gpt,
    /// The GPT in bf16; AdamW with master weights.
    HalfGpt,
}

/// A part of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    Model,
    Optimizer,
    Scaler,
    Scheduler,
    Sampler,
    DefaultGenerator,
    OwnGenerator,
}

/// A training between two steps.
pub struct Run {
    task: Task,
    model: Box<dyn Module>,
    optimizer: Box<dyn Optimizer>,
    scaler: GradScaler,
    scheduler: LrScheduler,
    loader: DataLoader<TensorDataset>,
    /// Weighs each loss, as a program of one's own might draw for its data.
    own: Generator,
    step: u64,
}

const EXAMPLES: usize = 22;
const BATCH: usize = 4;
const CONTEXT: usize = 6;
const VOCABULARY: usize = 9;

impl Run {
    /// A run of its own: everything random comes from the seed, but the data.
    pub fn new(task: Task, seed: u64) -> Run {
        Run::from(task, seed, |_, _| Ok(0)).expect("nothing is loaded")
    }

    /// A run that begins as another one and is restored from a file, but for one part.
    pub fn resume(task: Task, seed: u64, path: &Path, without: Option<Part>) -> Result<Run, Error> {
        let saved = Checkpoint::load(path, &MapLocation::Saved)?;
        Run::from(task, seed, |run, sampler| {
            let wanted = |part| without != Some(part);
            let mut restore = saved.restore();
            if without.is_some() {
                restore = restore.partly();
            }
            if wanted(Part::Model) {
                restore = restore.model(&run.model);
            }
            if wanted(Part::Optimizer) {
                restore = restore.optimizer(&mut *run.optimizer);
            }
            if wanted(Part::Scaler) {
                restore = restore.scaler(&mut run.scaler);
            }
            if wanted(Part::Scheduler) {
                restore = restore.scheduler(&mut run.scheduler);
            }
            if wanted(Part::Sampler) {
                restore = restore.sampler(sampler);
            }
            if wanted(Part::DefaultGenerator) {
                restore = restore.default_generator();
            }
            if wanted(Part::OwnGenerator) {
                restore = restore.generator("own", &mut run.own);
            }
            restore.finish()
        })
    }

    fn from(
        task: Task,
        seed: u64,
        restore: impl FnOnce(&mut Run, &mut Sampler) -> Result<u64, Error>,
    ) -> Result<Run, Error> {
        manual_seed(seed);
        let model = model(task, &mut Generator::new(seed));
        let mut optimizer: Box<dyn Optimizer> = match task {
            Task::Gpt => Box::new(Sgd::new(model.parameters(), 0.1).momentum(0.9)),
            _ => Box::new(AdamW::new(model.parameters(), 0.02)),
        };
        let warmup = LinearLr::new(0.1, 1.0, 4);
        let schedule = SequentialLr::new(
            vec![Box::new(warmup), Box::new(CosineAnnealingLr::new(9, 1e-4))],
            vec![4],
        );
        let mut sampler = Sampler::random(EXAMPLES, seed);
        let mut run = Run {
            task,
            scheduler: LrScheduler::new(schedule, &mut *optimizer),
            model,
            optimizer,
            // So high that the first steps overflow, and grown soon after.
            scaler: GradScaler::new().init_scale(2f32.powi(22)).growth_interval(3),
            loader: DataLoader::new(data(task), sampler.clone(), BATCH),
            own: Generator::new(seed + 1),
            step: 0,
        };
        run.step = restore(&mut run, &mut sampler)?;
        run.loader = DataLoader::new(data(task), sampler, BATCH);
        Ok(run)
    }

    pub fn save(&self, path: &Path) -> Result<(), Error> {
        Checkpoint::new(self.step)
            .model(&self.model)
            .optimizer(&*self.optimizer)
            .scaler(&self.scaler)
            .scheduler(&self.scheduler)
            .sampler(self.loader.state())
            .generator("own", &self.own)
            .save(path)
    }

    /// Trains until this step; gives the bits of all that there is after each.
    pub fn train(&mut self, until: u64) -> Vec<Vec<u64>> {
        let mut trace = Vec::new();
        while self.step < until {
            let batch = self.loader.next().or_else(|| self.loader.next()).expect("not empty");
            let loss = self.train_step(&batch);
            self.step += 1;
            trace.push(self.bits(&loss));
        }
        trace
    }

    fn train_step(&mut self, batch: &[Tensor]) -> Tensor {
        self.optimizer.zero_grad(true);
        let weight = f64::from(self.own.uniform()) + 0.5;
        let forward = || {
            let y = self.model.forward(&batch[0]);
            let classes = y.shape()[y.shape().len() - 1];
            let rows = y.numel() / classes;
            y.reshape(&[rows, classes]).cross_entropy(&batch[1].reshape(&[rows]))
        };
        let loss = match self.task {
            Task::Mlp => autocast(DType::F16, forward),
            _ => forward(),
        };
        let loss = loss.mul_scalar(weight);
        self.scaler.scale(&loss).backward();
        if self.scaler.step(&mut *self.optimizer) {
            self.scheduler.step(&mut *self.optimizer);
        }
        self.scaler.update();
        loss
    }

    /// Loss, weights, buffers, what the optimizer keeps, rates, scale.
    fn bits(&self, loss: &Tensor) -> Vec<u64> {
        let kept = self.optimizer.state_dict().to_tensors().expect("names are different");
        let model = self.model.state_dict();
        let tensors = [loss].into_iter().chain(model.iter().chain(kept.iter()).map(|(_, x)| x));
        let mut bits: Vec<u64> =
            tensors.flat_map(|x| x.to(DType::F64).to_vec::<f64>()).map(f64::to_bits).collect();
        bits.push(f64::from(self.scaler.get_scale()).to_bits());
        bits
    }
}

fn model(task: Task, generator: &mut Generator) -> Box<dyn Module> {
    if task == Task::Mlp {
        return Box::new(
            Sequential::new()
                .append(Linear::new(5, 8, true, generator))
                .append(BatchNorm1d::new(8))
                .append(Relu)
                .append(Dropout::new(0.3))
                .append(Linear::new(8, VOCABULARY, true, generator)),
        );
    }
    let config = GptConfig {
        vocab: VOCABULARY,
        context: CONTEXT,
        width: 8,
        layers: 2,
        heads: 2,
        dropout: 0.2,
        tied: true,
    };
    let gpt = Gpt::new(&config, generator);
    if task == Task::HalfGpt {
        gpt.to_dtype(DType::BF16);
    }
    Box::new(gpt)
}

/// The same examples for every run.
fn data(task: Task) -> TensorDataset {
    let mut generator = Generator::new(1000);
    let highest = VOCABULARY as i64;
    let (x, shape) = match task {
        Task::Mlp => (Tensor::randn(&[EXAMPLES, 5], &mut generator), vec![EXAMPLES]),
        _ => {
            let shape = vec![EXAMPLES, CONTEXT];
            (Tensor::randint(0, highest, &shape, &mut generator), shape)
        }
    };
    TensorDataset::new(vec![x, Tensor::randint(0, highest, &shape, &mut generator)])
}
