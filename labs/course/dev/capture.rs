//! `course dev capture`: runs what a chapter's `output/NAME.toml` says and keeps the output.

use clap::Args;
use engine_room_labs::capture::{self, Kind};
use engine_room_labs::print;
use grading::root;

use crate::Outcome;

/// Arguments of `course dev capture`.
#[derive(Args)]
pub struct CaptureArgs {
    /// Names of outputs (saved); all without one
    names: Vec<String>,
    /// Run and compare, and write nothing
    #[arg(long)]
    check: bool,
}

/// Captures or checks the outputs that were named.
pub fn run(args: &CaptureArgs) -> Outcome {
    let captures = capture::all(&root())?;
    let known: Vec<String> = captures.iter().map(|c| c.name()).collect();
    if let Some(name) = args.names.iter().find(|name| !known.contains(name)) {
        return Err(format!("no output is called '{name}'; there are: {}", known.join(", ")));
    }
    if captures.is_empty() {
        return Err("there is no book/src/NN-slug/output/NAME.toml".to_string());
    }
    let mut good = true;
    for capture in captures {
        if !args.names.is_empty() && !args.names.contains(&capture.name()) {
            continue;
        }
        let kind = match capture.description.kind {
            Kind::Exact => "exact",
            Kind::Measured => "measured",
        };
        let (done, what) = match args.check {
            true => (capture.verify(), "still true"),
            false => (capture.write(), "captured"),
        };
        good &= done.is_ok();
        let file = capture::show(&capture.file);
        print(&match done {
            Ok(()) => format!("{what}: {file} ({kind})\n"),
            Err(why) => format!("FAILED: {why}\n"),
        });
    }
    Ok(good)
}
