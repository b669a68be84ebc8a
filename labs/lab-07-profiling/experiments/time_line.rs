//! Three products and a result that is read: when the host asks, and when the device works.

use engine_room::Tensor;
use engine_room::profiler::{Event, Kind, profile};
use engine_room::rng::Generator;
use engine_room::sim::Gpu;
use engine_room_labs::time_line::{Lane, Span, svg};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use super::network::{seconds, simulated};

const WIDTH: usize = 256;

/// Prints a row an event.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = simulated(output, Gpu::T4)?;
    let mut generator = Generator::new(args.seed);
    let x = Tensor::randn(&[WIDTH, WIDTH], &mut generator).to(device);
    let w = Tensor::randn(&[WIDTH, WIDTH], &mut generator).to(device);
    drop(x.matmul(&w));
    let run = |_: &_| {
        let y = x.matmul(&w).matmul(&w).matmul(&w);
        y.select(0, 0).select(0, 0).item()
    };
    let (_, profile) = profile(&[device], run).map_err(|error| error.to_string())?;
    let is_shown =
        |event: &&Event| matches!(event.kind, Kind::Call(_)) || event.kind.is_on_device();
    let mut events: Vec<&Event> = profile.events().iter().filter(is_shown).collect();
    events.sort_by_key(|event| (event.start_ns, event.kind.is_on_device()));
    output.say("Three products of 256 x 256 on a T4, and then `item()` of a number of the last.\n");
    let mut table = Table::new()
        .column("event", "event", "")
        .column("where", "where", "")
        .column("start", "from", "modelled")
        .column("end", "to", "modelled")
        .column("time", "takes", "modelled");
    for event in &events {
        let place = if event.kind.is_on_device() { "GPU" } else { "host" };
        let times = [event.start_ns, event.end_ns, event.duration_ns()];
        let times = times.map(|ns| Cell::Seconds(seconds(ns)));
        table.row([event.name.as_str().into(), place.into()].into_iter().chain(times));
    }
    output.table("rows", &table);
    let lane = |name: &str, on_device: bool| Lane {
        name: name.to_string(),
        spans: spans(&events, on_device),
    };
    let lanes = [lane("host", false), lane("GPU", true)];
    output.figure(&svg("Who is busy, and when? (modelled, T4)", &lanes)?)
}

fn spans(events: &[&Event], on_device: bool) -> Vec<Span> {
    let of_lane = events.iter().filter(|event| event.kind.is_on_device() == on_device);
    let span = |event: &&&Event| Span {
        name: event.name.clone(),
        start: seconds(event.start_ns),
        end: seconds(event.end_ns),
    };
    of_lane.filter(|event| event.duration_ns() > 0).map(|event| span(&event)).collect()
}
