//! `course reset`: hands out an exercise, a lab or all labs anew, with a backup of what was there.

use clap::Args;
use engine_room_labs::capture::show;
use engine_room_labs::handout::with_stub_functions;
use engine_room_labs::print;
use grading::{Facts, Lab, Progress, State, root};

use crate::{Outcome, edit, find};

/// Arguments of `course reset`.
#[derive(Args)]
pub struct ResetArgs {
    /// An exercise (3.1), a lab (03) or "all"
    name: String,
}

/// Puts the stub back in place and says where the old file is.
pub fn run(args: &ResetArgs) -> Outcome {
    let labs = find::labs()?;
    if args.name == "all" {
        labs.iter().try_for_each(reset_lab)?;
    } else if let Some(lab) = labs.iter().find(|lab| find::is_named(lab, &args.name)) {
        reset_lab(lab)?;
    } else {
        let (lab, facts) = find::exercise(&args.name).map_err(|e| {
            format!("{e}; a lab is reset by its number, and all labs by `reset all`")
        })?;
        let (path, stub) = (lab.folder.join("exercise.rs"), lab.folder.join("stub.rs"));
        let (text, stub) = (edit::read(&path)?, edit::read(&stub)?);
        let text = with_stub_functions(&text, &stub, &facts.functions)?;
        let what = format!("{} ({})", facts.name(), facts.functions.join(", "));
        replace(&lab, &text, &what, std::slice::from_ref(&facts))?;
    }
    Ok(true)
}

fn reset_lab(lab: &Lab) -> Result<(), String> {
    let stub = edit::read(&lab.folder.join("stub.rs"))?;
    replace(lab, &stub, &format!("Lab {}", lab.id), &lab.exercises)
}

fn replace(lab: &Lab, text: &str, what: &str, exercises: &[Facts]) -> Result<(), String> {
    let path = lab.folder.join("exercise.rs");
    let existed = path.exists();
    let backup = edit::replace_exercise(lab, text)?;
    forget(exercises)?;
    let path = show(&path);
    print(&match backup {
        Some(backup) => format!(
            "{what} is as handed out again in {path}.\nYour version is kept in {}.\n",
            show(&backup)
        ),
        None if existed => format!("{what} is as handed out already; nothing was changed.\n"),
        None => format!("{path} was missing and is there again.\n"),
    });
    Ok(())
}

/// What was graded before says nothing about a stub. Opened hints stay counted.
fn forget(exercises: &[Facts]) -> Result<(), String> {
    let mut progress = Progress::load(&root())?;
    let before = progress.clone();
    for facts in exercises {
        if let Some(known) = progress.exercise.get_mut(&facts.id) {
            known.state = Some(State::NotStarted);
        }
    }
    if progress == before { Ok(()) } else { progress.save(&root()) }
}
