//! 6.6: what plans cost, and whether the chosen one is the cheapest of those that fit.

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Death, Diagnosis};

use super::super::layers::{Cost, Layer, Mode};
use super::Implementation;
use super::plan_thoughts::{THOUGHTS, Thought, cost_as};
use super::plans::{cheapest, fault, greedy, layers_like, random_layers, random_plan, single};
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
    for count in [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 12] {
        let random = random_layers(rng, count);
        cases.extend(budgets(rng, &random).into_iter().map(|budget| (random.clone(), budget)));
    }
    for blocks in [6, 12] {
        let equal = layers_like(rng, blocks);
        cases.extend(budgets(rng, &equal).into_iter().map(|budget| (equal.clone(), budget)));
    }
    let mut chosen = Vec::new();
    for (layers, budget) in cases {
        let called = format!("choose_plan({}, budget {budget})", words(&layers));
        let got = check.call(called.as_str(), || (imp.choose_plan)(&layers, budget))?;
        chosen.extend(fits(&layers, budget, &called, got)?);
    }
    cheap(&chosen)
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
        enough + rng.below((all_kept - enough).clamp(1, 1 << 31) as usize) as u64
    };
    if layers.len() > 8 {
        // Many plans: only where few of them fit.
        return vec![enough, enough + (all_kept - enough) / 8];
    }
    let some = [between(rng), between(rng), between(rng)];
    [&some[..], &[enough, all_kept, all_kept - 1, too_little]].concat()
}

/// A plan that was chosen, and the cheapest one.
struct Chosen {
    layers: Vec<Layer>,
    budget: u64,
    called: String,
    plan: Vec<Mode>,
    best: Vec<Mode>,
}

impl Chosen {
    fn extra(&self, plan: &[Mode]) -> u64 {
        cost_as(&self.layers, plan, Thought::Right).extra_flops
    }

    fn is_dearer(&self) -> bool {
        self.extra(&self.plan) > self.extra(&self.best)
    }
}

/// Whether there is a plan where there can be one, and whether it is one and fits.
fn fits(
    layers: &[Layer],
    budget: u64,
    called: &str,
    got: Option<Vec<Mode>>,
) -> Result<Option<Chosen>, Diagnosis> {
    let verdict = |key: &str, got: String, expected: String, thought: &str| {
        Err(Diagnosis::new(key).called(called).got(got).expected(expected).thought(thought))
    };
    let fault = got.as_ref().and_then(|plan| Some((plan, fault(layers, plan)?)));
    if let Some((plan, fault)) = fault {
        let expected = "one mode for each layer, and Continue only inside a segment".to_owned();
        let complete = plan.len() == layers.len();
        let key = if complete { "6.6-not-a-plan" } else { "6.6-other-length" };
        return verdict(key, format!("{plan:?}: {fault}"), expected, NO_PLAN);
    }
    let (plan, best) = match (got, cheapest(layers, budget)) {
        (None, None) => return Ok(None),
        (None, Some((plan, _))) => {
            let expected = format!("a plan: {plan:?} fits");
            let exact = cost_as(layers, &plan, Thought::Right).peak == budget;
            let (key, thought) =
                if exact { ("6.6-below", BELOW) } else { ("6.6-gave-up", GAVE_UP) };
            return verdict(key, "None".to_owned(), expected, thought);
        }
        (Some(plan), None) => {
            return verdict("6.6-impossible", shown(layers, &plan), "None".to_owned(), NO_FIT);
        }
        (Some(plan), Some((best, _))) => (plan, best),
    };
    if cost_as(layers, &plan, Thought::Right).peak > budget {
        let expected = format!("a peak of at most {budget}");
        return verdict("6.6-does-not-fit", shown(layers, &plan), expected, NO_FIT);
    }
    let (layers, called) = (layers.to_vec(), called.to_owned());
    Ok(Some(Chosen { layers, budget, called, plan, best }))
}

/// Whether no plan is dearer than need be; else the thought behind all of them.
fn cheap(chosen: &[Chosen]) -> Result<(), Diagnosis> {
    let dearer: Vec<&Chosen> = chosen.iter().filter(|it| it.is_dearer()).collect();
    let Some(first) = dearer.first() else { return Ok(()) };
    let only = |plan: &[Mode], mode: Mode| plan.iter().all(|it| *it == mode);
    let needless = dearer.iter().find(|it| only(&it.best, Mode::Keep));
    let is_greedy = |it: &&Chosen| {
        let like = |last_first| greedy(&it.layers, it.budget, last_first);
        [like(false), like(true)].into_iter().any(|plan| plan.is_none_or(|plan| plan == it.plan))
    };
    let is_single =
        |it: &Chosen| single(&it.layers, it.budget).is_none_or(|least| it.extra(&it.plan) == least);
    let keeps_none = |it: &&Chosen| !it.plan.contains(&Mode::Keep);
    let (wrong, key, thought) = match needless {
        Some(it) => (it, "6.6-needless", NEEDLESS),
        None if dearer.iter().all(keeps_none) => (first, "6.6-all-again", ALL),
        None if chosen.iter().all(is_single) => (first, "6.6-single-layers", SINGLE),
        None if dearer.iter().all(is_greedy) => (first, "6.6-greedy", GREEDY),
        None => (first, key::WRONG_VALUE, DEARER),
    };
    let right = chosen.len() - dearer.len();
    Err(Diagnosis::new(key)
        .called(wrong.called.as_str())
        .got(format!(
            "{}\n{right} of {} plans that fit are the cheapest",
            shown(&wrong.layers, &wrong.plan),
            chosen.len()
        ))
        .expected(format!("{} extra operations, as of {:?}", wrong.extra(&wrong.best), wrong.best))
        .thought(thought))
}

fn shown(layers: &[Layer], plan: &[Mode]) -> String {
    format!("{plan:?}, which costs {:?}", cost_as(layers, plan, Thought::Right))
}

const SLOW: &str = "12 layers have 75,025 plans, which is few. Drop a plan as soon as its first \
    layers do not fit: the peak only grows with every layer.";
const GAVE_UP: &str = "There is a plan. Where single layers do not help, longer segments may, and \
    the other way round: try every way to cut the layers.";
const BELOW: &str = "There is a plan, and its peak is just the budget. That fits.";
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
