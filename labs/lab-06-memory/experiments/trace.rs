//! A few tensors come and go, and the allocator says where it has put them.

use std::collections::BTreeMap;

use engine_room::memory::{
    SegmentState, memory_allocated, memory_reserved, memory_snapshot, memory_stats,
};
use engine_room::{Device, Tensor, sim};
use engine_room_labs::cell::binary_bytes;
use engine_room_labs::memory_map::{self, Bar};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::experiments::gpu::{KIB, MIB, bar, small, tensor};
use crate::experiments::mine::Allocator;

const GPU: usize = 1;

/// A tensor that is made with so many bytes, or dropped.
const PROGRAM: [(&str, Option<u64>); 11] = [
    ("a", Some(4)),
    ("b", Some(300 * KIB)),
    ("c", Some(MIB)),
    ("d", Some(MIB + 1)),
    ("e", Some(6 * MIB)),
    ("b", None),
    ("f", Some(100 * KIB)),
    ("d", None),
    ("e", None),
    ("g", Some(12 * MIB)),
    ("h", Some(15 * MIB)),
];

/// What an allocator says after a line.
pub struct After {
    /// Of the line's tensor: bytes of its block, number of its segment, distance from its start.
    pub place: Option<(u64, usize, u64)>,
    pub allocated: u64,
    pub reserved: u64,
    /// How often the driver was asked for a segment.
    pub calls: u64,
}

/// Prints a row a line of the program.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let gpu = small(output, GPU, sim::capacity(GPU))?;
    output.say("Eleven lines on a GPU that holds nothing yet. All numbers are bytes.\n");
    if args.mine {
        output.say("All columns behind \"asked\" are by your functions of 6.1 and 6.2.\n");
    }
    let mut table = Table::new()
        .column("line", "line", "")
        .column("asked", "asked", "")
        .column("block", "block", "")
        .column("segment", "in", "")
        .column("offset", "at", "")
        .column("allocated", "allocated", "")
        .column("reserved", "reserved", "")
        .column("calls", "driver calls", "");
    let mut tensors: BTreeMap<&str, Tensor> = BTreeMap::new();
    let mut mine = Allocator::default();
    for (name, bytes) in PROGRAM {
        let after = match args.mine {
            true => mine.line(name, bytes),
            false => line(gpu, &mut tensors, name, bytes),
        };
        table.row(row(name, bytes, &after));
    }
    output.table("rows", &table);
    if args.mine {
        return Ok(());
    }
    let title = "The segments after the last line";
    output.figure(&memory_map::svg(title, &drawn(gpu, &tensors), None)?)
}

/// Runs a line with the engine's allocator.
fn line<'a>(
    gpu: Device,
    tensors: &mut BTreeMap<&'a str, Tensor>,
    name: &'a str,
    bytes: Option<u64>,
) -> After {
    match bytes {
        Some(bytes) => drop(tensors.insert(name, tensor(bytes, gpu))),
        None => drop(tensors.remove(name)),
    }
    let segments = memory_snapshot(gpu).segments;
    After {
        place: tensors.get(name).and_then(|x| place(&segments, x.data_ptr())),
        allocated: memory_allocated(gpu),
        reserved: memory_reserved(gpu),
        calls: memory_stats(gpu)["num_device_alloc"],
    }
}

fn place(segments: &[SegmentState], at: u64) -> Option<(u64, usize, u64)> {
    segments.iter().enumerate().find_map(|(number, segment)| {
        let block = segment.blocks.iter().find(|block| block.address == at)?;
        Some((block.size, number, at - segment.address))
    })
}

fn row(name: &str, bytes: Option<u64>, after: &After) -> Vec<Cell> {
    let line = if bytes.is_some() { format!("{name} = ...") } else { format!("del {name}") };
    let mut cells = vec![line.into(), bytes.map_or(Cell::Missing, Cell::Bytes)];
    cells.extend(match after.place {
        Some((block, segment, offset)) => {
            [Cell::Bytes(block), letter(segment).into(), Cell::Bytes(offset)]
        }
        None => [Cell::Missing, "".into(), Cell::Missing],
    });
    cells.extend([after.allocated, after.reserved].map(Cell::Bytes));
    cells.push(Cell::Count(after.calls));
    cells
}

fn drawn(gpu: Device, tensors: &BTreeMap<&str, Tensor>) -> Vec<Bar> {
    let name = |address| {
        let there = tensors.iter().find(|(_, tensor)| tensor.data_ptr() == address);
        there.map_or(String::new(), |(name, _)| name.to_string())
    };
    let segments = memory_snapshot(gpu).segments;
    let drawn = segments.iter().enumerate().map(|(number, segment)| {
        let pool = if segment.small { "small" } else { "large" };
        let size = binary_bytes(segment.size);
        bar(segment, format!("{}: {size}, {pool} pool", letter(number)), |it| name(it.address))
    });
    drawn.collect()
}

/// Segments lie in memory in the order in which they were taken, as long as none is given back.
fn letter(number: usize) -> String {
    char::from(b'A' + number as u8).to_string()
}
