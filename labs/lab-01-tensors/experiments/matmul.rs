//! The same work in three types: time against bytes.

use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table, shortest_seconds};

const SIZE: usize = 1024;
const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

/// Prints a row a type.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!("Two matrices of {SIZE} x {SIZE}, the shortest time of many calls:\n"));
    let mut generator = Generator::new(args.seed);
    let (a, b) = (
        Tensor::randn(&[SIZE, SIZE], &mut generator),
        Tensor::randn(&[SIZE, SIZE], &mut generator),
    );
    let mut table = Table::new()
        .column("dtype", "dtype", "")
        .column("bytes", "one matrix", "bytes")
        .column("matmul", "a . b", "")
        .column("add", "a + b", "")
        .column("error", "error of a . b", "");
    let exact = a.to(DType::F64).matmul(&b.to(DType::F64));
    for dtype in DTYPES {
        let (a, b) = (a.to(dtype), b.to(dtype));
        table.row([
            dtype.to_string().into(),
            Cell::Bytes(a.nbytes()),
            Cell::Seconds(shortest_seconds(9, || drop(a.matmul(&b)))),
            Cell::Seconds(shortest_seconds(49, || drop(a.add(&b)))),
            Cell::Number(distance(&a.matmul(&b), &exact)),
        ]);
    }
    output.table("rows", &table);
    Ok(())
}

/// The length of the difference, as a share of the length of what it should be.
fn distance(x: &Tensor, exact: &Tensor) -> f64 {
    let length = |x: &Tensor| x.mul(x).sum().item_as::<f64>().sqrt();
    length(&x.to(DType::F64).sub(exact)) / length(exact)
}
