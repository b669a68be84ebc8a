//! A GPU that is almost empty and has no room: where its free bytes lie, and what helps.

use engine_room::memory::{
    SegmentState, Settings, empty_cache, memory_allocated, memory_reserved, memory_snapshot,
    set_allocator_settings,
};
use engine_room::{Device, Error, Tensor, catch};
use engine_room_labs::cell::binary_bytes;
use engine_room_labs::memory_map::Bar;
use engine_room_labs::{Cell, LabArgs, Output, Table, memory_map};

use crate::experiments::gpu::{MIB, bar, small, tensor};

const CAPACITY: u64 = 64 * MIB;
const LARGE: u64 = 40 * MIB;
const LASTING: u64 = 2 * MIB;

/// One way to make the same two tensors.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    lasting_first: bool,
    max_split_size: u64,
    /// Whether the cache is emptied: before the lasting tensor is made, and after.
    emptied: [bool; 2],
}

const AS_IT_IS: Way = Way {
    name: "as it is",
    lasting_first: false,
    max_split_size: u64::MAX,
    emptied: [false, false],
};

const WAYS: [Way; 5] = [
    AS_IT_IS,
    Way { name: "empty_cache() before the last line", emptied: [false, true], ..AS_IT_IS },
    Way { name: "empty_cache() before the 2 MiB", emptied: [true, false], ..AS_IT_IS },
    Way { name: "the 2 MiB first", lasting_first: true, ..AS_IT_IS },
    Way { name: "max_split_size of 24 MiB", max_split_size: 24 << 20, ..AS_IT_IS },
];

/// Those that the figure shows.
const DRAWN: [usize; 3] = [0, 3, 4];

/// What came of it.
struct Outcome {
    allocated: u64,
    reserved: u64,
    largest_free: u64,
    segments: Vec<SegmentState>,
    last: Result<Tensor, Error>,
}

/// Prints what the engine says, and a row a way.
pub fn run(_args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(
        "A GPU of 64 MiB. A tensor of 40 MiB comes and goes, one of 2 MiB comes and stays, and \
         then 40 MiB\nare asked for again. The engine says:\n",
    );
    let mut table = Table::new()
        .column("way", "what is changed", "")
        .column("allocated", "allocated", "")
        .column("reserved", "reserved", "")
        .column("largest", "largest hole", "")
        .column("last", "the last line", "");
    let mut bars = Vec::new();
    for (number, way) in (0..).zip(&WAYS) {
        let gpu = small(output, 2 + number, CAPACITY)?;
        let outcome = play(gpu, way);
        if let (0, Err(error)) = (number, &outcome.last) {
            output.say(&wrapped(&error.to_string()));
        }
        if DRAWN.contains(&number) {
            bars.extend(outcome.segments.iter().map(|it| drawn(way, it)));
        }
        table.row([
            way.name.into(),
            Cell::Bytes(outcome.allocated),
            Cell::Bytes(outcome.reserved),
            Cell::Bytes(outcome.largest_free),
            if outcome.last.is_ok() { "fits".into() } else { "out of memory".into() },
        ]);
    }
    output.say("Before the last line, by what is changed:\n");
    output.table("rows", &table);
    let title = "64 MiB before the last line: what is reserved, and by whom";
    output.figure(&memory_map::svg(title, &bars, Some(CAPACITY))?)
}

fn play(gpu: Device, way: &Way) -> Outcome {
    let settings = Settings { max_split_size: way.max_split_size, ..Settings::default() };
    set_allocator_settings(gpu, settings);
    let early = way.lasting_first.then(|| tensor(LASTING, gpu));
    let [before, after] = way.emptied;
    drop(tensor(LARGE, gpu));
    if before {
        empty_cache(gpu);
    }
    let _lasting = early.unwrap_or_else(|| tensor(LASTING, gpu));
    if after {
        empty_cache(gpu);
    }
    let segments = memory_snapshot(gpu).segments;
    let blocks = segments.iter().flat_map(|segment| &segment.blocks);
    let free = blocks.filter(|block| block.requested == 0).map(|block| block.size);
    Outcome {
        allocated: memory_allocated(gpu),
        reserved: memory_reserved(gpu),
        largest_free: free.max().unwrap_or(0),
        segments,
        last: catch(|| tensor(LARGE, gpu)),
    }
}

fn drawn(way: &Way, segment: &SegmentState) -> Bar {
    let label = format!("{}: a segment of {}", way.name, binary_bytes(segment.size));
    bar(segment, label, |_| "stays".to_string())
}

/// In lines that a page has room for, broken between words.
pub fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is one from the start");
        match last.len() + word.len() {
            0..96 if last.is_empty() => last.push_str(word),
            0..96 => *last += &format!(" {word}"),
            _ => lines.push(word.to_string()),
        }
    }
    lines.iter().map(|line| format!("  {line}\n")).collect()
}
