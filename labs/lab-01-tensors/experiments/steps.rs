//! One weight, one gradient, and what each format makes of the two.

use engine_room::{DType, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;
use crate::experiments::{STORED, stored};
use crate::formats::Format;
use crate::training::Step;

const STEP: Step = Step { weight: 1.5, gradient: 0.015625, loss_scale: 1.0, learning_rate: 0.1 };
const STEPS: usize = 500;

/// Gradients and loss scales as they meet in mixed-precision training.
const SCALED: [(f64, f64); 4] = [(1e-8, 1.0), (1e-8, 65_536.0), (3.0, 1.0), (3.0, 65_536.0)];

/// Prints what becomes of the weight.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let Step { weight, gradient, learning_rate, .. } = STEP;
    output.say(&format!(
        "A weight of {weight}, a gradient of {gradient} at each step, learning rate \
         {learning_rate}:\n"
    ));
    output.table("rows", &weights(args));
    Ok(())
}

/// Prints what becomes of a gradient if the loss is scaled.
pub fn scaling(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.table("rows", &gradients());
    Ok(())
}

/// The weight after one step and after many.
fn weights(args: &LabArgs) -> Table {
    let mut table = Table::new()
        .column("format", "format", "")
        .column("spacing", "next below", "")
        .column("first", "after 1 step", "")
        .column("last", "after 500 steps", "");
    if args.mine {
        table = table.column("mine", "your outcome", "");
    }
    for (format, dtype) in STORED {
        let mine = args.mine.then(|| format!("{:?}", exercise::outcome(&STEP, format)).into());
        let row = [
            format.name().into(),
            exact(STEP.weight - format.spacing(STEP.weight), format),
            exact(trained(dtype, 1), format),
            exact(trained(dtype, STEPS), format),
        ];
        table.row(row.into_iter().chain(mine));
    }
    table
}

/// A number to its last digit; of fp32 as many digits as tell it from its neighbours.
fn exact(x: f64, format: Format) -> Cell {
    if format == Format::F32 { (x as f32).to_string() } else { x.to_string() }.into()
}

/// The weight after so many steps of plain gradient descent, as the engine stores it. The
/// arithmetic of the step is in `f32`, as an optimizer's is.
fn trained(dtype: DType, steps: usize) -> f64 {
    let gradient = Tensor::scalar((STEP.gradient * STEP.loss_scale) as f32).to(dtype);
    let mut weight = Tensor::scalar(STEP.weight as f32).to(dtype);
    for _ in 0..steps {
        let update = gradient.to(DType::F32).mul_scalar(STEP.learning_rate / STEP.loss_scale);
        weight = weight.to(DType::F32).sub(&update).to(dtype);
    }
    weight.to(DType::F64).item_as()
}

fn gradients() -> Table {
    let mut table = Table::new()
        .column("gradient", "gradient", "")
        .column("scale", "loss scale", "")
        .column("f16", "fp16 stores", "")
        .column("bf16", "bf16 stores", "");
    for (gradient, scale) in SCALED {
        let kept = |dtype| Cell::Number(stored(gradient * scale, dtype));
        let scale = Cell::Count(scale as u64);
        table.row([Cell::Number(gradient), scale, kept(DType::F16), kept(DType::BF16)]);
    }
    table
}
