//! Lab 03, Autograd. Seven exercises, one function each (3.6 has two).
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-03-autograd`, ask
//! for a hint with `cargo run --bin course -- hint 3.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use engine_room::Tensor;
use engine_room::autograd::{Ctx, Node};
// STUB use grading::exercise;

use super::network::Sizes;

/// 3.1 The backward pass of y = a · b, elementwise. Both factors have the shape of `dy`.
///
/// The forward pass has saved a in slot 0 and b in slot 1. Return the gradient of a, then of b.
pub fn mul_backward(ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
    // SOLUTION 3.1
    let (a, b) = (ctx.saved(0), ctx.saved(1));
    [Some(dy.mul(&b)), Some(dy.mul(&a))]
    // END
}

/// 3.2 The backward pass of the matrix product C = A · B: `(M, K) · (K, N) → (M, N)`.
///
/// The forward pass has saved A in slot 0 and B in slot 1. Return the gradient of A, then of B.
pub fn matmul_backward(ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
    // SOLUTION 3.2
    let (a, b) = (ctx.saved(0), ctx.saved(1));
    [Some(dc.matmul(&b.transpose(0, 1))), Some(a.transpose(0, 1).matmul(dc))]
    // END
}

/// 3.3 The gradient of an operand that was broadcast.
///
/// An operand of shape `shape` was repeated to the shape of `dy`. Return its gradient, of shape
/// `shape`.
pub fn reduce_broadcast(dy: &Tensor, shape: &[usize]) -> Tensor {
    // SOLUTION 3.3
    let added = dy.shape().len() - shape.len();
    let mut dx = dy.clone();
    for dim in 0..dy.shape().len() {
        let repeated = dim < added || (shape[dim - added] == 1 && dy.shape()[dim] != 1);
        if repeated {
            dx = dx.sum_dims(&[dim as isize], true);
        }
    }
    dx.reshape(shape)
    // END
}

/// 3.4 The backward walk.
///
/// `root` is the node of the result and `dy` the gradient of the result. Return the gradient of
/// every leaf that the result depends on, by the id of the leaf's node. Call `Node::backward`
/// once for each node that is not a leaf.
pub fn backward_walk(root: &Arc<Node>, dy: Tensor) -> HashMap<u64, Tensor> {
    // SOLUTION 3.4
    let mut leaves = HashMap::new();
    let mut waiting = BTreeMap::from([(root.id(), (root.clone(), dy))]);
    // An input's id is always smaller, so the largest id that waits has its whole gradient.
    while let Some((id, (node, dy))) = waiting.pop_last() {
        if node.is_leaf() {
            leaves.insert(id, dy);
            continue;
        }
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            if let (Some(input), Some(dx)) = (input, dx) {
                let sum = match waiting.remove(&input.id()) {
                    Some((_, earlier)) => earlier.add(&dx),
                    None => dx,
                };
                waiting.insert(input.id(), (input.clone(), sum));
            }
        }
    }
    leaves
    // END
}

/// 3.5 A gradient check.
///
/// `gradient` is what somebody claims to be the gradient of `f` at `x`. Return the index of an
/// element where it is wrong, or `None` if it is right everywhere. A claim is right if it differs
/// from the slope of `f` by at most 1e-4 of that slope, or by at most 1e-7.
pub fn gradient_check(f: &dyn Fn(&[f64]) -> f64, x: &[f64], gradient: &[f64]) -> Option<usize> {
    // SOLUTION 3.5
    for i in 0..x.len() {
        let step = 1e-5 * x[i].abs().max(1.0);
        let mut moved = x.to_vec();
        moved[i] = x[i] + step;
        let above = f(&moved);
        moved[i] = x[i] - step;
        let below = f(&moved);
        let slope = (above - below) / (2.0 * step);
        let allowed = f64::max(1e-4 * slope.abs(), 1e-7);
        // Asked this way round, a claim of NaN is not close, as every comparison with it is false.
        let close = (slope - gradient[i]).abs() <= allowed;
        if !close {
            return Some(i);
        }
    }
    None
    // END
}

/// 3.6 Cross-entropy fused with softmax, forward: logits `(B, C)`, i64 targets `(B)` → `()`.
///
/// Return the mean over the batch of −log softmax(logits)[target], and save for the backward pass
/// no more than one tensor of shape `(B, C)` and the targets.
pub fn cross_entropy_forward(ctx: &mut Ctx, logits: &Tensor, targets: &Tensor) -> Tensor {
    // SOLUTION 3.6
    let log_probabilities = logits.log_softmax(1);
    ctx.save(&log_probabilities);
    ctx.save(targets);
    let column = targets.reshape(&[targets.numel(), 1]);
    log_probabilities.gather(1, &column).mean().neg()
    // END
}

/// 3.6 Cross-entropy fused with softmax, backward: the gradient of the logits, `(B, C)`.
///
/// `dy` is the gradient of the mean, one number.
pub fn cross_entropy_backward(ctx: &Ctx, dy: &Tensor) -> Tensor {
    // SOLUTION 3.6
    let (log_probabilities, targets) = (ctx.saved(0), ctx.saved(1));
    let batch = targets.numel();
    let column = targets.reshape(&[batch, 1]);
    let minus_one = Tensor::full(&[batch, 1], -1.0);
    let difference = log_probabilities.exp().scatter_add(1, &column, &minus_one);
    difference.mul(dy).mul_scalar(1.0 / batch as f32)
    // END
}

/// 3.7 Predict the bytes that the graph of `Network::forward(..).cross_entropy(..)` keeps alive for
/// the backward pass, parameters not counted: they would be there anyway.
///
/// `f32` numbers have 4 bytes, targets 8. With `no_grad` the network ran inside `no_grad`.
pub fn saved_bytes(sizes: &Sizes, no_grad: bool) -> u64 {
    // SOLUTION 3.7
    if no_grad {
        return 0;
    }
    let row = sizes.inputs + sizes.depth * sizes.width + sizes.classes;
    (sizes.batch * (row * 4 + 8)) as u64
    // END
}
