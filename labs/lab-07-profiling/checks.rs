//! What lab 07 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/averages.rs"]
mod averages;
#[path = "checks/spans.rs"]
mod spans;
#[path = "checks/thoughts.rs"]
mod thoughts;
#[path = "checks/training.rs"]
mod training;
#[path = "checks/training_ways.rs"]
mod training_ways;
#[path = "checks/training_words.rs"]
mod training_words;

use grading::Exercise;

use super::averages::{Call, Row};
use super::spans::{Span, Times};
use super::training::Training;

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 7.1
    pub self_times: fn(&[Span]) -> Vec<Times>,
    /// 7.2
    pub key_averages: fn(&[Call], bool) -> Vec<Row>,
    /// 7.6
    pub train: fn(&Training) -> Vec<f32>,
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            self_times: $functions::self_times,
            key_averages: $functions::key_averages,
            train: $functions::train,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] = &[
    Exercise { id: "7.1", check: spans::spans },
    Exercise { id: "7.2", check: averages::averages },
    Exercise { id: "7.6", check: training::training },
];
