//! The engine beside candle, row by row in one run: `cargo run --release` in this folder, with the
//! number of threads in RAYON_NUM_THREADS. Quote the ratios and not the times.
//!
//! The two take turns, so that a slow moment of the machine meets both: for a tenth of a second
//! each, since threads of one that still wait for work would take the processor from the other. A
//! row's figure is the median of its samples; a sample repeats short calls until it lasts 100 us.
//! That the layers and steps are right, the engine's tests show against PyTorch.

mod candle_models;
mod steps;

use std::hint::black_box;
use std::time::{Duration, Instant};

use candle_core as candle;
use candle_nn::ops;
use engine_room::rng::Generator;
use engine_room::{DType, Tensor, no_grad};

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let mut table = Table { asked, rng: Generator::new(7) };
    println!("threads: {}", rayon::current_num_threads());
    println!("{:<20} {:>12} {:>12} {:>8}", "row", "engine us", "candle us", "ratio");
    products(&mut table);
    elementwise(&mut table);
    rows(&mut table);
    layouts(&mut table);
    tiny(&mut table);
    steps::steps(&mut table);
}

fn products(table: &mut Table) {
    for n in [64, 128, 256, 512, 1024] {
        let ((a, x), (b, y)) = (table.pair(&[n, n]), table.pair(&[n, n]));
        let name = format!("matmul {n}");
        table.row(&name, || a.matmul(&b), || x.matmul(&y));
    }
    let ((a, x), (b, y)) = (table.pair(&[32, 64, 64]), table.pair(&[32, 64, 64]));
    table.row("matmul 32 x 64", || a.matmul(&b), || x.matmul(&y));
}

const MANY: usize = 1 << 20;

fn elementwise(table: &mut Table) {
    let ((a, x), (b, y)) = (table.pair(&[MANY]), table.pair(&[MANY]));
    table.row("add 1M", || a.add(&b), || &x + &y);
    table.row("exp 1M", || a.exp(), || x.exp());
    table.row("gelu erf 1M", || a.gelu(), || x.gelu_erf());
    table.row("gelu tanh 1M", || a.gelu_tanh(), || x.gelu());
    table.row("cast bf16 1M", || a.to(DType::BF16), || x.to_dtype(candle::DType::BF16));
}

fn rows(table: &mut Table) {
    let ((m, x), (v, y)) = (table.pair(&[1024, 1024]), table.pair(&[1024]));
    table.row("add broadcast", || m.add(&v), || x.broadcast_add(&y));
    table.row("sum dim 0", || m.sum_dims(&[0], false), || x.sum(0));
    table.row("sum dim 1", || m.sum_dims(&[1], false), || x.sum(1));
    table.row("softmax", || m.softmax(-1), || ops::softmax_last_dim(&x));
    let layer_norm = || m.layer_norm(&[1024], Some(&v), Some(&v), 1e-5);
    table.row("layer_norm", layer_norm, || ops::layer_norm(&x, &y, &y, 1e-5));
}

fn layouts(table: &mut Table) {
    let (m, x) = table.pair(&[2048, 2048]);
    table.row("transpose 2048", || m.transpose(0, 1).contiguous(), || x.t()?.contiguous());
}

fn tiny(table: &mut Table) {
    let ((a, x), (b, y)) = (table.pair(&[1]), table.pair(&[1]));
    table.row("add [1]", || a.add(&b), || &x + &y);
}

/// Makes the inputs and prints the rows.
struct Table {
    asked: Vec<String>,
    rng: Generator,
}

impl Table {
    /// The same numbers for both, in [-2, 2).
    fn pair(&mut self, shape: &[usize]) -> (Tensor, candle::Tensor) {
        let ours = Tensor::rand(shape, &mut self.rng).mul_scalar(4.0).add_scalar(-2.0);
        let theirs = candle::Tensor::from_vec(ours.to_vec::<f32>(), shape, &candle::Device::Cpu);
        (ours, theirs.expect("candle takes the same numbers"))
    }

    fn row(
        &self,
        name: &str,
        ours: impl Fn() -> Tensor,
        theirs: impl Fn() -> candle::Result<candle::Tensor>,
    ) {
        if !self.asks_for(name) {
            return;
        }
        agree(name, &no_grad(&ours), &theirs().expect("candle computes it"));
        self.time(name, ours, || theirs().expect("candle computes it"));
    }

    fn asks_for(&self, name: &str) -> bool {
        self.asked.is_empty() || self.asked.iter().any(|part| name.contains(part.as_str()))
    }

    /// A row of two calls whose results are not compared here.
    fn time<T, U>(&self, name: &str, ours: impl Fn() -> T, theirs: impl Fn() -> U) {
        if !self.asks_for(name) {
            return;
        }
        let (mut us, mut them) = (Vec::new(), Vec::new());
        let begin = Instant::now();
        while us.len() < 20 || begin.elapsed() < Duration::from_millis(1200) {
            turn(&mut us, &ours);
            turn(&mut them, &theirs);
        }
        let (us, them) = (median(us), median(them));
        println!("{name:<20} {us:>12.2} {them:>12.2} {:>8.2}", them / us);
    }
}

/// Both must compute the same, or the comparison means nothing.
fn agree(name: &str, ours: &Tensor, theirs: &candle::Tensor) {
    let theirs = theirs.to_dtype(candle::DType::F32);
    let theirs = theirs.and_then(|x| x.flatten_all()?.to_vec1::<f32>());
    let (ours, theirs) = (ours.to(DType::F32).to_vec::<f32>(), theirs.expect("it is a vector"));
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (a, b) in ours.iter().zip(&theirs) {
        assert!((a - b).abs() <= 1e-3 * b.abs().max(1.0), "{name}: {a} and {b}");
    }
}

/// A tenth of a second of samples, the first fifth of which do not count.
fn turn<T>(samples: &mut Vec<f64>, call: impl Fn() -> T) {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(20) {
        black_box(call());
    }
    loop {
        samples.push(sample(&call));
        if begin.elapsed() >= Duration::from_millis(100) {
            return;
        }
    }
}

/// Microseconds of one call.
fn sample<T>(call: impl Fn() -> T) -> f64 {
    let mut calls = 0;
    let begin = Instant::now();
    while calls == 0 || begin.elapsed() < Duration::from_micros(100) {
        for _ in 0..(calls / 2).max(1) {
            black_box(call());
            calls += 1;
        }
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
