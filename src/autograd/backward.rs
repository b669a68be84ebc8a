//! The backward walk: from the result to the leaves, each node once, newest first.

use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use crate::Tensor;
use crate::autograd::mode::no_grad;
use crate::autograd::node::Node;
use crate::error::misuse;

/// Computes the gradients of every leaf that `root` depends on and adds them to what is there.
///
/// `dy` is the gradient of `root` itself: one if `root` is a single number and none is given.
/// Saved tensors are freed as the walk passes them unless `retain_graph`.
///
/// # Panics
/// If `root` requires no gradient, if it has more than one element and no `dy` is given, or if
/// `dy` has another shape or type.
#[track_caller]
pub fn backward(root: &Tensor, dy: Option<&Tensor>, retain_graph: bool) {
    let Some(node) = root.node() else {
        let message = "the tensor does not depend on anything that requires a gradient; call \
                       requires_grad_(true) on a leaf before the computation";
        misuse("backward", &[&root.brief()], message.to_string())
    };
    let dy = match dy {
        None if root.numel() == 1 => Tensor::full_on(root.shape(), 1, root.dtype(), root.device()),
        None => {
            let message = "a gradient can be started without dy only from a single number; sum \
                           the tensor, or pass dy to backward_with";
            misuse("backward", &[&root.brief()], message.to_string())
        }
        Some(dy) if dy.shape() != root.shape() || dy.dtype() != root.dtype() => {
            let message = "dy must have the shape and the type of the tensor whose gradient it is";
            misuse("backward", &[&root.brief(), &dy.brief()], message.to_string())
        }
        Some(dy) => dy.detach(),
    };
    no_grad(|| walk(node, dy, retain_graph));
}

/// A node's input is always older than the node. So when the newest of the nodes that wait is
/// taken, all nodes that could still add to its gradient have been, and it is complete.
fn walk(root: Arc<Node>, dy: Tensor, retain_graph: bool) {
    let mut waiting = BTreeMap::from([(root.id(), (root, dy))]);
    while let Some((_, (node, dy))) = waiting.pop_last() {
        if node.is_leaf() {
            node.accumulate(dy);
            continue;
        }
        let inputs = node.backward(&dy);
        if !retain_graph {
            node.release();
        }
        for (edge, dx) in node.edges().iter().zip(inputs) {
            let (Some(edge), Some(dx)) = (edge, dx) else {
                continue;
            };
            match waiting.entry(edge.id()) {
                Entry::Vacant(first) => {
                    first.insert((edge.clone(), dx));
                }
                Entry::Occupied(mut later) => {
                    let (_, sum) = later.get_mut();
                    *sum = sum.add(&dx);
                }
            }
        }
    }
}
