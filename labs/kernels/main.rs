//! The `kernels` command: compiles `kernels/*.cu` to the PTX that is committed beside them, and
//! counts what each kernel does.
//!
//! Nobody needs it to run the labs: the PTX is there. It needs no GPU either. To compile takes
//! NVIDIA's compiler NVRTC, and `ptxas` for the number of registers of each kernel.

mod build;
mod counts;
mod registers;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The engine's CUDA kernels: from source to PTX, and what each one does.
#[derive(Parser)]
#[command(name = "kernels", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compiles every kernels/*.cu with NVRTC 12.1; run it in the repository's root
    Build(build::BuildArgs),
    /// Counts what every kernel does on a simulated A100: instructions, sectors, bytes
    Counts(counts::CountsArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Build(args) => build::run(&args),
        Command::Counts(args) => counts::run(&args),
    };
    engine_room_labs::exit_code(outcome)
}
