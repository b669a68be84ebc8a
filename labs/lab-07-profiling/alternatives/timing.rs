//! Other right ways to time a kernel: 7.3.

use super::super::timing::{Gpu, Kernel, LONGEST_LAUNCH_NS};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("7.3", "events between the calls", |table| table.kernel_ns = between_calls),
        other("7.3", "waits and measures a launch", |table| table.kernel_ns = launch_measured),
        other("7.3", "the host's clock, twice", |table| table.kernel_ns = twice),
        other("7.3", "ten times as many calls", |table| table.kernel_ns = more_calls),
    ]
}

/// An event behind each call, and the mean of what lies between them.
fn between_calls(gpu: &mut Gpu, kernel: &mut Kernel, calls: u64) -> u64 {
    let stream = kernel.stream();
    for _ in 0..3 {
        gpu.launch(kernel);
    }
    gpu.sleep(stream, 1_000_000 * calls);
    let mut events = vec![gpu.record(stream)];
    for _ in 0..calls {
        gpu.launch(kernel);
        events.push(gpu.record(stream));
    }
    gpu.synchronize();
    let each = events.windows(2).map(|two| gpu.elapsed_ns(two[0], two[1]));
    each.sum::<u64>() / calls
}

/// Sleeps no longer than it has to, by what the host needs for the launch of a call.
fn launch_measured(gpu: &mut Gpu, kernel: &mut Kernel, calls: u64) -> u64 {
    gpu.launch(kernel);
    let before = gpu.now_ns();
    gpu.launch(kernel);
    let launch_ns = gpu.now_ns() - before;
    gpu.synchronize();
    gpu.sleep(kernel.stream(), calls * launch_ns + 2_000);
    let start = gpu.record(kernel.stream());
    (0..calls).for_each(|_| gpu.launch(kernel));
    let end = gpu.record(kernel.stream());
    gpu.synchronize();
    gpu.elapsed_ns(start, end) / calls
}

/// From a wait to a wait with the calls, less the same without them.
fn twice(gpu: &mut Gpu, kernel: &mut Kernel, calls: u64) -> u64 {
    let mut run = |kernel: &mut Kernel, calls: u64| {
        gpu.synchronize();
        let start = gpu.now_ns();
        gpu.sleep(kernel.stream(), 50_000_000);
        (0..calls).for_each(|_| gpu.launch(kernel));
        gpu.synchronize();
        gpu.now_ns() - start
    };
    run(kernel, 1);
    let without = run(kernel, 0);
    (run(kernel, calls) - without) / calls
}

/// The mean of many is the mean of a few, if each four have the same.
fn more_calls(gpu: &mut Gpu, kernel: &mut Kernel, calls: u64) -> u64 {
    let (stream, many) = (kernel.stream(), 10 * calls);
    gpu.launch(kernel);
    gpu.synchronize();
    gpu.sleep(stream, many * LONGEST_LAUNCH_NS);
    let start = gpu.record(stream);
    for _ in 0..many {
        gpu.launch(kernel);
    }
    let end = gpu.record(stream);
    gpu.synchronize();
    gpu.elapsed_ns(start, end) / many
}
