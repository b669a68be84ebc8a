//! Prints for a reader who may leave before the end, as in `cargo test | head`.

use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind};

use libtest_mimic::{Arguments, Conclusion, Trial};

use crate::panics::message;

/// Prints. A reader who has gone away wants no more, and that is no failure.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Runs the trials as a Rust test does; none if the reader went away before the end, over which
/// libtest-mimic panics.
pub(crate) fn run_trials(args: &Arguments, trials: Vec<Trial>) -> Option<Conclusion> {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info: &PanicHookInfo| {
        if !is_closed_pipe(&message(info.payload())) {
            loud(info);
        }
    }));
    match catch_unwind(AssertUnwindSafe(|| libtest_mimic::run(args, trials))) {
        Ok(conclusion) => Some(conclusion),
        Err(payload) if is_closed_pipe(&message(&*payload)) => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// Whether a panic's message is about an output that nobody reads any more.
fn is_closed_pipe(message: &str) -> bool {
    message.contains("kind: BrokenPipe") || message.starts_with("failed printing to std")
}
