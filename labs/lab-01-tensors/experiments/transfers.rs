//! Copies to a simulated GPU: time against size, and the same bytes in more and more calls.

use engine_room::driver::{HostMemory, Nanoseconds, Route};
use engine_room::sim::{self, Gpu};
use engine_room::{DType, Device, Tensor};
use engine_room_labs::cell::binary_bytes;
use engine_room_labs::{Cell, LabArgs, Output, Plot, Table};

use crate::exercise;
use crate::experiments::GPU;
use crate::pipeline::send_one_by_one;

const TOTAL: usize = 64 << 20;
const COUNTS: [usize; 5] = [1, 16, 256, 1024, 16_384];

/// From 4 bytes to 64 MiB.
fn sizes() -> impl Iterator<Item = usize> {
    (0..7).map(|i| 4 << (4 * i))
}

/// Prints the points and the lines through them, then the calls.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let (pageable, pinned) = (points(HostMemory::Pageable), points(HostMemory::Pinned));
    output.say("Copies to a T4, one call each. All times are modelled.\n");
    output.table("rows", &by_size(&pageable, &pinned));
    output.say("A line through the points, time = latency + bytes / bandwidth:\n");
    output.table("fits", &fits(&pageable, &pinned));
    output.say(&format!("{} from pinned memory to a T4:\n", binary_bytes(TOTAL as u64)));
    let times = COUNTS.map(|count| (count, in_parts(count)));
    output.table("calls", &by_calls(args, &times));
    if args.mine {
        output
            .say("The last row is yours: 1,024 tensors of 64 KiB, as your send_all sends them.\n");
    }
    let of = |count| times.iter().find(|time| time.0 == count).map_or(0, |time| time.1);
    output.prediction("1.b", of(1024) as f64 / of(1) as f64, "times");
    let (x, y) = (("size of the copy", "bytes"), ("time, modelled", "seconds"));
    let mut plot = Plot::lines("One copy to a T4", x, y).log_x().log_y();
    for (name, points) in [("from pageable memory", &pageable), ("from pinned memory", &pinned)] {
        plot.series(name, points.iter().map(|&(bytes, ns)| (bytes, ns * 1e-9)));
    }
    output.plot(&plot)
}

/// Bytes and nanoseconds of one copy each.
type Points = Vec<(f64, f64)>;

fn points(memory: HostMemory) -> Points {
    sizes().map(|bytes| (bytes as f64, time(&host(bytes, memory), 1) as f64)).collect()
}

/// So many bytes in the host's memory.
fn host(bytes: usize, memory: HostMemory) -> Tensor {
    let tensor = Tensor::full_on(&[bytes], 1.0, DType::U8, Device::Cpu);
    if memory == HostMemory::Pinned { tensor.pin_memory() } else { tensor }
}

/// What the modelled clock shows when the tensor has been sent so many times.
fn time(tensor: &Tensor, count: usize) -> Nanoseconds {
    let tensors = vec![tensor.clone(); count];
    sim::reset(GPU);
    let sent = send_one_by_one(&tensors, Device::Sim(GPU));
    let time = sim::clock(GPU).host_ns;
    drop(sent);
    time
}

fn in_parts(count: usize) -> Nanoseconds {
    time(&host(TOTAL / count, HostMemory::Pinned), count)
}

fn by_size(pageable: &Points, pinned: &Points) -> Table {
    let mut table = Table::new()
        .column("size", "size", "")
        .column("pageable", "pageable", "modelled")
        .column("pinned", "pinned", "modelled")
        .column("share", "pinned, of the link's speed", "");
    let link = Gpu::T4.figures().pinned as f64 * 1e-9;
    for (&(bytes, slow), &(_, fast)) in pageable.iter().zip(pinned) {
        let size = binary_bytes(bytes as u64);
        let share = Cell::Share(bytes / fast / link);
        table.row([size.into(), Cell::Seconds(slow * 1e-9), Cell::Seconds(fast * 1e-9), share]);
    }
    table
}

/// A line for each kind of memory and GPU, and the size at which latency is half of the time.
fn fits(pageable: &Points, pinned: &Points) -> Table {
    let mut table = Table::new()
        .column("what", "from", "")
        .column("latency", "latency", "modelled")
        .column("bandwidth", "GB/s", "modelled")
        .column("half", "half speed at", "bytes");
    let mut row = |what: &str, points: &Points| {
        let (latency, per_byte) = line(points);
        table.row([
            what.into(),
            Cell::Seconds(latency * 1e-9),
            Cell::Number(1.0 / per_byte),
            Cell::Bytes((latency / per_byte).round() as u64),
        ]);
    };
    row("pageable to a T4", pageable);
    row("pinned to a T4", pinned);
    sim::select_gpu(GPU, Gpu::H100);
    row("pinned to an H100", &points(HostMemory::Pinned));
    sim::select_gpu(GPU, Gpu::T4);
    table
}

/// Intercept and slope of the line with the smallest sum of squared *relative* errors: one
/// microsecond is much at 10 and nothing at 5,000, and plain least squares sees the latter only.
fn line(points: &Points) -> (f64, f64) {
    let sum = |f: fn(f64, f64) -> f64| points.iter().map(|&(x, y)| f(x, y)).sum::<f64>();
    let (w, wx, wxx) = (sum(|_, y| 1.0 / y / y), sum(|x, y| x / y / y), sum(|x, y| x * x / y / y));
    let (wy, wxy) = (sum(|_, y| 1.0 / y), sum(|x, y| x / y));
    let slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    ((wy - slope * wx) / w, slope)
}

fn by_calls(args: &LabArgs, times: &[(usize, Nanoseconds)]) -> Table {
    let mut table = Table::new()
        .column("calls", "calls", "")
        .column("bytes", "each", "bytes")
        .column("time", "time", "modelled")
        .column("ratio", "of one call", "");
    let mut row = |count: u64, bytes, time: Nanoseconds| {
        let ratio = Cell::Ratio(time as f64 / times[0].1 as f64);
        table.row([
            Cell::Count(count),
            Cell::Bytes(bytes),
            Cell::Seconds(time as f64 * 1e-9),
            ratio,
        ]);
    };
    for &(count, time) in times {
        row(count as u64, (TOTAL / count) as u64, time);
    }
    if args.mine {
        let parts = vec![Tensor::ones(&[TOTAL / 4 / 1024]); 1024];
        sim::reset(GPU);
        let sent = exercise::send_all(&parts, Device::Sim(GPU));
        let (time, copies) = (sim::clock(GPU).host_ns, sim::transfers(GPU));
        drop(sent);
        let of = |memory| copies.on(Route::ToDevice(memory)).count;
        let calls = of(HostMemory::Pinned) + of(HostMemory::Pageable);
        row(calls, (TOTAL as u64).checked_div(calls).unwrap_or(0), time);
    }
    table
}
