//! 6.6: what plans cost, and whether the chosen one is the cheapest of those that fit.

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Death, Diagnosis};

use super::super::layers::{Cost, Layer, Mode};
use super::Implementation;
use super::plan_thoughts::{THOUGHTS, Thought, cost_as};
use super::plans::{cheapest, fault, greedy, layers_like, random_layers, random_plan};
use super::thoughts::explained;

/// A plan for some layers, the call in words, and both costs.
struct Priced {
    layers: Vec<Layer>,
    plan: Vec<Mode>,
    called: String,
    got: Cost,
}

/// 6.6
pub fn segments(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    costs(imp, check, &mut rng)?;
    choices(imp, check, &mut rng)
}

fn costs(imp: &Implementation, check: &mut Check, rng: &mut Generator) -> Result<(), Diagnosis> {
    let mut priced = Vec::new();
    for count in [1, 2, 3, 4, 5, 6, 8, 12, 2, 3, 4, 5, 6, 7, 9, 10, 1, 0] {
        let layers = random_layers(rng, count);
        let plan = random_plan(rng, count);
        let called = format!("plan_cost({}, {plan:?})", words(&layers));
        let got = check.call(called.as_str(), || (imp.plan_cost)(&layers, &plan))?;
        priced.push(Priced { layers, plan, called, got });
    }
    let want = |it: &Priced| cost_as(&it.layers, &it.plan, Thought::Right);
    let Some(wrong) = priced.iter().find(|it| it.got != want(it)) else { return Ok(()) };
    let agrees = |thought| priced.iter().all(|it| cost_as(&it.layers, &it.plan, thought) == it.got);
    let (key, thought) = explained(THOUGHTS, agrees);
    let right = priced.iter().filter(|it| it.got == want(it)).count();
    Err(Diagnosis::new(key)
        .called(wrong.called.as_str())
        .got(format!("{:?}\n{right} of {} answers are right", wrong.got, priced.len()))
        .expected(format!("{:?}", want(wrong)))
        .thought(thought))
}

/// Layers as short as they can be told: input, kept, operations.
fn words(layers: &[Layer]) -> String {
    let one = |layer: &Layer| format!("({}, {}, {})", layer.input, layer.kept, layer.flops);
    let all: Vec<String> = layers.iter().map(one).collect();
    format!("layers (input, kept, flops): [{}]", all.join(", "))
}

fn choices(imp: &Implementation, check: &mut Check, rng: &mut Generator) -> Result<(), Diagnosis> {
    check.if_it_dies(Death::TimeLimit, "6.6-too-slow", SLOW);
    check.if_it_dies(Death::MemoryLimit, "6.6-too-slow", SLOW);
    let mut cases = vec![(Vec::new(), 0)];
    for count in [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 10, 12] {
        let random = random_layers(rng, count);
        cases.extend(budgets(rng, &random).into_iter().map(|budget| (random.clone(), budget)));
    }
    for blocks in [6, 10, 12] {
        let equal = layers_like(rng, blocks);
        cases.extend(budgets(rng, &equal).into_iter().map(|budget| (equal.clone(), budget)));
    }
    for (layers, budget) in cases {
        let called = format!("choose_plan({}, budget {budget})", words(&layers));
        let got = check.call(called.as_str(), || (imp.choose_plan)(&layers, budget))?;
        judge(&layers, budget, called, got)?;
    }
    Ok(())
}

/// From the least with which a plan exists to the least at which nothing need run again.
fn budgets(rng: &mut Generator, layers: &[Layer]) -> Vec<u64> {
    let all_kept = cost_as(layers, &vec![Mode::Keep; layers.len()], Thought::Right).peak;
    let (mut too_little, mut enough) = (0, all_kept);
    while enough - too_little > 1 {
        let middle = too_little.midpoint(enough);
        match cheapest(layers, middle) {
            Some(_) => enough = middle,
            None => too_little = middle,
        }
    }
    let between = |rng: &mut Generator| {
        enough + rng.below((all_kept - enough).max(1).min(1 << 31) as usize) as u64
    };
    let some = [between(rng), between(rng), between(rng)];
    [&some[..], &[enough, all_kept, all_kept - 1, too_little]].concat()
}

fn judge(
    layers: &[Layer],
    budget: u64,
    called: String,
    got: Option<Vec<Mode>>,
) -> Result<(), Diagnosis> {
    let best = cheapest(layers, budget);
    let verdict = |key: &str, got: String, expected: String, thought: &str| {
        let diagnosis = Diagnosis::new(key).called(called.as_str()).got(got);
        Err(diagnosis.expected(expected).thought(thought))
    };
    let (plan, least) = match (got, best) {
        (None, None) => return Ok(()),
        (None, Some((plan, _))) => {
            let expected = format!("a plan: {plan:?} fits");
            return verdict("6.6-gave-up", "None".to_owned(), expected, GAVE_UP);
        }
        (Some(plan), None) => {
            return verdict("6.6-does-not-fit", shown(layers, &plan), "None".to_owned(), NO_FIT);
        }
        (Some(plan), Some(least)) => (plan, least),
    };
    if let Some(fault) = fault(layers, &plan) {
        let expected = "one mode for each layer, and Continue only inside a segment".to_owned();
        return verdict("6.6-not-a-plan", format!("{plan:?}: {fault}"), expected, NO_PLAN);
    }
    let cost = cost_as(layers, &plan, Thought::Right);
    if cost.peak > budget {
        let expected = format!("a peak of at most {budget}");
        return verdict("6.6-does-not-fit", shown(layers, &plan), expected, NO_FIT);
    }
    if cost.extra_flops == least.1 {
        return Ok(());
    }
    let expected = format!("{} extra operations, as of {:?}", least.1, least.0);
    let (key, thought) = dearer(layers, budget, &plan, &least.0);
    verdict(key, shown(layers, &plan), expected, thought)
}

/// Why a plan that fits is not the cheapest.
fn dearer(
    layers: &[Layer],
    budget: u64,
    plan: &[Mode],
    best: &[Mode],
) -> (&'static str, &'static str) {
    let keeps = |plan: &[Mode]| plan.contains(&Mode::Keep);
    let joins = |plan: &[Mode]| plan.contains(&Mode::Continue);
    match () {
        () if best.iter().all(|mode| *mode == Mode::Keep) => ("6.6-needless", NEEDLESS),
        () if greedy(layers, budget).is_some_and(|greedy| greedy == plan) => {
            ("6.6-greedy", GREEDY)
        }
        () if !keeps(plan) => ("6.6-all-again", ALL),
        () if !joins(plan) && joins(best) => ("6.6-single-layers", SINGLE),
        () => (key::WRONG_VALUE, DEARER),
    }
}

fn shown(layers: &[Layer], plan: &[Mode]) -> String {
    match fault(layers, plan) {
        Some(fault) => format!("{plan:?}: {fault}"),
        None => format!("{plan:?}, which costs {:?}", cost_as(layers, plan, Thought::Right)),
    }
}

const SLOW: &str = "12 layers have 75,025 plans, which is few. Drop a plan as soon as its first \
    layers do not fit: the peak only grows with every layer.";
const GAVE_UP: &str = "There is a plan. Where single layers do not help, longer segments may, and \
    the other way round: try every way to cut the layers.";
const NO_FIT: &str = "The plan does not fit. Compare the budget with the peak of `plan_cost`, in \
    which the segment that runs again is held as a whole, and allow a peak of just the budget.";
const NO_PLAN: &str = "A plan has one mode for each layer, and `Continue` goes on with a segment \
    that the layer before is in.";
const NEEDLESS: &str = "Everything fits without recomputation, so nothing need run twice.";
const GREEDY: &str = "That is what a greedy choice finds: recompute the layer that frees the most \
    bytes for an operation, and again, until it fits. The last step may free far more than was \
    missing. Compare whole plans.";
const ALL: &str = "Every layer runs again. That has the price of a whole forward pass, and some \
    layers could have been kept.";
const SINGLE: &str = "Each recomputed layer is a segment of its own and keeps its input. Layers in \
    one segment share one input: then others can be kept.";
const DEARER: &str = "The plan fits, and a cheaper one does, too.";
