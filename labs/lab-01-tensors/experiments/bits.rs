//! The bits of an f32 and of the bf16 next to it.

use engine_room::{DType, Tensor, bf16};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;

const VALUES: [f32; 4] = [0.1, 0.7, -2.71875, 3.4e38];

/// Prints both halves of each number, and what the engine makes of it.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let mut table = Table::new()
        .column("value", "f32", "")
        .column("kept", "upper half", "")
        .column("dropped", "lower half", "")
        .column("bits", "bf16", "")
        .column("number", "as a number", "");
    if args.mine {
        table = table.column("mine", "yours", "");
    }
    for value in VALUES {
        let bits = value.to_bits();
        let cast = Tensor::scalar(value).to(DType::BF16).item_as::<bf16>();
        let mine = args.mine.then(|| half(u32::from(exercise::f32_to_bf16(value))));
        let row = [
            format!("{value:?}").into(),
            half(bits >> 16),
            half(bits & 0xffff),
            half(u32::from(cast.to_bits())),
            format!("{:?}", cast.to_f32()).into(),
        ];
        table.row(row.into_iter().chain(mine));
    }
    output.table("rows", &table);
    Ok(())
}

/// Sixteen bits in groups of four: `0011 1101 1100 1101`.
fn half(bits: u32) -> Cell {
    let groups = [12, 8, 4, 0].map(|at| format!("{:04b}", bits >> at & 0xf));
    groups.join(" ").into()
}
