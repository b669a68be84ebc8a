//! A loss scaler at work: gradients that overflow twice in six iterations.

use engine_room::Tensor;
use engine_room::amp::GradScaler;
use engine_room::nn::Parameter;
use engine_room::optim::{Optimizer, Sgd};
use engine_room_labs::{Cell, LabArgs, Output, Table};

const GRADIENTS: [f64; 6] = [1.0, f64::INFINITY, 1.0, 1.0, f64::NAN, 1.0];

/// Prints a row an iteration.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output
        .say("One number, SGD with lr 0.1. The scale starts at 8 and grows after 2 good steps:\n");
    let mut table = Table::new()
        .column("iteration", "iteration", "")
        .column("scale", "scale", "")
        .column("gradient", "gradient as it arrives", "")
        .column("step", "step", "")
        .column("p", "p", "")
        .column("good", "good steps", "")
        .column("next", "next scale", "");
    let p = Parameter::new(Tensor::scalar(1.0));
    let mut optimizer = Sgd::new(vec![p.clone()], 0.1);
    let mut scaler = GradScaler::new().init_scale(8.0).growth_interval(2);
    for (iteration, gradient) in (1..).zip(GRADIENTS) {
        let scale = scaler.get_scale();
        optimizer.zero_grad(true);
        scaler.scale(&p.get().mul_scalar(gradient)).backward();
        let arrived = p.get().grad().map_or(f32::NAN, |gradient| gradient.item());
        let stepped = scaler.step(&mut optimizer);
        scaler.update();
        table.row([
            Cell::Count(iteration),
            Cell::Number(scale.into()),
            Cell::Number(arrived.into()),
            if stepped { "taken" } else { "skipped" }.into(),
            Cell::Number(p.get().item().into()),
            Cell::Count(scaler.state_dict().growth_tracker.into()),
            Cell::Number(scaler.get_scale().into()),
        ]);
    }
    output.table("rows", &table);
    Ok(())
}
