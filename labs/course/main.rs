//! The `course` command: what there is to do, hints, predictions, grades, and help when stuck.

mod dev;
mod doctor;
mod edit;
mod find;
mod grade;
mod hint;
mod list;
mod predict;
mod reset;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The Engine Room: exercises, hints, predictions, grades.
#[derive(Parser)]
#[command(name = "course", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Course,
}

#[derive(Subcommand)]
enum Course {
    /// Every exercise with its state, minutes and points, and what to do next
    List,
    /// The next hint of an exercise
    Hint(hint::HintArgs),
    /// Hands an exercise out anew; your version is kept as a backup
    Reset(reset::ResetArgs),
    /// A question to answer before you measure; the first guess is kept
    Predict(predict::PredictArgs),
    /// Grades the exercises, as `cargo test` does
    Grade(grade::GradeArgs),
    /// Looks for what could keep the course from running on this machine
    Doctor,
    /// For authors of labs
    Dev(dev::DevArgs),
}

/// What a command ends with: whether all is well, or an error for a person.
type Outcome = Result<bool, String>;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Course::List => list::run(),
        Course::Hint(args) => hint::run(&args),
        Course::Reset(args) => reset::run(&args),
        Course::Predict(args) => predict::run(&args),
        Course::Grade(args) => grade::run(&args),
        Course::Doctor => doctor::run(),
        Course::Dev(args) => dev::run(args),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
