//! The diagnosis: each fault by itself in a program, found with its line, and nothing in the
//! program without it.

use std::sync::{Mutex, PoisonError};

use engine_room::nn::{Gpt, GptConfig, Linear, Module, Sequential};
use engine_room::profiler::{Diagnosis, Event, Finding, Kind, Problem, Profile, profile};
use engine_room::rng::Generator;
use engine_room::{Device, OPS, Tensor, memory, sim};

const GPU: Device = Device::Sim(0);

/// One profile is recorded at a time, and there is one simulated GPU with that number.
static ALONE: Mutex<()> = Mutex::new(());

/// What is found in four rounds of a loop whose device is kept busy, after one that warms up. Only
/// a round may use the device: outside, another test may be profiling it.
fn diagnosed(mut round: impl FnMut(&Tensor, &Tensor)) -> Diagnosis {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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
fn a_result_that_is_read_at_the_end() {
    let mut results = Vec::new();
    let diagnosis = diagnosed(|x, w| {
        results.push(work(x, w).select(0, 0).select(0, 0));
        if results.len() == 5 {
            results.iter().for_each(|y| assert!(y.item().is_finite()));
        }
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
fn an_operand_that_is_packed_once() {
    let mut packed = None;
    let diagnosis = diagnosed(|x, w| {
        let columns = packed.get_or_insert_with(|| x.transpose(0, 1).copy());
        work(x, w).matmul(columns).reshape(&[-1]);
    });
    assert_eq!(diagnosis.findings, [], "{diagnosis}");
}

#[test]
fn a_constant_that_is_there_and_a_batch_that_comes_pinned() {
    let (mut constant, batch) = (None, Tensor::ones(&[8]).pin_memory());
    let diagnosis = diagnosed(|x, w| {
        let constant = constant.get_or_insert_with(|| Tensor::ones(&[256, 256]).to(GPU));
        let batch = batch.to_non_blocking(GPU);
        let y = work(x, w).add(constant).matmul(w).matmul(w).matmul(w).matmul(w);
        y.matmul(w).matmul(w).matmul(w).matmul(w).view(&[-1, 8]).add(&batch);
    });
    let others = diagnosis.findings.iter().filter(|it| it.problem != Problem::Transfer);
    assert_eq!(others.count(), 0, "{diagnosis}");
    let cost: u64 = diagnosis.of(Problem::Transfer).map(|it| it.cost_ns).sum();
    // Of a small copy the latency is left, 4 us of the 80 that a round takes or more.
    assert!(cost <= 4 * 4_100 && diagnosis.profiled_ns > 4 * 80_000, "{diagnosis}");
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
fn one_large_kernel_instead() {
    let diagnosis = diagnosed(|x, w| {
        work(x, w).narrow(0, 0, 60).mul_scalar(2.0);
    });
    assert_eq!(diagnosis.findings, [], "{diagnosis}");
}

#[test]
fn a_cache_that_is_kept() {
    let diagnosis = diagnosed(|x, w| {
        Tensor::cat(&[&work(x, w); 8], 0);
    });
    assert_eq!(diagnosis.findings, [], "{diagnosis}");
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
    let mut line = 0;
    let diagnosis = diagnosed(|x, w| {
        layer.to_device(GPU);
        let y = work(x, w);
        line = line!() + 1;
        layer.forward(&y.to(Device::Cpu).to(GPU));
    });
    let lines: Vec<u32> =
        diagnosis.findings.iter().map(|it| it.at.expect("a line").line()).collect();
    assert!(!lines.is_empty() && lines.iter().all(|&it| it == line), "{diagnosis}");
}

/// The profile of `f` on the host.
fn on_host(f: impl FnOnce()) -> Profile {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    profile(&[], |_| f()).expect("there is no device to fail").1
}

#[test]
fn without_a_device_hidden_copies_are_left() {
    let x = Tensor::ones(&[300, 200]);
    let mut line = 0;
    let profile = on_host(|| {
        x.add(&x).sum().item();
        for _ in 0..2 {
            line = line!() + 1;
            x.transpose(0, 1).reshape(&[-1]);
        }
    });
    let finding = only(&profile.diagnosis(), Problem::HiddenCopy, line);
    assert_eq!((finding.count, finding.bytes, &finding.what[..]), (2, 2 * 240_000, "reshape"));
}

#[test]
fn a_backward_pass_belongs_to_the_line_of_its_forward_pass() {
    let layer = Linear::new(8, 8, true, &mut Generator::new(5));
    let x = Tensor::ones(&[4, 8]).requires_grad_(true);
    let model = Sequential::new().append(layer);
    let (product, of_layer) = (line!() + 2, line!() + 3);
    let profile = on_host(|| {
        let y = x.mul(&x);
        let y = model.forward(&y);
        y.sum().backward();
    });
    let line = |name: &str| {
        let mut events = profile.events().iter();
        let is_one = |event: &&Event| event.kind == Kind::Backward && event.name == name;
        events.find(is_one).expect(name).at.map(|at| (at.file(), at.line()))
    };
    assert_eq!(line("mul backward"), Some((file!(), product)));
    assert_eq!(line("linear backward"), Some((file!(), of_layer)));
}

#[test]
fn a_whole_model_belongs_to_the_line_that_calls_it() {
    let (vocab, context, width, heads, layers) = (11, 6, 8, 2, 2);
    let config = GptConfig { vocab, context, width, heads, layers, dropout: 0.1, tied: true };
    let model = Gpt::new(&config, &mut Generator::new(3));
    let ids = Tensor::randint(0, 11, &[2, 6], &mut Generator::new(4));
    let called = line!() + 1;
    let profile = on_host(|| model.forward(&ids).sum().backward());
    let mut count = 0;
    for event in profile.events().iter().filter(|event| event.kind == Kind::Backward) {
        let at = event.at.map(|at| (at.file(), at.line()));
        assert_eq!(at, Some((file!(), called)), "{}", event.name);
        count += 1;
    }
    assert!(count > 30, "only {count} backward passes");
}

/// The lines of `OPS` stand for the program here: whatever the public method of an operation does
/// inside, each kernel comes from a line that calls it.
#[test]
fn the_line_of_every_kernel_is_known() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut wrong, mut kernels) = (Vec::new(), 0);
    for row in OPS {
        let inputs = (row.sample)(&mut Generator::new(3));
        let inputs: Vec<Tensor> = inputs.iter().map(|x| x.to(GPU)).collect();
        let ((), profile) = profile(&[GPU], |_| drop((row.call)(&inputs))).expect("it works");
        for (at, event) in profile.events().iter().enumerate() {
            let is_outermost = event.parent.is_none() && event.kind == Kind::Op;
            if event.kind != Kind::Kernel && !is_outermost {
                continue;
            }
            kernels += usize::from(event.kind == Kind::Kernel);
            let known = profile.ancestors(at).any(|at| is_in_table(&profile.events()[at]));
            if !known {
                wrong.push(format!("{}: {} at {:?}", row.name, event.name, event.at));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(kernels > OPS.len(), "only {kernels} kernels");
}

fn is_in_table(event: &Event) -> bool {
    event.at.is_some_and(|at| at.file().replace('\\', "/").contains("ops/table/"))
}

#[test]
fn first_steps_load_kernels_and_say_so() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let other = Device::Sim(1);
    let x = Tensor::ones(&[256, 256]).to(other);
    let ((), profile) = profile(&[other], |_| {
        x.matmul(&x).exp();
    })
    .expect("it works");
    let diagnosis = profile.diagnosis();
    let loads: Vec<&Finding> = diagnosis.of(Problem::Synchronization).collect();
    assert!(!loads.is_empty() && loads.iter().all(|it| it.advice.contains("warm-up")));
}
