//! 5.7: a run that is saved after every step and goes on, and what comes of each of its states when
//! another run goes on from it.

use engine_room::Tensor;
use engine_room::rng::{self, Generator};
use grading::diagnosis::key;
use grading::{Check, Death, Diagnosis};

use super::super::training_run::{Examples, Run, SavedRun, Setup, Stepped};
use super::Implementation;
use super::resume_thoughts::{Seen, TAKEN, explained, mended};
use super::run_parts::{Part, Parts};

/// Steps of the whole run.
const STEPS: usize = 11;
const INPUTS: usize = 6;
const CLASSES: usize = 3;

/// A run that nobody has stopped.
struct Whole {
    /// One for each step.
    steps: Vec<Stepped>,
    /// The first one is before the first step.
    parts: Vec<Parts>,
}

/// Where a resumed run leaves the other one: the step, what it shows, and what it should.
struct Difference {
    step: usize,
    got: String,
    expected: String,
}

/// 5.7
pub fn resume(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let setup = setup(&mut rng);
    let (seed, other) = (u64::from(rng.next_u32()), u64::from(rng.next_u32()));
    let whole = whole(&setup, seed);
    check.if_it_dies(Death::Panicked, "5.7-saving-fails", SAVING);
    let saved = saved(imp, check, &setup, seed, &whole)?;
    check.if_it_dies(Death::Panicked, "5.7-does-not-fit", FITS);
    let mut first = None;
    let mut seen = Vec::new();
    let mut exact = 0;
    for (stop, saved) in saved.iter().enumerate() {
        let (mut run, parts) = resumed(imp, check, &setup, (saved, stop), other)?;
        let difference = goes_on(check, &mut run, stop, &whole);
        let at = whole.parts[stop].clone();
        seen.push(Seen { want: at, got: parts, end: whole.parts[STEPS].clone() });
        match difference {
            None => exact += 1,
            Some(difference) => first = first.or(Some((stop, difference))),
        }
    }
    if let Some((stop, difference)) = first {
        return Err(verdict(stop, &difference, exact, &seen));
    }
    again(imp, check, &setup, &saved, &whole)
}

/// Examples that have something to learn in them; the last batch of an epoch is a short one.
fn setup(rng: &mut Generator) -> Setup {
    let batch = 4 + rng.below(3);
    let count = 2 * batch + 2 + rng.below(2);
    let mut examples = |count: usize| {
        let labels: Vec<i64> = (0..count).map(|_| rng.below(CLASSES) as i64).collect();
        let mut inputs = Vec::new();
        for label in &labels {
            for at in 0..INPUTS {
                inputs.push(rng.normal() + if at as i64 == *label { 1.0 } else { 0.0 });
            }
        }
        Examples {
            inputs: Tensor::from_vec(inputs, &[count, INPUTS]),
            labels: Tensor::from_vec(labels, &[count]),
        }
    };
    let (training, held_out) = (examples(count), examples(5));
    Setup { training, held_out, sizes: [8, CLASSES], batch, steps: STEPS as u64 }
}

fn whole(setup: &Setup, seed: u64) -> Whole {
    let mut run = Run::new(setup, seed);
    let mut whole = Whole { steps: Vec::new(), parts: vec![Parts::of(&run)] };
    for _ in 0..STEPS {
        whole.steps.push(run.step());
        whole.parts.push(Parts::of(&run));
    }
    whole
}

/// The same run once more, saved before every step. Saving must leave no trace in it.
fn saved(
    imp: &Implementation,
    check: &mut Check,
    setup: &Setup,
    seed: u64,
    whole: &Whole,
) -> Result<Vec<SavedRun>, Diagnosis> {
    let mut run = Run::new(setup, seed);
    let mut all = Vec::new();
    for stop in 0..STEPS {
        let called = format!("save_run(a run after {})", steps(stop));
        all.push(check.call(called.as_str(), || (imp.save_run)(&run))?);
        let (before, stepped) = (Parts::of(&run), run.step());
        let untouched = before.difference(&whole.parts[stop]).is_none();
        check.require(untouched && stepped == whole.steps[stop], || {
            let part = before.difference(&whole.parts[stop]);
            Diagnosis::new("5.7-saving-changes-it")
                .called(called)
                .got(format!("the run that was saved is another one afterwards: {part:?}"))
                .expected("it goes on as if it had not been saved")
                .thought(CHANGES)
        })?;
    }
    Ok(all)
}

fn steps(count: usize) -> String {
    format!("{count} step{}", if count == 1 { "" } else { "s" })
}

/// A new run that goes on from a saved one, and what it is before its next step.
fn resumed(
    imp: &Implementation,
    check: &mut Check,
    setup: &Setup,
    (saved, stop): (&SavedRun, usize),
    seed: u64,
) -> Result<(Run, Parts), Diagnosis> {
    let mut run = Run::new(setup, seed);
    // A program has drawn some numbers already when it comes to its checkpoint.
    rng::with_default(|generator| generator.skip(11));
    let called = format!("resume_run(saved after {}, a new run)", steps(stop));
    check.call(called, || (imp.resume_run)(saved, &mut run)).map_err(|death| {
        // The one state that the engine refuses for what it says.
        match death.got.contains("Sampler::from_state") {
            true => Diagnosis { key: "5.7-taken-beyond".to_owned(), ..death }.thought(TAKEN),
            false => death,
        }
    })?;
    let parts = Parts::of(&run);
    Ok((run, parts))
}

/// Takes the steps that are left, up to the first one that differs.
fn goes_on(check: &mut Check, run: &mut Run, stop: usize, whole: &Whole) -> Option<Difference> {
    for at in stop..STEPS {
        let stepped = check.call("", || run.step()).map_err(|death| death.got);
        let pair = match stepped {
            Err(panic) => Some((panic, "no panic".to_owned())),
            Ok(got) => differs(&got, &whole.steps[at])
                .or_else(|| weights_differ(&Parts::of(run), &whole.parts[at + 1]))
                .or_else(|| pair(&got, &whole.steps[at], |it| format!("held out {}", it.held_out)))
                .or_else(|| at_the_end(run, whole).filter(|_| at + 1 == STEPS)),
        };
        if let Some((got, expected)) = pair {
            return Some(Difference { step: at + 1, got, expected });
        }
    }
    None
}

type Words = (String, String);

/// What came and what was right in words, if they differ.
fn pair(got: &Stepped, want: &Stepped, words: fn(&Stepped) -> String) -> Option<Words> {
    let both = (words(got), words(want));
    (both.0 != both.1).then_some(both)
}

/// What a step shows before it changes the weights.
fn differs(got: &Stepped, want: &Stepped) -> Option<Words> {
    pair(got, want, |it| format!("number {}", it.step))
        .or_else(|| pair(got, want, |it| format!("examples {:?}", it.examples)))
        .or_else(|| pair(got, want, |it| format!("learning rate {:?}", it.lr)))
        .or_else(|| pair(got, want, |it| format!("loss {:?}", it.loss)))
}

fn weights_differ(got: &Parts, want: &Parts) -> Option<Words> {
    let differ = !got.agree(want, Part::Weights);
    differ.then(|| ("other weights after it".to_owned(), "the same weights".to_owned()))
}

/// What would show itself only in further steps.
fn at_the_end(run: &Run, whole: &Whole) -> Option<Words> {
    let part = Parts::of(run).difference(&whole.parts[STEPS])?;
    Some((format!("at the end of it, other {part:?}"), "the same".to_owned()))
}

fn verdict(stop: usize, difference: &Difference, exact: usize, seen: &[Seen]) -> Diagnosis {
    let Difference { step, got, expected } = difference;
    let (key, thought) = explained(seen).unwrap_or((key::WRONG_VALUE, ""));
    let credit = mended(seen);
    let went_on = STEPS - stop;
    Diagnosis::new(key)
        .called(format!(
            "save_run after {}, {went_on} more by the run that was saved, then resume_run",
            steps(stop)
        ))
        .got(format!(
            "first difference in step {step}: {got}\n{exact} of {STEPS} stops go on exactly\n\
             {credit}"
        ))
        .expected(format!("step {step}: {expected}"))
        .thought(thought)
}

/// A state that has served once serves again.
fn again(
    imp: &Implementation,
    check: &mut Check,
    setup: &Setup,
    saved: &[SavedRun],
    whole: &Whole,
) -> Result<(), Diagnosis> {
    for (stop, saved) in saved.iter().enumerate() {
        let (mut run, _) = resumed(imp, check, setup, (saved, stop), stop as u64)?;
        if let Some(Difference { step, got, expected }) = goes_on(check, &mut run, stop, whole) {
            return Err(Diagnosis::new("5.7-saved-run-changed")
                .called(format!("resume_run(saved after {}, ..) a second time", steps(stop)))
                .got(format!("first difference in step {step}: {got}"))
                .expected(format!("step {step}: {expected}"))
                .thought(AGAIN));
        }
    }
    Ok(())
}

const CHANGES: &str = "Saving has changed the run that was saved: it draws from a generator, or \
    puts the model into another mode. A run that is saved often must be the run that is never \
    saved.";
const SAVING: &str = "Saving panicked. Before the first step the optimizer has no moments yet: \
    `params[i].tensors` is empty then.";
const FITS: &str = "What was saved does not fit into the new run: every part of it must be saved \
    whole, under the names and in the order in which the run has it.";
const AGAIN: &str = "The first run that went on from this state has changed it: they share \
    tensors. Copy the numbers into the new run's own tensors, as `load_state_dict` does; `set` \
    hands the saved tensor over, and the next step writes into it.";
