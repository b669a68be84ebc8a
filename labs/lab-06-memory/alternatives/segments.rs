//! Other right ways to choose what runs again: 6.6.

use super::super::layers::{Cost, Layer, Mode};
use super::super::solution;
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("6.6", "a cost by moments", |table| table.plan_cost = by_moments),
        other("6.6", "a cost from behind", |table| table.plan_cost = from_behind),
        other("6.6", "counts in base 3", |table| table.choose_plan = in_base_3),
        other("6.6", "recursion, the other end first", |table| table.choose_plan = recursive),
    ]
}

/// For each layer what is there when the backward pass arrives at it.
fn by_moments(layers: &[Layer], plan: &[Mode]) -> Cost {
    let whole = |i: usize| layers[i].input + layers[i].kept;
    let mut peak = 0;
    for i in 0..layers.len() {
        let mut live = whole(i);
        let mut same = plan[i] == Mode::Continue;
        for j in (0..i).rev() {
            let stored = match plan[j] {
                Mode::Keep => whole(j),
                Mode::Begin => layers[j].input,
                Mode::Continue => 0,
            };
            live += if same { whole(j) } else { stored };
            same = same && plan[j] == Mode::Continue;
        }
        peak = peak.max(live);
    }
    let again = (0..layers.len()).filter(|&i| plan[i] != Mode::Keep);
    Cost { peak, extra_flops: again.map(|i| layers[i].flops).sum() }
}

/// The most that the layers from here on need, besides what is stored before them.
fn from_behind(layers: &[Layer], plan: &[Mode]) -> Cost {
    let (mut need, mut extra_flops) = (0_u64, 0);
    let mut segment = 0_u64;
    for (layer, mode) in layers.iter().zip(plan).rev() {
        let whole = layer.input + layer.kept;
        match mode {
            Mode::Keep => need += whole,
            Mode::Continue => segment += whole,
            Mode::Begin => {
                need = (layer.input + need).max(segment + whole);
                segment = 0;
            }
        }
        if *mode != Mode::Keep {
            extra_flops += layer.flops;
        }
    }
    Cost { peak: need, extra_flops }
}

fn in_base_3(layers: &[Layer], budget: u64) -> Option<Vec<Mode>> {
    let mut best: Option<(u64, Vec<Mode>)> = None;
    for number in 0..3_usize.pow(layers.len() as u32) {
        let mut plan = Vec::new();
        let mut rest = number;
        for _ in layers {
            plan.push([Mode::Continue, Mode::Begin, Mode::Keep][rest % 3]);
            rest /= 3;
        }
        let lost = |i: usize| plan[i] == Mode::Continue && (i == 0 || plan[i - 1] == Mode::Keep);
        if (0..plan.len()).any(lost) {
            continue;
        }
        let Cost { peak, extra_flops } = solution::plan_cost(layers, &plan);
        if peak <= budget && best.as_ref().is_none_or(|(least, _)| extra_flops < *least) {
            best = Some((extra_flops, plan));
        }
    }
    best.map(|(_, plan)| plan)
}

fn recursive(layers: &[Layer], budget: u64) -> Option<Vec<Mode>> {
    cheapest(layers, budget).map(|(_, plan)| plan)
}

/// The cheapest way through these layers with so many bytes: the first piece may be a layer that
/// is kept, or a segment of any length.
fn cheapest(layers: &[Layer], budget: u64) -> Option<(u64, Vec<Mode>)> {
    let Some(first) = layers.first() else { return Some((0, Vec::new())) };
    let mut found = Vec::new();
    let mut try_piece = |stored: u64, modes: Vec<Mode>, flops: u64| {
        if let Some(left) = budget.checked_sub(stored)
            && let Some((rest, plan)) = cheapest(&layers[modes.len()..], left)
        {
            found.push((flops + rest, [modes, plan].concat()));
        }
    };
    try_piece(first.input + first.kept, vec![Mode::Keep], 0);
    let (mut whole, mut flops) = (0, 0);
    for (at, layer) in layers.iter().enumerate() {
        whole += layer.input + layer.kept;
        flops += layer.flops;
        if whole > budget {
            break;
        }
        let mut modes = vec![Mode::Continue; at + 1];
        modes[0] = Mode::Begin;
        try_piece(first.input, modes, flops);
    }
    found.into_iter().min_by_key(|(flops, _)| *flops)
}
