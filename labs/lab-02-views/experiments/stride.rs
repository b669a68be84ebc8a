//! As many numbers, further and further apart.

use engine_room::{Layout, Tensor};
use engine_room_labs::cell::thousands;
use engine_room_labs::{Cell, LabArgs, Output, Plot, Table, shortest_seconds};

use crate::cache::{LINE, Memory};

/// Numbers of each copy, and of the storage that they come from.
const TAKEN: usize = 1 << 18;
const STORED: usize = 1 << 24;
const STRIDES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Prints a row a stride, and draws them.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!("{} numbers of f32, one copy:\n", thousands(TAKEN as u64)));
    let x = Tensor::ones(&[STORED]);
    let mut table = Table::new()
        .column("stride", "stride", "")
        .column("lines", "lines read", "")
        .column("moved", "bytes read per byte used", "")
        .column("time", "time", "")
        .column("ratio", "of stride 1", "");
    let points = STRIDES.map(|stride| {
        let view = x.slice(0, 0, (TAKEN * stride) as isize, stride as isize);
        (stride, lines(view.layout()), shortest_seconds(49, || drop(view.copy())))
    });
    let moved = |lines: u64| (lines * LINE as u64) as f64 / TAKEN as f64;
    for (stride, lines, time) in points {
        table.row([
            Cell::Count(stride as u64),
            Cell::Count(lines),
            Cell::Ratio(moved(lines)),
            Cell::Seconds(time),
            Cell::Ratio(time / points[0].2),
        ]);
    }
    output.table("rows", &table);
    let at_line = points.iter().find(|point| point.0 == LINE).map_or(0.0, |point| point.2);
    output.prediction("2.a", at_line / points[0].2, "times");
    let mut plot = Plot::lines(
        "As many numbers, further apart",
        ("stride", "elements"),
        ("of stride 1", "times"),
    )
    .log_x()
    .log_y();
    plot.series("bytes read", points.map(|(stride, lines, _)| (stride as f64, moved(lines))));
    plot.series("time", points.map(|(stride, _, time)| (stride as f64, time / points[0].2)));
    output.plot(&plot)
}

/// Lines of the source that a copy fetches, counted.
fn lines(layout: &Layout) -> u64 {
    let mut memory = Memory::new(vec![0.0; STORED], layout.shape().numel());
    for (to, from) in layout.positions().enumerate() {
        memory.copy(from, to);
    }
    memory.fetched().source
}
