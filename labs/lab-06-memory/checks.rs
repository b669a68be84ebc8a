//! What lab 06 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/again_blocks.rs"]
mod again_blocks;
#[path = "checks/again_model.rs"]
mod again_model;
#[path = "checks/again_second.rs"]
mod again_second;
#[path = "checks/block_thoughts.rs"]
mod block_thoughts;
#[path = "checks/block_words.rs"]
mod block_words;
#[path = "checks/blocks.rs"]
mod blocks;
#[path = "checks/device.rs"]
mod device;
#[path = "checks/holder.rs"]
mod holder;
#[path = "checks/holder_thoughts.rs"]
mod holder_thoughts;
#[path = "checks/peak.rs"]
mod peak;
#[path = "checks/plan_thoughts.rs"]
mod plan_thoughts;
#[path = "checks/plans.rs"]
mod plans;
#[path = "checks/programs.rs"]
mod programs;
#[path = "checks/recompute.rs"]
mod recompute;
#[path = "checks/round.rs"]
mod round;
#[path = "checks/segments.rs"]
mod segments;
#[path = "checks/step_peak.rs"]
mod step_peak;
#[path = "checks/step_thoughts.rs"]
mod step_thoughts;
#[path = "checks/thoughts.rs"]
mod thoughts;
#[path = "checks/twin.rs"]
mod twin;

use engine_room::nn::GptConfig;
use grading::Exercise;

use super::again::{FirstRun, SecondRun};
use super::blocks::{Pool, Request, Segment};
use super::events::{ByRole, Event, Peak};
use super::layers::{Cost, Layer, Mode};
use super::step::{PeakBytes, Step};
use super::table::{Finding, MemoryTable};

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 6.1
    pub round_request: fn(u64) -> Option<Request>,
    /// 6.2
    pub take_block: fn(&mut [Segment], Pool, u64) -> Option<u64>,
    /// 6.2
    pub give_back: fn(&mut [Segment], u64),
    /// 6.3
    pub peak: fn(&ByRole, &[Event]) -> Peak,
    /// 6.4
    pub find_holder: fn(&MemoryTable) -> Finding,
    /// 6.5
    pub first_run: FirstRun,
    /// 6.5
    pub second_run: SecondRun,
    /// 6.6
    pub plan_cost: fn(&[Layer], &[Mode]) -> Cost,
    /// 6.6
    pub choose_plan: fn(&[Layer], u64) -> Option<Vec<Mode>>,
    /// 6.7
    pub peak_of_step: fn(&GptConfig, &Step) -> PeakBytes,
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            round_request: $functions::round_request,
            take_block: $functions::take_block,
            give_back: $functions::give_back,
            peak: $functions::peak,
            find_holder: $functions::find_holder,
            first_run: $functions::first_run,
            second_run: $functions::second_run,
            plan_cost: $functions::plan_cost,
            choose_plan: $functions::choose_plan,
            peak_of_step: $functions::peak_of_step,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] = &[
    Exercise { id: "6.1", check: round::round },
    Exercise { id: "6.2", check: blocks::blocks },
    Exercise { id: "6.3", check: peak::peak },
    Exercise { id: "6.4", check: holder::holder },
    Exercise { id: "6.5", check: recompute::recompute },
    Exercise { id: "6.6", check: segments::segments },
    Exercise { id: "6.7", check: step_peak::step_peak },
];
