//! 4.3: whole trainings of one parameter, each step compared with the formula in `f64`.

use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis};

use super::super::state::{AdamSettings, AdamState};
use super::Implementation;
use super::adamw_thoughts::{THOUGHTS, Thought, step};
use super::thoughts::explained;

/// A run whose weights after each step are those that PyTorch 2.9.1 gives on the CPU.
const PUBLISHED: &str = "two weights, three steps";
const BY_PYTORCH: [f64; 6] =
    [1.880_000_0, -0.890_000_0, 1.810_097_4, -0.875_287_5, 1.725_540_8, -0.862_041_5];

/// A training: what it starts from, and the gradients of its steps.
pub struct Run {
    words: &'static str,
    /// As they are at first.
    pub weights: Vec<f32>,
    /// One for each step.
    pub gradients: Vec<Option<Vec<f32>>>,
    /// As it is at first.
    pub state: AdamState,
    /// The optimizer's.
    pub settings: AdamSettings,
}

/// What there is after a step.
#[derive(Clone)]
pub struct After {
    /// The weights, as `f64` that may not have been rounded.
    pub weights: Vec<f64>,
    /// The running means.
    pub m: Vec<f64>,
    /// Of the squares.
    pub v: Vec<f64>,
    /// The count.
    pub step: u64,
}

/// 4.3
pub fn adamw(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    check.if_it_dies(Death::Panicked, "4.3-none-unwrapped", UNWRAPPED);
    for run in runs(&mut rng) {
        if run.words == PUBLISHED {
            let right = carried_out(&run, Thought::Right).into_iter().map(|after| after.weights);
            let off = right.flatten().zip(BY_PYTORCH).map(|(w, published)| (w - published).abs());
            assert!(off.fold(0.0, f64::max) < 2e-6, "PyTorch gives other weights");
        }
        judge(imp, check, &run)?;
    }
    Ok(())
}

fn settings(lr: f64, betas: [f64; 2], eps: f64, weight_decay: f64) -> AdamSettings {
    AdamSettings { lr, beta1: betas[0], beta2: betas[1], eps, weight_decay }
}

fn some(gradients: &[&[f32]]) -> Vec<Option<Vec<f32>>> {
    gradients.iter().map(|gradient| Some(gradient.to_vec())).collect()
}

/// Normal random numbers with three digits, so that a step can be followed by hand.
fn numbers(rng: &mut Generator, n: usize, size: f32) -> Vec<f32> {
    let three = |x: f32| (x * 1_000.0).round() / 1_000.0 + 0.002;
    (0..n).map(|_| three(rng.normal()) * size).collect()
}

fn runs(rng: &mut Generator) -> Vec<Run> {
    let usual = settings(0.1, [0.9, 0.999], 1e-8, 0.1);
    let fresh = |words, weights: Vec<f32>, gradients, settings| Run {
        words,
        state: AdamState::new(weights.len()),
        weights,
        gradients,
        settings,
    };
    let mut random = |n: usize, steps: usize, size: f32| -> Vec<Option<Vec<f32>>> {
        (0..steps).map(|_| Some(numbers(rng, n, size))).collect()
    };
    let (two, many) = (random(2, 5, 1.0), random(7, 6, 0.5));
    let (tiny, model) = (random(3, 4, 2e-7), random(4, 9, 0.02));
    let mut gaps = random(2, 6, 1.0);
    (gaps[1], gaps[4]) = (None, None);
    let zeros = [random(2, 2, 1.0), vec![Some(vec![0.0; 2]); 3]].concat();
    let rare = some(&[&[0.5, 0.0], &[-0.2, 0.0], &[0.1, 0.3]]);
    let late = random(2, 3, 1.0);
    let published = some(&[&[0.5, -0.25], &[-0.1, 0.2], &[0.3, 0.0]]);
    let language = settings(6e-2, [0.9, 0.95], 1e-8, 0.1);
    let loud = settings(0.1, [0.8, 0.99], 1e-6, 0.5);
    let w = |rng: &mut Generator, n| numbers(rng, n, 1.0);
    vec![
        fresh("one weight, one step", vec![2.0], some(&[&[0.5]]), usual),
        fresh(PUBLISHED, vec![2.0, -1.0], published, usual),
        fresh("five steps", w(rng, 2), two, loud),
        fresh("seven weights", w(rng, 7), many, language),
        fresh("tiny gradients", w(rng, 3), tiny, settings(0.1, [0.9, 0.999], 1e-7, 0.0)),
        fresh("without decay", w(rng, 4), model, settings(1e-2, [0.9, 0.98], 1e-9, 0.0)),
        fresh("gradients of zeros", w(rng, 2), zeros, usual),
        fresh("a word that does not occur at first", vec![1.5, -0.5], rare, usual),
        Run {
            words: "goes on from step 500",
            state: AdamState { step: 500, m: vec![0.2, -0.4], v: vec![0.3, 1.7] },
            ..fresh("", w(rng, 2), late, settings(0.1, [0.9, 0.999], 1e-8, 0.2))
        },
        fresh("steps without a gradient among them", w(rng, 2), gaps, usual),
    ]
}

/// The learner's run, step by step, until it differs.
fn judge(imp: &Implementation, check: &mut Check, run: &Run) -> Result<(), Diagnosis> {
    let (mut weights, mut state) = (run.weights.clone(), run.state.clone());
    let right = carried_out(run, Thought::Right);
    let mut got = Vec::new();
    for at in 0..run.gradients.len() {
        let called = described(run, at, &weights, &state);
        let gradient = run.gradients[at].as_deref();
        check.call(called.as_str(), || {
            (imp.adamw_step)(&mut weights, gradient, &mut state, &run.settings);
        })?;
        got.push(After::of(&weights, &state));
        let Some((what, is, want)) = difference(&got[at], &right[at], run) else {
            continue;
        };
        let agrees = |thought| {
            let thinks = carried_out(run, thought);
            let same = |a: &After, b: &After| difference(a, b, run).is_none();
            got.iter().zip(&thinks).all(|(got, thinks)| same(got, thinks))
        };
        let (key, thought) = explained(THOUGHTS, agrees);
        return Err(Diagnosis::new(key)
            .called(called)
            .got(format!("{what} = {is}"))
            .expected(format!("{what} = {want}"))
            .thought(thought));
    }
    Ok(())
}

fn described(run: &Run, at: usize, weights: &[f32], state: &AdamState) -> String {
    let AdamSettings { lr, beta1, beta2, eps, weight_decay } = run.settings;
    let gradient = run.gradients[at].as_ref().map_or("None".to_owned(), |g| format!("{g:?}"));
    let AdamState { step, m, v } = state;
    format!(
        "adamw_step, {}: call {} of {}\nweights {weights:?}\ngradient {gradient}\nstate step \
         {step}, m {m:?}, v {v:?}\nlr {lr}, betas {beta1} and {beta2}, eps {eps:e}, decay \
         {weight_decay}",
        run.words,
        at + 1,
        run.gradients.len()
    )
}

/// All steps of a run by somebody who thinks so.
fn carried_out(run: &Run, thought: Thought) -> Vec<After> {
    let mut now = After::of(&run.weights, &run.state);
    let mut all = Vec::new();
    for gradient in &run.gradients {
        step(&mut now, gradient.as_deref(), &run.settings, thought);
        all.push(now.clone());
    }
    all
}

impl After {
    fn of(weights: &[f32], state: &AdamState) -> After {
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
        After { weights: wide(weights), m: wide(&state.m), v: wide(&state.v), step: state.step }
    }
}

/// The first difference that rounding does not explain: what, the one, the other.
fn difference(a: &After, b: &After, run: &Run) -> Option<(String, String, String)> {
    // m can be a small difference of large numbers; v is a sum of squares and cannot.
    let gradients = run.gradients.iter().flatten().flatten().chain(&run.state.m);
    let largest = gradients.fold(0.0, |most: f64, g| most.max(f64::from(g.abs())));
    let lists = [
        ("weights", &a.weights, &b.weights, 1e-6, 2e-5 * run.settings.lr),
        ("m", &a.m, &b.m, 2e-5, 1e-6 * largest),
        ("v", &a.v, &b.v, 5e-5, 1e-18),
    ];
    for (what, one, other, relative, absolute) in lists {
        if one.len() != other.len() {
            return Some((
                format!("{what}.len()"),
                format!("{}", one.len()),
                other.len().to_string(),
            ));
        }
        let far = |(a, b): (&f64, &f64)| {
            let close = (a - b).abs() <= relative * b.abs() + absolute;
            !(close || a.is_nan() && b.is_nan() || a == b)
        };
        if let Some(at) = one.iter().zip(other).position(far) {
            return Some((format!("{what}[{at}]"), short(one[at]), short(other[at])));
        }
    }
    let steps = (a.step != b.step).then(|| (a.step.to_string(), b.step.to_string()));
    steps.map(|(one, other)| ("step".to_owned(), one, other))
}

fn short(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e6) {
        format!("{x:.5e}")
    } else {
        format!("{x:.7}")
    }
}

const UNWRAPPED: &str = "A gradient was taken for granted. `None` says that the parameter took \
    no part in the loss: nothing of it changes, the state neither.";
