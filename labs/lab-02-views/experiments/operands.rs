//! The matrix product with operands that lie in other ways.

use engine_room::Tensor;
use engine_room::rng::Generator;
use engine_room_labs::{Cell, LabArgs, Output, Table, shortest_seconds};

use crate::experiments::hidden;

const SIZES: [usize; 3] = [64, 256, 1024];
/// Each way has so many turns, of so many products.
const ROUNDS: usize = 8;
const CALLS: usize = 2;

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
    let columns = SIZES.map(|size| {
        let mut matrix = || Tensor::randn(&[size, size], &mut generator);
        let (a, b) = (matrix(), matrix());
        (times(&a, &b), WAYS.map(|(_, product)| hidden(|| product(&a, &b)).1))
    });
    let mut table = Table::new()
        .column("way", "way", "")
        .column("copies", "copies", "")
        .column("n64", "64 x 64", "")
        .column("n256", "256 x 256", "")
        .column("n1024", "1,024 x 1,024", "");
    for (i, (name, _)) in WAYS.into_iter().enumerate() {
        let times = columns.each_ref().map(|(times, _)| Cell::Seconds(times[i]));
        table.row([name.into(), Cell::Count(columns[0].1[i])].into_iter().chain(times));
    }
    output.table("rows", &table);
    Ok(())
}

/// The shortest time of each way. They take turns, so that whatever else the machine does meets
/// them alike.
fn times(a: &Tensor, b: &Tensor) -> [f64; WAYS.len()] {
    let mut times = [f64::INFINITY; WAYS.len()];
    for _ in 0..ROUNDS {
        for (time, (_, product)) in times.iter_mut().zip(WAYS) {
            *time = time.min(shortest_seconds(CALLS, || drop(product(a, b))));
        }
    }
    times
}
