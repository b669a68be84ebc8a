//! AdamW step by step on one number, and what it does to a parameter without a gradient.

use engine_room::Tensor;
use engine_room::nn::Parameter;
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room_labs::{Cell, LabArgs, Output, Table};

const LR: f64 = 0.1;
const DECAY: f64 = 0.1;
const BETAS: (f64, f64) = (0.9, 0.999);

/// What a number's gradient is in one iteration.
type Gradient = Option<f64>;

/// Prints both tables.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(&format!(
        "One number, from 2.0 on. lr {LR}, weight decay {DECAY}, betas 0.9 and 0.999:\n"
    ));
    output.table("steps", &steps(&[0.5, -0.1, 0.3]));
    output.say("One number, from 1.0 on, with a gradient of 1 and then none, or 1 and then 0:\n");
    output.table("absent", &absent());
    Ok(())
}

/// A row a step: what the optimizer keeps, and what it makes of it.
fn steps(gradients: &[f64]) -> Table {
    let mut table = Table::new()
        .column("step", "t", "")
        .column("gradient", "g", "")
        .column("m", "m", "")
        .column("v", "v", "")
        .column("m_hat", "m hat", "")
        .column("root", "root of v hat", "")
        .column("quotient", "quotient", "")
        .column("p", "p", "");
    let p = Parameter::new(Tensor::scalar(2.0));
    let mut optimizer = AdamW::new(vec![p.clone()], LR).weight_decay(DECAY);
    for (t, &gradient) in (1..).zip(gradients) {
        give(&p, Some(gradient));
        optimizer.step();
        let state = optimizer.state_dict().params.remove(0);
        let [m, v] = [0, 1].map(|i| f64::from(state.tensors[i].1.item()));
        let m_hat = m / (1.0 - BETAS.0.powi(t));
        let root = (v / (1.0 - BETAS.1.powi(t))).sqrt();
        let numbers = [gradient, m, v, m_hat, root, m_hat / root, value(&p)].map(Cell::Number);
        table.row([Cell::Count(t as u64)].into_iter().chain(numbers));
    }
    table
}

/// The number after each iteration, by optimizer and by what followed the first gradient.
fn absent() -> Table {
    let mut table = Table::new()
        .column("optimizer", "optimizer", "")
        .column("then", "then", "")
        .column("first", "after the 1", "")
        .column("second", "one later", "")
        .column("third", "two later", "");
    for (name, then) in [("none", None), ("0", Some(0.0))] {
        let adamw = |p: &Parameter| -> Box<dyn Optimizer> {
            Box::new(AdamW::new(vec![p.clone()], LR).weight_decay(DECAY))
        };
        let sgd = |p: &Parameter| -> Box<dyn Optimizer> {
            Box::new(Sgd::new(vec![p.clone()], LR).momentum(0.9))
        };
        let makers: [(&str, &dyn Fn(&Parameter) -> Box<dyn Optimizer>); 2] =
            [("AdamW", &adamw), ("SGD, momentum 0.9", &sgd)];
        for (optimizer, make) in makers {
            let p = Parameter::new(Tensor::scalar(1.0));
            let values = path(&p, make(&p).as_mut(), &[Some(1.0), then, then]);
            table.row([optimizer.into(), name.into()].into_iter().chain(values));
        }
    }
    table
}

/// The number after each step.
fn path(p: &Parameter, optimizer: &mut dyn Optimizer, gradients: &[Gradient]) -> Vec<Cell> {
    let after = |&gradient: &Gradient| {
        give(p, gradient);
        optimizer.step();
        Cell::Number(value(p))
    };
    gradients.iter().map(after).collect()
}

/// Gives a parameter this gradient, or takes away the one that it has.
fn give(p: &Parameter, gradient: Gradient) {
    p.get().zero_grad();
    if let Some(gradient) = gradient {
        p.get().mul_scalar(gradient).backward();
    }
}

fn value(p: &Parameter) -> f64 {
    p.get().item().into()
}
