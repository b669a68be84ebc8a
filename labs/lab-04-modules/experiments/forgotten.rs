//! A network whose tree lacks a layer: it computes with it, and never trains it.

use engine_room::Tensor;
use engine_room::nn::{Linear, Module, Parts};
use engine_room::optim::AdamW;
use engine_room::rng::Generator;
use engine_room_labs::{Cell, Digits, LabArgs, Output, Table};

use crate::experiments::training::{RECIPES, SIZES, train};

const EPOCHS: usize = 12;

/// The digits' network, as one writes it by hand.
struct Net {
    input: Linear,
    hidden: Linear,
    output: Linear,
    /// Whether `parts` mentions the hidden layer.
    complete: bool,
}

impl Net {
    fn new(complete: bool, generator: &mut Generator) -> Net {
        let mut layer = |i: usize| Linear::new(SIZES[i], SIZES[i + 1], true, generator);
        Net { input: layer(0), hidden: layer(1), output: layer(2), complete }
    }
}

impl Module for Net {
    fn parts(&self) -> Parts<'_> {
        let parts = Parts::new().module("input", &self.input);
        let parts = if self.complete { parts.module("hidden", &self.hidden) } else { parts };
        parts.module("output", &self.output)
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        let h = self.hidden.forward(&self.input.forward(x).relu()).relu();
        self.output.forward(&h)
    }
}

/// Prints a row for each of the two.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!("A network of {SIZES:?} on digits, {EPOCHS} epochs of AdamW:\n"));
    let split = Digits::load()?.split(args.seed);
    let mut table = Table::new()
        .column("parts", "parts() lists", "")
        .column("numbers", "numbers trained", "")
        .column("loss", "last loss", "")
        .column("accuracy", "held out", "");
    for (name, complete) in [("all three layers", true), ("the first and the last", false)] {
        let net = Net::new(complete, &mut Generator::new(args.seed));
        let mut optimizer = AdamW::new(net.parameters(), 1e-3);
        let outcome = train(&net, &mut optimizer, &RECIPES[2], &split, EPOCHS, args.seed);
        table.row([
            name.into(),
            Cell::Count(net.num_parameters() as u64),
            Cell::Number(outcome.losses[EPOCHS - 1]),
            Cell::Share(outcome.accuracy),
        ]);
    }
    output.table("rows", &table);
    Ok(())
}
