//! The diagnosis of the slow loop of exercise 7.6, as it is handed out: each of its five faults, in
//! its line. That nothing is found in the mended loop is what the exercise's own check demands.

#[allow(dead_code, reason = "the stub of the loop needs some")]
#[path = "../labs/lab-07-profiling/averages.rs"]
mod averages;
#[allow(dead_code, reason = "the stub of the loop needs some")]
#[path = "../labs/lab-07-profiling/kernel.rs"]
mod kernel;
#[allow(dead_code, reason = "the stub of the loop needs some")]
#[path = "../labs/lab-07-profiling/spans.rs"]
mod spans;
#[allow(dead_code, reason = "the stub of the loop needs some")]
#[path = "../labs/lab-07-profiling/step.rs"]
mod step;
#[path = "../labs/lab-07-profiling/stub.rs"]
mod stub;
#[allow(dead_code, reason = "the stub of the loop needs some")]
#[path = "../labs/lab-07-profiling/timing.rs"]
mod timing;
#[allow(dead_code, reason = "the stub of the loop needs some")]
#[path = "../labs/lab-07-profiling/trace.rs"]
mod trace;
#[allow(dead_code, reason = "its counters are for the exercise's check")]
#[path = "../labs/lab-07-profiling/training.rs"]
mod training;

use engine_room::profiler::Problem;
use engine_room::{Device, sim};

const STUB: &str = include_str!("../labs/lab-07-profiling/stub.rs");

/// What stands in the line of each fault.
const FAULTS: [(Problem, &str); 5] = [
    (Problem::HiddenCopy, "turned.reshape("),
    (Problem::Synchronization, "loss.item()"),
    (Problem::LaunchBound, "parts.push("),
    (Problem::Transfer, "run.mean.to(run.device)"),
    (Problem::AllocatorStall, "memory::empty_cache("),
];

fn line_of(text: &str) -> u32 {
    let lines: Vec<usize> =
        (1..).zip(STUB.lines()).filter(|(_, line)| line.contains(text)).map(|(n, _)| n).collect();
    let [line] = lines[..] else { panic!("{} lines hold '{text}'", lines.len()) };
    line as u32
}

#[test]
fn each_of_the_five_faults_is_found_in_its_line() {
    for (gpu, seed) in [(sim::Gpu::T4, 0), (sim::Gpu::T4, 7), (sim::Gpu::A100, 0)] {
        sim::select_gpu(0, gpu);
        let size = &training::PROFILED;
        let profile = training::profiled(size, Device::Sim(0), seed, stub::train);
        let diagnosis = profile.expect("the simulated GPU works").diagnosis();
        println!("{diagnosis}");
        // Included from here, and still named as everywhere.
        let text = diagnosis.to_string();
        let paths: Vec<&str> = text.lines().filter_map(|it| it.split(", at ").nth(1)).collect();
        assert!(
            !paths.is_empty() && paths.iter().all(|it| it.starts_with("labs/lab-07")),
            "{text}"
        );
        for (problem, text) in FAULTS {
            // The A100's memory moves what is packed in less than a hundredth of the time.
            if problem == Problem::HiddenCopy && gpu != sim::Gpu::T4 {
                continue;
            }
            let mut found = diagnosis.findings.iter().filter(|it| it.problem == problem);
            let is_there = found.any(|it| it.at.is_some_and(|at| at.line() == line_of(text)));
            assert!(is_there, "{problem:?} at '{text}', line {}, on {gpu:?}", line_of(text));
        }
    }
}
