//! Every kernel of a GPT's training step under the roofs of four GPUs.

use engine_room::profiler::{Bound, Profile, Roof, Roofs, profile};
use engine_room::sim::Gpu;
use engine_room_labs::{Cell, LabArgs, Output, Table, roofline};

use super::network::{GPT, Language, device_ns, simulated};

const BATCH: usize = 8;
const SHOWN: usize = 6;
const BOUNDS: [(Bound, &str); 5] = [
    (Bound::By(Roof::Memory), "memory"),
    (Bound::By(Roof::L2), "L2"),
    (Bound::By(Roof::Arithmetic), "arithmetic"),
    (Bound::Launches, "launches"),
    (Bound::Neither, "none of these"),
];

/// The second step of a training on a GPU.
pub fn step(output: &mut Output, gpu: Gpu, batch: usize, seed: u64) -> Result<Profile, String> {
    let device = simulated(output, gpu)?;
    let mut language = Language::new(batch, device, seed);
    language.step();
    let profiled = profile(&[device], |_| language.step());
    Ok(profiled.map_err(|error| error.to_string())?.1)
}

/// Prints a row a GPU, and the kernels that take longest on the first.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(&format!(
        "A training step of a GPT: {} blocks of width {}, {BATCH} texts of {} tokens. What the \
         time of the kernels goes by, modelled:\n",
        GPT.layers, GPT.width, GPT.context
    ));
    let mut table = Table::new().column("gpu", "GPU", "").column("ridge", "ridge", "");
    for (_, name) in BOUNDS {
        table = table.column(name, name, "");
    }
    let mut first = None;
    for gpu in [Gpu::T4, Gpu::A100, Gpu::H100, Gpu::H200] {
        let profile = step(output, gpu, BATCH, args.seed)?;
        let roofs = Roofs::of(gpu);
        let roofline = profile.roofline(&roofs);
        let all = device_ns(&profile) as f64;
        let shares = BOUNDS.map(|(bound, _)| {
            let rows = roofline.rows.iter().filter(|row| row.bound == bound);
            Cell::Share(rows.map(|row| row.time_ns).sum::<u64>() as f64 / all)
        });
        let head = [gpu.figures().name.into(), Cell::Number(roofs.ridge())];
        table.row(head.into_iter().chain(shares));
        first.get_or_insert(roofline);
    }
    output.table("rows", &table);
    let roofline = first.ok_or("there is a first GPU")?;
    output
        .say(&format!("\nThe {SHOWN} kernels that take longest on the {}:\n", roofline.roofs.name));
    let mut kernels = Table::new()
        .column("kernel", "kernel", "")
        .column("calls", "calls", "")
        .column("time", "time", "")
        .column("intensity", "FLOP a byte", "")
        .column("share", "of its roof", "")
        .column("bound", "goes by", "");
    for row in roofline.rows.iter().take(SHOWN) {
        kernels.row([
            row.name.as_str().into(),
            Cell::Count(row.calls),
            Cell::Seconds(row.time_ns as f64 * 1e-9),
            row.intensity().map_or(Cell::Missing, Cell::Number),
            row.nearest.map_or(Cell::Missing, |(_, share)| Cell::Share(share)),
            row.bound.to_string().as_str().into(),
        ]);
    }
    output.table("kernels", &kernels);
    output.figure(&roofline::svg("A GPT's training step on a T4 (modelled)", &roofline)?)
}
