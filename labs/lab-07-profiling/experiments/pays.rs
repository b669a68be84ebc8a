//! An optimisation that does not pay: a faster GPU under a step that the host cannot keep up with.

use engine_room::sim::Gpu;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use super::network::{device_ns, seconds, wall_ns};
use super::roofline::step;

/// Prints a row a GPU and batch.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say("The same step on three GPUs. All times are modelled.\n");
    let mut table = Table::new()
        .column("texts", "texts", "")
        .column("gpu", "GPU", "")
        .column("kernels", "its kernels", "")
        .column("step", "the step", "")
        .column("kernels_gain", "kernels faster", "")
        .column("step_gain", "step faster", "");
    // Of the last GPU over the first, for each batch.
    let mut gains = Vec::new();
    for batch in [2, 16] {
        let mut first = None;
        let mut gain = 0.0;
        for gpu in [Gpu::T4, Gpu::A100, Gpu::H100] {
            let profile = step(output, gpu, batch, args.seed)?;
            let times = [seconds(device_ns(&profile)), seconds(wall_ns(&profile))];
            let of_first = *first.get_or_insert(times);
            gain = of_first[1] / times[1];
            table.row([
                Cell::Count(batch as u64),
                gpu.figures().name.into(),
                Cell::Seconds(times[0]),
                Cell::Seconds(times[1]),
                Cell::Ratio(of_first[0] / times[0]),
                Cell::Ratio(gain),
            ]);
        }
        gains.push(gain);
    }
    output.table("rows", &table);
    output.prediction("7.b", gains[0], "times");
    Ok(())
}
