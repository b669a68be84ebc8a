//! 4.5: a scaler over many backward passes, some of which overflow.

use engine_room::nn::Parameter;
use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis};

use super::super::state::LossScaler;
use super::Implementation;
use super::clip::parameters;
use super::scaler_thoughts::Thought::Right;
use super::scaler_thoughts::{THOUGHTS, after};
use super::thoughts::explained;
use super::watched::{Log, WatchedSgd};

/// The gradients of one backward pass, before the loss was scaled; where one is not finite, the
/// scaled one is not either.
pub type Gradients = Vec<Option<Vec<f32>>>;

/// A training with a scaler: the scaler at first, and its backward passes.
struct Run {
    words: &'static str,
    scaler: LossScaler,
    passes: Vec<Gradients>,
}

/// What a call leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What the optimizer was given to step with; none if it did not step.
    pub step: Option<Vec<Option<Vec<f64>>>>,
    /// What was returned.
    pub says: bool,
    /// The scaler.
    pub scaler: LossScaler,
}

/// 4.5
pub fn scaler(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut calls = Vec::new();
    for run in runs(&mut rng) {
        if run.passes.iter().any(|pass| pass.contains(&None)) {
            check.if_it_dies(Death::Panicked, "4.5-none-unwrapped", UNWRAPPED);
        }
        judge(imp, check, &mut calls, &run)?;
    }
    Ok(())
}

fn new_scaler(scale: f32, growth_interval: u32) -> LossScaler {
    let (growth_factor, backoff_factor) = (2.0, 0.5);
    LossScaler { scale, growth_factor, backoff_factor, growth_interval, growth_tracker: 0 }
}

/// Finite gradients of parameters with 3, 1 and 4 weights.
fn finite(rng: &mut Generator) -> Gradients {
    let list = |n: usize| Some((0..n).map(|_| 0.01 * rng.normal() + 0.001).collect());
    [3, 1, 4].map(list).to_vec()
}

/// As many passes as there are letters: `.` is finite; the others overflow, each in its way.
fn passes(rng: &mut Generator, letters: &str) -> Vec<Gradients> {
    let one = |letter: char| {
        let mut gradients = finite(rng);
        let bad = match letter {
            'n' => f32::NAN,
            'm' => f32::NEG_INFINITY,
            _ => f32::INFINITY,
        };
        let (parameter, place) = match letter {
            '.' => return gradients,
            '-' => {
                gradients[1] = None;
                return gradients;
            }
            'l' => (2, 3),
            'n' | 'm' => (2, 1),
            _ => (0, 0),
        };
        if let Some(gradient) = &mut gradients[parameter] {
            gradient[place] = bad;
        }
        gradients
    };
    letters.chars().map(one).collect()
}

fn runs(rng: &mut Generator) -> Vec<Run> {
    let mut run = |words, scale, interval, letters| Run {
        words,
        scaler: new_scaler(scale, interval),
        passes: passes(rng, letters),
    };
    let mut runs = vec![
        run("nothing overflows", 8.0, 3, ".."),
        run("infinity in the first number", 65_536.0, 4, "i."),
        run("infinity in the last number", 1_024.0, 3, "l."),
        run("ten passes without overflow", 16.0, 3, ".........."),
        run("six passes, of which two overflow", 8.0, 2, ".i..n."),
        run("minus infinity", 1_024.0, 3, ".m."),
        run("NaN", 4.0, 5, "n.."),
        run("two in a row overflow, then four do not", 0.25, 3, "..in...."),
        run("an interval of 1", 2.0, 1, "..i.."),
        run("the largest scale", 127f32.exp2(), 2, "..."),
        run("a parameter without a gradient", 32.0, 2, "-.--"),
    ];
    let factors = LossScaler { growth_factor: 4.0, backoff_factor: 0.25, ..new_scaler(64.0, 2) };
    runs.push(Run { words: "other factors", scaler: factors, passes: passes(rng, "..i..") });
    let large = vec![Some(vec![2.6e38, 2.6e38]), Some(vec![0.5, 2.6e38]), Some(vec![1.0])];
    let scaler = new_scaler(1.0, 3);
    runs.push(Run { words: "large and finite gradients", scaler, passes: vec![large] });
    runs
}

/// A call: the scaler and the scaled gradients before it, and what it has left behind.
struct Called {
    before: LossScaler,
    gradients: Gradients,
    outcome: Outcome,
}

/// The whole run, then the first call that was wrong. Who goes wrong goes on with a scaler that is
/// wrong, and each call is judged by the scaler that it was given.
fn judge(
    imp: &Implementation,
    check: &mut Check,
    calls: &mut Vec<Called>,
    run: &Run,
) -> Result<(), Diagnosis> {
    let mut scaler = run.scaler;
    let mut wrong: Option<(String, usize)> = None;
    for at in 0..run.passes.len() {
        let before = scaler;
        let gradients = scaled(&run.passes[at], before.scale);
        let parameters = parameters(&gradients);
        let called = described(run, at, &before, &gradients);
        let outcome = check.call(called.as_str(), || called_once(imp, &mut scaler, &parameters))?;
        let right = same(&outcome, &after(&before, &gradients, Right));
        calls.push(Called { before, gradients, outcome });
        if !right && wrong.is_none() {
            wrong = Some((called, calls.len() - 1));
        }
        if scaler.scale.is_nan() || scaler.scale <= 0.0 {
            break;
        }
    }
    let Some((called, at)) = wrong else { return Ok(()) };
    let thinks = |call: &Called, thought| after(&call.before, &call.gradients, thought);
    let agrees = |thought| calls.iter().all(|call| same(&call.outcome, &thinks(call, thought)));
    let (key, thought) = explained(THOUGHTS, agrees);
    let (got, want) = (&calls[at].outcome, thinks(&calls[at], Right));
    Err(Diagnosis::new(key)
        .called(called)
        .got(differing(got, &want))
        .expected(differing(&want, got))
        .thought(thought))
}

fn called_once(imp: &Implementation, scaler: &mut LossScaler, parameters: &[Parameter]) -> Outcome {
    let log = Log::default();
    let mut optimizer = WatchedSgd::new(parameters.to_vec(), 0.0, &log);
    let says = (imp.scaler_step)(scaler, parameters, &mut optimizer);
    let mut steps = log.take_steps();
    // A second step would be one with gradients that were used already.
    let last = steps.pop().map(|stepped| stepped.gradients);
    let step = if steps.is_empty() { last } else { Some(vec![None; 1 + steps.len()]) };
    Outcome { step, says, scaler: *scaler }
}

fn scaled(gradients: &Gradients, scale: f32) -> Gradients {
    let one = |list: &Vec<f32>| {
        // The scale itself may be as large as f32 goes; the gradient is a scaled one all the same.
        list.iter().map(|&x| if (x * scale).is_infinite() { x } else { x * scale }).collect()
    };
    gradients.iter().map(|list| list.as_ref().map(one)).collect()
}

fn described(run: &Run, at: usize, scaler: &LossScaler, scaled: &Gradients) -> String {
    let LossScaler { scale, growth_factor, backoff_factor, growth_interval, growth_tracker } =
        scaler;
    let lists = scaled.iter().map(|list| match list {
        Some(values) => format!("{values:?}"),
        None => "None".to_owned(),
    });
    format!(
        "scaler_step, {}: call {} of {}\nscale {scale:e}, factors {growth_factor} and \
         {backoff_factor}, interval {growth_interval}, tracker {growth_tracker}\ngradients of the \
         scaled loss {}",
        run.words,
        at + 1,
        run.passes.len(),
        lists.collect::<Vec<String>>().join(", ")
    )
}

fn same(a: &Outcome, b: &Outcome) -> bool {
    let close = |a: &f64, b: &f64| {
        a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-6 * b.abs() + 1e-44
    };
    let list = |(a, b): (&Option<Vec<f64>>, &Option<Vec<f64>>)| match (a, b) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b)),
        (None, None) => true,
        _ => false,
    };
    let steps = match (&a.step, &b.step) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(list),
        (None, None) => true,
        _ => false,
    };
    steps && a.says == b.says && a.scaler == b.scaler
}

/// The first thing in which the two differ, as it is in the first.
fn differing(a: &Outcome, b: &Outcome) -> String {
    let (one, other) = (&a.scaler, &b.scaler);
    match (&a.step, &b.step) {
        (None, Some(_)) => return "no step".to_owned(),
        (Some(_), None) => return "a step".to_owned(),
        _ if a.says != b.says => return format!("returned {}", a.says),
        _ if one.scale != other.scale => return format!("scale {:e}", one.scale),
        _ if one.growth_tracker != other.growth_tracker => {
            return format!("growth_tracker {}", one.growth_tracker);
        }
        _ if one != other => return format!("{one:?}"),
        _ => {}
    }
    let lists = a.step.iter().flatten().map(|list| match list {
        Some(values) => format!("{:?}", values.iter().map(|&x| x as f32).collect::<Vec<f32>>()),
        None => "None".to_owned(),
    });
    format!("a step with the gradients {}", lists.collect::<Vec<String>>().join(", "))
}

const UNWRAPPED: &str = "A gradient was taken for granted. A parameter that took no part in the \
    loss has none: `if let Some(gradient) = parameter.get().grad()`.";
