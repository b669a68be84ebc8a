//! The matrix product with operands that lie in other ways.

use engine_room::Tensor;
use engine_room::rng::Generator;
use engine_room_labs::{Cell, LabArgs, Output, Table, shortest_seconds};

use crate::experiments::hidden;

const SIZES: [usize; 3] = [64, 256, 1024];

/// A product of a and bᵀ: the name, and the call on b as it lies.
type Way = (&'static str, fn(&Tensor, &Tensor) -> Tensor);

const WAYS: [Way; 5] = [
    ("a . b", |a, b| a.matmul(b)),
    ("a . b.transpose", |a, b| a.matmul(&b.transpose(0, 1))),
    ("a . b.transpose.contiguous", |a, b| a.matmul(&b.transpose(0, 1).contiguous())),
    ("a.transpose . b", |a, b| a.transpose(0, 1).matmul(b)),
    ("a.transpose . b.transpose", |a, b| a.transpose(0, 1).matmul(&b.transpose(0, 1))),
];

/// Prints a row a way, and a column a size.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say("Square matrices of f32, the shortest time of many products:\n");
    let mut generator = Generator::new(args.seed);
    let pairs = SIZES.map(|size| {
        let mut matrix = || Tensor::randn(&[size, size], &mut generator);
        (matrix(), matrix())
    });
    let mut table = Table::new()
        .column("way", "way", "")
        .column("copies", "copies", "")
        .column("n64", "64 x 64", "");
    table = table.column("n256", "256 x 256", "").column("n1024", "1,024 x 1,024", "");
    for (name, product) in WAYS {
        let (_, copies, _) = hidden(|| product(&pairs[0].0, &pairs[0].1));
        let times = pairs.each_ref().map(|(a, b)| {
            let repeats = if a.shape()[0] > 256 { 19 } else { 199 };
            Cell::Seconds(shortest_seconds(repeats, || drop(product(a, b))))
        });
        table.row([name.into(), Cell::Count(copies)].into_iter().chain(times));
    }
    output.table("rows", &table);
    Ok(())
}
