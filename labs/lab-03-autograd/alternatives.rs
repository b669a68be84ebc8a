//! Right answers in other styles than the solution's. The checks must accept every one of them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use engine_room::autograd::{Ctx, Graph, Node};
use engine_room::rng::Generator;
use engine_room::{Tensor, no_grad};
use grading::Alternative;

use super::checks::{Function, Implementation, implementation};
use super::network::{Network, Sizes};
use super::solution;

/// At least two for each exercise.
pub fn alternatives() -> Vec<Alternative<Implementation>> {
    let of = implementation!(solution);
    let other = |exercise, name, implementation| Alternative { exercise, name, implementation };
    vec![
        other("3.1", "loops over numbers", Implementation { mul_backward: mul_loops, ..of }),
        other("3.1", "only what is needed", Implementation { mul_backward: mul_needs, ..of }),
        other("3.1", "in place", Implementation { mul_backward: mul_in_place, ..of }),
        other("3.2", "three loops", Implementation { matmul_backward: matmul_loops, ..of }),
        other("3.2", "transposed results", Implementation { matmul_backward: matmul_views, ..of }),
        other(
            "3.2",
            "a sum of outer products",
            Implementation { matmul_backward: matmul_outer, ..of },
        ),
        other(
            "3.3",
            "one sum, one reshape",
            Implementation { reduce_broadcast: sum_at_once, ..of },
        ),
        other(
            "3.3",
            "an index for each number",
            Implementation { reduce_broadcast: by_index, ..of },
        ),
        other(
            "3.3",
            "added dimensions first",
            Implementation { reduce_broadcast: in_two_steps, ..of },
        ),
        other("3.4", "counting the users", Implementation { backward_walk: by_counting, ..of }),
        other(
            "3.4",
            "post-order with a stack",
            Implementation { backward_walk: by_post_order, ..of },
        ),
        other("3.4", "all nodes sorted by id", Implementation { backward_walk: by_sorting, ..of }),
        other("3.5", "five points", Implementation { gradient_check: five_points, ..of }),
        other("3.5", "in place, the worst element", Implementation { gradient_check: worst, ..of }),
        other("3.5", "all slopes first", Implementation { gradient_check: slopes_first, ..of }),
        other("3.6", "saves the logits", with_loss(of, save_logits, softmax_again)),
        other(
            "3.6",
            "saves the probabilities",
            with_loss(of, save_probabilities, from_probabilities),
        ),
        other("3.6", "saves the gradient", with_loss(of, save_gradient, scale_gradient)),
        other("3.7", "layer by layer", Implementation { saved_bytes: layer_by_layer, ..of }),
        other("3.7", "by running it", Implementation { saved_bytes: by_running, ..of }),
    ]
}

fn with_loss(
    of: Implementation,
    cross_entropy_forward: fn(&mut Ctx, &Tensor, &Tensor) -> Tensor,
    cross_entropy_backward: fn(&Ctx, &Tensor) -> Tensor,
) -> Implementation {
    Implementation { cross_entropy_forward, cross_entropy_backward, ..of }
}

fn mul_loops(ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
    let times = |factor: Tensor| {
        let (dy, factor) = (dy.to_vec::<f32>(), factor.to_vec::<f32>());
        dy.iter().zip(factor).map(|(dy, x)| dy * x).collect::<Vec<f32>>()
    };
    let shape = dy.shape();
    let [da, db] = [1, 0].map(|slot| Tensor::from_vec(times(ctx.saved(slot)), shape));
    [Some(da), Some(db)]
}

fn mul_needs(ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
    [0, 1].map(|i| ctx.needs(i).then(|| &ctx.saved(1 - i) * dy))
}

fn mul_in_place(ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
    let mut gradients = [None, None];
    for (i, gradient) in gradients.iter_mut().enumerate() {
        let sum = Tensor::zeros(dy.shape());
        sum.add_(&ctx.saved(1 - i).mul(dy), 1.0);
        *gradient = Some(sum);
    }
    gradients
}

fn matmul_loops(ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
    let (a, b) = (ctx.saved(0), ctx.saved(1));
    let (m, k, n) = (a.shape()[0], a.shape()[1], b.shape()[1]);
    let (av, bv, dcv) = (a.to_vec::<f32>(), b.to_vec::<f32>(), dc.to_vec::<f32>());
    let (mut da, mut db) = (vec![0.0; m * k], vec![0.0; k * n]);
    for row in (0..m).rev() {
        for column in (0..n).rev() {
            for inner in 0..k {
                da[row * k + inner] += dcv[row * n + column] * bv[inner * n + column];
                db[inner * n + column] += dcv[row * n + column] * av[row * k + inner];
            }
        }
    }
    [Some(Tensor::from_vec(da, &[m, k])), Some(Tensor::from_vec(db, &[k, n]))]
}

fn matmul_views(ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
    let dct = dc.transpose(0, 1);
    let da = ctx.saved(1).matmul(&dct).transpose(0, 1);
    let db = dct.matmul(&ctx.saved(0)).transpose(0, 1);
    [Some(da), Some(db)]
}

/// Elementwise products with broadcasting, summed over the dimension that both share.
fn matmul_outer(ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
    let (a, b) = (ctx.saved(0), ctx.saved(1));
    let (m, k, n) = (a.shape()[0], a.shape()[1], b.shape()[1]);
    let dc = dc.reshape(&[m, 1, n]);
    let da = dc.mul(&b.reshape(&[1, k, n])).sum_dims(&[2], false);
    let db = dc.mul(&a.reshape(&[m, k, 1])).sum_dims(&[0], false);
    [Some(da), Some(db)]
}

fn sum_at_once(dy: &Tensor, shape: &[usize]) -> Tensor {
    let added = dy.shape().len() - shape.len();
    let padded: Vec<usize> = vec![1; added].into_iter().chain(shape.iter().copied()).collect();
    let dims = (0..padded.len()).filter(|&dim| padded[dim] != dy.shape()[dim]);
    let dims: Vec<isize> = dims.map(|dim| dim as isize).collect();
    // No dimension at all would mean all of them.
    let dx = if dims.is_empty() { dy.clone() } else { dy.sum_dims(&dims, true) };
    dx.reshape(shape)
}

fn by_index(dy: &Tensor, shape: &[usize]) -> Tensor {
    let mut dx = vec![0.0f32; shape.iter().product()];
    for (mut at, value) in dy.to_vec::<f32>().into_iter().enumerate() {
        let (mut place, mut stride) = (0, 1);
        for (&size, &target) in dy.shape().iter().rev().zip(shape.iter().rev()) {
            place += if target == 1 { 0 } else { at % size * stride };
            (at, stride) = (at / size, stride * target);
        }
        dx[place] += value;
    }
    Tensor::from_vec(dx, shape)
}

fn in_two_steps(dy: &Tensor, shape: &[usize]) -> Tensor {
    let mut dx = dy.clone();
    while dx.shape().len() > shape.len() {
        dx = dx.sum_dims(&[0], false);
    }
    for (dim, &size) in shape.iter().enumerate().rev() {
        if size == 1 {
            dx = dx.sum_dims(&[dim as isize], true);
        }
    }
    dx
}

/// Kahn's algorithm: a node runs when all nodes that use it have run. Nodes to which no gradient
/// comes are counted down as well, without being run.
fn by_counting(root: &Arc<Node>, dy: Tensor) -> HashMap<u64, Tensor> {
    let mut users: HashMap<u64, usize> = HashMap::new();
    let mut seen = HashSet::from([root.id()]);
    let mut open = vec![root.clone()];
    while let Some(node) = open.pop() {
        for input in node.edges().iter().flatten() {
            *users.entry(input.id()).or_default() += 1;
            if seen.insert(input.id()) {
                open.push(input.clone());
            }
        }
    }
    let mut gradients: HashMap<u64, Tensor> = HashMap::from([(root.id(), dy)]);
    let mut ready = VecDeque::from([root.clone()]);
    let mut leaves = HashMap::new();
    while let Some(node) = ready.pop_front() {
        let dy = gradients.remove(&node.id());
        let dxs = match dy {
            Some(dy) if node.is_leaf() => {
                leaves.insert(node.id(), dy);
                continue;
            }
            Some(dy) => node.backward(&dy),
            None => vec![None; node.edges().len()],
        };
        for (input, dx) in node.edges().iter().zip(dxs) {
            let Some(input) = input else { continue };
            if let Some(dx) = dx {
                let sum = gradients.get(&input.id()).map_or(dx.clone(), |sum| sum.add(&dx));
                gradients.insert(input.id(), sum);
            }
            let left = users.entry(input.id()).or_default();
            *left -= 1;
            if *left == 0 {
                ready.push_back(input.clone());
            }
        }
    }
    leaves
}

/// A depth-first search with a stack of its own, whose finishing order is walked backwards.
fn by_post_order(root: &Arc<Node>, dy: Tensor) -> HashMap<u64, Tensor> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut stack = vec![(root.clone(), false)];
    while let Some((node, finished)) = stack.pop() {
        if finished {
            order.push(node);
        } else if seen.insert(node.id()) {
            stack.push((node.clone(), true));
            stack.extend(node.edges().iter().flatten().map(|input| (input.clone(), false)));
        }
    }
    pass_on(order.into_iter().rev(), root, dy)
}

fn by_sorting(root: &Arc<Node>, dy: Tensor) -> HashMap<u64, Tensor> {
    let mut nodes = BTreeMap::from([(root.id(), root.clone())]);
    let mut open = vec![root.clone()];
    while let Some(node) = open.pop() {
        for input in node.edges().iter().flatten() {
            if nodes.insert(input.id(), input.clone()).is_none() {
                open.push(input.clone());
            }
        }
    }
    pass_on(nodes.into_values().rev(), root, dy)
}

/// Runs the nodes in the order given. A node to which nothing comes is passed by.
fn pass_on(
    order: impl Iterator<Item = Arc<Node>>,
    root: &Arc<Node>,
    dy: Tensor,
) -> HashMap<u64, Tensor> {
    let mut sums = HashMap::from([(root.id(), dy)]);
    let mut leaves = HashMap::new();
    for node in order {
        let Some(dy) = sums.remove(&node.id()) else { continue };
        if node.is_leaf() {
            leaves.insert(node.id(), dy);
            continue;
        }
        for (input, dx) in node.edges().iter().zip(node.backward(&dy)) {
            if let (Some(input), Some(dx)) = (input, dx) {
                sums.entry(input.id()).and_modify(|sum| *sum = sum.add(&dx)).or_insert(dx);
            }
        }
    }
    leaves
}

fn five_points(f: Function, x: &[f64], gradient: &[f64]) -> Option<usize> {
    let at = |i: usize, by: f64| {
        let moved: Vec<f64> =
            x.iter().enumerate().map(|(j, x)| if i == j { x + by } else { *x }).collect();
        f(&moved)
    };
    (0..x.len()).find(|&i| {
        let h = 1e-4 * (1.0 + x[i].abs());
        let slope =
            (8.0 * (at(i, h) - at(i, -h)) - (at(i, 2.0 * h) - at(i, -2.0 * h))) / (12.0 * h);
        let difference = (slope - gradient[i]).abs();
        !(difference <= 1e-7 || difference / slope.abs() <= 1e-4)
    })
}

/// Moves elements in place, and names the one that is off by the largest share.
fn worst(f: Function, x: &[f64], gradient: &[f64]) -> Option<usize> {
    let mut place = x.to_vec();
    let mut found = (1.0, None);
    for i in 0..x.len() {
        let step = f64::EPSILON.cbrt() * x[i].abs().max(1.0);
        place[i] = x[i] - step;
        let below = f(&place);
        place[i] = x[i] + step;
        let slope = (f(&place) - below) / (x[i] + step - (x[i] - step));
        place[i] = x[i];
        let share = (gradient[i] - slope).abs() / (1e-4 * slope.abs()).max(1e-7);
        if share.is_nan() || share > found.0 {
            found = (if share.is_nan() { f64::INFINITY } else { share }, Some(i));
        }
    }
    found.1
}

fn slopes_first(f: Function, x: &[f64], gradient: &[f64]) -> Option<usize> {
    let mut slopes = Vec::new();
    for i in (0..x.len()).rev() {
        let step = 1e-6_f64.max(x[i].abs() * 1e-6);
        let sides = [1.0, -1.0].map(|side| {
            let mut moved = x.to_vec();
            moved[i] += side * step;
            f(&moved)
        });
        slopes.push((sides[0] - sides[1]) / step / 2.0);
    }
    slopes.reverse();
    let right = |(slope, claim): (f64, &f64)| {
        claim.is_finite() && (slope - claim).abs() <= (1e-4 * slope.abs()).max(1e-7)
    };
    slopes.into_iter().zip(gradient).rposition(|pair| !right(pair))
}

fn save_logits(ctx: &mut Ctx, logits: &Tensor, targets: &Tensor) -> Tensor {
    ctx.save(targets);
    ctx.save(logits);
    logits.cross_entropy(targets)
}

fn softmax_again(ctx: &Ctx, dy: &Tensor) -> Tensor {
    let (targets, logits) = (ctx.saved(0).to_vec::<i64>(), ctx.saved(1));
    let (batch, classes) = (logits.shape()[0], logits.shape()[1]);
    let mut one_hot = vec![0.0f32; batch * classes];
    for (row, target) in targets.into_iter().enumerate() {
        one_hot[row * classes + target as usize] = 1.0;
    }
    let one_hot = Tensor::from_vec(one_hot, &[batch, classes]);
    logits.softmax(1).sub(&one_hot).mul_scalar(dy.item() / batch as f32)
}

/// The logarithm of the sum and the largest logit by hand, row by row.
fn save_probabilities(ctx: &mut Ctx, logits: &Tensor, targets: &Tensor) -> Tensor {
    let shifted = logits.sub(&logits.max_dims(&[1], true));
    let sums = shifted.exp().sum_dims(&[1], true);
    ctx.save(&shifted.exp().div(&sums));
    ctx.save(targets);
    let picked = shifted.gather(1, &targets.reshape(&[targets.numel(), 1]));
    sums.log().sub(&picked).mean()
}

fn from_probabilities(ctx: &Ctx, dy: &Tensor) -> Tensor {
    let (probabilities, targets) = (ctx.saved(0), ctx.saved(1).to_vec::<i64>());
    let classes = probabilities.shape()[1];
    let scale = dy.item() / targets.len() as f32;
    let mut values = probabilities.to_vec::<f32>();
    for (row, &target) in targets.iter().enumerate() {
        values[row * classes + target as usize] -= 1.0;
    }
    values.iter_mut().for_each(|value| *value *= scale);
    Tensor::from_vec(values, probabilities.shape())
}

/// The gradient is all that the backward pass needs, up to dy, so it can be made right away.
fn save_gradient(ctx: &mut Ctx, logits: &Tensor, targets: &Tensor) -> Tensor {
    let logs = logits.log_softmax(1);
    let column = targets.reshape(&[targets.numel(), 1]);
    let minus = Tensor::full(column.shape(), -1.0);
    let gradient = logs.exp().scatter_add(1, &column, &minus);
    ctx.save(&gradient.mul_scalar(1.0 / targets.numel() as f32));
    logs.gather(1, &column).sum().mul_scalar(-1.0 / targets.numel() as f32)
}

fn scale_gradient(ctx: &Ctx, dy: &Tensor) -> Tensor {
    ctx.saved(0).mul(dy)
}

fn layer_by_layer(sizes: &Sizes, no_grad: bool) -> u64 {
    let mut bytes = 0;
    let mut width = sizes.inputs;
    for _ in 0..=sizes.depth {
        // The product keeps its input; the relu's result is the next product's input.
        bytes += sizes.batch * width * size_of::<f32>();
        width = sizes.width;
    }
    bytes += sizes.batch * sizes.classes * size_of::<f32>();
    bytes += sizes.batch * size_of::<i64>();
    if no_grad { 0 } else { bytes as u64 }
}

fn by_running(sizes: &Sizes, off: bool) -> u64 {
    let network = Network::new(sizes, &mut Generator::new(0));
    let images = Tensor::zeros(&[sizes.batch, sizes.inputs]);
    let targets = Tensor::from_vec(vec![0i64; sizes.batch], &[sizes.batch]);
    let run = || network.forward(&images).cross_entropy(&targets);
    let loss = if off { no_grad(run) } else { run() };
    Graph::of(&loss).activation_bytes()
}
