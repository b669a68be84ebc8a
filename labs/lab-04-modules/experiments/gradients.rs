//! How large gradients are, and what f16 makes of them, with the loss scaled and without.

use engine_room::amp::autocast;
use engine_room::nn::{Mlp, Module};
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use engine_room_labs::{Cell, Digits, LabArgs, Output, Plot, Table};

use crate::experiments::training::{BATCH, F32, SIZES, train};

/// How long the network is trained before its gradients are looked at.
const EPOCHS: usize = 40;
/// What the loss is multiplied by: powers of two.
const SCALES: [i32; 5] = [0, 8, 16, 24, 32];
/// Below this an f16 is subnormal and has fewer than 11 bits.
const NORMAL: f32 = 6.103_515_6e-5;

/// Prints a row a scale, and draws how the gradients' sizes are distributed.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!(
        "An MLP of {SIZES:?} on digits, AdamW, {EPOCHS} epochs. Then the gradients of {BATCH} \
         images under\nautocast in f16. Of those that are not 0 in f32 so many arrive\n"
    ));
    let split = Digits::load()?.split(args.seed);
    let (x, y) = split.train.select(&(0..BATCH).collect::<Vec<_>>()).tensors();
    let model = F32.model(&mut Generator::new(args.seed));
    let mut optimizer = F32.optimizer(&model, 1e-3);
    train(&model, optimizer.as_mut(), &F32, &split, EPOCHS, args.seed);
    let exact = gradients(&model, &x, &y, None);
    let halves = SCALES.map(|scale| gradients(&model, &x, &y, Some(scale)));
    let mut table = Table::new()
        .column("scale", "loss scale", "")
        .column("zero", "as 0", "")
        .column("few", "with fewer bits", "")
        .column("full", "with 11 bits", "")
        .column("lost", "as inf or NaN", "");
    for (scale, half) in SCALES.into_iter().zip(&halves) {
        let shares = shares(&exact, half).map(Cell::Share);
        table.row([Cell::Text(format!("2^{scale}"))].into_iter().chain(shares));
    }
    output.table("rows", &table);
    output.prediction("4.b", 100.0 * shares(&exact, &halves[0])[0], "percent");
    output.plot(&figure(&exact, &halves[0], &halves[2]))
}

/// Every number of every gradient as it arrives: in f32, or under autocast in f16 with the loss
/// times 2 to the power of `scale`.
fn gradients(model: &Mlp, x: &Tensor, y: &Tensor, scale: Option<i32>) -> Vec<f32> {
    model.zero_grad(true);
    let loss = || model.forward(x).cross_entropy(y);
    match scale {
        Some(scale) => autocast(DType::F16, loss).mul_scalar(2f64.powi(scale)).backward(),
        None => loss().backward(),
    }
    let all = model.parameters().into_iter().filter_map(|parameter| parameter.get().grad());
    all.flat_map(|gradient| gradient.to_vec::<f32>()).collect()
}

/// Of the gradients that are not 0, the shares that arrive as 0, subnormal, normal, and as no
/// number.
fn shares(exact: &[f32], half: &[f32]) -> [f64; 4] {
    let arrived: Vec<f32> =
        exact.iter().zip(half).filter(|(e, _)| **e != 0.0).map(|p| *p.1).collect();
    let share = |test: &dyn Fn(f32) -> bool| {
        arrived.iter().filter(|g| test(g.abs())).count() as f64 / arrived.len() as f64
    };
    [
        share(&|g| g == 0.0),
        share(&|g| g > 0.0 && g < NORMAL),
        share(&|g| g >= NORMAL && g.is_finite()),
        share(&|g| !g.is_finite()),
    ]
}

/// Which share of all gradients lies between one power of two and the next.
fn figure(exact: &[f32], plain: &[f32], scaled: &[f32]) -> Plot {
    let mut plot = Plot::lines(
        "Gradients of the digits' network, by size",
        ("size: 2 to the power of", ""),
        ("share of all", ""),
    )
    .log_y();
    for (name, numbers) in
        [("f32", exact), ("f16, loss scale 1", plain), ("f16, loss scale 2^16", scaled)]
    {
        let size = |x: f32| x.abs().log2().floor() as i32;
        let count = |from: i32| {
            let within = |x: &&f32| **x != 0.0 && (from..from + 2).contains(&size(**x));
            numbers.iter().filter(within).count()
        };
        let share = |from: i32| count(from) as f64 / numbers.len() as f64;
        plot.series(name, (-40..16).step_by(2).map(|from| (f64::from(from), share(from))));
    }
    plot
}
