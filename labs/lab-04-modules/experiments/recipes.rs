//! The digits trained by every recipe: what it holds, what it reaches, how long it takes.

use std::time::Instant;

use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::rng::Generator;
use engine_room_labs::{Cell, Digits, LabArgs, Output, Split, Table};

use crate::experiments::training::{BATCH, Kind, RECIPES, Recipe, SIZES, train};

const EPOCHS: usize = 12;
const SEEDS: u64 = 3;

/// Prints a row a recipe.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!(
        "An MLP of {SIZES:?} on digits, batches of {BATCH}, {EPOCHS} epochs, means of {SEEDS} \
         seeds:\n"
    ));
    let digits = Digits::load()?;
    let mut table = Table::new()
        .column("recipe", "recipe", "")
        .column("peak", "peak", "bytes")
        .column("loss", "last loss", "")
        .column("accuracy", "held out", "")
        .column("seconds", "one training", "");
    for recipe in &RECIPES {
        table.row(row(args, recipe, &digits)?);
    }
    output.table("rows", &table);
    Ok(())
}

fn row(args: &LabArgs, recipe: &Recipe, digits: &Digits) -> Result<[Cell; 5], String> {
    let device = args.device()?;
    let (mut loss, mut accuracy, mut seconds, mut peak) = (0.0, 0.0, 0.0, 0);
    for seed in args.seed..args.seed + SEEDS {
        let split: Split = digits.split(seed);
        let before = memory_allocated(device);
        let model = recipe.model(&mut Generator::new(seed));
        let mut optimizer = recipe.optimizer(&model, rate(recipe));
        reset_peak_memory_stats(device);
        let start = Instant::now();
        let outcome = train(&model, optimizer.as_mut(), recipe, &split, EPOCHS, seed);
        seconds += start.elapsed().as_secs_f64() / SEEDS as f64;
        peak = max_memory_allocated(device) - before;
        loss += outcome.losses[EPOCHS - 1] / SEEDS as f64;
        accuracy += outcome.accuracy / SEEDS as f64;
    }
    let name = recipe.name.into();
    Ok([name, Cell::Bytes(peak), Cell::Number(loss), Cell::Share(accuracy), Cell::Seconds(seconds)])
}

/// A rate that suits the optimizer, the same for every format.
fn rate(recipe: &Recipe) -> f64 {
    match recipe.kind {
        Kind::AdamW => 1e-3,
        Kind::Momentum | Kind::Sgd => 0.1,
    }
}
