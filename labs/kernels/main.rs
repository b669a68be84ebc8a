//! The `kernels` command: compiles `kernels/*.cu` to the PTX that is committed beside them.
//!
//! Nobody needs it to run the labs: the PTX is there. It needs no GPU either, only NVIDIA's
//! compiler NVRTC, and `ptxas` for the number of registers of each kernel.

mod build;
mod registers;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The engine's CUDA kernels: from source to PTX.
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
}

fn main() -> ExitCode {
    let Command::Build(args) = Cli::parse().command;
    match build::run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
