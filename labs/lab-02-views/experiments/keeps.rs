//! What a view keeps alive, and what an address proves.

use engine_room::memory::memory_allocated;
use engine_room::{Device, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::experiments::share;

/// Prints the memory that a row of a matrix holds, and addresses of views and copies.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.table("held", &held());
    output.say("Addresses, in bytes from that of x: [3, 4] in f32:\n");
    output.table("addresses", &addresses());
    Ok(())
}

/// A row of a matrix is kept, and the matrix is not.
fn held() -> Table {
    let before = memory_allocated(Device::Cpu);
    let held = || Cell::Bytes(memory_allocated(Device::Cpu) - before);
    let mut table = Table::new()
        .column("line", "line", "")
        .column("shows", "row shows", "bytes")
        .column("held", "held in all", "bytes");
    let x = Tensor::ones(&[4096, 4096]);
    table.row(["let x = Tensor::ones(&[4096, 4096])".into(), Cell::Missing, held()]);
    let mut row = x.select(0, 0);
    table.row(["let mut row = x.select(0, 0)".into(), Cell::Bytes(row.nbytes()), held()]);
    drop(x);
    table.row(["drop(x)".into(), Cell::Bytes(row.nbytes()), held()]);
    row = row.copy();
    table.row(["row = row.copy()".into(), Cell::Bytes(row.nbytes()), held()]);
    table
}

fn addresses() -> Table {
    let x = Tensor::arange(12).reshape(&[3, 4]);
    let turned = x.transpose(0, 1);
    let mut table = Table::new()
        .column("y", "y", "")
        .column("address", "y.data_ptr()", "")
        .column("storage", "storage", "");
    for (name, y) in [
        ("x.transpose(0, 1)", x.transpose(0, 1)),
        ("x.narrow(0, 1, 2)", x.narrow(0, 1, 2)),
        ("x.narrow(1, 1, 2)", x.narrow(1, 1, 2)),
        ("x.reshape(&[12])", x.reshape(&[12])),
        ("x.contiguous()", x.contiguous()),
        ("x.transpose(0, 1).reshape(&[12])", turned.reshape(&[12])),
        ("x.transpose(0, 1).contiguous()", turned.contiguous()),
    ] {
        let (address, storage) = match share(&x, &y) {
            true => (format!("+{}", y.data_ptr() - x.data_ptr()), "that of x"),
            false => ("elsewhere".to_string(), "its own"),
        };
        table.row([name.into(), address.into(), storage.into()]);
    }
    table
}

/// New tensors of each size.
const TRIES: u64 = 100;

/// Counts how often a new tensor lies where a freed one lay.
pub fn reuse(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!(
        "A tensor is freed and another of its size is made. Of {TRIES}, at the same address:\n"
    ));
    let mut table = Table::new().column("shape", "shape", "").column("same", "same address", "");
    for size in [16, 256, 4096] {
        let same = (0..TRIES).filter(|_| {
            let first = Tensor::ones(&[size, size]);
            let address = first.data_ptr();
            drop(first);
            Tensor::zeros(&[size, size]).data_ptr() == address
        });
        table.row([format!("[{size}, {size}]").into(), Cell::Count(same.count() as u64)]);
    }
    output.table("rows", &table);
    Ok(())
}
