//! Wrong ways to time a kernel: 7.3.

use super::super::timing::{Event, Gpu, Kernel, LONGEST_LAUNCH_NS};
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    [by_the_host(), with_waits(), by_events(), of_events(), of_the_sleep(), of_the_mean()]
        .into_iter()
        .flatten()
        .collect()
}

fn time(
    diagnosis: &'static str,
    name: &'static str,
    kernel_ns: fn(&mut Gpu, &mut Kernel, u64) -> u64,
) -> Wrong {
    wrong("7.3", diagnosis, name, |table| table.kernel_ns = kernel_ns)
}

fn launches(gpu: &mut Gpu, kernel: &mut Kernel, calls: u64) {
    for _ in 0..calls {
        gpu.launch(kernel);
    }
}

/// Enough sleep for so many calls.
fn ahead(gpu: &mut Gpu, kernel: &Kernel, calls: u64) {
    gpu.sleep(kernel.stream(), (calls + 1) * LONGEST_LAUNCH_NS);
}

/// From an event on to what has been put into the stream by now, when it is done.
fn since(gpu: &mut Gpu, start: Event, stream: usize) -> u64 {
    let end = gpu.record(stream);
    gpu.synchronize();
    gpu.elapsed_ns(start, end)
}

fn by_the_host() -> Vec<Wrong> {
    vec![
        time("7.3-as-handed-out", "nothing is mended", |gpu, kernel, calls| {
            let start = gpu.now_ns();
            launches(gpu, kernel, calls);
            (gpu.now_ns() - start) / calls
        }),
        time("7.3-launches", "warm, and no wait at the end", |gpu, kernel, calls| {
            gpu.launch(kernel);
            gpu.synchronize();
            let start = gpu.now_ns();
            launches(gpu, kernel, calls);
            (gpu.now_ns() - start) / calls
        }),
    ]
}

fn with_waits() -> Vec<Wrong> {
    vec![
        time("7.3-queued-before", "waits at the end only", |gpu, kernel, calls| {
            gpu.launch(kernel);
            let start = gpu.now_ns();
            launches(gpu, kernel, calls);
            gpu.synchronize();
            (gpu.now_ns() - start) / calls
        }),
        time("7.3-host-clock", "waits before and behind", |gpu, kernel, calls| {
            gpu.launch(kernel);
            gpu.synchronize();
            let start = gpu.now_ns();
            launches(gpu, kernel, calls);
            gpu.synchronize();
            (gpu.now_ns() - start) / calls
        }),
        time("7.3-wait-each", "waits for each call", |gpu, kernel, calls| {
            gpu.launch(kernel);
            gpu.synchronize();
            let start = gpu.now_ns();
            for _ in 0..calls {
                gpu.launch(kernel);
                gpu.synchronize();
            }
            (gpu.now_ns() - start) / calls
        }),
        time("7.3-other-work", "host clock, less what the last wait took", |gpu, kernel, calls| {
            gpu.launch(kernel);
            let start = gpu.record(kernel.stream());
            ahead(gpu, kernel, calls);
            launches(gpu, kernel, calls);
            gpu.synchronize();
            let end = gpu.record(kernel.stream());
            gpu.synchronize();
            (gpu.elapsed_ns(start, end) - (calls + 1) * LONGEST_LAUNCH_NS) / calls
        }),
    ]
}

fn by_events() -> Vec<Wrong> {
    vec![
        time("7.3-first-call", "no call to warm up", |gpu, kernel, calls| {
            ahead(gpu, kernel, calls);
            let start = gpu.record(kernel.stream());
            launches(gpu, kernel, calls);
            since(gpu, start, kernel.stream()) / calls
        }),
        time("7.3-gaps", "no sleep", |gpu, kernel, calls| {
            gpu.launch(kernel);
            gpu.synchronize();
            let start = gpu.record(kernel.stream());
            launches(gpu, kernel, calls);
            since(gpu, start, kernel.stream()) / calls
        }),
        time("7.3-events-wait-each", "events, and a wait for each", |gpu, kernel, calls| {
            gpu.launch(kernel);
            let mut sum = 0;
            for _ in 0..calls {
                let start = gpu.record(kernel.stream());
                gpu.launch(kernel);
                sum += since(gpu, start, kernel.stream());
            }
            sum / calls
        }),
        time("7.3-other-stream", "events in stream 0", |gpu, kernel, calls| {
            gpu.launch(kernel);
            ahead(gpu, kernel, calls);
            let start = gpu.record(0);
            launches(gpu, kernel, calls);
            since(gpu, start, 0) / calls
        }),
    ]
}

fn of_events() -> Vec<Wrong> {
    vec![
        time("7.3-not-done", "no wait for the last event", |gpu, kernel, calls| {
            gpu.launch(kernel);
            ahead(gpu, kernel, calls);
            let start = gpu.record(kernel.stream());
            launches(gpu, kernel, calls);
            let end = gpu.record(kernel.stream());
            gpu.elapsed_ns(start, end) / calls
        }),
        time("7.3-launches-subtracted", "less the launches", |gpu, kernel, calls| {
            gpu.launch(kernel);
            gpu.synchronize();
            let start = gpu.record(kernel.stream());
            let before = gpu.now_ns();
            launches(gpu, kernel, calls);
            let launching = gpu.now_ns() - before;
            since(gpu, start, kernel.stream()).saturating_sub(launching) / calls
        }),
        time("7.3-first-inside", "warms up between the events", |gpu, kernel, calls| {
            ahead(gpu, kernel, calls);
            let start = gpu.record(kernel.stream());
            launches(gpu, kernel, calls + 1);
            since(gpu, start, kernel.stream()) / (calls + 1)
        }),
    ]
}

fn of_the_sleep() -> Vec<Wrong> {
    vec![
        time("7.3-sleep-too-short", "sleeps for 100 us", |gpu, kernel, calls| {
            gpu.launch(kernel);
            gpu.sleep(kernel.stream(), 100_000);
            let start = gpu.record(kernel.stream());
            launches(gpu, kernel, calls);
            since(gpu, start, kernel.stream()) / calls
        }),
        time("7.3-sleep-inside", "an event before the sleep", |gpu, kernel, calls| {
            gpu.launch(kernel);
            let start = gpu.record(kernel.stream());
            ahead(gpu, kernel, calls);
            launches(gpu, kernel, calls);
            since(gpu, start, kernel.stream()) / calls
        }),
        time("7.3-sleep-subtracted", "less the sleep", |gpu, kernel, calls| {
            gpu.launch(kernel);
            gpu.synchronize();
            let start = gpu.record(kernel.stream());
            ahead(gpu, kernel, calls);
            launches(gpu, kernel, calls);
            let sleep_ns = (calls + 1) * LONGEST_LAUNCH_NS;
            (since(gpu, start, kernel.stream()) - sleep_ns) / calls
        }),
    ]
}

/// What each call takes, timed well.
fn each(gpu: &mut Gpu, kernel: &mut Kernel, calls: u64) -> Vec<u64> {
    let stream = kernel.stream();
    gpu.launch(kernel);
    ahead(gpu, kernel, calls);
    let mut events = vec![gpu.record(stream)];
    for _ in 0..calls {
        gpu.launch(kernel);
        events.push(gpu.record(stream));
    }
    gpu.synchronize();
    events.windows(2).map(|two| gpu.elapsed_ns(two[0], two[1])).collect()
}

fn of_the_mean() -> Vec<Wrong> {
    vec![
        time("7.3-minimum", "the fastest", |gpu, kernel, calls| {
            each(gpu, kernel, calls).into_iter().min().unwrap_or(0)
        }),
        time("7.3-median", "the middle one", |gpu, kernel, calls| {
            let mut each = each(gpu, kernel, calls);
            each.sort();
            each[each.len() / 2]
        }),
        time("7.3-one-call", "the first of the warm ones", |gpu, kernel, calls| {
            each(gpu, kernel, calls)[0]
        }),
        time("7.3-total", "not divided", |gpu, kernel, calls| {
            each(gpu, kernel, calls).into_iter().sum()
        }),
        time("7.3-one-more", "divided by all launches", |gpu, kernel, calls| {
            each(gpu, kernel, calls).into_iter().sum::<u64>() / (calls + 1)
        }),
        time("7.3-one-less", "divided by the gaps between calls", |gpu, kernel, calls| {
            each(gpu, kernel, calls).into_iter().sum::<u64>() / (calls - 1)
        }),
        time("7.3-microseconds", "in microseconds", |gpu, kernel, calls| {
            each(gpu, kernel, calls).into_iter().sum::<u64>() / calls / 1_000
        }),
    ]
}
