//! Other right predictions of the peak of a training step: 6.7.

use engine_room::nn::GptConfig;

use super::super::step::{Moment, PeakBytes, Rule, Step};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("6.7", "tensor by tensor", |table| table.peak_of_step = tensor_by_tensor),
        other("6.7", "a walk back", |table| table.peak_of_step = walk_back),
    ]
}

fn count(shapes: &[&[usize]]) -> u64 {
    shapes.iter().map(|shape| shape.iter().product::<usize>() as u64).sum()
}

/// Every shape by its name, and then the largest of all moments from behind.
fn tensor_by_tensor(config: &GptConfig, step: &Step) -> PeakBytes {
    let GptConfig { vocab: v, context: c, width: w, layers, heads: h, dropout, tied } = *config;
    let (b, t) = (step.batch as usize, step.time as usize);
    let block: &[&[usize]] = &[
        &[w],
        &[w],
        &[3 * w, w],
        &[3 * w],
        &[w, w],
        &[w],
        &[w],
        &[w],
        &[4 * w, w],
        &[4 * w],
        &[w, 4 * w],
        &[w],
    ];
    let head = if tied { 0 } else { count(&[&[v, w]]) };
    let behind = count(&[&[w], &[w]]) + head;
    let all = count(&[&[v, w], &[c, w]]) + layers as u64 * count(block) + behind;
    let norm: [&[usize]; 3] = [&[b, t, w], &[b, t, 1], &[b, t, 1]];
    let attention: [&[usize]; 4] = [&[b, t, w], &[3, b, h, t, w / h], &[b, h, t, 1], &[b, t, w]];
    let mlp: [&[usize]; 3] = [&[b, t, w], &[b, t, 4 * w], &[b, t, 4 * w]];
    let mask = if dropout > 0.0 { count(&[&[b, t, w]]) } else { 0 };
    let of_block = 4 * (2 * count(&norm) + count(&attention) + count(&mlp)) + 2 * mask;
    let until_then = if step.recompute { 4 * count(&[&[b, t, w]]) } else { of_block };
    let of_end = 4 * (count(&norm) + count(&[&[b, t, w], &[b * t, v]]));
    let numbers = [0, 4, 8][step.rule as usize];
    let tokens = 8 * count(&[&[b, t], &[b * t, 1]]);
    let of = |moment, activations, with_gradient: u64| PeakBytes {
        moment,
        parameters: 4 * all,
        gradients: 4 * with_gradient,
        optimizer: numbers * all,
        activations,
    };
    let mut best = of(Moment::Step, tokens, all);
    for i in 0..layers as u64 {
        let later = (layers as u64 - 1 - i) * count(block) + count(&[&[w], &[w], &[v, w]]);
        let there = tokens + mask + i * until_then + of_block;
        let here = of(Moment::Block(i), there, later);
        if here.gradients + here.activations >= best.gradients + best.activations {
            best = here;
        }
    }
    let loss = of(Moment::Loss, tokens + mask + layers as u64 * until_then + of_end, 0);
    if loss.activations >= best.gradients + best.activations { loss } else { best }
}

/// Starts at the loss and keeps account of what each stretch of the way frees and brings.
fn walk_back(config: &GptConfig, step: &Step) -> PeakBytes {
    let [vocab, context, width, layers, heads] =
        [config.vocab, config.context, config.width, config.layers, config.heads].map(|n| n as u64);
    let rows = step.batch * step.time;
    let row = 4 * rows * width;
    let mask = if config.dropout > 0.0 { row / 4 } else { 0 };
    let of_block = 16 * row + 4 * rows * (4 + heads) + 2 * mask;
    let of_end = 2 * row + 4 * rows * (2 + vocab);
    let mut now = PeakBytes {
        moment: Moment::Loss,
        parameters: 0,
        gradients: 0,
        optimizer: 0,
        activations: 16 * rows + mask + of_end,
    };
    now.activations += layers * if step.recompute { row } else { of_block };
    let mut way = vec![now];
    now.gradients += 4 * width * (2 + vocab);
    now.activations -= of_end;
    for i in (0..layers).rev() {
        now.moment = Moment::Block(i);
        now.activations += if step.recompute { of_block - row } else { 0 };
        way.push(now);
        now.activations -= of_block;
        now.gradients += 4 * width * (12 * width + 13);
    }
    now.moment = Moment::Step;
    now.activations -= mask;
    // The gradient of a tied weight is there already.
    now.gradients += 4 * width * if config.tied { context } else { vocab + context };
    way.push(now);
    let factor = match step.rule {
        Rule::Sgd => 0,
        Rule::SgdMomentum => 1,
        Rule::AdamW => 2,
    };
    let sum = |it: &PeakBytes| it.gradients + it.activations;
    // Of equals `max_by_key` finds the last one.
    let peak = *way.iter().rev().max_by_key(|it| sum(it)).expect("a loss at least");
    PeakBytes { parameters: now.gradients, optimizer: factor * now.gradients, ..peak }
}
