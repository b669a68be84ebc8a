//! The backward walk: from the result to the leaves, each node once, newest first.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use crate::Tensor;
use crate::autograd::mode::{is_grad_enabled, no_grad};
use crate::autograd::node::Node;
use crate::error::misuse;
use crate::memory::Role;
use crate::profiler;

/// Computes the gradients of every leaf that `root` depends on and adds them to what is there.
///
/// `dy` is the gradient of `root` itself: one if `root` is a single number and none is given.
/// Saved tensors are freed as the walk passes them unless the graph is kept.
///
/// # Panics
/// If `root` requires no gradient, if it has more than one element and no `dy` is given, or if
/// `dy` has another shape or type.
#[track_caller]
pub fn backward(root: &Tensor, dy: Option<&Tensor>, keep: Keep) {
    let _span = profiler::span(profiler::Kind::Range, "backward");
    let (node, dy) = start("backward", root, dy, keep);
    in_mode(keep, || {
        walk(
            vec![(node, dy)],
            keep,
            |_| true,
            |node, dy| {
                if node.is_leaf() {
                    node.accumulate(dy);
                }
            },
        );
    });
}

/// What is kept of a graph that is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: saved tensors are freed as the walk passes them.
    Nothing,
    /// The graph, so that it can be walked again (PyTorch's `retain_graph=True`).
    Graph,
    /// The graph, and a graph of the gradients too, so that they have gradients in turn (PyTorch's
    /// `create_graph=True`).
    GraphOfGradients,
}

/// The gradients of `inputs` with respect to the sum of `outputs`, each weighted with its `dys` if
/// these are given; no leaf's `grad` is touched (PyTorch's `torch.autograd.grad`). `None` for an
/// input that no output depends on. Inputs may be results of operations.
///
/// # Panics
/// As [`backward`], and if an input requires no gradient or there are not as many `dys` as outputs.
#[track_caller]
pub fn grad(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    dys: Option<&[&Tensor]>,
    keep: Keep,
) -> Vec<Option<Tensor>> {
    let mut starts = Vec::new();
    // Loops: the caller's line would be lost in a closure.
    for (i, output) in outputs.iter().enumerate() {
        let dy = match dys {
            Some(dys) if dys.len() != outputs.len() => {
                let message = format!("{} outputs, but {} gradients", outputs.len(), dys.len());
                misuse("grad", &[&output.brief()], message)
            }
            Some(dys) => Some(dys[i]),
            None => None,
        };
        starts.push(start("grad", output, dy, keep));
    }
    let mut targets = Vec::new();
    for input in inputs {
        let Some(node) = input.node() else {
            let message = "an input requires no gradient, so nothing was recorded about it";
            misuse("grad", &[&input.brief()], message.to_string())
        };
        targets.push(node.id());
    }
    let needed = leading_to(&targets, starts.iter().map(|(node, _)| node));
    let mut found = BTreeMap::new();
    in_mode(keep, || {
        walk(
            starts,
            keep,
            |node| needed.contains(&node.id()),
            |node, dy| {
                if targets.contains(&node.id()) {
                    found.insert(node.id(), dy);
                }
            },
        );
    });
    targets.iter().map(|id| found.get(id).cloned()).collect()
}

/// Where a walk starts: the node of a tensor and the gradient that comes in.
#[track_caller]
fn start(op: &'static str, root: &Tensor, dy: Option<&Tensor>, keep: Keep) -> (Arc<Node>, Tensor) {
    let Some(node) = root.node() else {
        let message = "the tensor does not depend on anything that requires a gradient; call \
                       requires_grad_(true) on a leaf before the computation";
        misuse(op, &[&root.brief()], message.to_string())
    };
    let dy = match dy {
        None if root.numel() == 1 => Tensor::full_on(root.shape(), 1, root.dtype(), root.device()),
        None => {
            let message = "a gradient can be started without dy only from a single number; sum \
                           the tensor, or pass dy to backward_with";
            misuse(op, &[&root.brief()], message.to_string())
        }
        Some(dy) if dy.shape() != root.shape() || dy.dtype() != root.dtype() => {
            let message = "dy must have the shape and the type of the tensor whose gradient it is";
            misuse(op, &[&root.brief(), &dy.brief()], message.to_string())
        }
        Some(dy) if keep == Keep::GraphOfGradients => dy.clone(),
        Some(dy) => dy.detach(),
    };
    (node, dy)
}

fn in_mode<T>(keep: Keep, f: impl FnOnce() -> T) -> T {
    if keep == Keep::GraphOfGradients { f() } else { no_grad(f) }
}

/// The ids of all nodes, from `roots` on, that lead to one of the targets.
fn leading_to<'a>(targets: &[u64], roots: impl Iterator<Item = &'a Arc<Node>>) -> BTreeSet<u64> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<Arc<Node>> = roots.cloned().collect();
    while let Some(node) = waiting.pop() {
        if found.contains_key(&node.id()) {
            continue;
        }
        waiting.extend(node.edges().iter().flatten().cloned());
        found.insert(node.id(), node);
    }
    let mut needed = BTreeSet::new();
    // Oldest first: an input's node is older than the node, and so decided before it.
    for (id, node) in found {
        let leads = node.edges().iter().flatten().any(|edge| needed.contains(&edge.id()));
        if leads || targets.contains(&id) {
            needed.insert(id);
        }
    }
    needed
}

/// A node's input is always older than the node. So when the newest of the nodes that wait is
/// taken, all nodes that could still add to its gradient have been, and it is complete. `arrive`
/// is given each node and its gradient, which nobody else holds if no operation kept it. Only
/// inputs that are `needed` are gone to.
fn walk(
    starts: Vec<(Arc<Node>, Tensor)>,
    keep: Keep,
    needed: impl Fn(&Node) -> bool,
    mut arrive: impl FnMut(&Node, Tensor),
) {
    let mut waiting = BTreeMap::new();
    for (node, dy) in starts {
        add(&mut waiting, node, dy);
    }
    while let Some((_, (node, dy))) = waiting.pop_last() {
        if node.is_leaf() {
            arrive(&node, dy);
            continue;
        }
        arrive(&node, dy.clone());
        if !node.edges().iter().flatten().any(|edge| needed(edge)) {
            continue;
        }
        let inputs = node.gradients(&dy);
        if keep == Keep::Nothing {
            node.release();
        }
        for (edge, dx) in node.edges().iter().zip(inputs) {
            if let (Some(edge), Some(dx)) = (edge, dx)
                && needed(edge)
            {
                add(&mut waiting, edge.clone(), dx);
            }
        }
    }
}

/// The first gradient of a node is kept and later ones are added to it: in place where nobody else
/// can see it and no graph of gradients wants it as it was.
fn add(waiting: &mut BTreeMap<u64, (Arc<Node>, Tensor)>, node: Arc<Node>, dx: Tensor) {
    let is_of_leaf = node.is_leaf();
    let sum = match waiting.entry(node.id()) {
        Entry::Vacant(first) => &first.insert((node, dx)).1,
        Entry::Occupied(later) => {
            let (_, sum) = later.into_mut();
            match !is_grad_enabled() && Node::can_keep(sum) {
                true => sum.add_(&dx, 1.0),
                false => *sum = sum.add(&dx),
            }
            sum
        }
    };
    // Leaves are the oldest nodes, so they come last; what they will keep is a gradient by now.
    if is_of_leaf && Node::can_keep(sum) && sum.storage().role() == Role::Other {
        sum.storage().set_role(Role::Gradient);
    }
}
