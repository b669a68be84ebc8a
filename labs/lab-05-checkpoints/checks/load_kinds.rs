//! 5.3: what kind of wrong it is, where no single thought gives every answer.

use std::mem::discriminant;

use super::super::loading::{Complaint, Placed};
use super::load::Case;
use super::load_thoughts::{Loaded, THOUGHTS, Thought, loaded};

/// A case, what came of it, and what is right.
pub struct Judged<'a> {
    pub case: &'a Case,
    pub got: &'a Loaded,
    pub want: Loaded,
}

type Words = (&'static str, &'static str);

impl Judged<'_> {
    fn is_right(&self) -> bool {
        *self.got == self.want
    }

    /// The right complaints that did not come.
    fn lacking(&self) -> Vec<&Complaint> {
        let came = complaints(self.got);
        complaints(&self.want).iter().filter(|it| !came.contains(it)).collect()
    }

    /// The complaints that came and are not right.
    fn extra(&self) -> Vec<&Complaint> {
        let right = complaints(&self.want);
        complaints(self.got).iter().filter(|it| !right.contains(it)).collect()
    }
}

fn complaints(loaded: &Loaded) -> &[Complaint] {
    loaded.answer.as_ref().err().map_or(&[], Vec::as_slice)
}

fn name(complaint: &Complaint) -> &str {
    match complaint {
        Complaint::Missing(name) | Complaint::Unexpected(name) => name,
        Complaint::Mismatch { name, .. } | Complaint::NoDevice { name, .. } => name,
    }
}

/// What explains the answers without giving each of them to the last number: a habit that all
/// share, a thought with other side effects, or at least what is wrong with the one that is shown.
pub fn explained(all: &[Judged], shown: &Judged) -> Words {
    habit(all).or_else(|| loosely(all)).unwrap_or_else(|| kind(shown))
}

/// What all wrong answers have in common.
fn habit(all: &[Judged]) -> Option<Words> {
    let always = |holds: &dyn Fn(&Judged) -> bool| all.iter().all(|it| it.is_right() || holds(it));
    let first = |it: &Judged| {
        complaints(it.got).len() == 1 && it.extra().is_empty() && !it.lacking().is_empty()
    };
    let exchanged = |it: &Judged| {
        let other = |it: &Complaint| match it {
            Complaint::Missing(name) => Complaint::Unexpected(name.clone()),
            Complaint::Unexpected(name) => Complaint::Missing(name.clone()),
            it => it.clone(),
        };
        let mut turned: Vec<Complaint> = complaints(&it.want).iter().map(other).collect();
        turned.sort();
        turned == complaints(it.got) && !it.lacking().is_empty()
    };
    let prefixed = |it: &Judged| it.case.file.iter().any(|it| it.name.starts_with("module."));
    let hidden = |it: &Judged| {
        let no_device = |it: &&Complaint| matches!(it, Complaint::NoDevice { .. });
        let lacking = it.lacking();
        let all_others = !lacking.is_empty() && !lacking.iter().any(no_device);
        all_others && it.extra().is_empty() && complaints(&it.want).iter().any(|it| no_device(&it))
    };
    if always(&first) {
        return Some(("5.3-first-only", FIRST_ONLY));
    }
    if always(&exchanged) {
        return Some(("5.3-names-exchanged", EXCHANGED));
    }
    if always(&prefixed) {
        return Some(("5.3-prefix-stripped", STRIPPED));
    }
    always(&hidden).then_some(("5.3-no-device-hides", HIDES))
}

/// The thought that gives all complaints, and all places as far as there are any.
fn loosely(all: &[Judged]) -> Option<Words> {
    let agrees = |thought| {
        all.iter().all(|it| {
            let mut as_thought = loaded(it.case, thought);
            if let Err(complaints) = &mut as_thought.answer {
                complaints.sort();
            }
            match (&it.got.answer, &as_thought.answer) {
                (Ok(got), Ok(placed)) => got.iter().all(|it| !contradicts(it, placed)),
                (got, thought) => got == thought,
            }
        })
    };
    if agrees(Thought::Right) {
        return None;
    }
    let found = THOUGHTS.iter().find(|(thought, ..)| agrees(*thought));
    found.map(|&(_, key, words)| (key, words))
}

/// Whether one of these says another device of this tensor.
fn contradicts(place: &Placed, others: &[Placed]) -> bool {
    others.iter().any(|other| other.name == place.name && other.device != place.device)
}

/// What is wrong with one answer.
fn kind(shown: &Judged) -> Words {
    let (lacking, extra) = (shown.lacking(), shown.extra());
    let same = |a: &&Complaint| {
        extra.iter().any(|b| name(a) == name(b) && discriminant(*a) == discriminant(*b))
    };
    if let Some(it) = lacking.iter().find(|it| same(it)) {
        return match it {
            Complaint::NoDevice { .. } => ("5.3-another-device", ANOTHER_DEVICE),
            _ => ("5.3-shapes-exchanged", super::load_thoughts::SHAPES_EXCHANGED),
        };
    }
    if let Some(it) = lacking.first() {
        return match it {
            Complaint::Missing(_) => ("5.3-missing-lacks", MISSING_LACKS),
            Complaint::Unexpected(_) => ("5.3-unexpected-lacks", UNEXPECTED_LACKS),
            Complaint::Mismatch { .. } => ("5.3-mismatch-lacks", MISMATCH_LACKS),
            Complaint::NoDevice { .. } => ("5.3-no-device-lacks", NO_DEVICE_LACKS),
        };
    }
    match (extra.first(), &shown.got.answer, &shown.want.answer) {
        (Some(Complaint::Missing(_) | Complaint::Unexpected(_)), ..) => {
            ("5.3-name-too-many", NAME_TOO_MANY)
        }
        (Some(Complaint::Mismatch { .. }), ..) => ("5.3-mismatch-too-many", MISMATCH_TOO_MANY),
        (Some(Complaint::NoDevice { .. }), ..) => ("5.3-no-device-too-many", NO_DEVICE_TOO_MANY),
        (None, Ok(got), Ok(want)) if got.iter().any(|it| contradicts(it, want)) => {
            ("5.3-another-place", ANOTHER_PLACE)
        }
        (None, Ok(got), Ok(want)) if got != want => ("5.3-not-all-placed", NOT_ALL_PLACED),
        (None, Ok(_), Ok(_)) => ("5.3-other-values", OTHER_VALUES),
        (None, Err(got), Err(want)) if got == want => ("5.3-changed-on-error", CHANGED),
        _ => ("5.3-complaints-twice", TWICE),
    }
}

const FIRST_ONLY: &str = "Only the first complaint is reported. Who mends a renamed layer wants \
    all names at once, and not one more with every run.";
const EXCHANGED: &str = "`Missing` and `Unexpected` are exchanged. Missing is what the model has \
    and the file lacks; unexpected is what the file has and the model lacks.";
const STRIPPED: &str = "The names were compared without what stands in front of them. \
    `module.bias` and `bias` are two names: the first is unexpected and the second missing. Who \
    wants them equal renames before loading, where everybody sees it.";
const HIDES: &str = "Where a device is not here other complaints are lacking, as if the look at \
    the tensor, or at the file, had ended there. Names and shapes are asked for all the same.";
const ANOTHER_DEVICE: &str = "A `NoDevice` complaint names another device than the one that the \
    tensor would go to: the map's answer for the device that it was saved on.";
const MISSING_LACKS: &str = "A `Missing` complaint is lacking: the model has this name and the \
    file does not. Go through the model for it: a walk through the file does not meet such a \
    name.";
const UNEXPECTED_LACKS: &str = "An `Unexpected` complaint is lacking: the file has this name and \
    the model does not. Go through the file for it: a walk through the model does not meet such a \
    name.";
const MISMATCH_LACKS: &str = "A `Mismatch` complaint is lacking. Wherever both have the name, the \
    whole shapes are compared, whatever strict is and whatever else is wrong.";
const NO_DEVICE_LACKS: &str = "A `NoDevice` complaint is lacking. Each tensor of the file goes to \
    a device before names are asked for, also one that the model lacks: is the device here that \
    the map gives it?";
const NAME_TOO_MANY: &str = "A name is a complaint and should be none. It is one if only one side \
    has it, under exactly this name, and strict is true.";
const MISMATCH_TOO_MANY: &str = "A `Mismatch` is reported where there is none: it is one if both \
    have the name and the shapes differ.";
const NO_DEVICE_TOO_MANY: &str = "A `NoDevice` is reported of a device that is here. What is asked \
    for is where the tensor goes: with a table the second device of its pair, and without a pair \
    the device that it was saved on.";
const ANOTHER_PLACE: &str = "A tensor was placed on another device than the map says. With a table \
    it is the second device of the pair whose first is that of the file, looked up once; without \
    such a pair it is the device that it was saved on.";
const NOT_ALL_PLACED: &str = "The answer does not place each tensor of the file once. All of them \
    are read, also what the model lacks.";
const OTHER_VALUES: &str = "The places are right, and the model has other values than those of the \
    file under the same name.";
const CHANGED: &str = "The complaints are right, and the model was changed. Where there is one \
    complaint nothing changes: check all, then copy.";
const TWICE: &str = "Each complaint stands once in the answer, and an error has at least one.";
