//! `course list`: every exercise with its state, and the next step.

use engine_room_labs::capture::show;
use engine_room_labs::{Cell, Table, print};
use grading::{Facts, Lab, Progress, State, root, state};

use crate::{Outcome, find};

/// Prints the exercises, the predictions and the next step.
pub fn run() -> Outcome {
    let progress = Progress::load(&root())?;
    let labs = find::labs()?;
    for lab in &labs {
        print(&format!("Lab {}: {}\n\n{}\n", lab.id, lab.title, exercises(lab, &progress)?));
        if !lab.predictions.is_empty() {
            print(&format!("{}\n", predictions(lab, &progress)));
        }
    }
    print(&next_step(&labs, &progress)?);
    Ok(true)
}

fn exercises(lab: &Lab, progress: &Progress) -> Result<String, String> {
    let mut table = Table::new()
        .column("exercise", "exercise", "")
        .column("state", "state", "")
        .column("minutes", "minutes", "")
        .column("points", "points", "")
        .column("hints", "hints seen", "");
    for facts in &lab.exercises {
        let hints = progress.exercise.get(&facts.id).map_or(0, |seen| seen.hints);
        table.row([
            Cell::Text(facts.name()),
            Cell::from(state_in_words(lab, facts, progress)?),
            Cell::Count(facts.minutes.typical().into()),
            Cell::Count(facts.points.into()),
            Cell::Text(format!("{hints} of {}", facts.hints.len())),
        ]);
    }
    Ok(table.text())
}

/// What the files say about *not started*; otherwise what the last grading said.
fn state_in_words(lab: &Lab, facts: &Facts, progress: &Progress) -> Result<&'static str, String> {
    if is_untouched(lab, facts)? {
        return Ok(State::NotStarted.words());
    }
    let known = progress.exercise.get(&facts.id).and_then(|seen| seen.state);
    Ok(match known {
        None | Some(State::NotStarted) => "changed, not graded",
        Some(state) => state.words(),
    })
}

fn is_untouched(lab: &Lab, facts: &Facts) -> Result<bool, String> {
    let read = |name: &str| {
        let path = lab.folder.join(name);
        std::fs::read_to_string(&path).map_err(|e| format!("{} cannot be read: {e}", show(&path)))
    };
    Ok(state::is_not_started(facts, &read("exercise.rs")?, &read("stub.rs")?))
}

fn predictions(lab: &Lab, progress: &Progress) -> String {
    let mut table = Table::new()
        .column("prediction", "prediction", "")
        .column("guess", "your first guess", "")
        .column("experiment", "the experiment that shows it", "");
    for prediction in &lab.predictions {
        let kept = progress.prediction.get(&prediction.id);
        let guess = kept.map_or("none yet", |kept| kept.guess.as_str());
        table.row([prediction.id.as_str(), guess, &prediction.experiment].map(Cell::from));
    }
    table.text()
}

/// The first exercise that is not passed, and the commands for it.
fn next_step(labs: &[Lab], progress: &Progress) -> Result<String, String> {
    for lab in labs {
        for facts in &lab.exercises {
            if state_in_words(lab, facts, progress)? != State::Passed.words() {
                return Ok(step(lab, facts));
            }
        }
    }
    Ok("All exercises are passed.\n".to_string())
}

fn step(lab: &Lab, facts: &Facts) -> String {
    format!(
        "Next: {}, about {} min.\n  \
         read   book/src/{}/index.md, {}\n  \
         write  {} ({})\n  \
         grade  cargo test --test {} {}\n  \
         hint   cargo run --bin course -- hint {}\n",
        facts.name(),
        facts.minutes.typical(),
        lab.slug,
        lab.reading(&facts.section),
        show(&lab.folder.join("exercise.rs")),
        facts.functions.join(", "),
        lab.target(),
        facts.id,
        facts.id,
    )
}
