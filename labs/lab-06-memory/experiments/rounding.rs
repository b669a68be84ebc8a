//! What some sizes cost: asked, allocated and reserved.

use engine_room::memory::{empty_cache, memory_allocated, memory_reserved};
use engine_room::{DType, Device, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table};

const SIZES: [usize; 6] = [1, 512, 513, 1 << 20, (1 << 20) + 1, 10 << 20];

/// One tensor at a time, on a simulated GPU.
pub fn run(_args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = Device::Sim(0);
    let mut table = Table::new()
        .column("asked", "asked", "bytes")
        .column("allocated", "allocated", "bytes")
        .column("reserved", "reserved", "bytes");
    for size in SIZES {
        empty_cache(device);
        let x = Tensor::zeros(&[size]).to(DType::U8).to(device);
        table.row([
            Cell::Bytes(size as u64),
            Cell::Bytes(memory_allocated(device)),
            Cell::Bytes(memory_reserved(device)),
        ]);
        drop(x);
    }
    output.table("rounding", &table);
    Ok(())
}
