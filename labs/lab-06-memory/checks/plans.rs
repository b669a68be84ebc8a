//! 6.6: layers and plans, the cheapest plan by another way than trying all, and a greedy one.

use engine_room::rng::Generator;

use super::super::layers::{Layer, Mode};
use super::plan_thoughts::{Thought, cost_as};

/// Layers that differ, of a few MiB and GFLOP.
pub fn random_layers(rng: &mut Generator, count: usize) -> Vec<Layer> {
    // Of every other list the inputs are as large as the rest: there long segments pay.
    let most = if rng.below(2) == 0 { 1 << 20 } else { 1 << 17 };
    let mut up_to = |most: usize| 1 + rng.below(most) as u64;
    let mut layer = || Layer {
        input: 4 * up_to(1 << 18),
        kept: 4 * up_to(most),
        flops: 1_000 * up_to(1_000_000),
    };
    (0..count).map(|_| layer()).collect()
}

/// Equal blocks, as of a GPT, but for the last one: the head.
pub fn layers_like(rng: &mut Generator, blocks: usize) -> Vec<Layer> {
    let (tokens, width) = (64 * (1 + rng.below(64) as u64), 64 * (1 + rng.below(8) as u64));
    let (input, kept) = (4 * tokens * width, 4 * tokens * (15 * width + 16));
    let flops = 24 * tokens * width * width;
    let mut layers = vec![Layer { input, kept, flops }; blocks];
    layers[blocks - 1] = Layer { kept: kept / 4, flops: flops / 3, input };
    layers
}

/// Any plan.
pub fn random_plan(rng: &mut Generator, count: usize) -> Vec<Mode> {
    let mut plan = Vec::new();
    for _ in 0..count {
        let modes = match plan.last() {
            None | Some(Mode::Keep) => &[Mode::Keep, Mode::Begin][..],
            Some(_) => &[Mode::Keep, Mode::Begin, Mode::Continue, Mode::Continue],
        };
        plan.push(modes[rng.below(modes.len())]);
    }
    plan
}

/// What is wrong with the form of a plan.
pub fn fault(layers: &[Layer], plan: &[Mode]) -> Option<String> {
    if plan.len() != layers.len() {
        return Some(format!("{} modes for {} layers", plan.len(), layers.len()));
    }
    let before = [&[Mode::Keep], plan].concat();
    let pairs = before.windows(2);
    let lost = |pair: &[Mode]| pair[0] == Mode::Keep && pair[1] == Mode::Continue;
    let at = pairs.into_iter().position(lost)?;
    Some(format!("layer {at} continues a segment, and the layer before it is in none"))
}

/// A way through the first layers that no other one beats in both numbers.
#[derive(Clone)]
struct Way {
    stored: u64,
    flops: u64,
    plan: Vec<Mode>,
}

/// The cheapest plan that fits, with its extra operations. For each number of first layers it
/// holds the ways that store less or cost less than all others.
pub fn cheapest(layers: &[Layer], budget: u64) -> Option<(Vec<Mode>, u64)> {
    let mut ways: Vec<Vec<Way>> = vec![Vec::new(); layers.len() + 1];
    ways[0].push(Way { stored: 0, flops: 0, plan: Vec::new() });
    for from in 0..layers.len() {
        for way in best_of(std::mem::take(&mut ways[from])) {
            let (mut whole, mut flops) = (0, 0);
            for to in from + 1..=layers.len() {
                let last = &layers[to - 1];
                whole += last.input + last.kept;
                flops += last.flops;
                if way.stored + whole > budget {
                    break;
                }
                let longer = |stored, flops, modes: &[Mode]| Way {
                    stored: way.stored + stored,
                    flops: way.flops + flops,
                    plan: [&way.plan[..], modes].concat(),
                };
                if to == from + 1 {
                    ways[to].push(longer(whole, 0, &[Mode::Keep]));
                }
                let inside = vec![Mode::Continue; to - from - 1];
                let modes = [&[Mode::Begin], &inside[..]].concat();
                ways[to].push(longer(layers[from].input, flops, &modes));
            }
        }
    }
    let best = ways.pop()?.into_iter().min_by_key(|way| way.flops)?;
    Some((best.plan, best.flops))
}

fn best_of(mut ways: Vec<Way>) -> Vec<Way> {
    ways.sort_by_key(|way| (way.stored, way.flops));
    let mut best: Vec<Way> = Vec::new();
    for way in ways {
        if best.last().is_none_or(|last| way.flops < last.flops) {
            best.push(way);
        }
    }
    best
}

/// Layer by layer the one that frees the most bytes for an operation, until it fits; of equals the
/// first one or the last one.
pub fn greedy(layers: &[Layer], budget: u64, last_first: bool) -> Option<Vec<Mode>> {
    let mut plan = vec![Mode::Keep; layers.len()];
    let mut order: Vec<usize> = (0..layers.len()).collect();
    if last_first {
        order.reverse();
    }
    let worth = |at: &usize| layers[*at].kept as f64 / layers[*at].flops as f64;
    order.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
    for at in order {
        if cost_as(layers, &plan, Thought::Right).peak <= budget {
            break;
        }
        plan[at] = Mode::Begin;
    }
    (cost_as(layers, &plan, Thought::Right).peak <= budget).then_some(plan)
}

/// The fewest extra operations where every layer that runs again is a segment of its own.
pub fn single(layers: &[Layer], budget: u64) -> Option<u64> {
    let plan = |bits: usize| -> Vec<Mode> {
        let mode = |at| if bits >> at & 1 == 1 { Mode::Begin } else { Mode::Keep };
        (0..layers.len()).map(mode).collect()
    };
    let costs = (0..1 << layers.len()).map(|bits| cost_as(layers, &plan(bits), Thought::Right));
    costs.filter(|cost| cost.peak <= budget).map(|cost| cost.extra_flops).min()
}
