//! Long sums: a running total by format, and ways to add the same numbers.

use engine_room::rng::Generator;
use engine_room::{Element, Tensor, bf16, f16};
use engine_room_labs::cell::thousands;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;

const COUNT: usize = 100_000;

/// Prints the totals and the errors.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output
        .say(&format!("A running total over {} times the same number:\n", thousands(COUNT as u64)));
    let mut table = Table::new()
        .column("value", "number", "")
        .column("format", "format", "")
        .column("exact", "exact sum", "")
        .column("total", "running total", "");
    for value in [1.0, 0.1] {
        table.row(totals::<f32>(value));
        table.row(totals::<f16>(value));
        table.row(totals::<bf16>(value));
    }
    output.table("rows", &table);
    output.say("Random numbers between 0 and 1, as many. Error of the sum, as a share of it:\n");
    output.table("orders", &orders(args));
    let ones = running::<f16>(&[f16::ONE; COUNT]);
    output.prediction("1.a", f64::from(ones.to_f32()), "the total");
    Ok(())
}

fn totals<T: Short>(value: f32) -> [Cell; 4] {
    let numbers = vec![T::of(value); COUNT];
    [
        value.to_string().into(),
        T::DTYPE.to_string().into(),
        tenths(exact(&numbers)),
        tenths(f64::from(running(&numbers).wide())),
    ]
}

fn tenths(x: f64) -> Cell {
    format!("{x:>8.1}").into()
}

/// A format whose numbers fit into `f32`. Adding two of them in `f32` and rounding once is the
/// addition of the format: 24 bits are enough for that (Figueroa, "When is double rounding
/// innocuous?", 1995).
trait Short: Element {
    fn of(x: f32) -> Self;
    fn wide(self) -> f32;
    fn plus(self, other: Self) -> Self {
        Self::of(self.wide() + other.wide())
    }
}

impl Short for f32 {
    fn of(x: f32) -> f32 {
        x
    }
    fn wide(self) -> f32 {
        self
    }
}

impl Short for f16 {
    fn of(x: f32) -> f16 {
        f16::from_f32(x)
    }
    fn wide(self) -> f32 {
        self.to_f32()
    }
}

impl Short for bf16 {
    fn of(x: f32) -> bf16 {
        bf16::from_f32(x)
    }
    fn wide(self) -> f32 {
        self.to_f32()
    }
}

/// What everybody writes first.
fn running<T: Short>(numbers: &[T]) -> T {
    numbers.iter().fold(T::of(0.0), |total, &x| total.plus(x))
}

/// The two halves summed on their own, and so on down.
fn pairwise<T: Short>(numbers: &[T]) -> T {
    match numbers {
        [] => T::of(0.0),
        &[x] => x,
        _ => {
            let (left, right) = numbers.split_at(numbers.len() / 2);
            pairwise(left).plus(pairwise(right))
        }
    }
}

/// Exact for as many numbers of 24 bits: the total needs 41 bits, and an `f64` has 53.
fn exact<T: Short>(numbers: &[T]) -> f64 {
    numbers.iter().map(|x| f64::from(x.wide())).sum()
}

fn sorted<T: Short>(numbers: &[T], largest_first: bool) -> Vec<T> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(|a, b| a.wide().total_cmp(&b.wide()));
    if largest_first {
        sorted.reverse();
    }
    sorted
}

/// One row a way to add, one column a format.
fn orders(args: &LabArgs) -> Table {
    let mut generator = Generator::new(args.seed);
    let numbers: Vec<f32> = (0..COUNT).map(|_| generator.uniform()).collect();
    let columns = [errors::<f32>(&numbers), errors::<f16>(&numbers), errors::<bf16>(&numbers)];
    let mut table = Table::new().column("way", "way", "");
    for name in ["f32", "f16", "bf16"] {
        table = table.column(name, name, "");
    }
    for (i, way) in WAYS.into_iter().enumerate() {
        let cells = columns.iter().map(|errors| Cell::Number(errors[i]));
        table.row([Cell::from(way)].into_iter().chain(cells));
    }
    if args.mine {
        let halves: Vec<f16> = numbers.iter().map(|&x| f16::from_f32(x)).collect();
        let error = error(exercise::sum_f16(&halves), &halves);
        table.row(["yours".into(), Cell::Missing, Cell::Number(error), Cell::Missing]);
    }
    table
}

const WAYS: [&str; 6] = [
    "running total, as they come",
    "running total, smallest first",
    "running total, largest first",
    "pairs, then pairs of pairs",
    "running total in f32, rounded once",
    "the engine's sum",
];

fn errors<T: Short>(numbers: &[f32]) -> [f64; WAYS.len()] {
    let numbers: Vec<T> = numbers.iter().map(|&x| T::of(x)).collect();
    let in_f32 = numbers.iter().fold(0.0, |total, x| total + x.wide());
    let engine = Tensor::from_vec(numbers.clone(), &[numbers.len()]).sum();
    [
        running(&numbers),
        running(&sorted(&numbers, false)),
        running(&sorted(&numbers, true)),
        pairwise(&numbers),
        T::of(in_f32),
        engine.item_as(),
    ]
    .map(|sum| error(sum, &numbers))
}

fn error<T: Short>(sum: T, numbers: &[T]) -> f64 {
    (f64::from(sum.wide()) / exact(numbers) - 1.0).abs()
}
