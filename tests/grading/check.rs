//! What a lab's `checks.rs` is written with: calls, requirements, comparisons, the seed.

use std::any::Any;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine_room::rng::Generator;
use serde::{Deserialize, Serialize};

use crate::diagnosis::{Diagnosis, key};
use crate::panics::{self, Unfinished};
use crate::record::{self, Record};

/// One exercise's check. `I` is the lab's `Implementation`: a table of function pointers, so that
/// the same check runs on the learner's functions, the solution, alternatives and mistakes.
#[derive(Clone, Copy)]
pub struct Exercise<I> {
    /// The exercise's id in `lab.toml`.
    pub id: &'static str,
    /// Ok if the implementation is right; otherwise why it is not.
    pub check: fn(&I, &mut Check) -> Result<(), Diagnosis>,
}

/// A right answer in another style; the check must accept it.
pub struct Alternative<I> {
    /// The exercise it answers.
    pub exercise: &'static str,
    /// What is different: `in another order`.
    pub name: &'static str,
    /// The solution's table with the exercise's functions replaced.
    pub implementation: I,
}

/// A typical wrong answer; the check must reject it with its own diagnosis.
pub struct Mistake<I> {
    /// The exercise it answers.
    pub exercise: &'static str,
    /// What was thought: `factors swapped`.
    pub name: &'static str,
    /// The key of the diagnosis that names the misconception: `3.1-swapped-factors`.
    pub diagnosis: &'static str,
    /// The solution's table with the exercise's functions replaced.
    pub implementation: I,
}

/// A known wrong answer, computed by the check: if the learner's answer equals it, the diagnosis
/// takes its key and names its thought.
pub struct Idea<V> {
    /// The key of the diagnosis.
    pub key: &'static str,
    /// Which thought gives this value, and what is true instead.
    pub thought: &'static str,
    /// What that thought computes for the same input.
    pub value: V,
}

/// A way in which the learner's code can end without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Death {
    /// It ran longer than the exercise's limit.
    TimeLimit,
    /// It used up the stack.
    StackOverflow,
    /// It asked for more than 2 GiB.
    MemoryLimit,
    /// It ended the process.
    Exited,
    /// It aborted the process.
    Aborted,
    /// It panicked.
    Panicked,
}

impl Death {
    /// The generic key of this death.
    pub fn key(self) -> &'static str {
        match self {
            Death::TimeLimit => key::TIME_LIMIT,
            Death::StackOverflow => key::STACK_OVERFLOW,
            Death::MemoryLimit => key::MEMORY_LIMIT,
            Death::Exited => key::EXITED,
            Death::Aborted => key::ABORTED,
            Death::Panicked => key::PANICKED,
        }
    }
}

/// One run of one check.
pub struct Check {
    seed: u64,
    if_it_panics: Option<(String, String)>,
}

impl Check {
    /// A check whose random inputs come from `seed`.
    pub fn new(seed: u64) -> Self {
        Check { seed, if_it_panics: None }
    }

    /// The seed: fixed per exercise, or `ENGINE_ROOM_SEED`.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A new stream of random numbers from the seed; a second call begins the same stream again.
    pub fn rng(&self) -> Generator {
        Generator::new(self.seed)
    }

    /// Says what it means if a call made from now on dies this way; the latest word counts.
    ///
    /// Written to the verdict file at once: the grader reads it when it has to kill this process.
    pub fn if_it_dies(&mut self, death: Death, key: &str, thought: &str) {
        let (key, thought) = (key.to_owned(), thought.to_owned());
        if death == Death::Panicked {
            self.if_it_panics = Some((key.clone(), thought.clone()));
        }
        record::write(&Record::IfItDies { death, key, thought });
    }

    /// Runs learner code. `called` says for people what is called, with which input:
    /// `mul_backward(a: [2, 3], b: [2, 3])`. A panic becomes a diagnosis.
    pub fn call<T>(
        &mut self,
        called: impl Into<String>,
        run: impl FnOnce() -> T,
    ) -> Result<T, Diagnosis> {
        let called = called.into();
        record::write(&Record::Called(called.clone()));
        catch_unwind(AssertUnwindSafe(run))
            .map_err(|payload| self.explain(of_panic(&*payload)).called(called))
    }

    /// The diagnosis if `condition` does not hold.
    pub fn require(
        &self,
        condition: bool,
        diagnosis: impl FnOnce() -> Diagnosis,
    ) -> Result<(), Diagnosis> {
        if condition { Ok(()) } else { Err(diagnosis()) }
    }

    /// Compares two plain values (a count, a list of names); `what` names them: `saved bytes`.
    pub fn equal<V: PartialEq + Debug>(
        &self,
        what: &str,
        called: &str,
        got: &V,
        want: &V,
        ideas: &[Idea<V>],
    ) -> Result<(), Diagnosis> {
        if got == want {
            return Ok(());
        }
        let idea = ideas.iter().find(|idea| idea.value == *got && idea.value != *want);
        let (key, thought) = idea.map_or((key::WRONG_VALUE, ""), |idea| (idea.key, idea.thought));
        let (got, want) = (format!("{what} = {got:?}"), format!("{what} = {want:?}"));
        Err(Diagnosis::new(key).called(called).got(got).expected(want).thought(thought))
    }

    fn explain(&self, diagnosis: Diagnosis) -> Diagnosis {
        match &self.if_it_panics {
            Some((key, thought)) if diagnosis.key == key::PANICKED => {
                Diagnosis { key: key.clone(), ..diagnosis }.thought(thought)
            }
            _ => diagnosis,
        }
    }
}

/// What unwound out of learner code, in words: an unwritten part, or a panic with its place.
pub(crate) fn of_panic(payload: &(dyn Any + Send)) -> Diagnosis {
    match payload.downcast_ref() {
        Some(Unfinished(id)) => Diagnosis::new(key::UNFINISHED)
            .got(format!("exercise!(\"{id}\") was reached: this part is not written yet"))
            .expected("a body without exercise! on any path"),
        None => panicked(&panics::message(payload), &panics::place_of(payload)),
    }
}

/// A panic, in words.
pub(crate) fn panicked(message: &str, place: &str) -> Diagnosis {
    let at = if place.is_empty() { String::new() } else { format!(" ({place})") };
    Diagnosis::new(key::PANICKED)
        .got(format!("a panic{at}: {message}"))
        .expected("a value, without a panic")
}
