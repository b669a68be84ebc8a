//! What this machine can do, in the units of the triangle: measured.

use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table, shortest_seconds};

/// Rows and columns of the product.
const N: usize = 1024;
/// Numbers of the large tensor: 64 MiB in f32, more than a cache holds.
const LARGE: usize = 16 << 20;

/// Prints the rates, and the same product with half the bytes.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    let mut generator = Generator::new(args.seed);
    let product = product_seconds(&mut generator, DType::F32);
    let copy = copy_seconds(LARGE, 7);
    let small = copy_seconds(1, 1000);
    let mut table = Table::new()
        .column("what", "what", "")
        .column("seconds", "time", "")
        .column("amount", "how many", "")
        .column("rate", "per second", "");
    let operations = 2 * (N * N * N) as u64;
    let moved = 2 * 4 * LARGE as u64;
    row(&mut table, "compute: operations of a 1024 x 1024 product", product, operations);
    row(&mut table, "communication: bytes of a copy, 64 MiB in and 64 out", copy, moved);
    row(&mut table, "neither: a copy of one number, calls", small, 1);
    output.table("rows", &table);
    output.value("operations_per_second", operations as f64 / product);
    output.value("bytes_per_second", moved as f64 / copy);
    formats(output, &mut generator, product);
    Ok(())
}

fn row(table: &mut Table, what: &str, seconds: f64, amount: u64) {
    let rate = Cell::Number(amount as f64 / seconds);
    table.row([what.into(), Cell::Seconds(seconds), Cell::Count(amount), rate]);
}

/// The same product with half the bytes.
fn formats(output: &mut Output, generator: &mut Generator, in_f32: f64) {
    output.say("The same product, its numbers stored in f32 and in bf16:\n");
    let mut table = Table::new()
        .column("format", "format", "")
        .column("bytes", "one matrix", "bytes")
        .column("seconds", "time", "")
        .column("ratio", "against f32", "");
    let in_bf16 = product_seconds(generator, DType::BF16);
    for (name, dtype, seconds) in [("f32", DType::F32, in_f32), ("bf16", DType::BF16, in_bf16)] {
        let bytes = Cell::Bytes((N * N * dtype.size()) as u64);
        table.row([name.into(), bytes, Cell::Seconds(seconds), Cell::Ratio(seconds / in_f32)]);
    }
    output.table("formats", &table);
}

fn product_seconds(generator: &mut Generator, dtype: DType) -> f64 {
    let [a, b] = [0, 1].map(|_| Tensor::rand(&[N, N], generator).to(dtype));
    shortest_seconds(7, || drop(a.matmul(&b)))
}

/// Into memory that is there already: a new tensor would pay for its pages, too.
fn copy_seconds(numbers: usize, repeats: usize) -> f64 {
    let (from, to) = (Tensor::ones(&[numbers]), Tensor::zeros(&[numbers]));
    shortest_seconds(repeats, || to.copy_(&from))
}
