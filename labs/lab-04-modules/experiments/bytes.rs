//! Bytes per parameter: derived from the recipe, then counted after a step.

use engine_room::memory::{Role, bytes_by_role};
use engine_room::nn::Module;
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::experiments::training::{BATCH, Kind, Precision, RECIPES, Recipe, SIZES, step};

/// What is counted, in the order of the columns.
const ROLES: [Role; 3] = [Role::Parameter, Role::Gradient, Role::Optimizer];

/// GPT-2's smallest model.
const GPT2: u64 = 124_439_808;

/// Prints a row a recipe.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(&format!(
        "Bytes for each parameter, first by derivation, then counted by the engine after one step \
         of\nan MLP of {SIZES:?}. The last column is GPT-2 with 124,439,808 parameters.\n"
    ));
    let mut table = Table::new()
        .column("recipe", "recipe", "")
        .column("derived", "derived", "")
        .column("parameter", "weights", "")
        .column("gradient", "gradients", "")
        .column("optimizer", "optimizer", "")
        .column("sum", "in all", "bytes")
        .column("gpt2", "GPT-2", "bytes");
    for recipe in &RECIPES {
        let counted = counted(args.device()?, recipe, args.seed);
        let sum: f64 = counted.iter().sum();
        let row = [recipe.name.into(), derived(recipe).into()].into_iter();
        let row = row.chain(counted.map(Cell::Number));
        table.row(row.chain([Cell::Number(sum), Cell::Bytes((sum * GPT2 as f64) as u64)]));
    }
    output.table("rows", &table);
    Ok(())
}

/// The sum as one writes it: weights + gradients, then master copy and state of the optimizer.
fn derived(recipe: &Recipe) -> String {
    let own = recipe.precision.dtype().size();
    let kept = if matches!(recipe.precision, Precision::Pure(_)) { own } else { 4 };
    let master = if kept != own { format!(" + {kept}") } else { String::new() };
    let state = match recipe.kind {
        Kind::AdamW => format!(" + {kept} + {kept}"),
        Kind::Momentum => format!(" + {kept}"),
        Kind::Sgd => String::new(),
    };
    format!("{own} + {own}{master}{state}")
}

/// Live bytes by role after a step, for each parameter.
fn counted(device: Device, recipe: &Recipe, seed: u64) -> [f64; ROLES.len()] {
    let before = live(device);
    let mut generator = Generator::new(seed);
    let model = recipe.model(&mut generator);
    let mut optimizer = recipe.optimizer(&model, 1e-3);
    let x = Tensor::rand(&[BATCH, SIZES[0]], &mut generator).to(recipe.precision.dtype());
    let y = Tensor::randint(0, 10, &[BATCH], &mut generator).to(DType::I64);
    step(&model, optimizer.as_mut(), recipe, &mut recipe.scaler(), &[x, y]);
    let (after, count) = (live(device), model.num_parameters());
    [0, 1, 2].map(|i| (after[i] - before[i]) as f64 / count as f64)
}

fn live(device: Device) -> [u64; ROLES.len()] {
    let roles = bytes_by_role(device);
    ROLES.map(|role| roles[role as usize].1)
}
