//! The `gpu-sim` command: runs any CUDA kernel on the simulated GPU, with any arguments.
//!
//! It ends with status 0 if all is well, with 1 if the kernel did something wrong, and with 2 if
//! it was not given what it needs; one line on standard error then says what.

mod argument;
mod compare;
mod dtype;
mod json;
mod kernels;
mod listing;
mod program;
mod report;
mod run;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// Runs CUDA kernels on a simulated GPU: no GPU needed. Results are those of a GPU; the time that a
/// kernel would take, and its traffic with the GPU's memory, are modelled.
#[derive(Parser)]
#[command(name = "gpu-sim", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a kernel of a .ptx or .cu file, checks it, and counts what it does
    Run(run::RunArgs),
    /// Lists the kernels of a file with their parameters and shared memory
    Ptx(kernels::PtxArgs),
    /// Puts the counters of two runs side by side
    Compare(compare::CompareArgs),
}

/// What a command ends with: whether nothing was found wrong; or, in one line, why its input
/// cannot be used.
type Outcome = Result<bool, String>;

fn main() -> ExitCode {
    let outcome = match Cli::try_parse() {
        Ok(cli) => dispatch(&cli.command),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err("a subcommand is missing: run, ptx or compare (--help tells of them)".to_string())
        }
        Err(error) if error.use_stderr() => Err(one_line(&error.to_string())),
        Err(help) => {
            engine_room_labs::print(&help.to_string());
            Ok(true)
        }
    };
    engine_room_labs::exit_code(outcome)
}

fn dispatch(command: &Command) -> Outcome {
    match command {
        Command::Run(args) => run::run(args),
        Command::Ptx(args) => kernels::run(args),
        Command::Compare(args) => compare::run(args),
    }
}

/// clap's message without its advice, which takes lines of its own.
fn one_line(message: &str) -> String {
    let advice = |line: &&str| line.starts_with("Usage:") || line.starts_with("  tip:");
    let lines = message.lines().take_while(|line| !advice(line));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let text = words.join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_string()
}
