//! A training that was stopped and resumed, each time with another part left out.

use std::path::{Path, PathBuf};

use engine_room::Error;
use engine_room::data::Sampler;
use engine_room::nn::{BatchNorm1d, Dropout, Linear, Module, Relu, Sequential};
use engine_room::optim::{AdamW, CosineAnnealingLr, LrScheduler, Optimizer};
use engine_room::rng::{self, Generator};
use engine_room::serialize::{Checkpoint, MapLocation};
use engine_room_labs::{Cell, Digits, LabArgs, Output, Plot, Table};

const BATCH: usize = 32;
/// The schedule ends here.
const STEPS: u64 = 240;
/// In the middle of an epoch of 45 batches.
const STOP: u64 = 100;
/// How many steps are compared behind it.
const BEHIND: usize = 40;
/// How many of them are drawn.
const DRAWN: usize = 12;

/// What a resumption leaves out.
#[derive(Clone, Copy, Default)]
struct Without {
    optimizer: bool,
    scheduler: bool,
    sampler: bool,
    random: bool,
}

const NOTHING: Without =
    Without { optimizer: false, scheduler: false, sampler: false, random: false };
/// What the table calls it, and the figure where it has a line there.
const WAYS: [(&str, Option<&str>, Without); 6] = [
    ("nothing", None, NOTHING),
    ("the optimizer's moments", Some("moments"), Without { optimizer: true, ..NOTHING }),
    ("the schedule's place", Some("schedule"), Without { scheduler: true, ..NOTHING }),
    ("the sampler's place", Some("sampler"), Without { sampler: true, ..NOTHING }),
    ("the random state", Some("random state"), Without { random: true, ..NOTHING }),
    (
        "all but the weights",
        None,
        Without { optimizer: true, scheduler: true, sampler: true, random: true },
    ),
];

/// Prints a row for each way to resume, and draws how far the losses are from the true ones.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    let digits = Digits::load()?.split(args.seed).train;
    output.say(&format!(
        "A run of {STEPS} steps is stopped after step {STOP} and resumed. The losses of the next\n\
         {BEHIND} steps are compared with those of the run that was not stopped.\n"
    ));
    let file = file();
    let mut whole = Run::new(args.seed, &digits);
    whole.train(STOP, &digits);
    whole.save(&file).map_err(|error| error.to_string())?;
    let truth = whole.train(BEHIND as u64, &digits);
    let mut table = Table::new()
        .column("left_out", "left out", "")
        .column("step", "first other loss", "")
        .column("by", "off by", "")
        .column("most", "at most", "")
        .column("mean", "mean loss", "");
    let mut plot = Plot::lines(
        "How far a resumed run is from the true one",
        ("steps after the resumption", ""),
        ("difference of the losses", ""),
    )
    .log_y();
    for (name, label, without) in WAYS {
        let mut resumed = Run::new(args.seed, &digits);
        resumed.restore(&file, without).map_err(|error| format!("{name}: {error}"))?;
        let losses = resumed.train(BEHIND as u64, &digits);
        table.row(row(name, &truth, &losses));
        if let Some(label) = label {
            let points = (1..=DRAWN).zip(truth.iter().zip(&losses));
            plot.series(label, points.map(|(step, (a, b))| (step as f64, (a - b).abs())));
        }
    }
    let _ = std::fs::remove_file(&file);
    if let Cell::Count(step) = table.rows()[2][1] {
        output.prediction("5.a", step as f64, "steps");
    }
    output.table("rows", &table);
    output.plot(&plot)
}

fn row(name: &str, truth: &[f64], losses: &[f64]) -> [Cell; 5] {
    let off: Vec<f64> = truth.iter().zip(losses).map(|(a, b)| (a - b).abs()).collect();
    let first = off.iter().position(|&off| off > 0.0);
    let (step, by) = match first {
        Some(i) => (Cell::Count(STOP + 1 + i as u64), Cell::Number(off[i])),
        None => (Cell::Missing, Cell::Missing),
    };
    let most = Cell::Number(off.iter().copied().fold(0.0, f64::max));
    let mean = Cell::Number(losses.iter().sum::<f64>() / losses.len() as f64);
    [name.into(), step, by, most, mean]
}

/// A name of its own for each process.
fn file() -> PathBuf {
    std::env::temp_dir().join(format!("engine-room-resume-{}.safetensors", std::process::id()))
}

/// Everything that a training step reads, but the data.
struct Run {
    model: Sequential,
    optimizer: AdamW,
    scheduler: LrScheduler,
    sampler: Sampler,
    step: u64,
}

impl Run {
    /// As the program begins, whether it resumes or not.
    fn new(seed: u64, digits: &Digits) -> Run {
        rng::manual_seed(seed);
        let mut generator = Generator::new(seed);
        let model = Sequential::new()
            .append(Linear::new(64, 64, true, &mut generator))
            .append(BatchNorm1d::new(64))
            .append(Relu)
            .append(Dropout::new(0.2))
            .append(Linear::new(64, 10, true, &mut generator));
        let mut optimizer = AdamW::new(model.parameters(), 3e-3);
        let scheduler = LrScheduler::new(CosineAnnealingLr::new(STEPS, 0.0), &mut optimizer);
        let sampler = Sampler::random(digits.len(), seed);
        Run { model, optimizer, scheduler, sampler, step: 0 }
    }

    /// Takes so many steps and gives their losses.
    fn train(&mut self, steps: u64, digits: &Digits) -> Vec<f64> {
        (0..steps).map(|_| self.step(digits)).collect()
    }

    fn step(&mut self, digits: &Digits) -> f64 {
        if self.sampler.remaining() == 0 {
            self.sampler.next_epoch();
        }
        let (x, y) = digits.select(self.sampler.take(BATCH)).tensors();
        self.model.zero_grad(true);
        let loss = self.model.forward(&x).cross_entropy(&y);
        loss.backward();
        self.optimizer.step();
        self.scheduler.step(&mut self.optimizer);
        self.step += 1;
        f64::from(loss.item())
    }

    fn save(&self, file: &Path) -> Result<(), Error> {
        Checkpoint::new(self.step)
            .model(&self.model)
            .optimizer(&self.optimizer)
            .scheduler(&self.scheduler)
            .sampler(self.sampler.state())
            .save(file)
    }

    /// Restores all parts but those that are to be left out.
    fn restore(&mut self, file: &Path, without: Without) -> Result<(), Error> {
        let saved = Checkpoint::load(file, &MapLocation::Saved)?;
        let mut restore = saved.restore().model(&self.model);
        if !without.optimizer {
            restore = restore.optimizer(&mut self.optimizer);
        }
        if !without.scheduler {
            restore = restore.scheduler(&mut self.scheduler);
        }
        if !without.sampler {
            restore = restore.sampler(&mut self.sampler);
        }
        if !without.random {
            restore = restore.default_generator();
        }
        // Without this word each part that is left out is an error.
        self.step = restore.partly().finish()?;
        Ok(())
    }
}
