//! `gpu-check`: the tests of the engine's kernels and how fast they are, on an NVIDIA GPU.
//!
//! `scripts/gpu-check.sh` builds it. It is one file that needs a driver and nothing else, so it can
//! be built here and run on another machine. Where there is no GPU it says so, and is content.

mod bench;
mod cublas;
mod suites;

#[path = "../../tests/gpu/driver.rs"]
mod driver;
#[path = "../../tests/gpu/scenes.rs"]
mod scenes;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use engine_room::cuda::{Properties, properties};
use engine_room_labs::machine::Machine;
use engine_room_labs::{Table, pretty, print};
use serde_json::{Value, json};

use suites::Results;

/// Tries the engine's kernels on the first NVIDIA GPU, then times them.
#[derive(Parser)]
#[command(name = "gpu-check")]
struct Args {
    /// Also write the results to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also time cuBLAS, if the library is there
    #[arg(long)]
    cublas: bool,
    /// Time small operands only: to try the program, not the GPU
    #[arg(long)]
    small: bool,
    /// Show what the tests print, panics that they expect included
    #[arg(long)]
    verbose: bool,
    /// For the processes that the program starts: a suite, and where to go on in it
    #[arg(long, hide = true, num_args = 2, value_names = ["SUITE", "CASE"])]
    play: Option<Vec<String>>,
}

fn main() -> ExitCode {
    if let Some(scene) = std::env::var_os("GPU_CUDA_SCENE") {
        scenes::play(&scene.to_string_lossy());
        return ExitCode::SUCCESS;
    }
    let args = Args::parse();
    if let Some([suite, case]) = args.play.as_deref() {
        suites::play(suite, case.parse().unwrap_or(0));
        return ExitCode::SUCCESS;
    }
    let (document, failed) = match properties(0) {
        Ok(gpu) => check(&args, gpu),
        Err(reason) => {
            let say = format!("not run: no CUDA device ({reason})");
            print(&format!("{say}\n"));
            (json!({ "gpu": Value::Null, "reason": say }), false)
        }
    };
    if let Some(path) = &args.json
        && let Err(error) = std::fs::write(path, pretty(&document))
    {
        eprintln!("error: {} cannot be written: {error}", path.display());
        return ExitCode::FAILURE;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs everything; the document, and whether something failed.
fn check(args: &Args, gpu: &Properties) -> (Value, bool) {
    let machine = Machine::this().to_string();
    print(&format!("{gpu}\nin {machine}\n\n"));
    let results = suites::run_all(args.verbose);
    let (table, failed) = bench::run_all(args.cublas, args.small);
    print(&format!("\n{}\n{}", results.table().text(), table.text()));
    (document(gpu, &machine, &results, &table), failed || results.failed())
}

fn document(gpu: &Properties, machine: &str, results: &Results, table: &Table) -> Value {
    let (major, minor) = gpu.capability;
    json!({
        "gpu": {
            "name": gpu.name,
            "capability": format!("{major}.{minor}"),
            "multiprocessors": gpu.multiprocessors,
            "bytes": gpu.capacity,
            "driver": format!("{}.{}", gpu.driver.0, gpu.driver.1),
        },
        "machine": machine,
        "suites": results.table().json(),
        "failures": results.failures(),
        "benches": table.json(),
        "units": table.units(),
    })
}
