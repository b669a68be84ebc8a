//! `course grade`: the same verdicts as `cargo test`, for people or as JSON.

use clap::Args;
use engine_room_labs::{pretty, print};
use grading::{driver, grade_all, root};

use crate::{Outcome, find};

/// Arguments of `course grade`.
#[derive(Args)]
pub struct GradeArgs {
    /// A lab (03) or an exercise (3.1); all labs without it
    name: Option<String>,
    /// Count what is not started as failed
    #[arg(long = "final")]
    is_final: bool,
    /// Print JSON and nothing else
    #[arg(long)]
    json: bool,
}

/// Grades, and says whether nothing failed.
pub fn run(args: &GradeArgs) -> Outcome {
    let labs = find::labs()?;
    let by_name = |name: &String| labs.iter().find(|lab| find::is_named(lab, name));
    let lab = args.name.as_ref().and_then(by_name).map(|lab| lab.slug.clone());
    let report = grade_all(&root(), lab.as_ref().or(args.name.as_ref()).map(String::as_str))?;
    if args.json {
        print(&pretty(&report));
    } else {
        print(&driver::render(&labs, &report, args.is_final));
    }
    Ok(report.failures(args.is_final) == 0)
}
