//! What a kernel takes, by its size, against what its launch takes.

use engine_room::profiler::profile;
use engine_room::rng::Generator;
use engine_room::sim::Gpu;
use engine_room::{Device, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Plot, Table};

use super::network::{device_ns, seconds, simulated, wall_ns};

/// So many kernels of one size, one after the other.
const KERNELS: u64 = 32;
/// Numbers that are added, as powers of two.
const SIZES: [u32; 6] = [0, 8, 12, 16, 18, 20];

/// Prints a row a size.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = simulated(output, Gpu::T4)?;
    output.say(&format!(
        "{KERNELS} times `a.add(&b)` on a T4, then the host waits. Times of one, modelled:\n"
    ));
    let mut table = Table::new()
        .column("numbers", "numbers", "")
        .column("kernel", "the kernel", "")
        .column("each", "each of 32", "")
        .column("idle", "the GPU idles", "");
    let (mut kernels, mut calls) = (Vec::new(), Vec::new());
    for power in SIZES {
        let (kernel, wall) = timed(1 << power, device, args.seed)?;
        let (kernel, each) = (seconds(kernel) / KERNELS as f64, seconds(wall) / KERNELS as f64);
        let numbers = 1_u64 << power;
        let idle = Cell::Share(1.0 - kernel / each);
        table.row([Cell::Count(numbers), Cell::Seconds(kernel), Cell::Seconds(each), idle]);
        kernels.push((numbers as f64, kernel));
        calls.push((numbers as f64, each));
    }
    output.table("rows", &table);
    let title = "A kernel and its launch (modelled, T4)";
    let mut plot = Plot::lines(title, ("numbers", ""), ("time of one", "seconds")).log_x().log_y();
    plot.series("each of 32, with the launch", calls);
    plot.series("the kernel alone", kernels);
    output.plot(&plot)
}

/// What the device takes for all of them, and how long it is until they are done.
fn timed(numbers: usize, device: Device, seed: u64) -> Result<(u64, u64), String> {
    let mut generator = Generator::new(seed);
    let a = Tensor::randn(&[numbers], &mut generator).to(device);
    let b = Tensor::randn(&[numbers], &mut generator).to(device);
    drop(a.add(&b));
    let run = |_: &_| {
        for _ in 0..KERNELS {
            drop(a.add(&b));
        }
        device.synchronize()
    };
    let (waited, profile) = profile(&[device], run).map_err(|error| error.to_string())?;
    waited.map_err(|error| error.to_string())?;
    Ok((device_ns(&profile), wall_ns(&profile)))
}
