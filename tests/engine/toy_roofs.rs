//! Roofs that can be reckoned with by hand, and a kernel to place under them.

use engine_room::Device;
use engine_room::profiler::{Event, Kind, Roofs};

/// 10 bytes, 40 bytes of L2 and 8 operations a nanosecond.
pub fn roofs() -> Roofs {
    Roofs {
        name: "toy".to_string(),
        memory: 10e9,
        l2: Some(40e9),
        flops: 8e9,
        source: "by hand",
        of_host: false,
    }
}

/// A kernel of the first simulated GPU: its time, bytes, bytes of L2, operations.
pub fn kernel(name: &str, time: u64, [bytes, l2_bytes, flops]: [u64; 3]) -> Event {
    let event = Event::of_host(Kind::Kernel, name, 0).between(100, 100 + time);
    Event { device: Device::Sim(0), bytes, l2_bytes, flops, ..event }
}
