//! What a training keeps beside its weights, as tensors: small records of numbers and text.
//!
//! Numbers are saved in binary, so each comes back to the last bit, and Python's `safetensors`
//! reads them as it reads weights. A `u64` is saved as the `i64` of the same bits, text as its
//! bytes in UTF-8.

use crate::Tensor;
use crate::amp::ScalerState;
use crate::data::SamplerState;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Error;
use crate::nn::StateDict;
use crate::optim::{OptimizerState, ParamState, SchedulerState};
use crate::rng::GeneratorState;

/// What can be saved under a name of its own, as tensors whose names begin with it.
pub(super) trait Record: Sized {
    /// Puts its tensors in, without copying large ones.
    fn write(&self, records: &mut Writer) -> Result<(), Error>;

    /// What [`write`](Record::write) has put in, or what is wrong with it.
    fn read(records: &Reader) -> Result<Self, Error>;
}

/// Puts the tensors of a record into a state dict, all under one prefix.
pub(super) struct Writer<'a> {
    state: &'a mut StateDict,
    prefix: &'a str,
}

impl<'a> Writer<'a> {
    /// With names that begin with `prefix`: `sampler.`.
    pub fn new(state: &'a mut StateDict, prefix: &'a str) -> Writer<'a> {
        Writer { state, prefix }
    }

    /// A tensor, which is not copied.
    pub fn tensor(&mut self, field: &str, x: &Tensor) -> Result<(), Error> {
        self.state.insert(&format!("{}{field}", self.prefix), x.detach())
    }

    /// A list of numbers.
    pub fn list<T: Element>(&mut self, field: &str, values: Vec<T>) -> Result<(), Error> {
        let shape = [values.len()];
        self.tensor(field, &Tensor::from_vec(values, &shape))
    }

    /// One number.
    pub fn number<T: Element>(&mut self, field: &str, value: T) -> Result<(), Error> {
        self.tensor(field, &Tensor::from_vec(vec![value], &[]))
    }

    /// One number of 64 bits without a sign.
    pub fn count(&mut self, field: &str, value: u64) -> Result<(), Error> {
        self.number(field, value.cast_signed())
    }
}

/// The tensors whose names begin with one prefix.
pub(super) struct Reader {
    prefix: String,
    /// Under what follows after the prefix.
    fields: StateDict,
}

impl Reader {
    /// What is there; nothing may be.
    pub fn new(state: &StateDict, prefix: &str) -> Result<Reader, Error> {
        let mut fields = StateDict::new();
        for (name, x) in state.iter() {
            if let Some(field) = name.strip_prefix(prefix) {
                fields.insert(field, x.clone())?;
            }
        }
        Ok(Reader { prefix: prefix.to_string(), fields })
    }

    /// The tensors, under what follows after the prefix.
    pub fn into_fields(self) -> StateDict {
        self.fields
    }

    /// Whether there is no such record.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn has(&self, field: &str) -> bool {
        self.fields.get(field).is_some()
    }

    /// A list of numbers, of exactly this type.
    fn list<T: Element>(&self, field: &str) -> Result<Vec<T>, Error> {
        let fault = match self.fields.get(field) {
            None => "is missing".to_string(),
            Some(x) if x.dtype() != T::DTYPE || x.shape().len() > 1 => {
                format!("is {}, and should be numbers of {}", x.brief(), T::DTYPE)
            }
            Some(x) => return Ok(x.to(Device::Cpu).to_vec()),
        };
        Err(self.fault(field, &fault))
    }

    fn number<T: Element>(&self, field: &str) -> Result<T, Error> {
        match self.list(field)?[..] {
            [value] => Ok(value),
            _ => Err(self.fault(field, "should be one number")),
        }
    }

    /// One number of 64 bits without a sign.
    pub fn count(&self, field: &str) -> Result<u64, Error> {
        Ok(self.number::<i64>(field)?.cast_unsigned())
    }

    /// A number that must fit into a smaller type.
    fn small<T: TryFrom<u64>>(&self, field: &str) -> Result<T, Error> {
        let value = self.count(field)?;
        T::try_from(value)
            .map_err(|_| self.fault(field, &format!("is {value}, which is too large")))
    }

    fn fault(&self, field: &str, what: &str) -> Error {
        let message = format!(
            "in the checkpoint, `{}{field}` {what}; it was saved by another program or is damaged",
            self.prefix
        );
        Error::Mismatch { message }
    }
}

impl Record for GeneratorState {
    fn write(&self, records: &mut Writer) -> Result<(), Error> {
        records.count("seed", self.seed)?;
        records.count("drawn", self.drawn)
    }

    fn read(records: &Reader) -> Result<GeneratorState, Error> {
        Ok(GeneratorState { seed: records.count("seed")?, drawn: records.count("drawn")? })
    }
}

impl Record for SamplerState {
    fn write(&self, records: &mut Writer) -> Result<(), Error> {
        records.count("len", self.len as u64)?;
        self.seed.map_or(Ok(()), |seed| records.count("seed", seed))?;
        records.count("epoch", self.epoch)?;
        records.count("taken", self.taken as u64)
    }

    fn read(records: &Reader) -> Result<SamplerState, Error> {
        let seed = records.has("seed").then(|| records.count("seed")).transpose()?;
        let (len, taken) = (records.small("len")?, records.small("taken")?);
        if taken > len {
            let what = format!("says that {taken} of {len} examples were taken");
            return Err(records.fault("taken", &what));
        }
        Ok(SamplerState { len, seed, epoch: records.count("epoch")?, taken })
    }
}

impl Record for ScalerState {
    fn write(&self, records: &mut Writer) -> Result<(), Error> {
        records.number("scale", self.scale)?;
        records.number("growth_factor", self.growth_factor)?;
        records.number("backoff_factor", self.backoff_factor)?;
        records.count("growth_interval", self.growth_interval.into())?;
        records.count("growth_tracker", self.growth_tracker.into())
    }

    fn read(records: &Reader) -> Result<ScalerState, Error> {
        Ok(ScalerState {
            scale: records.number("scale")?,
            growth_factor: records.number("growth_factor")?,
            backoff_factor: records.number("backoff_factor")?,
            growth_interval: records.small("growth_interval")?,
            growth_tracker: records.small("growth_tracker")?,
        })
    }
}

impl Record for SchedulerState {
    fn write(&self, records: &mut Writer) -> Result<(), Error> {
        records.count("last_epoch", self.last_epoch)?;
        records.list("base_lrs", self.base_lrs.clone())
    }

    fn read(records: &Reader) -> Result<SchedulerState, Error> {
        let (last_epoch, base_lrs) = (records.count("last_epoch")?, records.list("base_lrs")?);
        Ok(SchedulerState { last_epoch, base_lrs })
    }
}

/// Lists by group and by parameter, and `state.3.exp_avg` for what is kept for parameter 3.
impl Record for OptimizerState {
    fn write(&self, records: &mut Writer) -> Result<(), Error> {
        let (lrs, decays) = self.groups.iter().copied().unzip();
        records.list::<f64>("lr", lrs)?;
        records.list::<f64>("weight_decay", decays)?;
        let steps = self.params.iter().map(|param| param.step.cast_signed());
        records.list::<i64>("step", steps.collect())?;
        for (at, param) in self.params.iter().enumerate() {
            for (name, x) in &param.tensors {
                records.tensor(&format!("state.{at}.{name}"), x)?;
            }
        }
        Ok(())
    }

    fn read(records: &Reader) -> Result<OptimizerState, Error> {
        let (lrs, decays) = (records.list::<f64>("lr")?, records.list::<f64>("weight_decay")?);
        if lrs.len() != decays.len() {
            let what = format!("has {} groups, and `lr` {}", decays.len(), lrs.len());
            return Err(records.fault("weight_decay", &what));
        }
        let new = |step: i64| ParamState { step: step.cast_unsigned(), tensors: Vec::new() };
        let mut params: Vec<_> = records.list::<i64>("step")?.into_iter().map(new).collect();
        for (field, x) in records.fields.iter() {
            if ["lr", "weight_decay", "step"].contains(&field) {
                continue;
            }
            let place = field.strip_prefix("state.").and_then(|rest| rest.split_once('.'));
            let slot = place.and_then(|(at, _)| params.get_mut(at.parse::<usize>().ok()?));
            let (Some(slot), Some((_, name))) = (slot, place) else {
                return Err(records.fault(field, "belongs to no parameter"));
            };
            slot.tensors.push((name.to_string(), x.clone()));
        }
        Ok(OptimizerState { groups: lrs.into_iter().zip(decays).collect(), params })
    }
}

impl OptimizerState {
    /// The state as tensors with names, to be saved beside weights or alone: `lr`, `weight_decay`,
    /// `step`, and `state.3.exp_avg` for parameter 3. The tensors are not copied.
    ///
    /// # Errors
    /// If a parameter keeps two tensors of one name.
    pub fn to_tensors(&self) -> Result<StateDict, Error> {
        let mut state = StateDict::new();
        self.write(&mut Writer::new(&mut state, ""))?;
        Ok(state)
    }

    /// The state from what [`to_tensors`](OptimizerState::to_tensors) gave.
    ///
    /// # Errors
    /// If a name is missing or means nothing here, or a tensor is of another type than it should
    /// be.
    pub fn from_tensors(state: &StateDict) -> Result<OptimizerState, Error> {
        OptimizerState::read(&Reader::new(state, "")?)
    }
}
