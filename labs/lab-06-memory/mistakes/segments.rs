//! Wrong costs and choices of what runs again: 6.6.

use super::super::layers::{Cost, Layer, Mode};
use super::super::solution;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_peak();
    all.extend(of_the_segment());
    all.extend(of_the_input());
    all.extend(of_the_price());
    all.extend(of_the_choice());
    all.extend(of_the_cheapest());
    all
}

type PlanCost = fn(&[Layer], &[Mode]) -> Cost;

fn cost(diagnosis: &'static str, name: &'static str, f: PlanCost) -> Wrong {
    wrong("6.6", diagnosis, name, |table| table.plan_cost = f)
}

fn choice(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&[Layer], u64) -> Option<Vec<Mode>>,
) -> Wrong {
    wrong("6.6", diagnosis, name, |table| table.choose_plan = f)
}

/// The right price, and a peak by what the first layer of a segment adds to what is stored and to
/// what runs again, and what the latter is with each later layer.
fn peak_by(
    layers: &[Layer],
    plan: &[Mode],
    first: fn(&Layer) -> (u64, u64),
    later: fn(u64, &Layer) -> u64,
) -> Cost {
    let (mut stored, mut again, mut peak) = (0, 0, 0);
    for (layer, mode) in layers.iter().zip(plan) {
        let (to_stored, anew) = match mode {
            Mode::Keep => (whole(layer), 0),
            Mode::Begin => first(layer),
            Mode::Continue => (0, later(again, layer)),
        };
        (stored, again) = (stored + to_stored, anew);
        peak = peak.max(stored + again);
    }
    Cost { peak, ..solution::plan_cost(layers, plan) }
}

fn whole(layer: &Layer) -> u64 {
    layer.input + layer.kept
}

fn of_the_peak() -> Vec<Wrong> {
    vec![
        cost("6.6-again-forgotten", "the end of the forward pass", |layers, plan| {
            peak_by(layers, plan, |it| (it.input, 0), |_, _| 0)
        }),
        cost("6.6-inputs-forgotten", "segments keep nothing", |layers, plan| {
            // The input comes back with all else when the segment runs again.
            peak_by(layers, plan, |it| (0, it.kept), |again, it| again + whole(it))
        }),
        cost("6.6-all-inputs", "every layer keeps its input", |layers, plan| {
            let (mut stored, mut inner, mut again, mut peak) = (0, 0, 0, 0);
            for (layer, mode) in layers.iter().zip(plan) {
                if *mode != Mode::Continue {
                    (stored, inner, again) = (stored + inner, 0, 0);
                }
                match mode {
                    Mode::Keep => stored += layer.input + layer.kept,
                    _ => (inner, again) = (inner + layer.input, again + layer.kept),
                }
                peak = peak.max(stored + inner + again);
            }
            Cost { peak, ..solution::plan_cost(layers, plan) }
        }),
    ]
}

fn of_the_segment() -> Vec<Wrong> {
    vec![
        cost("6.6-one-layer-again", "the largest layer of a segment", |layers, plan| {
            peak_by(layers, plan, |it| (it.input, it.kept), |again, it| it.kept.max(again))
        }),
        cost("6.6-inner-inputs", "no inputs inside a segment", |layers, plan| {
            peak_by(layers, plan, |it| (it.input, it.kept), |again, it| again + it.kept)
        }),
        cost("6.6-before-forgotten", "a segment by itself", |layers, plan| {
            let (mut stored, mut again, mut peak) = (0, 0, 0);
            for (layer, mode) in layers.iter().zip(plan) {
                match mode {
                    Mode::Keep => stored += whole(layer),
                    Mode::Begin => (stored, again) = (stored + layer.input, whole(layer)),
                    Mode::Continue => again += whole(layer),
                }
                peak = again.max(stored).max(peak);
            }
            Cost { peak, ..solution::plan_cost(layers, plan) }
        }),
        cost("6.6-nothing-freed", "all that is stored and the largest", |layers, plan| {
            let (mut stored, mut again, mut largest) = (0, 0, 0);
            for (layer, mode) in layers.iter().zip(plan) {
                match mode {
                    Mode::Keep => stored += whole(layer),
                    Mode::Begin => (stored, again) = (stored + layer.input, layer.kept),
                    Mode::Continue => again += whole(layer),
                }
                largest = largest.max(again);
            }
            Cost { peak: stored + largest, ..solution::plan_cost(layers, plan) }
        }),
    ]
}

fn of_the_input() -> Vec<Wrong> {
    vec![
        cost("6.6-input-twice", "stored and run again", |layers, plan| {
            peak_by(layers, plan, |it| (it.input, whole(it)), |again, it| again + whole(it))
        }),
        cost("6.6-input-left-out", "a kept layer without its input", |layers, plan| {
            let changed = layers.iter().zip(plan).map(|(&layer, mode)| match mode {
                Mode::Keep => Layer { input: 0, ..layer },
                _ => layer,
            });
            solution::plan_cost(&Vec::from_iter(changed), plan)
        }),
        cost("6.6-no-inputs", "what is kept, only", |layers, plan| {
            let changed = layers.iter().map(|&layer| Layer { input: 0, ..layer });
            solution::plan_cost(&Vec::from_iter(changed), plan)
        }),
    ]
}

fn priced(layers: &[Layer], plan: &[Mode], of: impl Fn(&Layer, Mode) -> u64) -> Cost {
    let extra_flops = layers.iter().zip(plan).map(|(layer, &mode)| of(layer, mode)).sum();
    Cost { extra_flops, ..solution::plan_cost(layers, plan) }
}

fn of_the_price() -> Vec<Wrong> {
    vec![
        cost("6.6-begins-only", "the first layer of a segment", |layers, plan| {
            let of = |layer: &Layer, mode| if mode == Mode::Begin { layer.flops } else { 0 };
            priced(layers, plan, of)
        }),
        cost("6.6-kept-run-again", "every layer", |layers, plan| {
            priced(layers, plan, |layer, _| layer.flops)
        }),
    ]
}

fn fits(layers: &[Layer], plan: &[Mode], budget: u64) -> bool {
    solution::plan_cost(layers, plan).peak <= budget
}

fn of_the_choice() -> Vec<Wrong> {
    vec![
        choice("6.6-gave-up", "none or all", |layers, budget| {
            let keep = vec![Mode::Keep; layers.len()];
            fits(layers, &keep, budget).then_some(keep)
        }),
        choice("6.6-impossible", "always a plan", |layers, budget| {
            let right = solution::choose_plan(layers, budget);
            right.or_else(|| Some(vec![Mode::Begin; layers.len()]))
        }),
        choice("6.6-does-not-fit", "half the layers", |layers, budget| {
            solution::choose_plan(layers, budget)?;
            let mode = |i| if i % 2 == 0 { Mode::Keep } else { Mode::Begin };
            Some((0..layers.len()).map(mode).collect())
        }),
        choice("6.6-below", "less than the budget", |layers, budget| {
            solution::choose_plan(layers, budget.checked_sub(1)?)
        }),
    ]
}

fn of_the_cheapest() -> Vec<Wrong> {
    vec![
        choice("6.6-needless", "always recomputes", |layers, budget| {
            let all = vec![Mode::Begin; layers.len()];
            let right = solution::choose_plan(layers, budget)?;
            Some(if fits(layers, &all, budget) { all } else { right })
        }),
        choice("6.6-all-again", "all or nothing", |layers, budget| {
            let right = solution::choose_plan(layers, budget)?;
            let (keep, all) = (vec![Mode::Keep; layers.len()], vec![Mode::Begin; layers.len()]);
            let plans = [keep, all, right];
            plans.into_iter().find(|plan| fits(layers, plan, budget))
        }),
        choice("6.6-greedy", "the best for an operation first", |layers, budget| {
            let right = solution::choose_plan(layers, budget)?;
            let mut plan = vec![Mode::Keep; layers.len()];
            while !fits(layers, &plan, budget) {
                let kept = (0..layers.len()).filter(|&i| plan[i] == Mode::Keep);
                let worth = |i: usize| layers[i].kept as f64 / layers[i].flops as f64;
                match kept.max_by(|&a, &b| worth(a).total_cmp(&worth(b))) {
                    Some(i) => plan[i] = Mode::Begin,
                    None => return Some(right),
                }
            }
            Some(plan)
        }),
        choice("6.6-single-layers", "segments of one layer", |layers, budget| {
            let right = solution::choose_plan(layers, budget)?;
            let plans = 0..1_usize << layers.len();
            let plan = |bits: usize| -> Vec<Mode> {
                let mode = |i| if bits >> i & 1 == 1 { Mode::Begin } else { Mode::Keep };
                (0..layers.len()).map(mode).collect()
            };
            let fitting = plans.map(plan).filter(|plan| fits(layers, plan, budget));
            let extra = |plan: &Vec<Mode>| solution::plan_cost(layers, plan).extra_flops;
            Some(fitting.min_by_key(extra).unwrap_or(right))
        }),
        choice(
            "6.6-not-a-plan",
            "continues from the start where nothing fits",
            |layers, budget| {
                let right = solution::choose_plan(layers, budget);
                right.or_else(|| Some(vec![Mode::Continue; layers.len()]))
            },
        ),
        choice("6.6-other-length", "recomputed layers only", |layers, budget| {
            let plan = solution::choose_plan(layers, budget)?;
            Some(plan.into_iter().filter(|mode| *mode != Mode::Keep).collect())
        }),
    ]
}
