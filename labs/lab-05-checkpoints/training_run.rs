//! What 5.7 is about: a training, step by step, and all of it that a restart needs.

use engine_room::data::{Sampler, SamplerState};
use engine_room::nn::{BatchNorm1d, Dropout, Linear, Module, Relu, Sequential, StateDict};
use engine_room::optim::{AdamW, CosineAnnealingLr, LinearLr, LrScheduler, Optimizer};
use engine_room::optim::{OptimizerState, SchedulerState, SequentialLr};
use engine_room::rng::{self, Generator, GeneratorState};
use engine_room::{Tensor, no_grad};

/// Examples with their labels.
#[derive(Debug, Clone)]
pub struct Examples {
    /// `(N, inputs)`.
    pub inputs: Tensor,
    /// `(N)`, a class each, as `i64`.
    pub labels: Tensor,
}

/// What the program says: it is the same before and after a restart, and is not saved.
#[derive(Debug, Clone)]
pub struct Setup {
    /// To train on.
    pub training: Examples,
    /// To look at after every step.
    pub held_out: Examples,
    /// How many hidden units and classes the model has.
    pub sizes: [usize; 2],
    /// How many examples make a batch; the last one of an epoch has what is left.
    pub batch: usize,
    /// The steps of the whole training: so long is the schedule.
    pub steps: u64,
}

/// A training that is under way.
pub struct Run {
    /// Linear, batch norm, relu, dropout, linear.
    pub model: Sequential,
    /// AdamW over all parameters of the model.
    pub optimizer: AdamW,
    /// Up in the first quarter of the steps, then down half a cosine.
    pub scheduler: LrScheduler,
    /// Which examples come next, another order in every epoch. It goes to the next epoch at once
    /// when the last example of one was taken.
    pub sampler: Sampler,
    /// How many steps were taken.
    pub step: u64,
    /// What the program says.
    pub setup: Setup,
}

/// What is kept of a run.
#[derive(Debug, Clone)]
pub struct SavedRun {
    /// The parameters and buffers of the model.
    pub model: StateDict,
    /// Moments and steps of every parameter, learning rate and weight decay.
    pub optimizer: OptimizerState,
    /// How far the schedule has come.
    pub scheduler: SchedulerState,
    /// Where in which epoch the data are.
    pub sampler: SamplerState,
    /// Where this thread's generator is, from which dropout draws.
    pub random: GeneratorState,
    /// How many steps were taken.
    pub step: u64,
}

/// What can be seen of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Stepped {
    /// Which step, counted from 1.
    pub step: u64,
    /// The examples of its batch.
    pub examples: Vec<usize>,
    /// The learning rate.
    pub lr: f64,
    /// The loss of the batch, before the step.
    pub loss: f32,
    /// The loss of what is held out, after the step.
    pub held_out: f32,
}

impl Run {
    /// A new training, as a program begins it: every random number in it follows from the seed.
    pub fn new(setup: &Setup, seed: u64) -> Run {
        let mut generator = Generator::new(seed);
        let [hidden, classes] = setup.sizes;
        let model = Sequential::new()
            .append(Linear::new(setup.training.inputs.shape()[1], hidden, true, &mut generator))
            .append(BatchNorm1d::new(hidden))
            .append(Relu)
            .append(Dropout::new(0.25))
            .append(Linear::new(hidden, classes, true, &mut generator));
        let mut optimizer = AdamW::new(model.parameters(), 0.02);
        let up = (setup.steps / 4).max(1);
        let down = (setup.steps - up).max(1);
        let schedule = SequentialLr::new(
            vec![
                Box::new(LinearLr::new(0.1, 1.0, up)),
                Box::new(CosineAnnealingLr::new(down, 0.0)),
            ],
            vec![up],
        );
        let scheduler = LrScheduler::new(schedule, &mut optimizer);
        let sampler = Sampler::random(setup.training.labels.numel(), seed);
        rng::manual_seed(seed);
        Run { model, optimizer, scheduler, sampler, step: 0, setup: setup.clone() }
    }

    /// Takes one step.
    pub fn step(&mut self) -> Stepped {
        let examples = self.sampler.take(self.setup.batch).to_vec();
        if self.sampler.remaining() == 0 {
            self.sampler.next_epoch();
        }
        let lr = self.optimizer.groups()[0].lr;
        let loss = self.loss(&self.setup.training.of(&examples));
        self.optimizer.zero_grad(true);
        loss.backward();
        self.optimizer.step();
        self.scheduler.step(&mut self.optimizer);
        self.step += 1;
        self.model.eval();
        let held_out = no_grad(|| self.loss(&self.setup.held_out).item());
        self.model.train(true);
        Stepped { step: self.step, examples, lr, loss: loss.item(), held_out }
    }

    fn loss(&self, batch: &Examples) -> Tensor {
        self.model.forward(&batch.inputs).cross_entropy(&batch.labels)
    }
}

impl Examples {
    /// Those with these numbers.
    fn of(&self, numbers: &[usize]) -> Examples {
        let rows = numbers.iter().map(|&number| number as i64).collect();
        let rows = Tensor::from_vec(rows, &[numbers.len()]);
        let take = |x: &Tensor| x.index_select(0, &rows);
        Examples { inputs: take(&self.inputs), labels: take(&self.labels) }
    }
}
