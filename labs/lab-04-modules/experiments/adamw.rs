//! AdamW step by step on one number, and what it does to a parameter without a gradient. With
//! `--mine` the steps are the reader's.

use engine_room::Tensor;
use engine_room::nn::Parameter;
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;
use crate::state::{AdamSettings, AdamState};

const LR: f64 = 0.1;
const DECAY: f64 = 0.1;
const BETAS: (f64, f64) = (0.9, 0.999);

/// Makes an optimizer of one number.
type Make = fn(&Parameter) -> Box<dyn Optimizer>;

const MAKERS: [(&str, Make); 2] = [
    ("AdamW", |p| Box::new(AdamW::new(vec![p.clone()], LR).weight_decay(DECAY))),
    ("SGD, momentum 0.9", |p| Box::new(Sgd::new(vec![p.clone()], LR).momentum(0.9))),
];

/// What a number's gradient is in one iteration.
type Gradient = Option<f64>;

/// Prints both tables.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(&format!(
        "One number, from 2.0 on. lr {LR}, weight decay {DECAY}, betas 0.9 and 0.999:\n"
    ));
    output.table("steps", &steps(&[0.5, -0.1, 0.3], args.mine));
    output.say("One number, from 1.0 on, with a gradient of 1 and then none, or 1 and then 0:\n");
    output.table("absent", &absent());
    Ok(())
}

/// A row a step: what the optimizer keeps, and what it makes of it.
fn steps(gradients: &[f64], mine: bool) -> Table {
    let mut table = Table::new()
        .column("step", "t", "")
        .column("gradient", "g", "")
        .column("m", "m", "")
        .column("v", "v", "")
        .column("m_hat", "m hat", "")
        .column("root", "root of v hat", "")
        .column("quotient", "quotient", "")
        .column("p", "p", "");
    let after = if mine { by_reader(gradients) } else { by_engine(gradients) };
    for ((t, gradient), [p, m, v]) in (1..).zip(gradients).zip(after) {
        let m_hat = m / (1.0 - BETAS.0.powi(t));
        let root = (v / (1.0 - BETAS.1.powi(t))).sqrt();
        let numbers = [*gradient, m, v, m_hat, root, m_hat / root, p].map(Cell::Number);
        table.row([Cell::Count(t as u64)].into_iter().chain(numbers));
    }
    table
}

/// p, m and v after each step of the engine's AdamW.
fn by_engine(gradients: &[f64]) -> Vec<[f64; 3]> {
    let p = Parameter::new(Tensor::scalar(2.0));
    let mut optimizer = AdamW::new(vec![p.clone()], LR).weight_decay(DECAY);
    let step = |&gradient: &f64| {
        give(&p, Some(gradient));
        optimizer.step();
        let state = optimizer.state_dict().params.remove(0);
        let [m, v] = [0, 1].map(|i| f64::from(state.tensors[i].1.item()));
        [value(&p), m, v]
    };
    gradients.iter().map(step).collect()
}

/// The same of the reader's step.
fn by_reader(gradients: &[f64]) -> Vec<[f64; 3]> {
    let (beta1, beta2) = BETAS;
    let settings = AdamSettings { lr: LR, beta1, beta2, eps: 1e-8, weight_decay: DECAY };
    let (mut p, mut state) = ([2.0], AdamState::new(1));
    let step = |&gradient: &f64| {
        exercise::adamw_step(&mut p, Some(&[gradient as f32]), &mut state, &settings);
        [p[0], state.m[0], state.v[0]].map(f64::from)
    };
    gradients.iter().map(step).collect()
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
        for (optimizer, make) in MAKERS {
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
