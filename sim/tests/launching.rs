//! Launches from many host threads at once, as an engine makes them: one device behind a lock.

use std::sync::Mutex;

use engine_room_sim::exec::{Device, Launch, Options};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx;
use rayon::prelude::*;

const COUNT: &str = "
    .version 8.1
    .target sm_75
    .address_size 64
    .visible .entry count(.param .u64 total)
    {
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [total];
        red.global.add.u32 [%rd1], 1;
        ret;
    }";

/// Every worker of rayon waits for the lock while one of them, or a thread that is none, has it and
/// runs blocks on many threads. With one pool for both none would ever come to the blocks, and a
/// worker that takes up other work while it waits would wait for itself.
#[test]
fn workers_that_wait_for_a_device_do_not_keep_it_from_running() {
    let mut device = Device::new(Gpu::T4);
    let program = device.load(ptx::parse("count.ptx", COUNT.as_bytes()).unwrap()).unwrap();
    let total = device.alloc(4).unwrap();
    device.write(total, &[0; 4]).unwrap();
    let device = Mutex::new(device);
    let (kernel, params) = ("count".to_string(), total.to_le_bytes().to_vec());
    let launch = Launch { kernel, grid: [50, 1, 1], block: [32, 1, 1], shared_bytes: 0, params };
    let run = || {
        let options = Options { threads: 4, ..Options::default() };
        let report = device.lock().unwrap().run(&program, &launch, &options);
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| (0..200).for_each(|_| run()));
        scope.spawn(|| (0..200).into_par_iter().for_each(|_| run()));
    });
    let mut bytes = [0; 4];
    device.lock().unwrap().read(total, &mut bytes).unwrap();
    assert_eq!(u32::from_le_bytes(bytes), 400 * 50 * 32);
}
