//! `course dev`: what authors of labs need.

mod capture;
mod check;
mod strip;

use clap::{Args, Subcommand};

use crate::Outcome;

/// Arguments of `course dev`.
#[derive(Args)]
pub struct DevArgs {
    #[command(subcommand)]
    command: Dev,
}

#[derive(Subcommand)]
enum Dev {
    /// Checks every lab's facts and stubs
    Check(check::CheckArgs),
    /// Writes stub.rs from solution.rs
    Strip(strip::StripArgs),
    /// Runs programs and keeps their output for the book
    Capture(capture::CaptureArgs),
}

/// Runs the command.
pub fn run(args: DevArgs) -> Outcome {
    match args.command {
        Dev::Check(args) => check::run(&args),
        Dev::Strip(args) => strip::run(&args),
        Dev::Capture(args) => capture::run(&args),
    }
}
