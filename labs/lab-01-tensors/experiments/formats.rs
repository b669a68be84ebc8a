//! The formats by their definitions, held against the engine's own casts.

use engine_room_labs::{Cell, LabArgs, Output, Plot, Table};

use crate::exercise;
use crate::experiments::{STORED, stored};
use crate::formats::Format;

/// Numbers as a training run meets them: a weight, a count, a sum, activations, small gradients.
const VALUES: [f64; 7] = [0.1, 257.0, 1_000.0, 70_000.0, 1e-3, 1e-5, 1e-8];

/// Formats in the figure. tf32 is as fine as fp16 and reaches as far as bf16.
const DRAWN: [Format; 4] = [Format::F32, Format::F16, Format::Bf16, Format::E4m3];

/// Prints both tables and draws reach and error.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.table("rows", &facts(args));
    output.say("What each makes of the same number, rounded to nearest:\n");
    output.table("values", &rounded());
    for (format, dtype) in STORED {
        let other = VALUES.into_iter().find(|&x| stored(x, dtype) != format.round(x));
        if let Some(x) = other {
            return Err(format!("the engine's {dtype} of {x} is not that of the definition"));
        }
    }
    output.say("The engine's casts to f32, f16 and bf16 give the same numbers.");
    let (x, y) = (("size of the number: 2 to the power of", ""), ("error / number", ""));
    let mut plot = Plot::lines("How far and how fine", x, y).log_y();
    for format in DRAWN {
        let ends = [format.smallest(), format.smallest_normal(), format.max()];
        plot.series(format.name(), ends.map(|x| (x.log2(), worst_share(format, x))));
    }
    output.plot(&plot)
}

/// The largest share of a number that rounding can change, among the numbers as large as x: that
/// of the power of two below it.
fn worst_share(format: Format, x: f64) -> f64 {
    format.spacing(x) / 2.0 / x.log2().floor().exp2()
}

fn facts(args: &LabArgs) -> Table {
    let mut table = Table::new()
        .column("format", "format", "")
        .column("exponent", "exponent", "bits")
        .column("mantissa", "mantissa", "bits")
        .column("max", "largest", "")
        .column("normal", "smallest normal", "")
        .column("smallest", "smallest", "")
        .column("spacing", "step at 1", "");
    if args.mine {
        table = table.column("mine", "your bytes of one", "");
    }
    for format in Format::ALL {
        let mine = args.mine.then(|| Cell::Bytes(exercise::tensor_bytes(&[], format)));
        let row = [
            format.name().into(),
            Cell::Count(format.exponent_bits() as u64),
            Cell::Count(format.mantissa_bits() as u64),
            Cell::Number(format.max()),
            Cell::Number(format.smallest_normal()),
            Cell::Number(format.smallest()),
            Cell::Number(format.spacing(1.0)),
        ];
        table.row(row.into_iter().chain(mine));
    }
    table
}

fn rounded() -> Table {
    let mut table = Table::new().column("value", "value", "");
    for format in Format::ALL {
        table = table.column(format.name(), format.name(), "");
    }
    for value in VALUES {
        let all = Format::ALL.into_iter().map(|format| Cell::Number(format.round(value)));
        table.row([Cell::Number(value)].into_iter().chain(all));
    }
    table
}
