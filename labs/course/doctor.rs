//! `course doctor`: what could keep the course from running on this machine, and what to do.

mod files;
mod system;
mod tools;

use engine_room_labs::print;

use crate::{Outcome, find};

/// One line of the doctor.
pub struct Finding {
    level: Level,
    what: String,
    todo: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Ok,
    Note,
    Fail,
}

impl Finding {
    /// As it should be.
    pub fn ok(what: impl Into<String>) -> Finding {
        Finding { level: Level::Ok, what: what.into(), todo: String::new() }
    }

    /// Worth knowing; the course runs.
    pub fn note(what: impl Into<String>, todo: impl Into<String>) -> Finding {
        Finding { level: Level::Note, what: what.into(), todo: todo.into() }
    }

    /// Something does not work until `todo` is done.
    pub fn fail(what: impl Into<String>, todo: impl Into<String>) -> Finding {
        Finding { level: Level::Fail, what: what.into(), todo: todo.into() }
    }

    fn text(&self) -> String {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Fail => "FAIL",
        };
        let what = self.what.replace('\n', "\n      ");
        match self.todo.as_str() {
            "" => format!("{level:<6}{what}\n"),
            todo => format!("{level:<6}{what}\n{}", find::wrapped(todo, "      ")),
        }
    }
}

/// Looks at everything, one line each as it is found, and ends in a verdict.
pub fn run() -> Outcome {
    let checks: [fn() -> Vec<Finding>; 10] = [
        tools::compiler,
        tools::cargo,
        system::cores,
        system::memory,
        system::disk,
        files::permissions,
        files::labs,
        files::digits,
        tools::mdbook,
        system::gpu,
    ];
    let (mut failed, mut notes) = (0, 0);
    for check in checks {
        for finding in check() {
            failed += usize::from(finding.level == Level::Fail);
            notes += usize::from(finding.level == Level::Note);
            print(&finding.text());
        }
    }
    print(&match (failed, notes) {
        (0, 0) => "\nReady. Next: cargo test\n".to_string(),
        (0, notes) => format!("\nReady, with {notes} to note. Next: cargo test\n"),
        (failed, _) => format!("\nNot ready: {failed} marked FAIL above; do what stands there.\n"),
    });
    Ok(failed == 0)
}
