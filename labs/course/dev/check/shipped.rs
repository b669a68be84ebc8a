//! What is handed out: the exercise file is the stub, and the grader passes none of it.

use std::process::{Command, Stdio};

use engine_room_labs::capture::show;
use grading::{Lab, Report, State, root};

use crate::edit;

/// What is wrong with the lab as it is handed out.
pub fn problems(lab: &Lab) -> Result<Vec<String>, String> {
    let exercise = lab.folder.join("exercise.rs");
    if edit::read(&exercise)? != edit::read(&lab.folder.join("stub.rs"))? {
        return Ok(vec![format!("{} is not stub.rs byte for byte", show(&exercise))]);
    }
    let report = grade_untouched(lab)?;
    let graded = report.verdicts().filter(|verdict| verdict.state != State::NotStarted).count();
    if graded != lab.exercises.len() {
        return Ok(vec![format!("{graded} of {} stubs were graded", lab.exercises.len())]);
    }
    let solved = report.verdicts().filter(|verdict| verdict.state == State::Passed);
    Ok(solved.map(|verdict| format!("exercise {}: its stub passes", verdict.id)).collect())
}

/// Runs the checks on the stubs, which a grader otherwise leaves out as not started.
fn grade_untouched(lab: &Lab) -> Result<Report, String> {
    let name = format!("engine-room-shipped-{}-{}.json", std::process::id(), lab.id);
    let file = std::env::temp_dir().join(name);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = Command::new(cargo)
        .args(["test", "--quiet", "-p", "engine-room-tests", "--test", &lab.target()])
        .args(["--", "--include-ignored"])
        .env("ENGINE_ROOM_REPORT", &file)
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cargo cannot be started: {e}"))?;
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    // A file that cannot be removed is left to the system's cleaning of temporary files.
    let _ = std::fs::remove_file(&file);
    serde_json::from_str(&text).map_err(|_| {
        let said = String::from_utf8_lossy(&done.stderr);
        format!("{} reported nothing:\n{}", lab.target(), said.trim_end())
    })
}
