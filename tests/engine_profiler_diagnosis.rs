//! The diagnosis: each fault by itself in a program, found with its line and its price, and nothing
//! in the program without it; and costs by hand, of events that are made up.

use engine_room::nn::{Linear, Module};
use engine_room::profiler::{Diagnosis, Finding, Problem, profile};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor, memory, sim};

const GPU: Device = Device::Sim(0);

/// What is found in `steps` rounds of a loop whose device is kept busy, after one that warms up.
fn diagnosed(mut round: impl FnMut(&Tensor, &Tensor)) -> Diagnosis {
    sim::reset(0);
    let mut generator = Generator::new(11);
    let x = Tensor::randn(&[256, 256], &mut generator).to(GPU);
    let w = Tensor::randn(&[256, 256], &mut generator).to(GPU);
    round(&x, &w);
    GPU.synchronize().expect("it works");
    let ((), profile) = profile(&[GPU], |_| {
        for _ in 0..4 {
            round(&x, &w);
        }
    })
    .expect("it works");
    let diagnosis = profile.diagnosis();
    println!("{diagnosis}");
    diagnosis
}

/// What keeps the device busy: three products that each take longer than a launch.
fn work(x: &Tensor, w: &Tensor) -> Tensor {
    x.matmul(w).matmul(w).matmul(w)
}

fn only(diagnosis: &Diagnosis, problem: Problem, line: u32) -> Finding {
    let [finding] = &diagnosis.findings[..] else {
        panic!("{} findings:\n{diagnosis}", diagnosis.findings.len())
    };
    let at = finding.at.expect("its line is known");
    assert_eq!((finding.problem, at.file(), at.line()), (problem, file!(), line), "{diagnosis}");
    finding.clone()
}

#[test]
fn a_busy_device_has_nothing_to_complain_about() {
    let diagnosis = diagnosed(|x, w| {
        work(x, w);
    });
    assert_eq!(diagnosis.findings, [], "{diagnosis}");
}

#[test]
fn a_result_that_is_read_in_each_round() {
    let mut line = 0;
    let diagnosis = diagnosed(|x, w| {
        let y = work(x, w);
        line = line!() + 1;
        y.select(0, 0).select(0, 0).item();
    });
    // Behind the last of the four no kernel has to wait.
    assert_eq!(only(&diagnosis, Problem::Synchronization, line).count, 3);
}

#[test]
fn a_packed_operand() {
    let mut line = 0;
    let diagnosis = diagnosed(|x, w| {
        let y = work(x, w);
        line = line!() + 1;
        y.transpose(0, 1).reshape(&[-1]);
    });
    let finding = only(&diagnosis, Problem::HiddenCopy, line);
    assert_eq!((finding.count, finding.bytes), (4, 4 * 256 * 256 * 4));
}

#[test]
fn a_constant_that_travels_in_each_round() {
    let mut line = 0;
    let host = Tensor::ones(&[256, 256]);
    let diagnosis = diagnosed(|x, w| {
        let y = work(x, w);
        line = line!() + 1;
        y.add(&host.to(GPU));
    });
    let finding = only(&diagnosis, Problem::Transfer, line);
    assert_eq!((finding.count, finding.bytes), (4, 4 * 256 * 256 * 4));
}

#[test]
fn a_loop_of_small_kernels() {
    let mut line = 0;
    let diagnosis = diagnosed(|x, w| {
        let y = work(x, w);
        for i in 0..60 {
            line = line!() + 1;
            y.select(0, i).mul_scalar(2.0);
        }
    });
    assert!(only(&diagnosis, Problem::LaunchBound, line).count > 40);
}

#[test]
fn a_cache_that_is_emptied() {
    let mut line = 0;
    let diagnosis = diagnosed(|x, w| {
        // 2 MiB, for which the small segments have no room.
        Tensor::cat(&[&work(x, w); 8], 0);
        line = line!() + 1;
        memory::empty_cache(GPU);
    });
    only(&diagnosis, Problem::AllocatorStall, line);
}

#[test]
fn the_line_of_a_model_is_where_it_is_called() {
    let layer = Linear::new(256, 256, true, &mut Generator::new(5));
    layer.to_device(GPU);
    let mut line = 0;
    let diagnosis = diagnosed(|x, w| {
        let y = work(x, w);
        line = line!() + 1;
        layer.forward(&y.to(Device::Cpu).to(GPU));
    });
    let lines: Vec<u32> =
        diagnosis.findings.iter().map(|it| it.at.expect("a line").line()).collect();
    assert!(!lines.is_empty() && lines.iter().all(|&it| it == line), "{diagnosis}");
}
