//! A training checkpoint that was loaded, and how a run goes on from it.
//!
//! Two mistakes make a resumed run a different one without a word: a part that is not restored, and
//! one that was never saved. Both are errors here, unless the program says that it wants some parts
//! only.

use std::collections::BTreeSet;
use std::path::Path;

use crate::Tensor;
use crate::amp::{GradScaler, ScalerState};
use crate::data::{Sampler, SamplerState};
use crate::device::Device;
use crate::error::Error;
use crate::nn::{Module, StateDict, check_state_dict};
use crate::optim::{LrScheduler, Optimizer, OptimizerState, SchedulerState};
use crate::rng::{self, Generator, GeneratorState};
use crate::serialize::checkpoint::{
    DEFAULT, EXTRA, MODEL, OPTIMIZER, SAMPLER, SCALER, SCHEDULER, STEP, generator_prefix,
};
use crate::serialize::records::{Reader, Record};
use crate::serialize::{MapLocation, load_file};

/// What [`Checkpoint::load`](crate::serialize::Checkpoint::load) has found in a file.
#[derive(Debug)]
pub struct SavedRun {
    step: u64,
    all: StateDict,
}

impl SavedRun {
    /// What is in a file, if that is a checkpoint of a training.
    pub(super) fn load(path: &Path, map_location: &MapLocation) -> Result<SavedRun, Error> {
        let all = load_file(path, map_location)?;
        let step = Reader::new(&all, "")?.count(STEP).map_err(|error| {
            Error::file(path, format!("{error}; weights alone are loaded with load_file"))
        })?;
        Ok(SavedRun { step, all })
    }

    /// How many steps the run had taken.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The model's part, to be loaded into another model or looked at.
    ///
    /// # Errors
    /// If there is none.
    pub fn model_state(&self) -> Result<StateDict, Error> {
        Ok(self.part(MODEL)?.into_fields())
    }

    /// A tensor of the program's own.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn tensor(&self, name: &str) -> Result<Tensor, Error> {
        let found = self.all.get(&format!("{EXTRA}{name}")).cloned();
        found.ok_or_else(|| {
            Error::mismatch(format!("the checkpoint has no {name:?} of the program's own"))
        })
    }

    /// A text of the program's own.
    ///
    /// # Errors
    /// If there is none of this name, or it is no text.
    pub fn text(&self, name: &str) -> Result<String, Error> {
        let x = self.tensor(name)?;
        let bytes = (x.dtype() == crate::DType::U8).then(|| x.to(Device::Cpu).to_vec());
        bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
            Error::mismatch(format!("{name:?} in the checkpoint is {}, no text", x.brief()))
        })
    }

    /// The parts to go on with.
    pub fn restore(&self) -> Restore<'_> {
        Restore {
            saved: self,
            partly: false,
            model: None,
            optimizer: None,
            scaler: None,
            scheduler: None,
            sampler: None,
            generators: Vec::new(),
            default_generator: false,
        }
    }

    /// The names of the parts: `model`, `generator.default`.
    fn parts(&self) -> BTreeSet<String> {
        let part = |name: &str| {
            let first = name.split_once('.')?.0;
            match first {
                "generator" => name.strip_suffix(".seed"),
                _ => (format!("{first}.") != EXTRA).then_some(first),
            }
            .map(str::to_string)
        };
        self.all.names().filter_map(part).collect()
    }

    fn part(&self, prefix: &str) -> Result<Reader, Error> {
        let found = Reader::new(&self.all, prefix)?;
        let name = prefix.trim_end_matches('.');
        match found.is_empty() {
            true => Err(Error::mismatch(format!("the checkpoint has no {name}"))),
            false => Ok(found),
        }
    }
}

/// Where the parts of a run go. Nothing happens before [`finish`](Restore::finish), and then all or
/// nothing.
#[must_use = "nothing is restored before `finish`"]
pub struct Restore<'a> {
    saved: &'a SavedRun,
    partly: bool,
    model: Option<&'a dyn Module>,
    optimizer: Option<&'a mut dyn Optimizer>,
    scaler: Option<&'a mut GradScaler>,
    scheduler: Option<&'a mut LrScheduler>,
    sampler: Option<&'a mut Sampler>,
    generators: Vec<(String, &'a mut Generator)>,
    default_generator: bool,
}

/// What was read for each part that was asked for.
struct Parts {
    model: StateDict,
    optimizer: Option<OptimizerState>,
    scaler: Option<ScalerState>,
    scheduler: Option<SchedulerState>,
    sampler: Option<SamplerState>,
    generators: Vec<GeneratorState>,
    default_generator: Option<GeneratorState>,
}

impl<'a> Restore<'a> {
    /// Every parameter and persistent buffer; the names must be those that were saved.
    pub fn model(mut self, model: &'a dyn Module) -> Restore<'a> {
        self.model = Some(model);
        self
    }

    /// What the optimizer keeps for each parameter, and learning rate and weight decay of each
    /// group. Betas, momentum and the like stay as the program has set them.
    pub fn optimizer(mut self, optimizer: &'a mut dyn Optimizer) -> Restore<'a> {
        self.optimizer = Some(optimizer);
        self
    }

    /// The scale of the loss.
    pub fn scaler(mut self, scaler: &'a mut GradScaler) -> Restore<'a> {
        self.scaler = Some(scaler);
        self
    }

    /// How far the schedule has come.
    pub fn scheduler(mut self, scheduler: &'a mut LrScheduler) -> Restore<'a> {
        self.scheduler = Some(scheduler);
        self
    }

    /// Seed, epoch and place in it. Make the loader afterwards, of this sampler.
    pub fn sampler(mut self, sampler: &'a mut Sampler) -> Restore<'a> {
        self.sampler = Some(sampler);
        self
    }

    /// A generator of the program's own.
    pub fn generator(mut self, name: &str, generator: &'a mut Generator) -> Restore<'a> {
        self.generators.push((name.to_string(), generator));
        self
    }

    /// This thread's default generator.
    pub fn default_generator(mut self) -> Restore<'a> {
        self.default_generator = true;
        self
    }

    /// Leaves what was not asked for; without it that is an error.
    pub fn partly(mut self) -> Restore<'a> {
        self.partly = true;
        self
    }

    /// Restores all that was asked for, and gives the number of steps that were taken.
    ///
    /// # Errors
    /// If a part was not saved, does not fit what it is to go into, or was saved and not asked for.
    /// Nothing is changed then.
    pub fn finish(self) -> Result<u64, Error> {
        self.compare_parts()?;
        let parts = self.read()?;
        self.check(&parts)?;
        // The only one of these that can still fail, and it changes nothing if it does.
        if let (Some(optimizer), Some(state)) = (self.optimizer, &parts.optimizer) {
            optimizer.load_state_dict(state)?;
        }
        if let Some(model) = self.model {
            model.load_state_dict(&parts.model, true)?;
        }
        if let (Some(scaler), Some(state)) = (self.scaler, &parts.scaler) {
            scaler.load_state_dict(state);
        }
        if let (Some(scheduler), Some(state)) = (self.scheduler, &parts.scheduler) {
            scheduler.load_state_dict(state)?;
        }
        if let (Some(sampler), Some(state)) = (self.sampler, parts.sampler) {
            *sampler = Sampler::from_state(state);
        }
        for ((_, generator), state) in self.generators.into_iter().zip(parts.generators) {
            *generator = Generator::from_state(state);
        }
        parts.default_generator.into_iter().for_each(rng::set_state);
        Ok(self.saved.step)
    }

    /// All that was asked for and is not there, and the other way round, in one error.
    fn compare_parts(&self) -> Result<(), Error> {
        let (wanted, saved) = (self.wanted(), self.saved.parts());
        let list = |names: Vec<&String>| {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            names.join(", ")
        };
        let missing = list(wanted.difference(&saved).collect());
        let unused = list(saved.difference(&wanted).collect());
        let mut faults = Vec::new();
        if !missing.is_empty() {
            faults.push(format!("it lacks {missing}, which the run would have to begin anew"));
        }
        if !unused.is_empty() && !self.partly {
            faults.push(format!(
                "it has {unused}, and the run would differ without; restore it, or say partly()"
            ));
        }
        match faults.is_empty() {
            true => Ok(()),
            false => {
                Err(Error::mismatch(format!("the checkpoint does not fit: {}", faults.join("; "))))
            }
        }
    }

    fn wanted(&self) -> BTreeSet<String> {
        let wanted = [
            (MODEL, self.model.is_some()),
            (OPTIMIZER, self.optimizer.is_some()),
            (SCALER, self.scaler.is_some()),
            (SCHEDULER, self.scheduler.is_some()),
            (SAMPLER, self.sampler.is_some()),
        ];
        let wanted = wanted.iter().filter(|(_, wanted)| *wanted).map(|(prefix, _)| *prefix);
        let generators = self.generators.iter().map(|(name, _)| name.as_str());
        let generators = generators.chain(self.default_generator.then_some(DEFAULT));
        let prefixes = wanted.map(str::to_string).chain(generators.map(generator_prefix));
        prefixes.map(|prefix| prefix.trim_end_matches('.').to_string()).collect()
    }

    fn read(&self) -> Result<Parts, Error> {
        let generator = |name: &str| record(self.saved, &generator_prefix(name));
        let generators = self.generators.iter().map(|(name, _)| generator(name));
        Ok(Parts {
            model: Reader::new(&self.saved.all, MODEL)?.into_fields(),
            optimizer: self.record(self.optimizer.is_some(), OPTIMIZER)?,
            scaler: self.record(self.scaler.is_some(), SCALER)?,
            scheduler: self.record(self.scheduler.is_some(), SCHEDULER)?,
            sampler: self.record(self.sampler.is_some(), SAMPLER)?,
            generators: generators.collect::<Result<_, _>>()?,
            default_generator: self.default_generator.then(|| generator(DEFAULT)).transpose()?,
        })
    }

    fn record<R: Record>(&self, wanted: bool, prefix: &str) -> Result<Option<R>, Error> {
        wanted.then(|| record(self.saved, prefix)).transpose()
    }

    /// Whether each part fits where it is to go.
    fn check(&self, parts: &Parts) -> Result<(), Error> {
        if let Some(model) = self.model {
            check_state_dict(model.type_name(), &model.state_dict(), &parts.model, true)?;
        }
        if let (Some(scheduler), Some(state)) = (&self.scheduler, &parts.scheduler) {
            scheduler.check(state)?;
        }
        match (&self.sampler, parts.sampler) {
            (Some(sampler), Some(state)) if sampler.state().len != state.len => {
                Err(Error::mismatch(format!(
                    "the checkpoint is of a run over {} examples, and this sampler is for {}; \
                     train on the same data",
                    state.len,
                    sampler.state().len
                )))
            }
            _ => Ok(()),
        }
    }
}

fn record<R: Record>(saved: &SavedRun, prefix: &str) -> Result<R, Error> {
    R::read(&saved.part(prefix)?)
}
