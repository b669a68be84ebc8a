//! The digits trained by every recipe: what it holds, what it reaches, how long it takes.

use std::time::Instant;

use engine_room::Device;
use engine_room::nn::Module;
use engine_room::rng::Generator;
use engine_room_labs::{Cell, Digits, LabArgs, Output, Plot, Split, Table};

use crate::experiments::bytes::per_parameter;
use crate::experiments::training::{
    BATCH, Held, Kind, Outcome, RECIPES, Recipe, SIZES, held, train,
};

/// On the CPU; a twentieth of it elsewhere, since a simulated GPU is slow.
const EPOCHS: usize = 40;
/// Whose losses are drawn.
const DRAWN: [usize; 3] = [2, 5, 6];

/// Prints a row a recipe.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let (device, split) = (output.device()?, Digits::load()?.split(args.seed));
    let epochs = if device == Device::Cpu { EPOCHS } else { EPOCHS / 20 };
    output.measured();
    output.say(&format!(
        "An MLP of {SIZES:?} on digits, batches of {BATCH}, {epochs} epochs. Bytes: all that a \
         weight holds, the\nactivations of an iteration, and its peak.\n"
    ));
    let mut table = Table::new()
        .column("recipe", "recipe", "")
        .column("parameter", "a weight", "")
        .column("kept", "activations", "")
        .column("peak", "peak", "bytes")
        .column("loss", "last loss", "")
        .column("accuracy", "held out", "")
        .column("seconds", "training", "");
    let mut plot = Plot::lines("Loss by recipe", ("epoch", ""), ("mean loss", "nats")).log_y();
    for (i, recipe) in RECIPES.iter().enumerate() {
        let start = Instant::now();
        let outcome = trained(recipe, device, &split, epochs, args.seed);
        let seconds = start.elapsed().as_secs_f64();
        let Held { kept, peak } = held(device, recipe, BATCH, args.seed);
        let each: u64 = per_parameter(device, recipe, args.seed).iter().sum();
        table.row([
            recipe.name.into(),
            Cell::Bytes(each),
            Cell::Bytes(kept),
            Cell::Bytes(peak),
            Cell::Number(outcome.losses[epochs - 1]),
            Cell::Share(outcome.accuracy),
            Cell::Seconds(seconds),
        ]);
        if DRAWN.contains(&i) {
            let points = (1..).zip(outcome.losses).step_by(3);
            plot.series(recipe.name, points.map(|(epoch, loss)| (f64::from(epoch), loss)));
        }
    }
    output.table("rows", &table);
    output.plot(&plot)
}

fn trained(recipe: &Recipe, device: Device, split: &Split, epochs: usize, seed: u64) -> Outcome {
    let model = recipe.model(&mut Generator::new(seed));
    model.to_device(device);
    let mut optimizer = recipe.optimizer(&model, rate(recipe));
    train(&model, optimizer.as_mut(), recipe, split, epochs, seed)
}

/// A rate that suits the optimizer, the same for every format.
fn rate(recipe: &Recipe) -> f64 {
    match recipe.kind {
        Kind::AdamW => 1e-3,
        Kind::Momentum | Kind::Sgd => 0.1,
    }
}
