//! A training that is stopped after any step and restored into new objects with other seeds goes on
//! bit for bit; without any one of its parts it does not.

#[path = "engine/resumed.rs"]
mod resumed;
#[path = "engine/scratch.rs"]
mod scratch;

use resumed::{Part, Run, Task};
use scratch::Scratch;

const SEED: u64 = 11;
const OTHER_SEED: u64 = 99;
/// More than two epochs of 6 batches.
const STEPS: u64 = 14;

const TASKS: [Task; 3] = [Task::Mlp, Task::Gpt, Task::HalfGpt];

#[test]
fn a_run_goes_on_with_the_same_bits_after_every_step() {
    let scratch = Scratch::new("resume");
    let path = scratch.path().join("run.safetensors");
    for task in TASKS {
        let whole = Run::new(task, SEED).train(STEPS);
        let different = Run::new(task, OTHER_SEED).train(STEPS);
        assert!(whole[0] != different[0] && whole[0] != whole[1], "the trace sees nothing");
        for stop in 0..=STEPS {
            let mut first = Run::new(task, SEED);
            first.train(stop);
            first.save(&path).expect("it can be saved");
            let mut second = Run::resume(task, OTHER_SEED, &path, None).expect("all is there");
            let rest = second.train(STEPS);
            assert!(rest == whole[stop as usize..], "{task:?} stopped after {stop} steps");
        }
    }
}

/// Each part matters: the same comparison fails without it.
#[test]
fn a_run_without_one_of_its_parts_is_another_run() {
    let scratch = Scratch::new("resume-partly");
    let path = scratch.path().join("run.safetensors");
    let parts = [
        Part::Model,
        Part::Optimizer,
        Part::Scaler,
        Part::Scheduler,
        Part::Sampler,
        Part::DefaultGenerator,
        Part::OwnGenerator,
    ];
    for task in TASKS {
        let whole = Run::new(task, SEED).train(STEPS);
        let mut first = Run::new(task, SEED);
        first.train(8);
        first.save(&path).expect("it can be saved");
        for part in parts {
            let second = Run::resume(task, OTHER_SEED, &path, Some(part));
            let rest = second.expect("the others are there").train(STEPS);
            assert!(rest != whole[8..], "{task:?}: nobody misses {part:?}");
        }
    }
}
