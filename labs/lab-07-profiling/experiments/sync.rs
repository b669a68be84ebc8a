//! A training loop that reads each loss, and one that reads them at the end.

use engine_room::Device;
use engine_room::profiler::profile;
use engine_room::sim::Gpu;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use super::network::{Network, device_ns, seconds, simulated, wall_ns};

const STEPS: usize = 4;
/// Width and batch.
const SIZES: [(usize, usize); 3] = [(64, 64), (128, 256), (256, 256)];

/// Prints two rows a size.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = simulated(output, Gpu::T4)?;
    output.say(&format!("{STEPS} steps on a T4, three layers. All times are modelled.\n"));
    let mut table = Table::new()
        .column("width", "width", "")
        .column("batch", "batch", "")
        .column("reads", "reads the loss", "")
        .column("time", "a step", "")
        .column("idle", "the GPU idles", "");
    for (width, batch) in SIZES {
        for each in [true, false] {
            let (wall, busy) = trained(width, batch, each, device, args.seed)?;
            table.row([
                Cell::Count(width as u64),
                Cell::Count(batch as u64),
                (if each { "in each step" } else { "at the end" }).into(),
                Cell::Seconds(seconds(wall) / STEPS as f64),
                Cell::Share(1.0 - busy as f64 / wall as f64),
            ]);
        }
    }
    output.table("rows", &table);
    Ok(())
}

/// How long it is until all is done, and how long the device has worked.
fn trained(
    width: usize,
    batch: usize,
    each: bool,
    device: Device,
    seed: u64,
) -> Result<(u64, u64), String> {
    let mut network = Network::new(width, batch, device, seed);
    network.step();
    let run = |_: &_| {
        let mut losses = Vec::new();
        for _ in 0..STEPS {
            let loss = network.step();
            losses.push(if each { loss.to(Device::Cpu) } else { loss });
        }
        losses.iter().map(|loss| loss.item()).sum::<f32>()
    };
    let (_, profile) = profile(&[device], run).map_err(|error| error.to_string())?;
    Ok((wall_ns(&profile), device_ns(&profile)))
}
