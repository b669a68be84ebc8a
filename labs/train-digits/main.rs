//! `train-digits`: a small model learns to read handwritten digits, and is tested twice: on more
//! digits of the writers it has seen, and on those of writers it has not.

mod model;
mod report;
mod train;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use engine_room::memory::{max_memory_allocated, reset_peak_memory_stats};
use engine_room_labs::metrics::MetricsFile;
use engine_room_labs::{DeviceName, Digits};

use model::Kind;
use report::{Report, Training};

/// Trains a model on handwritten digits of 8 x 8 pixels and tests it on those held out.
///
/// Two trainings, alike but for their data: one on four fifths that are drawn at random, one on the
/// first four fifths of the file, to whose writers those of the rest are mostly strangers. The same
/// seed gives the same numbers, whatever the number of threads.
#[derive(Parser)]
#[command(name = "train-digits", after_help = JSON_HELP)]
pub struct Args {
    /// What learns: mlp sees 64 pixels, attention sees 8 rows of 8.
    #[arg(long, value_enum, default_value = "mlp")]
    model: Kind,
    /// Seed of the random split, the first weights and the order of the images.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How often every image is seen.
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
    /// Where the tensors live: cpu, sim or cuda; with a number, as in cuda:1, not on the first.
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceName,
    /// Print one JSON document and nothing else.
    #[arg(long)]
    json: bool,
    /// Draw loss and accuracy by epoch into this file.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Write one line of JSON an epoch to this file while the training runs.
    #[arg(long, value_name = "FILE.jsonl")]
    metrics: Option<PathBuf>,
}

const JSON_HELP: &str = "\
With --json: model and seed as given; test_accuracy (of the fifth drawn at random) and
last_fifth_accuracy (of the file's last fifth) as fractions from 0 to 1; seconds of both trainings
together; peak_bytes, the most bytes of tensors that were live at once.";

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let device = args.device.device()?;
    let digits = Digits::load()?;
    let mut metrics = args.metrics.as_deref().map(MetricsFile::create).transpose()?;
    let start = Instant::now();
    reset_peak_memory_stats(device);
    let mut learn = |name, split| -> Result<Training, String> {
        let epochs = train::train(args, name, &split, &mut metrics)?;
        Ok(Training { name, train: split.train.len(), test: split.test.len(), epochs })
    };
    let report = Report {
        random: learn("random fifth", digits.split(args.seed))?,
        last: learn("last fifth", digits.last_fifth())?,
        seconds: start.elapsed().as_secs_f64(),
        peak_bytes: max_memory_allocated(device),
    };
    report.print(args);
    report.plot(args)
}
