//! 7.5: kernels of real programs on four GPUs, kernels on every boundary, and random ones.

use std::collections::BTreeMap;

use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::profiler::{Kind, profile};
use engine_room::rng::Generator;
use engine_room::sim::{self, Gpu};
use engine_room::{Device, Tensor};
use grading::diagnosis::key;
use grading::{Check, Diagnosis};

use super::super::kernel::{Bound, Counts, Numbers, Roofs, Verdict};
use super::Implementation;
use super::kernel_thoughts::{THOUGHTS, formula};
use super::thoughts::explained;

/// A kernel with what is to be said about it.
struct Case {
    name: String,
    counts: Counts,
    roofs: Roofs,
    want: Verdict,
}

/// 7.5
pub fn kernel(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut cases = Vec::new();
    for gpu in Gpu::ALL {
        of_gpu(gpu, &mut rng, &mut cases);
    }
    at_boundaries(&mut cases);
    at_random(&mut rng, &mut cases);
    assert!(BOUNDS.iter().all(|&bound| cases.iter().any(|case| case.want.bound == bound)));
    let mut answers = Vec::new();
    for case in &cases {
        answers.push(check.call(called(case), || (imp.bound)(&case.counts, &case.roofs))?);
    }
    let pairs = || cases.iter().zip(&answers);
    let Some((case, answer)) = pairs().find(|(case, answer)| !is_same(&case.want, answer)) else {
        return Ok(());
    };
    let (key, thought) = thought_of(&cases, &answers);
    let right = |same: &dyn Fn(&Case, &Verdict) -> bool| {
        pairs().filter(|(case, answer)| same(case, answer)).count()
    };
    let bounds = right(&|case, answer| case.want.bound == answer.bound);
    let shares = right(&|case, answer| is_near(case.want.share, answer.share));
    let of = cases.len();
    Err(Diagnosis::new(key)
        .called(called(case))
        .got(format!("{answer:?}\nof {of} bounds {bounds} are right, of {of} shares {shares}"))
        .expected(format!("{:?}", case.want))
        .thought(thought))
}

/// The thought that gives all of the answers; or else the one that gives all bounds or all shares,
/// as far as these are wrong, since somebody can be wrong twice.
fn thought_of(cases: &[Case], answers: &[Verdict]) -> (&'static str, &'static str) {
    let of = |same: &dyn Fn(&Verdict, &Verdict) -> bool| {
        let agrees = |thought| {
            let thought_of = |case: &Case| formula(&case.counts, &case.roofs, thought);
            cases.iter().zip(answers).all(|(case, answer)| same(&thought_of(case), answer))
        };
        let is_right = cases.iter().zip(answers).all(|(case, answer)| same(&case.want, answer));
        let found = explained(THOUGHTS, agrees);
        (!is_right && found.0 != key::WRONG_VALUE).then_some(found)
    };
    let same_bound = |a: &Verdict, b: &Verdict| a.bound == b.bound;
    let same_share = |a: &Verdict, b: &Verdict| is_near(a.share, b.share);
    let found = of(&is_same).or_else(|| of(&same_bound)).or_else(|| of(&same_share));
    found.unwrap_or((key::WRONG_VALUE, ""))
}

const BOUNDS: [Bound; 4] = [Bound::Launches, Bound::Memory, Bound::Arithmetic, Bound::Neither];

/// In whole numbers, so that nothing is rounded before it is compared.
fn right(counts: &Counts, roofs: &Roofs) -> Verdict {
    let Counts { numbers, calls, flops, bytes, device_ns } = *counts;
    let Roofs { f32_flops_per_s, f16_flops_per_s, bytes_per_s, launch_ns } = *roofs;
    let peak = if numbers == Numbers::F32 { f32_flops_per_s } else { f16_flops_per_s };
    let times = |a: u64, b: u64| u128::from(a) * u128::from(b);
    if times(launch_ns, calls) > device_ns.into() {
        let share = device_ns as f64 / times(launch_ns, calls) as f64;
        return Verdict { bound: Bound::Launches, share };
    }
    let is_arithmetic = times(flops, bytes_per_s) >= times(bytes, peak);
    let (done, rate) = if is_arithmetic { (flops, peak) } else { (bytes, bytes_per_s) };
    let (least, taken) = (times(done, 1_000_000_000), times(rate, device_ns));
    let bound = match (2 * least < taken, is_arithmetic) {
        (true, _) => Bound::Neither,
        (false, true) => Bound::Arithmetic,
        (false, false) => Bound::Memory,
    };
    Verdict { bound, share: least as f64 / taken as f64 }
}

fn is_same(a: &Verdict, b: &Verdict) -> bool {
    a.bound == b.bound && is_near(a.share, b.share)
}

fn is_near(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) || a == b
}

fn called(case: &Case) -> String {
    format!("bound({}:\n{:?},\n{:?})", case.name, case.counts, case.roofs)
}

fn add(cases: &mut Vec<Case>, name: impl Into<String>, counts: Counts, roofs: Roofs) {
    let want = right(&counts, &roofs);
    cases.push(Case { name: name.into(), counts, roofs, want });
}

/// The kernels of a few large operations and of a small GPT's step.
fn of_gpu(gpu: Gpu, rng: &mut Generator, cases: &mut Vec<Case>) {
    let device = Device::Sim(0);
    sim::select_gpu(0, gpu);
    let config = GptConfig {
        vocab: 33,
        context: 16,
        width: 32,
        heads: 2,
        layers: 2,
        dropout: 0.0,
        tied: true,
    };
    let model = Gpt::new(&config, rng);
    model.to_device(device);
    let ids = Tensor::randint(0, 33, &[2, 16], rng).to(device);
    let mut random = |shape: &[usize]| Tensor::randn(shape, rng).to(device);
    // Long enough for the slowest of the four, and quickly simulated.
    let (long, other) = (random(&[1 << 17]), random(&[1 << 17]));
    let (square, second) = (random(&[192, 192]), random(&[192, 192]));
    let (_, profile) = profile(&[device], |_| {
        model.forward(&ids).sum().backward();
        long.mul(&other).exp();
        square.matmul(&second);
    })
    .expect("the simulated GPU works");
    let mut kernels: BTreeMap<&str, Counts> = BTreeMap::new();
    for event in profile.events().iter().filter(|event| event.kind == Kind::Kernel) {
        let none = Counts { numbers: Numbers::F32, calls: 0, flops: 0, bytes: 0, device_ns: 0 };
        let counts = kernels.entry(&event.name).or_insert(none);
        counts.calls += 1;
        counts.flops += event.flops;
        counts.bytes += event.bytes;
        counts.device_ns += event.duration_ns();
    }
    for (name, counts) in kernels {
        add(cases, format!("{name} on {gpu}"), counts, Roofs::of(gpu));
    }
}

/// Powers of two, and times in which they give whole numbers: no way to compute rounds them.
fn at_boundaries(cases: &mut Vec<Case>) {
    let roofs = Roofs {
        f32_flops_per_s: 1 << 43,
        f16_flops_per_s: 1 << 45,
        bytes_per_s: 1 << 39,
        launch_ns: 4_000,
    };
    // What 1 GiB takes.
    let ns = 1_953_125;
    let of = |numbers, calls: u64, intensity: u64, device_ns: u64| {
        let bytes = calls << 30;
        Counts { numbers, calls, flops: bytes * intensity, bytes, device_ns: calls * device_ns }
    };
    let numbers = [(Numbers::F32, 16), (Numbers::F16, 64)];
    for ((numbers, ridge), calls) in numbers.into_iter().flat_map(|it| [(it, 1), (it, 8)]) {
        for intensity in [0, ridge / 2, ridge, ridge * 2] {
            let least_ns = ns * intensity.max(ridge) / ridge;
            let name = match intensity == ridge {
                true => "a kernel at the ridge".to_string(),
                false => format!("a kernel with {intensity} operations a byte, ridge {ridge}"),
            };
            for device_ns in [least_ns, least_ns * 2, least_ns * 2 + 1, least_ns * 5] {
                add(cases, name.as_str(), of(numbers, calls, intensity, device_ns), roofs);
            }
        }
        let small = Counts { flops: 1 << 14, bytes: 1 << 20, ..of(numbers, calls, 0, 0) };
        for of_call in [3_999, 4_000, 4_001, 0] {
            let counts = Counts { device_ns: calls * of_call, ..small };
            add(cases, "a kernel as long as a launch, or nearly", counts, roofs);
        }
        let barely = Counts { device_ns: calls * 4_000 - 1, ..small };
        add(cases, "calls of which one is shorter than a launch", barely, roofs);
        let empty = Counts { flops: 0, bytes: 0, device_ns: calls * 5_000, ..small };
        add(cases, "a kernel that only waits", empty, roofs);
        let alone = Counts { bytes: 0, flops: calls << 38, device_ns: calls * 99_000, ..small };
        add(cases, "a kernel that reads nothing", alone, roofs);
    }
}

/// Kernels of every order of magnitude, on GPUs by name and on others.
fn at_random(rng: &mut Generator, cases: &mut Vec<Case>) {
    for at in 0..60 {
        let roofs = Roofs::of(Gpu::ALL[at % 4]);
        let launch_ns = 2_000 + rng.below(20_000) as u64;
        let roofs = if at % 3 == 0 { roofs } else { Roofs { launch_ns, ..roofs } };
        let numbers = if at % 2 == 0 { Numbers::F32 } else { Numbers::F16 };
        let calls = 1 + rng.below(50) as u64;
        let call_ns = (1 << (9 + at % 12)) + rng.below(3_000) as u64;
        let device_ns = calls * call_ns + rng.below(calls as usize) as u64;
        let peak =
            if numbers == Numbers::F32 { roofs.f32_flops_per_s } else { roofs.f16_flops_per_s };
        // Parts of what would be possible in that time, in thousandths.
        let mut of = |rate: u64| {
            let possible = u128::from(rate) * u128::from(device_ns) / 1_000_000_000;
            (possible * (1 + rng.below(999) as u128) / 1_000) as u64
        };
        let counts =
            Counts { numbers, calls, flops: of(peak), bytes: of(roofs.bytes_per_s), device_ns };
        add(cases, "a kernel", counts, roofs);
    }
}
