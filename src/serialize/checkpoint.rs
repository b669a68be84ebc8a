//! Training checkpoints: all that a run needs to go on elsewhere as if it had never stopped, in one
//! file.
//!
//! One file, since a file can be replaced at once and several cannot: there is never a new model
//! beside an old optimizer. It is a safetensors file, so its weights can be read without this
//! program, under `model.NAME`. Everything else stands beside them as small tensors (`records.rs`).
//!
//! ```text
//! Checkpoint::new(step)
//!     .model(&model)
//!     .optimizer(&optimizer)
//!     .scheduler(&scheduler)
//!     .sampler(loader.state())
//!     .save(path)?;
//! ```
//!
//! **What is not in it:** gradients, so save between `optimizer.step()` and the next `backward()`;
//! and what the program says itself: the sizes of the model, betas and momentum, the formula of the
//! schedule, the batch size, whether layers are in training.

use std::path::Path;

use crate::Tensor;
use crate::amp::{GradScaler, ScalerState};
use crate::data::SamplerState;
use crate::error::Error;
use crate::nn::{Module, StateDict};
use crate::optim::{LrScheduler, Optimizer, SchedulerState};
use crate::rng::{self, Generator, GeneratorState};
use crate::serialize::records::{Record, Writer};
use crate::serialize::saved_run::SavedRun;
use crate::serialize::{Disk, Files, MapLocation, save_with};

/// The parts of a training that are to be saved.
///
/// The model and the optimizer are borrowed until it is saved: a step in between would save the
/// weights after it and the schedule before it.
#[must_use = "nothing is saved before `save`"]
pub struct Checkpoint<'a> {
    pub(super) step: u64,
    model: Option<&'a dyn Module>,
    optimizer: Option<&'a dyn Optimizer>,
    scaler: Option<ScalerState>,
    scheduler: Option<SchedulerState>,
    sampler: Option<SamplerState>,
    generators: Vec<(String, GeneratorState)>,
    extra: Vec<(String, Tensor)>,
}

impl<'a> Checkpoint<'a> {
    /// After `step` steps. The state of this thread's default generator, from which dropout draws,
    /// is always in it.
    pub fn new(step: u64) -> Checkpoint<'a> {
        Checkpoint {
            step,
            model: None,
            optimizer: None,
            scaler: None,
            scheduler: None,
            sampler: None,
            generators: vec![(DEFAULT.to_string(), rng::get_state())],
            extra: Vec::new(),
        }
    }

    /// Every parameter and every persistent buffer.
    pub fn model(mut self, model: &'a dyn Module) -> Checkpoint<'a> {
        self.model = Some(model);
        self
    }

    /// What the optimizer keeps for each parameter, and learning rate and weight decay of each
    /// group. The parameters are known by their order.
    pub fn optimizer(mut self, optimizer: &'a dyn Optimizer) -> Checkpoint<'a> {
        self.optimizer = Some(optimizer);
        self
    }

    /// The loss scaler, after its `update()`: what it has seen since is not saved.
    pub fn scaler(mut self, scaler: &GradScaler) -> Checkpoint<'a> {
        self.scaler = Some(scaler.state_dict());
        self
    }

    /// How far the schedule has come.
    pub fn scheduler(mut self, scheduler: &LrScheduler) -> Checkpoint<'a> {
        self.scheduler = Some(scheduler.state_dict());
        self
    }

    /// Where in which epoch the data are: `loader.state()`.
    pub fn sampler(mut self, state: SamplerState) -> Checkpoint<'a> {
        self.sampler = Some(state);
        self
    }

    /// A generator of the program's own, under a name.
    pub fn generator(mut self, name: &str, generator: &Generator) -> Checkpoint<'a> {
        self.generators.push((name.to_string(), generator.state()));
        self
    }

    /// A tensor of the program's own, such as the losses so far.
    pub fn tensor(mut self, name: &str, x: &Tensor) -> Checkpoint<'a> {
        self.extra.push((name.to_string(), x.detach()));
        self
    }

    /// A text of the program's own, such as its configuration.
    pub fn text(self, name: &str, text: &str) -> Checkpoint<'a> {
        let bytes = text.as_bytes().to_vec();
        let shape = [bytes.len()];
        self.tensor(name, &Tensor::from_vec(bytes, &shape))
    }

    /// Saves it as one file. A crash leaves the file that was there before, or the new one:
    /// see [`replace`](crate::serialize::replace).
    ///
    /// # Errors
    /// If two parts have one name, or as [`replace`](crate::serialize::replace).
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        self.save_on(&Disk, path)
    }

    /// The same on another file system.
    pub(super) fn save_on(&self, files: &dyn Files, path: &Path) -> Result<(), Error> {
        save_with(files, path, &self.tensors()?, &[])
    }

    /// Loads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no checkpoint of a training.
    pub fn load(path: &Path, map_location: &MapLocation) -> Result<SavedRun, Error> {
        SavedRun::load(path, map_location)
    }

    /// All parts as one state dict.
    fn tensors(&self) -> Result<StateDict, Error> {
        let mut all = StateDict::new();
        Writer::new(&mut all, "").count(STEP, self.step)?;
        if let Some(model) = self.model {
            let mut writer = Writer::new(&mut all, MODEL);
            model.state_dict().iter().try_for_each(|(name, x)| writer.tensor(name, x))?;
        }
        let optimizer = self.optimizer.map(|optimizer| optimizer.state_dict());
        write(&mut all, OPTIMIZER, optimizer.as_ref())?;
        write(&mut all, SCALER, self.scaler.as_ref())?;
        write(&mut all, SCHEDULER, self.scheduler.as_ref())?;
        write(&mut all, SAMPLER, self.sampler.as_ref())?;
        for (name, state) in &self.generators {
            write(&mut all, &generator_prefix(name), Some(state))?;
        }
        let mut writer = Writer::new(&mut all, EXTRA);
        self.extra.iter().try_for_each(|(name, x)| writer.tensor(name, x))?;
        Ok(all)
    }
}

fn write(all: &mut StateDict, prefix: &str, record: Option<&impl Record>) -> Result<(), Error> {
    record.map_or(Ok(()), |record| record.write(&mut Writer::new(all, prefix)))
}

/// The name of the number of steps.
pub(super) const STEP: &str = "step";
pub(super) const MODEL: &str = "model.";
pub(super) const OPTIMIZER: &str = "optimizer.";
pub(super) const SCALER: &str = "scaler.";
pub(super) const SCHEDULER: &str = "scheduler.";
pub(super) const SAMPLER: &str = "sampler.";
/// What tensors of the program's own are saved under.
pub(super) const EXTRA: &str = "extra.";
/// The name of the thread's default generator.
pub(super) const DEFAULT: &str = "default";

/// What the parts of a generator are saved under.
pub(super) fn generator_prefix(name: &str) -> String {
    format!("generator.{name}.")
}
