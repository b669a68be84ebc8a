//! From which batch on autocast holds fewer bytes: activations are halved, weights get a copy.

use engine_room::memory::{
    Role, bytes_by_role, max_memory_allocated, memory_allocated, reset_peak_memory_stats,
};
use engine_room::optim::Optimizer;
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Plot, Table};

use crate::experiments::training::{RECIPES, Recipe, SIZES, step};

const BATCHES: [usize; 6] = [1, 16, 64, 256, 1024, 4096];

/// Prints a row a batch.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let (full, cast) = (&RECIPES[2], &RECIPES[3]);
    output.say(&format!(
        "An MLP of {SIZES:?}, AdamW, in its second iteration. Bytes kept for the backward pass, and \
         the\npeak, for a batch of so many images:\n"
    ));
    let mut table = Table::new()
        .column("batch", "batch", "images")
        .column("kept_f32", "kept, f32", "")
        .column("kept_autocast", "kept, autocast", "")
        .column("peak_f32", "peak, f32", "")
        .column("peak_autocast", "peak, autocast", "bytes");
    for batch in BATCHES {
        let (kept, peak) = held(args, full, batch)?;
        let (kept_cast, peak_cast) = held(args, cast, batch)?;
        let bytes = [kept, kept_cast, peak, peak_cast].map(Cell::Bytes);
        table.row([Cell::Count(batch as u64)].into_iter().chain(bytes));
    }
    output.table("rows", &table);
    output.plot(&figure(&table))
}

/// Bytes that the loss of a second iteration keeps, and the iteration's peak.
fn held(args: &LabArgs, recipe: &Recipe, batch: usize) -> Result<(u64, u64), String> {
    let device = args.device()?;
    let before = memory_allocated(device);
    let mut generator = Generator::new(args.seed);
    let model = recipe.model(&mut generator);
    let mut optimizer: Box<dyn Optimizer> = recipe.optimizer(&model, 1e-3);
    let x = Tensor::rand(&[batch, SIZES[0]], &mut generator);
    let y = Tensor::randint(0, 10, &[batch], &mut generator).to(DType::I64);
    let pair = [x, y];
    step(&model, optimizer.as_mut(), recipe, &mut recipe.scaler(), &pair);
    reset_peak_memory_stats(device);
    step(&model, optimizer.as_mut(), recipe, &mut recipe.scaler(), &pair);
    let peak = max_memory_allocated(device) - before;
    let activations = || bytes_by_role(device)[Role::Activation as usize].1;
    let other = activations();
    use engine_room::nn::Module;
    let loss = recipe.precision.run(|| model.forward(&pair[0]).cross_entropy(&pair[1]));
    let kept = activations() - other;
    drop(loss);
    Ok((kept, peak))
}

fn figure(table: &Table) -> Plot {
    let mut plot = Plot::lines(
        "What is kept for the backward pass",
        ("batch", "images"),
        ("kept", "bytes"),
    )
    .log_x()
    .log_y();
    for (column, name) in [(1, "f32"), (2, "autocast bf16")] {
        let points = table.rows().iter().zip(BATCHES).filter_map(|(row, batch)| match row[column] {
            Cell::Bytes(bytes) => Some((batch as f64, bytes as f64)),
            _ => None,
        });
        plot.series(name, points);
    }
    plot
}
