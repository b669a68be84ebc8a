//! Wrong walks: 3.4.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use engine_room::Tensor;
use engine_room::autograd::Node;

use super::{Wrong, walk};

type Leaves = HashMap<u64, Tensor>;

pub fn mistakes() -> Vec<Wrong> {
    vec![
        walk("3.4-overwritten", "the last gradient replaces the first", overwrites),
        walk("3.4-every-path", "a recursion along every path", every_path),
        walk("3.4-too-early", "in the order of arrival", in_order_of_arrival),
        walk("3.4-queue-order", "a queue with sums", |root, dy| first_come(root, dy, false)),
        walk("3.4-stack-order", "a stack with sums", |root, dy| first_come(root, dy, true)),
        walk("3.4-recursion", "a recursive search for the order", recursive_order),
        walk("3.4-edges-misaligned", "edges without the Nones", without_nones),
        walk("3.4-never-ends", "waits for users that send nothing", waits),
        walk("3.4-searches-all", "looks through a list at every node", searches),
        walk("3.4-dy-ignored", "begins with ones", begins_with_ones),
        walk("3.4-root-is-leaf", "leaves only as inputs", leaves_as_inputs),
        walk("3.4-none-unwrapped", "a gradient for every edge", unwraps),
    ]
}

/// A right walk with a hole: how to keep a gradient that arrives where others wait.
fn newest_first(
    root: &Arc<Node>,
    dy: Tensor,
    join: fn(Option<Tensor>, Tensor) -> Tensor,
) -> Leaves {
    let mut leaves = HashMap::new();
    let mut waiting = BTreeMap::from([(root.id(), (root.clone(), dy))]);
    while let Some((id, (node, dy))) = waiting.pop_last() {
        if node.is_leaf() {
            leaves.insert(id, dy.clone());
        }
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            if let (Some(input), Some(dx)) = (input, dx) {
                let before = waiting.remove(&input.id()).map(|(_, before)| before);
                waiting.insert(input.id(), (input.clone(), join(before, dx)));
            }
        }
    }
    leaves
}

fn added(before: Option<Tensor>, dx: Tensor) -> Tensor {
    before.map_or(dx.clone(), |before| before.add(&dx))
}

fn overwrites(root: &Arc<Node>, dy: Tensor) -> Leaves {
    newest_first(root, dy, |_, dx| dx)
}

fn begins_with_ones(root: &Arc<Node>, dy: Tensor) -> Leaves {
    newest_first(root, Tensor::ones(dy.shape()), added)
}

fn every_path(root: &Arc<Node>, dy: Tensor) -> Leaves {
    fn visit(node: &Arc<Node>, dy: Tensor, leaves: &mut Leaves) {
        if node.is_leaf() {
            let sum = added(leaves.remove(&node.id()), dy);
            leaves.insert(node.id(), sum);
            return;
        }
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            if let (Some(input), Some(dx)) = (input, dx) {
                visit(input, dx, leaves);
            }
        }
    }
    let mut leaves = HashMap::new();
    visit(root, dy, &mut leaves);
    leaves
}

/// Adds up, and runs each node once, but when it is first reached.
fn in_order_of_arrival(root: &Arc<Node>, dy: Tensor) -> Leaves {
    let mut sums = HashMap::from([(root.id(), dy)]);
    let mut queue = VecDeque::from([root.clone()]);
    let mut queued = HashSet::from([root.id()]);
    let mut leaves = HashMap::new();
    while let Some(node) = queue.pop_front() {
        if node.is_leaf() {
            leaves.insert(node.id(), node);
            continue;
        }
        let dxs = node.backward(&sums[&node.id()]);
        for (input, dx) in node.edges().iter().zip(dxs) {
            if let (Some(input), Some(dx)) = (input, dx) {
                let sum = added(sums.remove(&input.id()), dx);
                sums.insert(input.id(), sum);
                if queued.insert(input.id()) {
                    queue.push_back(input.clone());
                }
            }
        }
    }
    leaves.into_keys().map(|id| (id, sums[&id].clone())).collect()
}

/// Adds to the sum of a node that waits, and takes the one that has waited longest, or shortest.
fn first_come(root: &Arc<Node>, dy: Tensor, newest: bool) -> Leaves {
    let mut waiting = VecDeque::from([(root.clone(), dy)]);
    let mut leaves = Leaves::new();
    while let Some((node, dy)) = if newest { waiting.pop_back() } else { waiting.pop_front() } {
        if node.is_leaf() {
            let sum = added(leaves.remove(&node.id()), dy);
            leaves.insert(node.id(), sum);
            continue;
        }
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            let (Some(input), Some(dx)) = (input, dx) else { continue };
            match waiting.iter_mut().find(|(known, _)| known.id() == input.id()) {
                Some((_, sum)) => *sum = sum.add(&dx),
                None => waiting.push_back((input.clone(), dx)),
            }
        }
    }
    leaves
}

/// Runs the nodes in this order, which is right.
fn in_order(nodes: Vec<Arc<Node>>, root: &Arc<Node>, dy: Tensor) -> Leaves {
    let mut sums = HashMap::from([(root.id(), dy)]);
    let mut leaves = HashMap::new();
    for node in nodes {
        let Some(dy) = sums.remove(&node.id()) else { continue };
        if node.is_leaf() {
            leaves.insert(node.id(), dy);
            continue;
        }
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            if let (Some(input), Some(dx)) = (input, dx) {
                let sum = added(sums.remove(&input.id()), dx);
                sums.insert(input.id(), sum);
            }
        }
    }
    leaves
}

/// The order comes from a recursive depth-first search: one stack frame a node.
fn recursive_order(root: &Arc<Node>, dy: Tensor) -> Leaves {
    fn visit(node: &Arc<Node>, seen: &mut HashSet<u64>, order: &mut Vec<Arc<Node>>) {
        if seen.insert(node.id()) {
            for input in node.edges().iter().flatten() {
                visit(input, seen, order);
            }
            order.push(node.clone());
        }
    }
    let mut order = Vec::new();
    visit(root, &mut HashSet::new(), &mut order);
    order.reverse();
    in_order(order, root, dy)
}

fn without_nones(root: &Arc<Node>, dy: Tensor) -> Leaves {
    let mut leaves = HashMap::new();
    let mut waiting = BTreeMap::from([(root.id(), (root.clone(), dy))]);
    while let Some((id, (node, dy))) = waiting.pop_last() {
        if node.is_leaf() {
            leaves.insert(id, dy.clone());
        }
        let inputs = node.edges().iter().flatten();
        for (input, dx) in inputs.zip(node.backward(&dy).into_iter().flatten()) {
            let before = waiting.remove(&input.id()).map(|(_, before)| before);
            waiting.insert(input.id(), (input.clone(), added(before, dx)));
        }
    }
    leaves
}

/// How many edges lead to each node.
fn users(root: &Arc<Node>) -> HashMap<u64, usize> {
    let mut users: HashMap<u64, usize> = HashMap::new();
    let mut open = vec![root.clone()];
    while let Some(node) = open.pop() {
        for input in node.edges().iter().flatten() {
            let count = users.entry(input.id()).or_default();
            *count += 1;
            if *count == 1 {
                open.push(input.clone());
            }
        }
    }
    users
}

/// A node goes back into the queue until as many gradients have come as there are edges to it.
fn waits(root: &Arc<Node>, dy: Tensor) -> Leaves {
    let users = users(root);
    let mut arrived: HashMap<u64, usize> = HashMap::new();
    let mut sums = HashMap::from([(root.id(), dy)]);
    let mut queue = VecDeque::from([root.clone()]);
    let mut leaves = HashMap::new();
    while let Some(node) = queue.pop_front() {
        let id = node.id();
        if arrived.get(&id) < users.get(&id) {
            queue.push_back(node);
            continue;
        }
        let Some(dy) = sums.remove(&id) else { continue };
        if node.is_leaf() {
            leaves.insert(id, dy);
            continue;
        }
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            if let (Some(input), Some(dx)) = (input, dx) {
                let sum = added(sums.remove(&input.id()), dx);
                sums.insert(input.id(), sum);
                *arrived.entry(input.id()).or_default() += 1;
                queue.push_back(input.clone());
            }
        }
    }
    leaves
}

/// The nodes in a list that is looked through to see whether a node is in it.
fn searches(root: &Arc<Node>, dy: Tensor) -> Leaves {
    let mut nodes = vec![root.clone()];
    let mut next = 0;
    while next < nodes.len() {
        let node = nodes[next].clone();
        for input in node.edges().iter().flatten() {
            if !nodes.iter().any(|known| known.id() == input.id()) {
                nodes.push(input.clone());
            }
        }
        next += 1;
    }
    nodes.sort_by_key(|node| std::cmp::Reverse(node.id()));
    in_order(nodes, root, dy)
}

/// Leaves are recognised among the inputs of a node, so a root that is one is not.
fn leaves_as_inputs(root: &Arc<Node>, dy: Tensor) -> Leaves {
    let mut leaves: Leaves = HashMap::new();
    let mut waiting = BTreeMap::from([(root.id(), (root.clone(), dy))]);
    while let Some((_, (node, dy))) = waiting.pop_last() {
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            let (Some(input), Some(dx)) = (input, dx) else { continue };
            if input.is_leaf() {
                let sum = added(leaves.remove(&input.id()), dx);
                leaves.insert(input.id(), sum);
            } else {
                let before = waiting.remove(&input.id()).map(|(_, before)| before);
                waiting.insert(input.id(), (input.clone(), added(before, dx)));
            }
        }
    }
    leaves
}

fn unwraps(root: &Arc<Node>, dy: Tensor) -> Leaves {
    let mut leaves = HashMap::new();
    let mut waiting = BTreeMap::from([(root.id(), (root.clone(), dy))]);
    while let Some((id, (node, dy))) = waiting.pop_last() {
        if node.is_leaf() {
            leaves.insert(id, dy.clone());
        }
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            let Some(input) = input else { continue };
            let dx = dx.expect("an input that needs a gradient has one");
            let before = waiting.remove(&input.id()).map(|(_, before)| before);
            waiting.insert(input.id(), (input.clone(), added(before, dx)));
        }
    }
    leaves
}
