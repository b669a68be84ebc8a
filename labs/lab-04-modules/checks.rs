//! What lab 04 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/adamw.rs"]
mod adamw;
#[path = "checks/adamw_thoughts.rs"]
mod adamw_thoughts;
#[path = "checks/bytes.rs"]
mod bytes;
#[path = "checks/clip.rs"]
mod clip;
#[path = "checks/draws.rs"]
mod draws;
#[path = "checks/epochs.rs"]
mod epochs;
#[path = "checks/linear.rs"]
mod linear;
#[path = "checks/names.rs"]
mod names;
#[path = "checks/properties.rs"]
mod properties;
#[path = "checks/scaler.rs"]
mod scaler;
#[path = "checks/scaler_thoughts.rs"]
mod scaler_thoughts;
#[path = "checks/softmax.rs"]
mod softmax;
#[path = "checks/thoughts.rs"]
mod thoughts;
#[path = "checks/training_loop.rs"]
mod training_loop;
#[path = "checks/watched.rs"]
mod watched;

use engine_room::Tensor;
use engine_room::nn::{Linear, Module, Parameter};
use engine_room::optim::Optimizer;
use engine_room::rng::Generator;
use grading::Exercise;

use super::module_tree::ModuleTree;
use super::recipe::{Recipe, RoleBytes};
use super::state::{AdamSettings, AdamState, LossScaler};
use super::training::{Batch, Epoch, Plan};

/// A training loop.
pub type Train = fn(&dyn Module, &mut dyn Optimizer, &[Batch], &Batch, &Plan) -> Vec<Epoch>;

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 4.1
    pub linear_new: fn(usize, usize, bool, &mut Generator) -> Linear,
    /// 4.1
    pub linear_forward: fn(&Linear, &Tensor) -> Tensor,
    /// 4.2
    pub named_parameters: fn(&ModuleTree) -> Vec<(String, Parameter)>,
    /// 4.3
    pub adamw_step: fn(&mut [f32], Option<&[f32]>, &mut AdamState, &AdamSettings),
    /// 4.4
    pub clip_grad_norm: fn(&[Parameter], f64) -> f64,
    /// 4.5
    pub scaler_step: fn(&mut LossScaler, &[Parameter], &mut dyn Optimizer) -> bool,
    /// 4.6
    pub train: Train,
    /// 4.7
    pub training_bytes: fn(&Recipe, u64, u64) -> RoleBytes,
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            linear_new: $functions::linear_new,
            linear_forward: $functions::linear_forward,
            named_parameters: $functions::named_parameters,
            adamw_step: $functions::adamw_step,
            clip_grad_norm: $functions::clip_grad_norm,
            scaler_step: $functions::scaler_step,
            train: $functions::train,
            training_bytes: $functions::training_bytes,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] = &[
    Exercise { id: "4.1", check: linear::linear },
    Exercise { id: "4.2", check: names::names },
    Exercise { id: "4.3", check: adamw::adamw },
    Exercise { id: "4.4", check: clip::clip },
    Exercise { id: "4.5", check: scaler::scaler },
    Exercise { id: "4.6", check: training_loop::training_loop },
    Exercise { id: "4.7", check: bytes::bytes },
];
