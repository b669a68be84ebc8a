//! A training loop without `zero_grad`: each step follows the sum of all gradients so far.

use engine_room::rng::Generator;
use engine_room_labs::{Cell, Digits, LabArgs, Output, Table};

use crate::experiments::training::{F32, Recipe, SIZES, train};

const EPOCHS: usize = 12;
const SHOWN: [usize; 7] = [1, 2, 3, 4, 6, 8, 12];

/// Prints the loss of some epochs, with the line and without it.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!("An MLP of {SIZES:?} on digits, AdamW. Mean loss of the epoch:\n"));
    let split = Digits::load()?.split(args.seed);
    let [with, without] = [F32, Recipe { zero_grad: false, ..F32 }].map(|recipe| {
        let model = recipe.model(&mut Generator::new(args.seed));
        let mut optimizer = recipe.optimizer(&model, 1e-3);
        train(&model, optimizer.as_mut(), &recipe, &split, EPOCHS, args.seed)
    });
    let mut table = Table::new()
        .column("epoch", "epoch", "")
        .column("with", "with zero_grad()", "")
        .column("without", "without", "");
    for epoch in SHOWN {
        let losses = [&with, &without].map(|outcome| Cell::Number(outcome.losses[epoch - 1]));
        table.row([Cell::Count(epoch as u64)].into_iter().chain(losses));
    }
    output.table("rows", &table);
    let [with, without] = [with, without].map(|outcome| Cell::Share(outcome.accuracy).text());
    output.say(&format!("Held-out images that are read right: {with} with, {without} without."));
    Ok(())
}
