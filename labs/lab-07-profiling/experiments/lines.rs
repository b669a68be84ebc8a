//! A clock around each line of a training step, and what the device does for each.

use engine_room::nn::Module;
use engine_room::optim::Optimizer;
use engine_room::profiler::{GroupBy, profile, record_function};
use engine_room::sim::Gpu;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use super::network::{Network, seconds, simulated};

const WIDTH: usize = 256;
const BATCH: usize = 1024;
const LINES: [&str; 6] = [
    "optimizer.zero_grad()",
    "forecast = model(x)",
    "loss = loss_fn(forecast, y)",
    "loss.backward()",
    "optimizer.step()",
    "total += loss.item()",
];

/// Prints a row a line.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = simulated(output, Gpu::T4)?;
    let mut network = Network::new(WIDTH, BATCH, device, args.seed);
    network.step();
    let profiled = profile(&[device], |_| step(&mut network));
    let (_, profile) = profiled.map_err(|error| error.to_string())?;
    output.say(&format!(
        "A training step on a T4: three layers of {WIDTH}, {BATCH} samples, SGD. All times are \
         modelled.\n"
    ));
    let mut table = Table::new()
        .column("line", "line", "")
        .column("clock", "clock around it", "")
        .column("device", "work for the GPU", "");
    let averages = profile.key_averages(GroupBy::Name);
    let (mut clock, mut device) = (0, 0);
    let mut of_backward = 0;
    for line in LINES {
        let row = averages.rows.iter().find(|row| row.key == line);
        let (cpu, gpu) = row.map_or((0, 0), |row| (row.cpu_time_total, row.device_time_total));
        if line == LINES[3] {
            of_backward = cpu;
        }
        clock += cpu;
        device += gpu;
        table.row([line.into(), Cell::Seconds(seconds(cpu)), Cell::Seconds(seconds(gpu))]);
    }
    table.row(["sum".into(), Cell::Seconds(seconds(clock)), Cell::Seconds(seconds(device))]);
    output.table("rows", &table);
    output.prediction("7.a", of_backward as f64 * 1e-3, "microseconds");
    Ok(())
}

/// A step, each line in a range of its own.
fn step(network: &mut Network) -> f32 {
    let within = |line: usize| record_function(LINES[line]);
    let zero_grad = within(0);
    network.optimizer.zero_grad(true);
    drop(zero_grad);
    let forward = within(1);
    let forecast = network.model.forward(&network.x);
    drop(forward);
    let of_loss = within(2);
    let loss = network.loss(&forecast);
    drop(of_loss);
    let backward = within(3);
    loss.backward();
    drop(backward);
    let step = within(4);
    network.optimizer.step();
    drop(step);
    let _item = within(5);
    loss.item()
}
