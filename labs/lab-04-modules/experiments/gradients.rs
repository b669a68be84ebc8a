//! How large gradients are, and how many of them f16 makes zero, with the loss scaled and without.

use engine_room::amp::autocast;
use engine_room::nn::{Mlp, Module};
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use engine_room_labs::{Cell, Digits, LabArgs, Output, Plot, Table};

use crate::experiments::training::{BATCH, RECIPES, SIZES, train};

/// How long the network is trained before its gradients are looked at.
const EPOCHS: [usize; 3] = [0, 10, 40];
/// Powers of two.
const SCALES: [i32; 5] = [0, 8, 16, 24, 32];

/// Prints a row a scale, and draws how the gradients' sizes are distributed.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!(
        "An MLP of {SIZES:?} on digits, AdamW. Gradients of one batch under autocast f16: the \
         share of\nthose which are not 0 in f32 that arrive as 0, and the share that arrives as \
         infinity or NaN:\n"
    ));
    let split = Digits::load()?.split(args.seed);
    let (x, y) = split.train.select(&(0..BATCH).collect::<Vec<_>>()).tensors();
    let mut columns = Vec::new();
    let mut last = None;
    for epochs in EPOCHS {
        let mut generator = Generator::new(args.seed);
        let model = RECIPES[2].model(&mut generator);
        let mut optimizer = RECIPES[2].optimizer(&model, 1e-3);
        train(&model, optimizer.as_mut(), &RECIPES[2], &split, epochs, args.seed);
        let exact = gradients(&model, &x, &y, None);
        let halves = SCALES.map(|scale| gradients(&model, &x, &y, Some(scale)));
        columns.push(halves.each_ref().map(|half| shares(&exact, half)));
        last = Some((exact, halves));
    }
    output.table("rows", &table(&columns));
    let (exact, halves) = last.expect("there is at least one length");
    output.plot(&figure(&exact, &halves[0], &halves[2]))
}

/// Every number of every gradient: in f32, or under autocast f16 with the loss times 2 to the power
/// of `scale`, and divided by it again.
fn gradients(model: &Mlp, x: &Tensor, y: &Tensor, scale: Option<i32>) -> Vec<f32> {
    model.zero_grad(true);
    let loss = || model.forward(x).cross_entropy(y);
    let factor = 2f64.powi(scale.unwrap_or(0));
    match scale {
        Some(_) => autocast(DType::F16, loss).mul_scalar(factor).backward(),
        None => loss().backward(),
    }
    let all = model.parameters().into_iter().filter_map(|parameter| parameter.get().grad());
    let all = all.flat_map(|gradient| gradient.to_vec::<f32>());
    all.map(|gradient| gradient / factor as f32).collect()
}

/// Of the gradients that are not 0: how many arrive as 0, and how many as no number.
fn shares(exact: &[f32], half: &[f32]) -> (f64, f64) {
    let pairs = exact.iter().zip(half).filter(|(exact, _)| **exact != 0.0);
    let share = |test: &dyn Fn(f32) -> bool| {
        let hits = pairs.clone().filter(|(_, half)| test(**half)).count();
        hits as f64 / pairs.clone().count() as f64
    };
    (share(&|half| half == 0.0), share(&|half| !half.is_finite()))
}

fn table(columns: &[[(f64, f64); SCALES.len()]]) -> Table {
    let mut table = Table::new()
        .column("scale", "loss scale", "")
        .column("start", "0: at the start", "")
        .column("ten", "0: after 10 epochs", "")
        .column("forty", "0: after 40 epochs", "")
        .column("lost", "inf or NaN: at the start", "");
    for (i, scale) in SCALES.into_iter().enumerate() {
        let zeros = columns.iter().map(|column| Cell::Share(column[i].0));
        let row = [Cell::Text(format!("2^{scale}"))].into_iter().chain(zeros);
        table.row(row.chain([Cell::Share(columns[0][i].1)]));
    }
    table
}

/// How many gradients lie between one power of two and the next: what arrives.
fn figure(exact: &[f32], plain: &[f32], scaled: &[f32]) -> Plot {
    let mut plot = Plot::lines(
        "Gradients after 40 epochs, by size",
        ("size: 2 to the power of", ""),
        ("share of all", ""),
    );
    for (name, numbers) in [("f32", exact), ("f16, no scale", plain), ("f16, scale 2^16", scaled)] {
        let size = |x: &f32| x.abs().log2().floor() as i32;
        let count = |power: i32| numbers.iter().filter(|x| **x != 0.0 && size(x) == power).count();
        let points = (-44..=-4).step_by(2).map(|power| {
            let both = count(power) + count(power + 1);
            (f64::from(power), both as f64 / numbers.len() as f64)
        });
        plot.series(name, points);
    }
    plot
}
