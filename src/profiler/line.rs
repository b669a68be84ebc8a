//! Which line of the reader's program an event belongs to.

use std::panic::Location;

use crate::profiler::profile::Profile;
use crate::profiler::recording::{is_on, open_lines};

/// Where this file is in the engine's folder of sources.
const HERE: &str = "profiler/line.rs";

/// Whether a line is one of the engine's sources, or of the standard library's, which calls a
/// function that was handed over as a value.
///
/// The compiler names the engine's files as it was given them: from the folder of the program that
/// is built, or from the root of the file system. So all of them begin as this one does, with
/// either kind of slash.
fn is_inside(at: &Location) -> bool {
    let folder = &file!()[..file!().len() - HERE.len()];
    let file = at.file();
    file.starts_with(folder) || file.starts_with("/rustc/") || file.contains("rustlib")
}

/// The line of the program from which an operation is called now: `at` itself, or, while a profile
/// is recorded, that of the innermost span that comes from outside the engine.
pub(crate) fn line_now(at: &'static Location<'static>) -> &'static Location<'static> {
    if !is_on() || !is_inside(at) {
        return at;
    }
    open_lines().into_iter().find(|line| !is_inside(line)).unwrap_or(at)
}

impl Profile {
    /// The line of the program that an event comes from: the innermost that is not the engine's.
    pub(super) fn line_of(&self, event: usize) -> Option<&'static Location<'static>> {
        let lines = self.ancestors(event).filter_map(|at| self.events()[at].at);
        lines.into_iter().find(|at| !is_inside(at))
    }
}
