//! `course hint`: three hints an exercise, one at a time; how many were opened is remembered.

use clap::Args;
use engine_room_labs::print;
use grading::{Progress, root};

use crate::{Outcome, find};

/// Arguments of `course hint`.
#[derive(Args)]
pub struct HintArgs {
    /// The exercise, such as 3.1
    id: String,
    /// Show this hint: 1 direction, 2 approach, 3 nearly the answer
    #[arg(long)]
    level: Option<usize>,
}

/// Prints the next hint, or the one that was asked for, and counts it.
pub fn run(args: &HintArgs) -> Outcome {
    let (_, facts) = find::exercise(&args.id)?;
    let mut progress = Progress::load(&root())?;
    let seen = &mut progress.exercise.entry(facts.id.clone()).or_default().hints;
    let last = facts.hints.len();
    let level = args.level.unwrap_or((*seen as usize + 1).min(last));
    let Some(hint) = level.checked_sub(1).and_then(|i| facts.hints.get(i)) else {
        return Err(format!("exercise {} has hints 1 to {last}, not {level}", facts.id));
    };
    let was_open = *seen as usize == last;
    *seen = (*seen).max(level as u32);
    let left = last - *seen as usize;
    progress.save(&root())?;
    let left = match left {
        0 if was_open && args.level.is_none() => {
            "This was the last one; --level 1 and --level 2 show the others again.".to_string()
        }
        0 => "No hint is left.".to_string(),
        1 => "1 hint is left.".to_string(),
        n => format!("{n} hints are left."),
    };
    print(&format!("{}, hint {level} of {last}\n\n", facts.name()));
    print(&format!("{}\n{left}\n", find::wrapped(hint, "  ")));
    Ok(true)
}
