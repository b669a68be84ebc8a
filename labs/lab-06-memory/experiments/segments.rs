//! A chain of layers, recomputed in so many segments: what is alive at the peak, and what it costs.

use std::sync::Arc;

use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::nn::{Linear, Module, Relu, Sequential};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor, recompute, sim};
use engine_room_labs::{Cell, LabArgs, Output, Plot, Table};

use crate::experiments::gpu::small;
use crate::experiments::mine;

const GPU: usize = 10;
const LAYERS: usize = 64;
const WIDTH: usize = 16;
const ROWS: usize = 512;
const SEGMENTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// What a training step came to.
struct Cost {
    /// The most bytes alive besides the parameters and what was there before.
    peak: u64,
    flops: u64,
    gradient: Vec<f32>,
}

/// Prints a row for each number of segments.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let gpu = small(output, GPU, sim::capacity(GPU))?;
    output.say(&format!(
        "{LAYERS} layers of {WIDTH}, each with a relu, on {ROWS} rows. Forward and backward:\n"
    ));
    if args.mine {
        output
            .say("What is recomputed runs by your functions of 6.5, in all rows but the first.\n");
    }
    let mut table = Table::new()
        .column("segments", "recomputed", "")
        .column("peak", "peak besides parameters", "bytes")
        .column("flops", "FLOPs", "")
        .column("ratio", "of plain", "")
        .column("same", "gradients", "");
    let plain = cost(gpu, args, None);
    let mut plot = Plot::lines(
        "The peak of a chain of 64 layers, by the number of its segments",
        ("segments", ""),
        ("peak", "bytes"),
    )
    .log_x();
    plot.series("plain", SEGMENTS.map(|count| (count as f64, plain.peak as f64)));
    let mut points = Vec::new();
    for count in std::iter::once(None).chain(SEGMENTS.map(Some)) {
        let this = cost(gpu, args, count);
        if let Some(count) = count {
            points.push((count as f64, this.peak as f64));
        }
        table.row([
            how(count).into(),
            Cell::Bytes(this.peak),
            Cell::Count(this.flops),
            Cell::Ratio(this.flops as f64 / plain.flops as f64),
            if this.gradient == plain.gradient { "the same bits" } else { "others" }.into(),
        ]);
    }
    output.table("rows", &table);
    let best = points.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0.0, |point| point.0);
    output.prediction("6.b", best, "segments");
    plot.series("recomputed", points);
    output.plot(&plot)
}

fn how(segments: Option<usize>) -> String {
    match segments {
        None => "not at all".to_string(),
        Some(1) => "as 1 segment".to_string(),
        Some(count) => format!("as {count} segments"),
    }
}

fn cost(gpu: Device, args: &LabArgs, segments: Option<usize>) -> Cost {
    let mut generator = Generator::new(args.seed);
    let length = LAYERS / segments.unwrap_or(1);
    let chain: Vec<Arc<dyn Module>> = (0..LAYERS / length)
        .map(|_| Arc::new(part(length, gpu, &mut generator)) as Arc<dyn Module>)
        .collect();
    let x = Tensor::randn(&[ROWS, WIDTH], &mut generator).to(gpu);
    let before = memory_allocated(gpu);
    reset_peak_memory_stats(gpu);
    sim::reset(GPU);
    let mut y = x;
    for part in &chain {
        y = match (segments.is_some(), args.mine) {
            (false, _) => part.forward(&y),
            (true, false) => again(part.clone(), &y),
            (true, true) => mine::recompute(part, &y),
        };
    }
    y.sum().backward();
    let first = chain[0].parameters().remove(0);
    let gradient = first.get().grad().expect("it asks for one").to(Device::Cpu);
    Cost {
        peak: max_memory_allocated(gpu) - before,
        flops: sim::launches(GPU).counters.flops,
        gradient: gradient.to_vec(),
    }
}

fn again(part: Arc<dyn Module>, x: &Tensor) -> Tensor {
    recompute(move |inputs| part.forward(&inputs[0]), &[x])
}

/// So many layers.
fn part(length: usize, gpu: Device, generator: &mut Generator) -> Sequential {
    let mut part = Sequential::new();
    for _ in 0..length {
        part = part.append(Linear::new(WIDTH, WIDTH, true, generator)).append(Relu);
    }
    part.to_device(gpu);
    part
}
