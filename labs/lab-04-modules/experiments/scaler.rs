//! A loss scaler at work: gradients that overflow twice in six iterations. With `--mine` it is the
//! reader's.

use std::slice::from_ref;

use engine_room::Tensor;
use engine_room::amp::GradScaler;
use engine_room::nn::Parameter;
use engine_room::optim::{Optimizer, Sgd};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;
use crate::state::LossScaler;

const GRADIENTS: [f64; 6] = [1.0, f64::INFINITY, 1.0, 1.0, f64::NAN, 1.0];

/// Prints a row an iteration.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
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
    let mut scaler = Scaler::new(args.mine);
    for (iteration, gradient) in (1..).zip(GRADIENTS) {
        let (scale, _) = scaler.numbers();
        optimizer.zero_grad(true);
        p.get().mul_scalar(gradient).mul_scalar(scale).backward();
        let arrived = p.get().grad().map_or(f32::NAN, |gradient| gradient.item());
        let stepped = scaler.step(&p, &mut optimizer);
        let (next, good) = scaler.numbers();
        table.row([
            Cell::Count(iteration),
            Cell::Number(scale.into()),
            Cell::Number(arrived.into()),
            if stepped { "taken" } else { "skipped" }.into(),
            Cell::Number(p.get().item().into()),
            Cell::Count(good.into()),
            Cell::Number(next.into()),
        ]);
    }
    output.table("rows", &table);
    Ok(())
}

/// The engine's scaler, or the reader's.
enum Scaler {
    Engine(GradScaler),
    Mine(LossScaler),
}

impl Scaler {
    fn new(mine: bool) -> Scaler {
        let scaler = GradScaler::new().init_scale(8.0).growth_interval(2);
        if !mine {
            return Scaler::Engine(scaler);
        }
        let state = scaler.state_dict();
        Scaler::Mine(LossScaler {
            scale: state.scale,
            growth_factor: state.growth_factor,
            backoff_factor: state.backoff_factor,
            growth_interval: state.growth_interval,
            growth_tracker: state.growth_tracker,
        })
    }

    /// The scale, and the good steps since it changed.
    fn numbers(&self) -> (f32, u32) {
        match self {
            Scaler::Engine(scaler) => (scaler.get_scale(), scaler.state_dict().growth_tracker),
            Scaler::Mine(scaler) => (scaler.scale, scaler.growth_tracker),
        }
    }

    fn step(&mut self, p: &Parameter, optimizer: &mut Sgd) -> bool {
        match self {
            Scaler::Engine(scaler) => {
                let stepped = scaler.step(optimizer);
                scaler.update();
                stepped
            }
            Scaler::Mine(scaler) => exercise::scaler_step(scaler, from_ref(p), optimizer),
        }
    }
}
