//! The result of a grading run, as data: what `course grade --json` prints.

use serde::{Deserialize, Serialize};

use crate::diagnosis::{Diagnosis, key};
use crate::model::{Facts, Lab};

/// Where an exercise stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The learner's functions equal the stub's.
    NotStarted,
    /// `exercise!` was reached in a changed body.
    Unfinished,
    /// The check failed.
    Failed,
    /// The check passed.
    Passed,
}

impl State {
    /// The state for people.
    pub fn words(self) -> &'static str {
        match self {
            State::NotStarted => "not started",
            State::Unfinished => "unfinished",
            State::Failed => "failed",
            State::Passed => "passed",
        }
    }
}

/// The verdict on one exercise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The exercise's id.
    pub id: String,
    /// Where it stands.
    pub state: State,
    /// Points earned.
    pub points: u32,
    /// Points it is worth.
    pub max_points: u32,
    /// Why it failed.
    pub diagnosis: Option<Diagnosis>,
}

/// The verdicts of one lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabReport {
    /// The lab's number: `03`.
    pub id: String,
    /// Its exercises, in the order of the chapter.
    pub exercises: Vec<Verdict>,
}

/// The verdicts of all labs that were graded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The labs, by number.
    pub labs: Vec<LabReport>,
    /// Points earned.
    pub points: u32,
    /// Points that all of them are worth.
    pub max_points: u32,
}

impl Verdict {
    /// An exercise nobody has touched.
    pub fn not_started(facts: &Facts) -> Verdict {
        Verdict::with(facts, State::NotStarted, None)
    }

    /// Passed without a diagnosis; otherwise unfinished or failed, with the section to read.
    pub fn from_check(lab: &Lab, facts: &Facts, diagnosis: Option<Diagnosis>) -> Verdict {
        let state = match &diagnosis {
            None => State::Passed,
            Some(diagnosis) if diagnosis.key == key::UNFINISHED => State::Unfinished,
            Some(_) => State::Failed,
        };
        let section = lab.reading(&facts.section);
        let diagnosis = diagnosis.map(|diagnosis| Diagnosis { section, ..diagnosis });
        Verdict::with(facts, state, diagnosis)
    }

    fn with(facts: &Facts, state: State, diagnosis: Option<Diagnosis>) -> Verdict {
        let points = if state == State::Passed { facts.points } else { 0 };
        Verdict { id: facts.id.clone(), state, points, max_points: facts.points, diagnosis }
    }
}

impl Report {
    /// Adds up the points.
    pub fn new(labs: Vec<LabReport>) -> Report {
        let sum = |points: fn(&Verdict) -> u32| {
            labs.iter().flat_map(|lab| &lab.exercises).map(points).sum()
        };
        let (points, max_points) = (sum(|v| v.points), sum(|v| v.max_points));
        Report { labs, points, max_points }
    }

    /// All verdicts, in order.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.labs.iter().flat_map(|lab| &lab.exercises)
    }

    /// How many exercises are in this state.
    pub fn count(&self, state: State) -> usize {
        self.verdicts().filter(|verdict| verdict.state == state).count()
    }

    /// How many exercises are failed or unfinished; what is not started counts only in the end.
    pub fn failures(&self, is_final: bool) -> usize {
        let untouched = if is_final { self.count(State::NotStarted) } else { 0 };
        self.count(State::Failed) + self.count(State::Unfinished) + untouched
    }

    /// The one line at the end: `environment good, 0 of 7 solved`, or `1 failed, 2 of 7 solved`.
    pub fn last_line(&self, is_final: bool) -> String {
        let solved = format!("{} of {} solved", self.count(State::Passed), self.verdicts().count());
        match self.failures(is_final) {
            0 => format!("environment good, {solved}"),
            failed => format!("{failed} failed, {solved}"),
        }
    }
}
