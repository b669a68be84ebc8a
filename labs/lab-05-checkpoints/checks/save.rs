//! 5.4: the learner's function saves on a disk in memory. The disk is asked what it could hold if
//! the power had failed after each operation, and each operation fails in turn.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis};

use super::Implementation;
use super::file_system::Op;
use super::machine::{
    Failing, MOST_STEPS, Machine, Outcome, Step, refusal, refusal_words, replayed,
};
use super::save_thoughts::{self as thoughts, Thought};
use super::save_words as words;

/// A disk, and what is to be saved on it.
pub struct Story {
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    pub path: PathBuf,
    pub new: Vec<u8>,
}

impl Story {
    /// What the file holds before.
    pub fn old(&self) -> Option<&Vec<u8>> {
        self.files.get(&self.path)
    }

    /// The folder of the file.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

/// One call.
pub struct Run<'a> {
    pub story: &'a Story,
    pub log: Vec<Step>,
    pub result: io::Result<()>,
}

impl Run<'_> {
    /// The first operation that the disk has refused.
    pub fn refused(&self) -> Option<usize> {
        self.log.iter().position(|step| step.outcome == Outcome::Refused)
    }

    fn is_ok(&self) -> bool {
        self.result.is_ok()
    }

    fn diagnosis(&self, (key, thought): Thought) -> Diagnosis {
        Diagnosis::new(key).called(words::called(self.story)).thought(thought)
    }
}

/// 5.4
pub fn save(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    check.if_it_dies(Death::TimeLimit, thoughts::REPEATS.0, thoughts::REPEATS.1);
    let stories = stories(&mut check.rng());
    for story in &stories {
        let run = called(imp, check, story, Failing::Nothing)?;
        without_failure(&run)?;
    }
    let (key, thought) = thoughts::UNWRAP;
    check.if_it_dies(Death::Panicked, key, thought);
    for story in &stories {
        failures(imp, check, story)?;
    }
    leftovers(imp, check, &stories[0])
}

/// Files that grow and shrink, one that is new, one that becomes empty; others beside them.
fn stories(rng: &mut Generator) -> Vec<Story> {
    let paths = ["/runs/7/model.safetensors", "/runs/12/latest.ckpt", "/runs/3/checkpoint"];
    let sizes = [(Some(140), 200), (Some(200), 90), (None, 150), (Some(64), 64), (Some(100), 0)];
    let mut stories = Vec::new();
    for (at, (old, new)) in sizes.into_iter().enumerate() {
        let path = PathBuf::from(paths[at % paths.len()]);
        let mut content = |length: usize| -> Vec<u8> {
            // A block that has not been written is full of zeros: contents have none.
            (0..length).map(|_| 1 + rng.below(255) as u8).collect()
        };
        let (old, new) = (old.map(&mut content), content(new));
        let beside = ["model.safetensors.index.json", "step", "optimizer.safetensors"];
        let mut files = BTreeMap::from(beside.map(|name| (path.with_file_name(name), content(70))));
        files.extend(old.map(|old| (path.clone(), old)));
        stories.push(Story { files, path, new });
    }
    stories
}

/// Calls the learner's function on a new machine.
fn called<'a>(
    imp: &Implementation,
    check: &mut Check,
    story: &'a Story,
    failing: Failing,
) -> Result<Run<'a>, Diagnosis> {
    let machine = Machine::new(&story.files, story.folder(), failing);
    let returned =
        check.call(words::called(story), || (imp.save)(&machine, &story.path, &story.new));
    let log = machine.log();
    match returned {
        Ok(result) => Ok(Run { story, log, result }),
        Err(diagnosis) => {
            let run = Run { story, log, result: Ok(()) };
            let told = words::operations(&run, run.log.len());
            if run.log.len() < MOST_STEPS {
                let got = format!("{told}{}", diagnosis.got);
                return Err(Diagnosis { got, ..diagnosis });
            }
            Err(run.diagnosis(thoughts::REPEATS).got(told).expected("an end"))
        }
    }
}

fn without_failure(run: &Run) -> Result<(), Diagnosis> {
    let (story, told) = (run.story, words::whole(run));
    if run.log.is_empty() {
        let expected = "every operation through `files`";
        return Err(run.diagnosis(thoughts::ELSEWHERE).got(told).expected(expected));
    }
    if !run.is_ok() {
        let thought = thoughts::of_impossible(run);
        return Err(run.diagnosis(thought).got(told).expected("Ok(())"));
    }
    let seen = replayed(&story.files, &run.log).seen();
    let found = seen.get(&story.path).cloned();
    if found.as_ref() != Some(&story.new) {
        let (name, content) = (words::named(story, &story.path), words::content(story, &found));
        return Err(run
            .diagnosis(thoughts::of_content(run))
            .got(format!("{told}{name} holds {content}\n"))
            .expected(words::allowed(story, true)));
    }
    crashes(run, 0)?;
    left_alone(run, &seen)?;
    match &added(story, &seen)[..] {
        [] => Ok(()),
        names => Err(run
            .diagnosis(thoughts::LEFT_AFTER_SUCCESS)
            .got(format!("{told}in the folder besides: {}\n", names.join(", ")))
            .expected("no file besides those that were there")),
    }
}

/// Files that the call has added to the folder.
fn added(story: &Story, seen: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let is_new = |path: &&PathBuf| **path != story.path && !story.files.contains_key(*path);
    seen.keys().filter(is_new).map(|path| words::named(story, path)).collect()
}

/// The other files are as they were.
fn left_alone(run: &Run, seen: &BTreeMap<PathBuf, Vec<u8>>) -> Result<(), Diagnosis> {
    let story = run.story;
    let mut others = story.files.iter().filter(|(path, _)| **path != story.path);
    let Some((path, _)) = others.find(|(path, bytes)| seen.get(*path) != Some(bytes)) else {
        return Ok(());
    };
    Err(run
        .diagnosis(thoughts::OTHERS)
        .got(words::whole(run))
        .expected(format!("{} as it was before", words::named(story, path))))
}

/// Whatever the power failure leaves from so many operations on, the old or the new file is whole.
fn crashes(run: &Run, from: usize) -> Result<(), Diagnosis> {
    let (story, end) = (run.story, run.log.len());
    // The end first: what was reported is judged by what is on the disk then.
    for count in [end].into_iter().chain(from..end) {
        let only_new = count == end && run.is_ok();
        let is_right = |found: &Option<Vec<u8>>| {
            found.as_ref() == Some(&story.new) || !only_new && found.as_ref() == story.old()
        };
        let found = replayed(&story.files, &run.log[..count]).after_crash(&story.path);
        if let Some(wrong) = found.iter().find(|found| !is_right(found)) {
            return Err(run
                .diagnosis(thoughts::of_crash(run, count, wrong))
                .got(words::crash(run, count, wrong))
                .expected(words::allowed(story, only_new)));
        }
    }
    Ok(())
}

/// Each operation fails once, by itself and with all that come after it.
fn failures(imp: &Implementation, check: &mut Check, story: &Story) -> Result<(), Diagnosis> {
    let mut left = Vec::new();
    let mut cleaned = 0;
    for at in 0..called(imp, check, story, Failing::Nothing)?.log.len() {
        let run = called(imp, check, story, Failing::Only(at))?;
        failed(&run, at)?;
        let seen = replayed(&story.files, &run.log).seen();
        left_alone(&run, &seen)?;
        match &added(story, &seen)[..] {
            [] => cleaned += usize::from(leaves_a_file(&run, at)),
            names if !run.is_ok() => {
                let got = format!("{}in the folder besides: {}\n", words::whole(&run), names[0]);
                left.push(run.diagnosis(thoughts::LEFT).got(got));
            }
            _ => {}
        }
        failed(&called(imp, check, story, Failing::From(at))?, at)?;
    }
    let Some(first) = left.into_iter().next() else { return Ok(()) };
    let (key, thought) = if cleaned > 0 { thoughts::LEFT_SOMETIMES } else { thoughts::LEFT };
    Err(Diagnosis { key: key.into(), ..first }
        .thought(thought)
        .expected("an error, and no file besides those that were there"))
}

/// Whether a file beside the old one was there when the operation failed.
fn leaves_a_file(run: &Run, at: usize) -> bool {
    !added(run.story, &replayed(&run.story.files, &run.log[..at]).seen()).is_empty()
}

/// After a failure: nothing is lost, and the error that comes back is one that ended a try.
fn failed(run: &Run, at: usize) -> Result<(), Diagnosis> {
    crashes(run, at + 1)?;
    let Err(error) = &run.result else { return Ok(()) };
    // That something could not be removed ends nothing.
    let refused = run.log.iter().filter(|step| step.outcome == Outcome::Refused);
    let causes: Vec<&Op> =
        refused.map(|step| &step.op).filter(|op| !matches!(op, Op::Remove(_))).collect();
    let is_told =
        |op: &&Op| error.kind() == refusal(op) || error.to_string().contains(refusal_words(op));
    if causes.is_empty() || causes.iter().any(is_told) {
        return Ok(());
    }
    let expected = format!("the error that ended the save: {}", refusal_words(causes[0]));
    Err(run.diagnosis(thoughts::OTHER_ERROR).got(words::whole(run)).expected(expected))
}

/// What a crash has left does not stop the next save.
fn leftovers(imp: &Implementation, check: &mut Check, story: &Story) -> Result<(), Diagnosis> {
    let log = called(imp, check, story, Failing::Nothing)?.log;
    let new: Vec<u8> = story.new.iter().rev().take(77).copied().collect();
    // Whoever writes byte by byte has hundreds of operations, and a dozen crashes will do.
    for count in (0..=log.len()).step_by(1 + log.len() / 12) {
        for files in replayed(&story.files, &log[..count]).crashed() {
            let later = Story { files, path: story.path.clone(), new: new.clone() };
            let run = called(imp, check, &later, Failing::Nothing)?;
            let found = replayed(&later.files, &run.log).seen().remove(&later.path);
            if !run.is_ok() || found.as_ref() != Some(&later.new) {
                let there: Vec<String> =
                    later.files.keys().map(|path| words::named(&later, path)).collect();
                let content = words::content(&later, &found);
                return Err(run
                    .diagnosis(thoughts::of_leftover(&run))
                    .got(format!("{}the file holds {content}\n", words::whole(&run)))
                    .expected(format!(
                        "{}; after a crash there were: {}",
                        words::allowed(&later, true),
                        there.join(", ")
                    )));
            }
            crashes(&run, run.log.len())?;
        }
    }
    Ok(())
}
