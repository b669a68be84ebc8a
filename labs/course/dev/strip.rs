//! `course dev strip`: writes each lab's `stub.rs` from its `solution.rs`.

use std::path::Path;

use clap::Args;
use engine_room_labs::capture::show;
use engine_room_labs::print;
use grading::Lab;

use crate::{Outcome, edit, find};

/// Arguments of `course dev strip`.
#[derive(Args)]
pub struct StripArgs {
    /// Labs (03); all without one
    labs: Vec<String>,
    /// Write exercise.rs as well; what it held is kept as a backup
    #[arg(long)]
    exercise: bool,
}

/// Writes what has changed.
pub fn run(args: &StripArgs) -> Outcome {
    for lab in find::labs_named(&args.labs)? {
        let stub = stripped(&lab)?.ok_or("there is no solution.rs; this is a student edition")?;
        save(&lab.folder.join("stub.rs"), &stub)?;
        if args.exercise {
            let backup = edit::replace_exercise(&lab, &stub)?;
            let kept = backup.map(|path| format!("; the old one is in {}", show(&path)));
            let path = show(&lab.folder.join("exercise.rs"));
            print(&format!("{path} is the stub now{}\n", kept.unwrap_or_default()));
        }
    }
    Ok(true)
}

/// The stub that the lab's solution makes; none in the student edition.
pub fn stripped(lab: &Lab) -> Result<Option<String>, String> {
    let solution = lab.folder.join("solution.rs");
    if !solution.exists() {
        return Ok(None);
    }
    let stub = grading::strip(&edit::read(&solution)?);
    stub.map(Some).map_err(|e| format!("{}: {e}", show(&solution)))
}

fn save(path: &Path, text: &str) -> Result<(), String> {
    let same = std::fs::read_to_string(path).is_ok_and(|old| old == text);
    if !same {
        edit::write(path, text)?;
    }
    let what = if same { "has not changed" } else { "written" };
    print(&format!("{} {what}\n", show(path)));
    Ok(())
}
