//! 5.7: everything that a run depends on, as plain numbers, and in which part two runs differ.

use engine_room::data::SamplerState;
use engine_room::nn::Module;
use engine_room::optim::{Optimizer, ParamState, SchedulerState};
use engine_room::rng::{self, GeneratorState};
use engine_room::{DType, Tensor};

use super::super::training_run::Run;

/// The bits of all numbers of some tensors: NaN is equal to itself.
type Bits = Vec<Vec<u64>>;

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    Sampler,
    Rate,
    Weights,
    Mode,
    Random,
    Moments,
    Steps,
    Buffers,
    Schedule,
    Count,
}

/// The order is the one in which a step shows them.
pub const PARTS: [Part; 10] = [
    Part::Sampler,
    Part::Rate,
    Part::Weights,
    Part::Mode,
    Part::Random,
    Part::Moments,
    Part::Steps,
    Part::Buffers,
    Part::Schedule,
    Part::Count,
];

/// All of a run, at one moment.
#[derive(Debug, Clone)]
pub struct Parts {
    pub weights: Bits,
    pub buffers: Bits,
    /// First those of the mean, then those of the mean square.
    pub moments: [Bits; 2],
    pub steps: Vec<u64>,
    pub rates: Vec<(f64, f64)>,
    pub scheduler: SchedulerState,
    pub sampler: SamplerState,
    pub random: GeneratorState,
    pub training: bool,
    pub count: u64,
}

fn bits(x: &Tensor) -> Vec<u64> {
    x.detach().to(DType::F64).to_vec::<f64>().into_iter().map(f64::to_bits).collect()
}

impl Parts {
    /// Of a run of this thread.
    pub fn of(run: &Run) -> Parts {
        let optimizer = run.optimizer.state_dict();
        let moment = |name: &str| {
            let of = |param: &ParamState| {
                let tensors = param.tensors.iter().filter(|(other, _)| other == name);
                tensors.flat_map(|(_, x)| bits(x)).collect()
            };
            optimizer.params.iter().map(of).collect()
        };
        Parts {
            weights: run.model.parameters().iter().map(|it| bits(&it.get())).collect(),
            buffers: run.model.named_buffers().iter().map(|(_, it)| bits(&it.get())).collect(),
            moments: [moment("exp_avg"), moment("exp_avg_sq")],
            steps: optimizer.params.iter().map(|param| param.step).collect(),
            rates: optimizer.groups,
            scheduler: run.scheduler.state_dict(),
            sampler: run.sampler.state(),
            random: rng::get_state(),
            training: run.model.is_training(),
            count: run.step,
        }
    }

    /// Whether a part is the same in both.
    pub fn agree(&self, other: &Parts, part: Part) -> bool {
        match part {
            Part::Sampler => self.sampler == other.sampler,
            Part::Rate => self.rates == other.rates,
            Part::Weights => self.weights == other.weights,
            Part::Mode => self.training == other.training,
            Part::Random => self.random == other.random,
            Part::Moments => self.moments == other.moments,
            Part::Steps => self.steps == other.steps,
            Part::Buffers => self.buffers == other.buffers,
            Part::Schedule => self.scheduler == other.scheduler,
            Part::Count => self.count == other.count,
        }
    }

    /// The first part that differs.
    pub fn difference(&self, other: &Parts) -> Option<Part> {
        PARTS.into_iter().find(|part| !self.agree(other, *part))
    }
}
