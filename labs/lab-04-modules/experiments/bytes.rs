//! Bytes per parameter: derived from the recipe, then counted after a step. With `--mine` the
//! reader's prediction stands beside.

use engine_room::memory::{Role, bytes_by_role};
use engine_room::nn::{Linear, Module};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;
use crate::experiments::training::{BATCH, F32, Kind, Precision, RECIPES, Recipe, SIZES, step};
use crate::recipe::{RoleBytes, Rule};

/// What is counted, in the order of the columns.
const ROLES: [Role; 3] = [Role::Parameter, Role::Gradient, Role::Optimizer];

/// Parameters of GPT-2's smallest model.
const GPT2: u64 = 124_439_808;

/// Prints a row a recipe.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    output.say(&format!(
        "Bytes for each parameter, derived, and counted by the engine after one step of an MLP \
         of\n{SIZES:?}. The last column is GPT-2 with 124,439,808 parameters.\n"
    ));
    let mut table = Table::new()
        .column("recipe", "recipe", "")
        .column("derived", "derived", "")
        .column("parameter", "weights", "")
        .column("gradient", "gradients", "")
        .column("optimizer", "optimizer", "")
        .column("sum", "in all", "")
        .column("gpt2", "GPT-2", "bytes");
    if args.mine {
        table = table.column("mine", "yours", "");
    }
    for recipe in &RECIPES {
        let each = per_parameter(device, recipe, args.seed);
        let sum: u64 = each.iter().sum();
        let mut row: Vec<Cell> = vec![recipe.name.into(), derived(recipe).into()];
        row.extend(each.map(Cell::Count));
        row.extend([Cell::Bytes(sum), Cell::Bytes(sum * GPT2)]);
        if args.mine {
            row.push(Cell::Bytes(predicted(recipe)));
        }
        table.row(row);
    }
    output.table("rows", &table);
    let million = |generator: &mut Generator| Linear::new(1000, 1000, false, generator);
    let (bytes, _) = counted(device, &F32, million, args.seed);
    output.prediction("4.a", bytes.iter().sum::<u64>() as f64, "bytes");
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

/// What the reader's function says of a model with one parameter.
fn predicted(recipe: &Recipe) -> u64 {
    let asked = crate::recipe::Recipe {
        weights: recipe.precision.dtype(),
        autocast: matches!(recipe.precision, Precision::Autocast(_)),
        master_weights: !matches!(recipe.precision, Precision::Pure(_)),
        rule: match recipe.kind {
            Kind::AdamW => Rule::AdamW,
            Kind::Momentum => Rule::SgdMomentum,
            Kind::Sgd => Rule::Sgd,
        },
    };
    let RoleBytes { parameters, gradients, optimizer } = exercise::training_bytes(&asked, 1, 0);
    parameters + gradients + optimizer
}

/// Bytes of weights, gradients and optimizer that a recipe holds for each parameter.
pub fn per_parameter(device: Device, recipe: &Recipe, seed: u64) -> [u64; ROLES.len()] {
    let build = |generator: &mut Generator| recipe.model(generator);
    let (bytes, parameters) = counted(device, recipe, build, seed);
    bytes.map(|bytes| bytes / parameters)
}

/// Live bytes by role after one step of a model, and how many parameters it has.
fn counted<M: Module>(
    device: Device,
    recipe: &Recipe,
    build: impl Fn(&mut Generator) -> M,
    seed: u64,
) -> ([u64; ROLES.len()], u64) {
    let before = live(device);
    let mut generator = Generator::new(seed);
    let model = build(&mut generator);
    model.to_device(device);
    let mut optimizer = recipe.optimizer(&model, 1e-3);
    let inputs = model.parameters()[0].get().shape()[1];
    let x = Tensor::rand(&[BATCH, inputs], &mut generator).to(recipe.precision.dtype());
    let y = Tensor::randint(0, 10, &[BATCH], &mut generator);
    let batch = [x, y].map(|x| x.to(device));
    step(&model, optimizer.as_mut(), recipe, &mut recipe.scaler(), &batch);
    let after = live(device);
    ([0, 1, 2].map(|i| after[i] - before[i]), model.num_parameters() as u64)
}

fn live(device: Device) -> [u64; ROLES.len()] {
    let roles = bytes_by_role(device);
    ROLES.map(|role| roles[role as usize].1)
}
