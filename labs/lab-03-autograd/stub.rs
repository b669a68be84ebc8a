//! Lab 03, Autograd. Seven exercises, one function each (3.6 has two).
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-03-autograd`, ask
//! for a hint with `cargo run --bin course -- hint 3.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use engine_room::Tensor;
use engine_room::autograd::{Ctx, Node};
use grading::exercise;

use super::network::Sizes;

/// 3.1 The backward pass of y = a · b, elementwise. Both factors have the shape of `dy`.
///
/// The forward pass has saved a in slot 0 and b in slot 1. Return the gradient of a, then of b.
pub fn mul_backward(ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
    exercise!("3.1")
}

/// 3.2 The backward pass of the matrix product C = A · B: `(M, K) · (K, N) → (M, N)`.
///
/// The forward pass has saved A in slot 0 and B in slot 1. Return the gradient of A, then of B.
pub fn matmul_backward(ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
    exercise!("3.2")
}

/// 3.3 The gradient of an operand that was broadcast.
///
/// An operand of shape `shape` was repeated to the shape of `dy`. Return its gradient, of shape
/// `shape`.
pub fn reduce_broadcast(dy: &Tensor, shape: &[usize]) -> Tensor {
    exercise!("3.3")
}

/// 3.4 The backward walk.
///
/// `root` is the node of the result and `dy` the gradient of the result. Return the gradient of
/// every leaf that the result depends on, by the id of the leaf's node. Call `Node::backward`
/// once for each node that is not a leaf.
pub fn backward_walk(root: &Arc<Node>, dy: Tensor) -> HashMap<u64, Tensor> {
    exercise!("3.4")
}

/// 3.5 A gradient check.
///
/// `gradient` is what somebody claims to be the gradient of `f` at `x`. Return the index of an
/// element where it is wrong, or `None` if it is right everywhere. A claim is right if it differs
/// from the slope of `f` by at most 1e-4 of that slope, or by at most 1e-7.
pub fn gradient_check(f: &dyn Fn(&[f64]) -> f64, x: &[f64], gradient: &[f64]) -> Option<usize> {
    exercise!("3.5")
}

/// 3.6 Cross-entropy fused with softmax, forward: logits `(B, C)`, i64 targets `(B)` → `()`.
///
/// Return the mean over the batch of −log softmax(logits)[target], and save for the backward pass
/// no more than one tensor of shape `(B, C)` and the targets.
pub fn cross_entropy_forward(ctx: &mut Ctx, logits: &Tensor, targets: &Tensor) -> Tensor {
    exercise!("3.6")
}

/// 3.6 Cross-entropy fused with softmax, backward: the gradient of the logits, `(B, C)`.
///
/// `dy` is the gradient of the mean, one number.
pub fn cross_entropy_backward(ctx: &Ctx, dy: &Tensor) -> Tensor {
    exercise!("3.6")
}

/// 3.7 Predict the bytes that the graph of `Network::forward(..).cross_entropy(..)` keeps alive for
/// the backward pass, parameters not counted: they would be there anyway.
///
/// `f32` numbers have 4 bytes, targets 8. With `no_grad` the network ran inside `no_grad`.
pub fn saved_bytes(sizes: &Sizes, no_grad: bool) -> u64 {
    exercise!("3.7")
}
