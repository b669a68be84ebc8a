//! How long the host is held by a copy of 64 MiB, and by four bytes behind one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine_room::{DType, Device, Misuse, Tensor, sim};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::experiments::GPU;

const BYTES: usize = 64 << 20;
const DEVICE: Device = Device::Sim(GPU);

/// Prints both clocks after each call, then what reading too early gives.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    let pageable = Tensor::full_on(&[BYTES], 1.0, DType::U8, Device::Cpu);
    let pinned = pageable.pin_memory();
    let loss = Tensor::ones(&[1]).to(DEVICE);
    output.say("64 MiB to a T4. All times are modelled.\n");
    let mut table = Table::new()
        .column("call", "call", "")
        .column("host", "host back after", "modelled")
        .column("device", "copy done after", "modelled");
    let mut row = |call: &str, run: &dyn Fn() -> Tensor| {
        sim::reset(GPU);
        let kept = run();
        let clock = sim::clock(GPU);
        let seconds = |ns| Cell::Seconds(ns as f64 * 1e-9);
        table.row([call.into(), seconds(clock.host_ns), seconds(clock.device_ns)]);
        drop(kept);
    };
    row("pageable.to(gpu)", &|| pageable.to(DEVICE));
    row("pageable.to_non_blocking(gpu)", &|| pageable.to_non_blocking(DEVICE));
    row("pinned.to(gpu)", &|| pinned.to(DEVICE));
    row("pinned.to_non_blocking(gpu)", &|| pinned.to_non_blocking(DEVICE));
    row("loss.to(cpu), 4 bytes", &|| loss.to(Device::Cpu));
    row("the last two, one after the other", &|| {
        let sent = pinned.to_non_blocking(DEVICE);
        loss.to(Device::Cpu);
        sent
    });
    output.table("rows", &table);
    sim::reset(GPU);
    let early = loss.to_non_blocking(Device::Cpu);
    output.say(&too_early(&early)?);
    DEVICE.synchronize().map_err(|e| e.to_string())?;
    output.say(&format!("After synchronize it reads {}.", early.item()));
    Ok(())
}

/// What the engine says to somebody who reads a copy that is under way.
fn too_early(copy: &Tensor) -> Result<String, String> {
    let read = catch_unwind(AssertUnwindSafe(|| copy.item()));
    let payload = read.err().ok_or("the copy was there at once")?;
    let misuse = payload.downcast_ref::<Misuse>().ok_or("it failed in another way")?;
    let Misuse { op, operands, message, .. } = misuse;
    let (operands, message) = (operands.join(", "), message.replace("; ", ";\n"));
    Ok(format!("Reading the loss while it is on its way:\n{op}({operands}):\n{message}\n"))
}
