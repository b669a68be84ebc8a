//! Timings of the engine, each beside a peer that runs in the same process.
//!
//! `cargo bench -p engine-room-benches` prints criterion's report, then one table of ratios. A
//! ratio compares two medians of one run on one machine: quote it, and not the times alone.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Instant;

use criterion::Criterion;
use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::profiler::{Profiler, record_function};
use engine_room::{Tensor, no_grad, rng::Generator};
use ndarray::Array2;

const SEED: u64 = 7;

fn main() {
    let mut bench = Bench { criterion: Criterion::default().configure_from_args(), rows: vec![] };
    for n in [64, 256, 512] {
        matmul(&mut bench, n);
    }
    tiny_add(&mut bench);
    training_step(&mut bench);
    recomputed_step(&mut bench);
    profiled_step(&mut bench);
    bench.criterion.final_summary();
    bench.print_ratios();
}

/// The product of two n x n matrices, against matrixmultiply on bare arrays.
fn matmul(bench: &mut Bench, n: usize) {
    let mut generator = Generator::new(SEED);
    let (a, b) = (Tensor::rand(&[n, n], &mut generator), Tensor::rand(&[n, n], &mut generator));
    let (x, y) = (array(&a), array(&b));
    let name = format!("matmul {n}");
    bench.compare(&name, ("engine", &mut || a.matmul(&b)), ("matrixmultiply", &mut || x.dot(&y)));
}

/// What recording one add of four numbers and walking back costs, against the bare add.
fn tiny_add(bench: &mut Bench) {
    let leaf = || Tensor::ones(&[4]).requires_grad_(true);
    let (a, b, dy) = (leaf(), leaf(), Tensor::ones(&[4]));
    let mut recorded = || {
        a.zero_grad();
        b.zero_grad();
        a.add(&b).backward_with(&dy);
    };
    let mut bare = || no_grad(|| a.add(&b));
    bench.compare("add [4]", ("forward and backward", &mut recorded), ("no_grad", &mut bare));
}

const BATCH: usize = 64;
const WIDTHS: [usize; 4] = [784, 256, 128, 10];

/// A training step of a small network, against its eight matrix products alone.
fn training_step(bench: &mut Bench) {
    let mut generator = Generator::new(SEED);
    let x = Tensor::rand(&[BATCH, WIDTHS[0]], &mut generator);
    let labels = (0..BATCH).map(|_| generator.below(WIDTHS[3]) as i64).collect();
    let targets = Tensor::from_vec::<i64>(labels, &[BATCH]);
    let parameters: Vec<Tensor> =
        WIDTHS.windows(2).flat_map(|w| layer(w, &mut generator)).collect();
    let products = products(&mut generator);
    bench.compare(
        "mlp step",
        ("engine", &mut || step(&x, &targets, &parameters)),
        ("its products", &mut || products.iter().map(|(a, b)| a.dot(b)[[0, 0]]).sum::<f32>()),
    );
}

/// A training step of a transformer of 12 blocks that are recomputed, against the same without. One
/// more forward pass is a third of the arithmetic.
fn recomputed_step(bench: &mut Bench) {
    let (vocab, context, layers) = (64, 64, 12);
    let (width, heads, dropout, tied) = (64, 4, 0.1, true);
    let config = GptConfig { vocab, context, width, layers, heads, dropout, tied };
    let model = |recomputed| {
        Gpt::new(&config, &mut Generator::new(SEED)).recompute_blocks(move |_| recomputed)
    };
    let (plain, recomputed) = (model(false), model(true));
    let tokens = Tensor::randint(0, vocab as i64, &[4, context], &mut Generator::new(SEED));
    let step = |model: &Gpt| {
        let logits = model.forward(&tokens).reshape(&[4 * context, vocab]);
        logits.cross_entropy(&tokens.reshape(&[4 * context])).backward();
        model.zero_grad(true);
    };
    bench.compare(
        "12 blocks",
        ("recomputed", &mut || step(&recomputed)),
        ("plain", &mut || step(&plain)),
    );
}

/// A training step of a small GPT that is profiled with all that there is to record, against the
/// same without; and what the spans of that step cost while no profile is on, against the step.
fn profiled_step(bench: &mut Bench) {
    let (vocab, context, layers) = (64, 64, 2);
    let (width, heads, dropout, tied) = (64, 4, 0.0, true);
    let config = GptConfig { vocab, context, width, layers, heads, dropout, tied };
    let model = Gpt::new(&config, &mut Generator::new(SEED));
    let tokens = Tensor::randint(0, vocab as i64, &[8, context], &mut Generator::new(SEED));
    let targets = tokens.reshape(&[8 * context]);
    let adamw = RefCell::new(AdamW::new(model.parameters(), 1e-4));
    let step = || {
        let logits = model.forward(&tokens).reshape(&[8 * context, vocab]);
        logits.cross_entropy(&targets).backward();
        adamw.borrow_mut().step();
        model.zero_grad(true);
    };
    let profiled = || {
        let all = Profiler::new().record_shapes(true).profile_memory(true).with_flops(true);
        all.run(|_| step()).expect("the host works").1
    };
    step();
    let spans = profiled().events().len();
    let row = format!("{spans} spans");
    bench.alternate(&row, ("profiled", &mut || drop(profiled())), ("gpt step", &mut || step()));
    let some = || (0..spans).for_each(|_| drop(record_function(black_box("span"))));
    bench.compare(&row, ("while off", &mut || some()), ("gpt step", &mut || step()));
    let mut on = || drop(Profiler::new().run(|_| some()).expect("the host works"));
    bench.compare(&row, ("empty, while on", &mut on), ("while off", &mut || some()));
}

/// Weight and bias of a layer from `widths[0]` to `widths[1]` features.
fn layer(widths: &[usize], generator: &mut Generator) -> [Tensor; 2] {
    let scale = (2.0 / widths[0] as f32).sqrt();
    let w = Tensor::randn(&[widths[0], widths[1]], generator).mul_scalar(scale);
    [w.requires_grad_(true), Tensor::zeros(&[widths[1]]).requires_grad_(true)]
}

/// Forward, backward and an SGD update.
fn step(x: &Tensor, targets: &Tensor, parameters: &[Tensor]) -> f32 {
    let mut h = x.clone();
    for (i, layer) in parameters.chunks(2).enumerate() {
        let linear = h.matmul(&layer[0]).add(&layer[1]);
        h = if i + 2 < WIDTHS.len() { linear.relu() } else { linear };
    }
    let loss = h.cross_entropy(targets);
    loss.backward();
    no_grad(|| {
        for p in parameters {
            p.add_(&p.grad().expect("backward filled every gradient"), -0.01);
            p.zero_grad();
        }
    });
    loss.item()
}

/// The operands of every matrix product in a step: y = x w, dw = x^T dy, and dx = dy w^T except
/// for the first layer, whose input needs no gradient.
fn products(generator: &mut Generator) -> Vec<(Array2<f32>, Array2<f32>)> {
    let mut random = |m, n| array(&Tensor::rand(&[m, n], generator));
    let mut pairs = Vec::new();
    for (i, w) in WIDTHS.windows(2).enumerate() {
        let (wide, narrow) = (w[0], w[1]);
        pairs.push((random(BATCH, wide), random(wide, narrow)));
        pairs.push((random(BATCH, wide).reversed_axes(), random(BATCH, narrow)));
        if i > 0 {
            pairs.push((random(BATCH, narrow), random(wide, narrow).reversed_axes()));
        }
    }
    pairs
}

/// A matrix as the peer holds it.
fn array(t: &Tensor) -> Array2<f32> {
    let shape = (t.shape()[0], t.shape()[1]);
    Array2::from_shape_vec(shape, t.to_vec::<f32>()).expect("a matrix has two sizes")
}

struct Bench {
    criterion: Criterion,
    rows: Vec<String>,
}

impl Bench {
    /// Times two functions one after the other and keeps a row with the ratio of their medians.
    fn compare<A, B>(
        &mut self,
        row: &str,
        (name, run): (&str, &mut dyn FnMut() -> A),
        (peer, run_peer): (&str, &mut dyn FnMut() -> B),
    ) {
        let ours = self.median(row, name, run);
        let theirs = self.median(row, peer, run_peer);
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            let ratio = ours / theirs;
            let (ours, theirs) = (1e6 * ours, 1e6 * theirs);
            self.rows.push(line(row, (name, ours), (peer, theirs), ratio));
        }
    }

    /// Calls two functions in turn and keeps a row with the median ratio of neighbours: for a
    /// difference that is smaller than what a computer's speed changes by within seconds.
    fn alternate(
        &mut self,
        row: &str,
        (name, run): (&str, &mut dyn FnMut()),
        (peer, run_peer): (&str, &mut dyn FnMut()),
    ) {
        let seconds = |run: &mut dyn FnMut()| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        };
        let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        self.criterion.bench_function(&format!("{row}/{name} and {peer}"), |bencher| {
            bencher.iter_custom(|calls| {
                let start = Instant::now();
                for _ in 0..calls {
                    let (first, second) = (seconds(run), seconds(run_peer));
                    ours.push(first);
                    theirs.push(second);
                    ratios.push(first / second);
                }
                start.elapsed()
            });
        });
        if ratios.len() >= 10 {
            let (ours, theirs) = (1e6 * median(&mut ours), 1e6 * median(&mut theirs));
            let ratio = median(&mut ratios);
            self.rows.push(line(row, (name, ours), (peer, theirs), ratio));
        }
    }

    /// Seconds a call, the median of criterion's samples; none if a filter leaves the row out or
    /// criterion only tests that it runs.
    fn median<T>(&mut self, row: &str, name: &str, run: &mut dyn FnMut() -> T) -> Option<f64> {
        let mut samples = Vec::new();
        self.criterion.bench_function(&format!("{row}/{name}"), |bencher| {
            bencher.iter_custom(|calls| {
                let start = Instant::now();
                for _ in 0..calls {
                    black_box(run());
                }
                let elapsed = start.elapsed();
                samples.push(elapsed.as_secs_f64() / calls as f64);
                elapsed
            });
        });
        (samples.len() >= 10).then(|| median(&mut samples))
    }

    fn print_ratios(&self) {
        if self.rows.is_empty() {
            return;
        }
        println!("\nratio = first / second, medians of this run on this machine");
        for row in &self.rows {
            println!("{row}");
        }
    }
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Two medians in microseconds and their ratio.
fn line(row: &str, (name, ours): (&str, f64), (peer, theirs): (&str, f64), ratio: f64) -> String {
    format!("{row:<12} {name:<22} {ours:>10.2} us   {peer:<16} {theirs:>10.2} us   {ratio:>8.4}")
}
