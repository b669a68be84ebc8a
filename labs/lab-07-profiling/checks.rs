//! What lab 07 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/average_thoughts.rs"]
mod average_thoughts;
#[path = "checks/averages.rs"]
mod averages;
#[path = "checks/kernel.rs"]
mod kernel;
#[path = "checks/kernel_thoughts.rs"]
mod kernel_thoughts;
#[path = "checks/span_thoughts.rs"]
mod span_thoughts;
#[path = "checks/spans.rs"]
mod spans;
#[path = "checks/step.rs"]
mod step;
#[path = "checks/step_thoughts.rs"]
mod step_thoughts;
#[path = "checks/thoughts.rs"]
mod thoughts;
#[path = "checks/timing.rs"]
mod timing;
#[path = "checks/timing_ways.rs"]
mod timing_ways;
#[path = "checks/timing_words.rs"]
mod timing_words;
#[path = "checks/trace.rs"]
mod trace;
#[path = "checks/trace_arrows.rs"]
mod trace_arrows;
#[path = "checks/trace_names.rs"]
mod trace_names;
#[path = "checks/trace_read.rs"]
mod trace_read;
#[path = "checks/trace_thoughts.rs"]
mod trace_thoughts;
#[path = "checks/trace_words.rs"]
mod trace_words;
#[path = "checks/training.rs"]
mod training;
#[path = "checks/training_ways.rs"]
mod training_ways;
#[path = "checks/training_words.rs"]
mod training_words;
#[path = "checks/tree.rs"]
mod tree;

use grading::Exercise;

use super::averages::{Call, Row};
use super::kernel::{Counts, Roofs, Verdict};
use super::spans::{Span, Times};
use super::step::{Prediction, Stack};
use super::timing::{Gpu, Kernel};
use super::trace::Event;
use super::training::Training;

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 7.1
    pub self_times: fn(&[Span]) -> Vec<Times>,
    /// 7.2
    pub key_averages: fn(&[Call], bool) -> Vec<Row>,
    /// 7.3
    pub kernel_ns: fn(&mut Gpu, &mut Kernel, u64) -> u64,
    /// 7.4
    pub chrome_trace: fn(&[Event]) -> String,
    /// 7.5
    pub bound: fn(&Counts, &Roofs) -> Verdict,
    /// 7.6
    pub train: fn(&Training) -> Vec<f32>,
    /// 7.7
    pub predict: fn(&Stack, &Roofs) -> Prediction,
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            self_times: $functions::self_times,
            key_averages: $functions::key_averages,
            kernel_ns: $functions::kernel_ns,
            chrome_trace: $functions::chrome_trace,
            bound: $functions::bound,
            train: $functions::train,
            predict: $functions::predict,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] = &[
    Exercise { id: "7.1", check: spans::spans },
    Exercise { id: "7.2", check: averages::averages },
    Exercise { id: "7.3", check: timing::timing },
    Exercise { id: "7.4", check: trace::trace },
    Exercise { id: "7.5", check: kernel::kernel },
    Exercise { id: "7.6", check: training::training },
    Exercise { id: "7.7", check: step::step },
];
