//! Training loops that are still wrong: 4.6. One loop that does one thing wrong at a time.

use engine_room::memory::memory_allocated;
use engine_room::nn::Module;
use engine_room::optim::Optimizer;
use engine_room::{Device, Tensor, no_grad};

use super::super::checks::Train;
use super::super::training::{Batch, Epoch, Plan};
use super::{Wrong, wrong};

/// What is wrong with a loop.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Undivided,
    ByAccumulate,
    TrainsOnce,
    TrainsAfterwards,
    NeverEvaluates,
    KeepsGraphs,
    ZeroesEachBatch,
    NeverZeroes,
    WholeGroupsOnly,
    StepsEachBatch,
    ScaledLoss,
    RecordsNothing,
}

use Fault::*;

/// The loop with this fault, as a function.
macro_rules! with {
    ($fault:ident) => {
        |model, optimizer, batches, held_out, plan| {
            Loop { model, plan, fault: $fault }.run(optimizer, batches, held_out)
        }
    };
}

pub fn mistakes() -> Vec<Wrong> {
    vec![
        train("4.6-not-divided", "two mended, the sum left", with!(Undivided)),
        train("4.6-stays-in-evaluation", "two mended, eval left", with!(TrainsOnce)),
        train("4.6-arrives-in-evaluation", "trains after eval", with!(TrainsAfterwards)),
        train("4.6-graphs-kept", "two mended, the graphs left", with!(KeepsGraphs)),
        train("4.6-last-group", "divides by accumulate", with!(ByAccumulate)),
        train("4.6-evaluates-in-training", "without eval", with!(NeverEvaluates)),
        train("4.6-gradients-dropped", "zero_grad for each batch", with!(ZeroesEachBatch)),
        train("4.6-not-zeroed", "without zero_grad", with!(NeverZeroes)),
        train("4.6-batches-left-out", "chunks_exact", with!(WholeGroupsOnly)),
        train("4.6-steps", "a step for each batch", with!(StepsEachBatch)),
        train("4.6-loss-of-the-share", "reports the divided loss", with!(ScaledLoss)),
        train("4.6-not-recorded", "all in no_grad", with!(RecordsNothing)),
    ]
}

fn train(diagnosis: &'static str, name: &'static str, f: Train) -> Wrong {
    wrong("4.6", diagnosis, name, |table| table.train = f)
}

struct Loop<'a> {
    model: &'a dyn Module,
    plan: &'a Plan,
    fault: Fault,
}

impl Loop<'_> {
    fn run(
        &self,
        optimizer: &mut dyn Optimizer,
        batches: &[Batch],
        held_out: &Batch,
    ) -> Vec<Epoch> {
        let (mut epochs, mut losses): (Vec<Epoch>, Vec<Tensor>) = (Vec::new(), Vec::new());
        self.model.train(self.fault != TrainsAfterwards || self.model.is_training());
        for _ in 0..self.plan.epochs {
            if !matches!(self.fault, TrainsOnce | TrainsAfterwards) {
                self.model.train(true);
            }
            let train_loss = match self.fault {
                RecordsNothing => no_grad(|| self.epoch(optimizer, batches)),
                _ => self.epoch(optimizer, batches),
            };
            if self.fault != NeverEvaluates {
                self.model.eval();
            }
            let forward = || self.model.forward(&held_out.images).cross_entropy(&held_out.labels);
            let loss = if self.fault == KeepsGraphs { forward() } else { no_grad(forward) };
            if self.fault == TrainsAfterwards {
                self.model.train(true);
            }
            let live_bytes = memory_allocated(Device::Cpu);
            let held_out_loss = f64::from(loss.item());
            epochs.push(Epoch { train_loss, held_out_loss, live_bytes });
            losses.push(loss);
        }
        epochs
    }

    fn epoch(&self, optimizer: &mut dyn Optimizer, batches: &[Batch]) -> f64 {
        let mut sum = 0.0;
        for group in batches.chunks(self.plan.accumulate) {
            if self.fault == WholeGroupsOnly && group.len() < self.plan.accumulate {
                continue;
            }
            if self.fault != NeverZeroes {
                optimizer.zero_grad(true);
            }
            for batch in group {
                sum += self.batch(optimizer, batch, group.len());
            }
            if self.fault != StepsEachBatch {
                optimizer.step();
            }
        }
        sum / batches.len() as f64
    }

    fn batch(&self, optimizer: &mut dyn Optimizer, batch: &Batch, group: usize) -> f64 {
        if self.fault == ZeroesEachBatch {
            optimizer.zero_grad(true);
        }
        let loss = self.model.forward(&batch.images).cross_entropy(&batch.labels);
        let divisor = match self.fault {
            Undivided => 1,
            ByAccumulate => self.plan.accumulate,
            _ => group,
        };
        let share = loss.mul_scalar(1.0 / divisor as f64);
        share.backward();
        if self.fault == StepsEachBatch {
            optimizer.step();
        }
        f64::from(if self.fault == ScaledLoss { share.item() } else { loss.item() })
    }
}
