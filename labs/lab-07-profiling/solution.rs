//! Lab 07, Profiling. Seven exercises.
//!
//! Replace each `exercise!(..)` by your code, and mend what 7.3 and 7.6 hand out. Grade with
//! `cargo test --test lab-07-profiling`, ask for a hint with
//! `cargo run --bin course -- hint 7.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::nn::Module;
use engine_room::optim::{Optimizer, Sgd};
use engine_room::{Tensor, memory};
// STUB use grading::exercise;

use super::averages::{Call, Row};
use super::kernel::{Bound, Counts, Numbers, Roofs, Verdict};
use super::spans::{Span, Times};
use super::step::{Limit, Prediction, Rule, Stack, Work};
use super::timing::{Gpu, Kernel, LONGEST_LAUNCH_NS};
use super::trace::{Event, object};
use super::training::Training;

/// 7.1 The total and the self time of each span, in the order of the list.
pub fn self_times(spans: &[Span]) -> Vec<Times> {
    // SOLUTION 7.1
    let of = |span: &Span| span.end_ns - span.start_ns;
    let mut times: Vec<Times> =
        spans.iter().map(|span| Times { total_ns: of(span), self_ns: of(span) }).collect();
    for (i, span) in spans.iter().enumerate() {
        // Whatever ends later on this thread and has begun before was open around this span.
        let mut later = i + 1..spans.len();
        let holds = |other: &Span| other.thread == span.thread && other.start_ns <= span.start_ns;
        if let Some(parent) = later.find(|&j| holds(&spans[j])) {
            times[parent].self_ns -= times[i].total_ns;
        }
    }
    times
    // END
}

/// 7.2 A row for each key, in the order in which the keys first come up.
pub fn key_averages(calls: &[Call], group_by_input_shape: bool) -> Vec<Row> {
    // SOLUTION 7.2
    let mut rows: Vec<Row> = Vec::new();
    let mut row_of = Vec::new(); // of each call so far
    for call in calls {
        let shapes = if group_by_input_shape { call.shapes.clone() } else { Vec::new() };
        let is_same = |row: &Row| row.name == call.name && row.shapes == shapes;
        let own = rows.iter().position(is_same).unwrap_or(rows.len());
        if own == rows.len() {
            rows.push(Row { name: call.name.clone(), shapes, ..Row::default() });
        }
        row_of.push(own);
        // The rows of all calls around this one, each once.
        let mut around = Vec::new();
        let mut above = call.parent;
        while let Some(parent) = above {
            if !around.contains(&row_of[parent]) {
                around.push(row_of[parent]);
            }
            above = calls[parent].parent;
        }
        rows[own].count += 1;
        rows[own].self_cpu_ns += call.cpu_ns;
        if let Some(parent) = call.parent {
            rows[row_of[parent]].self_cpu_ns -= call.cpu_ns;
        }
        if !around.contains(&own) {
            rows[own].cpu_total_ns += call.cpu_ns;
            around.push(own);
        }
        rows[own].self_device_ns += call.kernels_ns;
        around.into_iter().for_each(|row| rows[row].device_total_ns += call.kernels_ns);
    }
    rows
    // END
}

/// 7.3 What a call of the kernel takes the GPU once it is warm, in nanoseconds: the mean of `calls`
/// of them. As handed out it has three faults, and none of them raises an error.
pub fn kernel_ns(gpu: &mut Gpu, kernel: &mut Kernel, calls: u64) -> u64 {
    // SOLUTION 7.3
    gpu.launch(kernel); // the first call is another one
    gpu.sleep(kernel.stream(), calls * LONGEST_LAUNCH_NS); // the host gets ahead
    let start = gpu.record(kernel.stream());
    // STUB let start = gpu.now_ns();
    // END
    for _ in 0..calls {
        gpu.launch(kernel);
    }
    // SOLUTION
    let end = gpu.record(kernel.stream());
    gpu.synchronize();
    gpu.elapsed_ns(start, end) / calls
    // STUB let end = gpu.now_ns();
    // STUB (end - start) / calls
    // END
}

/// 7.4 The events as a trace: the text of a JSON object that Perfetto and chrome://tracing open.
pub fn chrome_trace(events: &[Event]) -> String {
    // SOLUTION 7.4
    let first = events.iter().map(|event| event.start_ns).min().unwrap_or(0);
    let start = |phase: &str, name: &str, event: &Event| {
        let process = event.device.map_or(1, |device| device + 2);
        let [pid, tid] = [process, event.lane].map(|number| number.to_string());
        let ts = micros(event.start_ns - first);
        vec![("ph", text(phase)), ("name", text(name)), ("pid", pid), ("tid", tid), ("ts", ts)]
    };
    let mut out = Vec::new();
    for (id, event) in events.iter().enumerate() {
        let process = event.device.map_or("host".to_string(), |device| format!("device {device}"));
        let mut named = start("M", "process_name", event);
        named.push(("args", object(&[("name", text(&process))])));
        let mut complete = start("X", &event.name, event);
        complete.push(("dur", micros(event.end_ns - event.start_ns)));
        out.extend([object(&named), object(&complete)]);
        if let Some(cause) = event.cause {
            for (phase, end) in [("s", &events[cause]), ("f", event)] {
                let mut arrow = start(phase, "launch", end);
                arrow.extend([("cat", text("launch")), ("id", id.to_string()), ("bp", text("e"))]);
                out.push(object(&arrow));
            }
        }
    }
    object(&[("traceEvents", format!("[{}]", out.join(",\n")))])
    // END
}
// SOLUTION

/// Nanoseconds as microseconds.
fn micros(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// A string of JSON.
fn text(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
// END

/// 7.5 What bounds a kernel, and how much of that limit it reaches.
pub fn bound(counts: &Counts, roofs: &Roofs) -> Verdict {
    // SOLUTION 7.5
    let call_ns = counts.device_ns as f64 / counts.calls as f64;
    let launch_ns = roofs.launch_ns as f64;
    if call_ns < launch_ns {
        return Verdict { bound: Bound::Launches, share: call_ns / launch_ns };
    }
    let peak = match counts.numbers {
        Numbers::F32 => roofs.f32_flops_per_s,
        Numbers::F16 => roofs.f16_flops_per_s,
    };
    let arithmetic_ns = counts.flops as f64 * 1e9 / peak as f64;
    let memory_ns = counts.bytes as f64 * 1e9 / roofs.bytes_per_s as f64;
    let share = arithmetic_ns.max(memory_ns) / counts.device_ns as f64;
    let bound = if share < 0.5 {
        Bound::Neither
    } else if arithmetic_ns < memory_ns {
        Bound::Memory
    } else {
        Bound::Arithmetic
    };
    Verdict { bound, share }
    // END
}

/// 7.6 Trains a forecast, and returns the loss of each step. As handed out it is right, and five
/// things in it make it slow.
pub fn train(run: &Training) -> Vec<f32> {
    let (samples, times) = (run.readings.shape()[0], run.readings.shape()[1]);
    let channels = run.importance.len();
    let mut optimizer = Sgd::new(run.model.parameters(), run.rate);
    let mut losses = Vec::new();
    // SOLUTION
    let readings = run.readings.permute(&[0, 2, 1]).reshape(&[samples, channels * times]);
    let readings = readings.sub(&run.mean.to(run.device));
    let targets = run.targets.permute(&[0, 2, 1]).reshape(&[samples, channels * times]);
    let importance = Tensor::from_vec(run.importance.clone(), &[channels]).to(run.device);
    // END
    for _ in 0..run.epochs {
        for first in (0..samples).step_by(run.batch) {
            let count = run.batch.min(samples - first);
            optimizer.zero_grad(true);
            // SOLUTION 7.6
            let y = run.model.forward(&readings.narrow(0, first, count));
            let wrong = y.sub(&targets.narrow(0, first, count)).view(&[count, channels, times]);
            let means = wrong.mul(&wrong).mean_dims(&[0, 2], false);
            let loss = means.mul(&importance).sum_dims(&[0], false);
            // STUB // Each step begins with all of the memory free.
            // STUB memory::empty_cache(run.device);
            // STUB let by_channel = |x: &Tensor| {
            // STUB     let turned = x.narrow(0, first, count).permute(&[0, 2, 1]);
            // STUB     turned.reshape(&[count, channels * times])
            // STUB };
            // STUB let x = by_channel(&run.readings).sub(&run.mean.to(run.device));
            // STUB let forecast = run.model.forward(&x);
            // STUB let targets = by_channel(&run.targets);
            // STUB let mut parts = Vec::new();
            // STUB for channel in 0..channels {
            // STUB     let wanted = targets.narrow(1, channel * times, times);
            // STUB     let wrong = forecast.narrow(1, channel * times, times).sub(&wanted);
            // STUB     parts.push(wrong.mul(&wrong).mean().mul_scalar(run.importance[channel]));
            // STUB }
            // STUB let loss = Tensor::stack(&parts.iter().collect::<Vec<_>>(), 0).sum();
            // END
            loss.backward();
            optimizer.step();
            // SOLUTION
            losses.push(loss.detach());
            // STUB losses.push(loss.item());
            // END
        }
    }
    // SOLUTION
    losses.iter().map(Tensor::item).collect()
    // STUB losses
    // END
}

/// 7.7 Predict what a training step does, part by part, and who is done later.
pub fn predict(stack: &Stack, roofs: &Roofs) -> Prediction {
    // SOLUTION 7.7
    let [mut forward, mut backward, mut optimizer] = [Work::default(); 3];
    let mut device_ns = 0.0;
    let mut kernel = |part: &mut Work, flops: u64, numbers: u64| {
        part.launches += 1;
        part.flops += flops;
        part.bytes += 4 * numbers;
        let arithmetic_ns = flops as f64 * 1e9 / roofs.f32_flops_per_s as f64;
        let memory_ns = (4 * numbers) as f64 * 1e9 / roofs.bytes_per_s as f64;
        device_ns += arithmetic_ns.max(memory_ns);
    };
    let of_weight = match stack.rule {
        Rule::Sgd => 3, // reads weight and gradient, writes the weight
        Rule::SgdMomentum => 5,
        Rule::AdamW => 7,
    };
    let layers = stack.sizes.len() - 1;
    for i in 0..layers {
        let [inputs, outputs] = [stack.sizes[i], stack.sizes[i + 1]];
        let [x, w, y] = [stack.batch * inputs, inputs * outputs, stack.batch * outputs];
        let flops = 2 * stack.batch * inputs * outputs;
        kernel(&mut forward, flops, x + w + y);
        kernel(&mut forward, 0, 2 * y + outputs); // the bias
        kernel(&mut backward, flops, x + w + y); // dw
        kernel(&mut backward, 0, y + outputs); // db
        if i > 0 || stack.x_requires_grad {
            kernel(&mut backward, flops, x + w + y); // dx
        }
        if i + 1 < layers {
            kernel(&mut forward, 0, 2 * y); // relu
            kernel(&mut backward, 0, 3 * y);
        }
        kernel(&mut optimizer, 0, of_weight * w);
        kernel(&mut optimizer, 0, of_weight * outputs);
    }
    let host_ns = roofs.launch_ns * (forward.launches + backward.launches + optimizer.launches);
    let limit = if device_ns > host_ns as f64 { Limit::Device } else { Limit::Host };
    Prediction { forward, backward, optimizer, host_ns, device_ns, limit }
    // END
}
