//! What lab 03 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/broadcast.rs"]
mod broadcast;
#[path = "checks/bytes.rs"]
mod bytes;
#[path = "checks/evidence.rs"]
mod evidence;
#[path = "checks/graphs.rs"]
mod graphs;
#[path = "checks/inputs.rs"]
mod inputs;
#[path = "checks/judge.rs"]
mod judge;
#[path = "checks/loss.rs"]
mod loss;
#[path = "checks/places.rs"]
mod places;
#[path = "checks/products.rs"]
mod products;
#[path = "checks/walk.rs"]
mod walk;

use std::collections::HashMap;
use std::sync::Arc;

use engine_room::Tensor;
use engine_room::autograd::{Ctx, Node};
use grading::Exercise;

use super::network::Sizes;

/// The backward pass of an operation with two inputs.
pub type Backward = fn(&Ctx, &Tensor) -> [Option<Tensor>; 2];

/// A function that is to be checked by finite differences.
pub type Function<'a> = &'a dyn Fn(&[f64]) -> f64;

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 3.1
    pub mul_backward: Backward,
    /// 3.2
    pub matmul_backward: Backward,
    /// 3.3
    pub reduce_broadcast: fn(&Tensor, &[usize]) -> Tensor,
    /// 3.4
    pub backward_walk: fn(&Arc<Node>, Tensor) -> HashMap<u64, Tensor>,
    /// 3.5
    pub gradient_check: fn(Function, &[f64], &[f64]) -> Option<usize>,
    /// 3.6
    pub cross_entropy_forward: fn(&mut Ctx, &Tensor, &Tensor) -> Tensor,
    /// 3.6
    pub cross_entropy_backward: fn(&Ctx, &Tensor) -> Tensor,
    /// 3.7
    pub saved_bytes: fn(&Sizes, bool) -> u64,
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            mul_backward: $functions::mul_backward,
            matmul_backward: $functions::matmul_backward,
            reduce_broadcast: $functions::reduce_broadcast,
            backward_walk: $functions::backward_walk,
            gradient_check: $functions::gradient_check,
            cross_entropy_forward: $functions::cross_entropy_forward,
            cross_entropy_backward: $functions::cross_entropy_backward,
            saved_bytes: $functions::saved_bytes,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] = &[
    Exercise { id: "3.1", check: products::mul },
    Exercise { id: "3.2", check: products::matmul },
    Exercise { id: "3.3", check: broadcast::reduce },
    Exercise { id: "3.4", check: walk::walk },
    Exercise { id: "3.5", check: judge::judge },
    Exercise { id: "3.6", check: loss::loss },
    Exercise { id: "3.7", check: bytes::bytes },
];
