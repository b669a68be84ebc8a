//! The parameters of Llama 2 7B, matrix by matrix, and the bytes that they take.
//!
//! Shapes: H. Touvron et al., "Llama 2: Open Foundation and Fine-Tuned Chat Models", 2023, and the
//! released configuration (width 4,096, 32 layers, 11,008 hidden units, 32,000 tokens).

use engine_room::sim::Gpu;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;
use crate::format::Format;

const WIDTH: u64 = 4096;
const LAYERS: u64 = 32;
const HIDDEN: u64 = 11_008;
const TOKENS: u64 = 32_000;

/// What training with AdamW under autocast holds for each parameter, all of it in f32: the weight,
/// its gradient, and the averages m and v.
const TRAINING: [&str; 4] = ["weight", "gradient", "m", "v"];

/// Prints both tables.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let (table, parameters) = parts();
    output.say("Llama 2 7B, matrix by matrix:\n");
    output.table("rows", &table);
    output.say("What is held of it, and the smallest GPU of four that has so much memory:\n");
    let held = held(args, parameters);
    output.table("held", &held);
    output.prediction("0.a", (parameters * 4 * TRAINING.len() as u64) as f64, "bytes");
    Ok(())
}

/// One row a kind of matrix, and the sum.
fn parts() -> (Table, u64) {
    let square = [WIDTH, WIDTH];
    let parts = [
        ("embedding", vec![TOKENS, WIDTH], 1),
        ("query, key, value, output", square.to_vec(), 4 * LAYERS),
        ("gate, up", vec![HIDDEN, WIDTH], 2 * LAYERS),
        ("down", vec![WIDTH, HIDDEN], LAYERS),
        ("norms", vec![WIDTH], 2 * LAYERS + 1),
        ("output head", vec![TOKENS, WIDTH], 1),
    ];
    let mut table = Table::new()
        .column("part", "part", "")
        .column("shape", "shape", "")
        .column("count", "matrices", "")
        .column("parameters", "parameters", "");
    let mut sum = 0;
    for (part, shape, count) in parts {
        let parameters = shape.iter().product::<u64>() * count;
        sum += parameters;
        let shape = format!("{shape:?}");
        table.row([part.into(), shape.into(), Cell::Count(count), Cell::Count(parameters)]);
    }
    table.row(["all of it".into(), "".into(), Cell::Missing, Cell::Count(sum)]);
    (table, sum)
}

/// The bytes of the weights in each format, and of what training holds.
fn held(args: &LabArgs, parameters: u64) -> Table {
    let mut table = Table::new()
        .column("what", "what", "")
        .column("bytes", "size", "bytes")
        .column("gib", "size", "GiB")
        .column("fits", "fits on", "");
    if args.mine {
        table = table.column("mine", "yours", "bytes");
    }
    let weights = [("f32", 32), ("bf16", 16), ("int8", 8), ("int4", 4)];
    for ((name, bits), format) in weights.into_iter().zip(Format::ALL) {
        let mine = args.mine.then(|| Cell::Bytes(exercise::weight_bytes(parameters, format)));
        table
            .row(row(&format!("weights in {name}"), parameters * bits / 8).into_iter().chain(mine));
    }
    let training = row(&format!("training: {} in f32", TRAINING.join(", ")), parameters * 16);
    table.row(training.into_iter().chain(args.mine.then_some(Cell::Missing)));
    table
}

fn row(what: &str, bytes: u64) -> [Cell; 4] {
    let fits = Gpu::ALL.into_iter().map(Gpu::figures).find(|gpu| gpu.capacity >= bytes);
    let fits = fits.map_or("none of them".to_string(), |gpu| {
        format!("{}, {} GiB", gpu.name, gpu.capacity >> 30)
    });
    let gib = Cell::Text(format!("{:.2}", bytes as f64 / (1u64 << 30) as f64));
    [what.into(), Cell::Bytes(bytes), gib, fits.into()]
}
