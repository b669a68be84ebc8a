//! Calls that look alike: how long each takes, and how many bytes it makes.

use engine_room::{Device, Tensor, memory};
use engine_room_labs::{Cell, LabArgs, Output, Table, shortest_seconds};

const SIZE: usize = 4096;

/// One line of code.
type Call = (&'static str, fn(&Tensor) -> Tensor);

const CALLS: [Call; 8] = [
    ("x.transpose(0, 1)", |x| x.transpose(0, 1)),
    ("x.narrow(1, 0, 1024)", |x| x.narrow(1, 0, 1024)),
    ("x.reshape(&[64, 64, 4096])", |x| x.reshape(&[64, 64, 4096])),
    ("x.transpose(0, 1).reshape(&[64, 64, 4096])", |x| x.transpose(0, 1).reshape(&[64, 64, 4096])),
    ("x.transpose(0, 1).reshape(&[-1])", |x| x.transpose(0, 1).reshape(&[-1])),
    ("x.narrow(1, 0, 1024).reshape(&[-1])", |x| x.narrow(1, 0, 1024).reshape(&[-1])),
    ("x.narrow(0, 0, 1024).reshape(&[-1])", |x| x.narrow(0, 0, 1024).reshape(&[-1])),
    ("x.flip(&[0])", |x| x.flip(&[0])),
];

/// Prints a row a call.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!("x: {SIZE} x {SIZE} in f32, 64 MiB. The shortest time of many calls:\n"));
    let x = Tensor::ones(&[SIZE, SIZE]);
    let mut table = Table::new()
        .column("call", "call", "")
        .column("bytes", "new memory", "bytes")
        .column("time", "time", "");
    for (name, call) in CALLS {
        let bytes = new_bytes(&x, call);
        let repeats = if bytes == 0 { 999 } else { 9 };
        let time = shortest_seconds(repeats, || drop(call(&x)));
        table.row([name.into(), Cell::Bytes(bytes), Cell::Seconds(time)]);
    }
    output.table("rows", &table);
    Ok(())
}

/// Bytes that are held because the result is.
fn new_bytes(x: &Tensor, call: fn(&Tensor) -> Tensor) -> u64 {
    let before = memory::memory_allocated(Device::Cpu);
    let result = call(x);
    let bytes = memory::memory_allocated(Device::Cpu) - before;
    drop(result);
    bytes
}
