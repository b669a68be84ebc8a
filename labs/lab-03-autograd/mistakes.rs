//! Wrong answers that learners give. The checks must reject each with the diagnosis that names it.

#[path = "mistakes/judge.rs"]
mod judge;
#[path = "mistakes/loss.rs"]
mod loss;
#[path = "mistakes/products.rs"]
mod products;
#[path = "mistakes/walk.rs"]
mod walk;

use std::collections::HashMap;
use std::sync::Arc;

use engine_room::Tensor;
use engine_room::autograd::{Ctx, Node};
use grading::Mistake;

use super::checks::{Backward, Function, Implementation, implementation};
use super::network::Sizes;
use super::solution;

type Wrong = Mistake<Implementation>;

/// All of them, by exercise.
pub fn mistakes() -> Vec<Wrong> {
    let parts = [products::mistakes(), walk::mistakes(), judge::mistakes(), loss::mistakes()];
    parts.into_iter().flatten().collect()
}

fn wrong(
    exercise: &'static str,
    diagnosis: &'static str,
    name: &'static str,
    change: impl FnOnce(&mut Implementation),
) -> Wrong {
    let mut implementation = implementation!(solution);
    change(&mut implementation);
    Mistake { exercise, name, diagnosis, implementation }
}

fn mul(diagnosis: &'static str, name: &'static str, f: Backward) -> Wrong {
    wrong("3.1", diagnosis, name, |table| table.mul_backward = f)
}

fn matmul(diagnosis: &'static str, name: &'static str, f: Backward) -> Wrong {
    wrong("3.2", diagnosis, name, |table| table.matmul_backward = f)
}

fn reduce(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&Tensor, &[usize]) -> Tensor,
) -> Wrong {
    wrong("3.3", diagnosis, name, |table| table.reduce_broadcast = f)
}

fn walk(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&Arc<Node>, Tensor) -> HashMap<u64, Tensor>,
) -> Wrong {
    wrong("3.4", diagnosis, name, |table| table.backward_walk = f)
}

fn check(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(Function, &[f64], &[f64]) -> Option<usize>,
) -> Wrong {
    wrong("3.5", diagnosis, name, |table| table.gradient_check = f)
}

fn forward(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&mut Ctx, &Tensor, &Tensor) -> Tensor,
) -> Wrong {
    wrong("3.6", diagnosis, name, |table| table.cross_entropy_forward = f)
}

fn backward(diagnosis: &'static str, name: &'static str, f: fn(&Ctx, &Tensor) -> Tensor) -> Wrong {
    wrong("3.6", diagnosis, name, |table| table.cross_entropy_backward = f)
}

fn bytes(diagnosis: &'static str, name: &'static str, f: fn(&Sizes, bool) -> u64) -> Wrong {
    wrong("3.7", diagnosis, name, |table| table.saved_bytes = f)
}
