//! One transfer of 64 MiB against 1,024 of 64 KiB: the same bytes to a simulated GPU, and what the
//! calls cost. Run it with `cargo run --example transfers`.

use engine_room::driver::{HostMemory, Route};
use engine_room::{DType, Device, Tensor, sim};

fn main() {
    println!("{}", report());
}

/// The table that `main` prints. It uses the simulated GPU with number 63.
pub fn report() -> String {
    const N: usize = 63;
    let mut lines = vec![format!(
        "{:<25}{:<10}{:>6}{:>12}{:>16}",
        "64 MiB to the device as", "memory", "copies", "bytes", "us (modelled)"
    )];
    for (what, count) in [("1 transfer", 1), ("1,024 transfers", 1024)] {
        for memory in [HostMemory::Pageable, HostMemory::Pinned] {
            let part = Tensor::full_on(&[(64 << 20) / count], 7, DType::U8, Device::Cpu);
            let part = if memory == HostMemory::Pinned { part.pin_memory() } else { part };
            sim::reset(N);
            let sent: Vec<Tensor> = (0..count).map(|_| part.to(Device::Sim(N))).collect();
            let traffic = sim::transfers(N).on(Route::ToDevice(memory));
            drop(sent);
            lines.push(format!(
                "{what:<25}{:<10}{:>6}{:>12}{:>16.1}",
                format!("{memory:?}").to_lowercase(),
                traffic.count,
                traffic.bytes,
                sim::clock(N).host_ns as f64 / 1e3
            ));
        }
    }
    lines.push(format!(
        "The times are modelled from the published figures of a {}.",
        sim::clock(N).gpu
    ));
    lines.join("\n")
}
