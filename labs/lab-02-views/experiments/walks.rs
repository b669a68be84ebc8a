//! The lines that a copy fetches, by the order in which it walks.

use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::cache::{LINE, LINES, Memory};
use crate::exercise;
use crate::header::Header;

/// Prints the lines of three walks over transposed matrices.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(&format!(
        "A transposed matrix is packed. Each side has a cache of {LINES} lines of {LINE} numbers.\n"
    ));
    let mut table = Table::new()
        .column("shape", "the result", "")
        .column("walk", "inner loop", "")
        .column("source", "lines of the source", "")
        .column("target", "lines of the result", "")
        .column("ratio", "of what is needed", "");
    let mut row = |shape: [usize; 2], walk: &str, copy: &dyn Fn(&mut Memory, &Header)| {
        let from = Header { shape: shape.to_vec(), strides: vec![1, shape[0]], offset: 0 };
        let numbers = shape[0] * shape[1];
        let mut memory = Memory::new(vec![0.0; numbers], numbers);
        copy(&mut memory, &from);
        let fetched = memory.fetched();
        let needed = 2 * numbers.div_ceil(LINE);
        table.row([
            format!("{shape:?}").into(),
            walk.into(),
            Cell::Count(fetched.source),
            Cell::Count(fetched.target),
            Cell::Ratio((fetched.source + fetched.target) as f64 / needed as f64),
        ]);
    };
    let square = [512, 512];
    row(square, "along a row of the result", &|memory, from| rows(memory, from));
    row(square, "along a column of the result", &|memory, from| columns(memory, from));
    row(square, "within a tile of 16 x 16", &|memory, from| tiles(memory, from));
    if args.mine {
        row([32, 512], "yours", &|memory, from| exercise::gather(memory, from));
        row([512, 32], "yours", &|memory, from| exercise::gather(memory, from));
    }
    output.table("rows", &table);
    Ok(())
}

fn copy(memory: &mut Memory, from: &Header, i: usize, j: usize) {
    let place = from.offset + i * from.strides[0] + j * from.strides[1];
    memory.copy(place, i * from.shape[1] + j);
}

fn rows(memory: &mut Memory, from: &Header) {
    for i in 0..from.shape[0] {
        for j in 0..from.shape[1] {
            copy(memory, from, i, j);
        }
    }
}

fn columns(memory: &mut Memory, from: &Header) {
    for j in 0..from.shape[1] {
        for i in 0..from.shape[0] {
            copy(memory, from, i, j);
        }
    }
}

/// As the engine does, but for its detour over a small square: `src/device/cpu/turn.rs`.
fn tiles(memory: &mut Memory, from: &Header) {
    for top in (0..from.shape[0]).step_by(LINE) {
        for left in (0..from.shape[1]).step_by(LINE) {
            for i in top..(top + LINE).min(from.shape[0]) {
                for j in left..(left + LINE).min(from.shape[1]) {
                    copy(memory, from, i, j);
                }
            }
        }
    }
}
