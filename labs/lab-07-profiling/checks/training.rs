//! 7.6: the losses and the model that a loop leaves, and then what it asks of its device.

use engine_room::Device;
use engine_room::nn::Module;
use engine_room::profiler::{Finding, Profile};
use engine_room::rng::Generator;
use grading::{Check, Diagnosis};

use super::super::training::{Counters, PROFILED, Size, Training, profiled};
use super::Implementation;
use super::training_ways::{self, Way};
use super::training_words::{self, Target};

/// The device that trains.
const GPU: Device = Device::Sim(0);

/// 7.6
pub fn training(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut ran = Vec::new();
    for size in sizes(&mut rng) {
        let seed = u64::from(rng.next_u32());
        let run = Training::new(&size, GPU, seed);
        let called = format!("train({size:?}), seed {seed}");
        let losses = check.call(called.as_str(), || (imp.train)(&run))?;
        ran.push(Ran { size, seed, called, losses, norm: norm(&run) });
    }
    judge(&ran)?;
    let seed = u64::from(rng.next_u32());
    let called = format!("train({PROFILED:?}), seed {seed}, after one epoch");
    let profile = check.call(called.as_str(), || profiled(&PROFILED, GPU, seed, imp.train))?;
    let profile = profile.expect("the simulated GPU works");
    counted(&profile, &called)
}

/// A training that has ended.
pub struct Ran {
    pub size: Size,
    pub seed: u64,
    pub called: String,
    pub losses: Vec<f32>,
    /// The square root of the sum of the squares of all parameters.
    pub norm: f32,
}

/// Small ones, since here only the results count: the last step of an epoch has as many samples as
/// the others, fewer, or one.
fn sizes(rng: &mut Generator) -> Vec<Size> {
    let mut sizes = Vec::new();
    for rest in [0, 2, 1] {
        let (times, channels, batch) = (3 + rng.below(3), 2 + rng.below(2), 4 + rng.below(3));
        let samples = 2 * batch + rest;
        sizes.push(Size { samples, times, channels, batch, epochs: 2 + rng.below(2) });
    }
    sizes
}

/// The norm of the model's parameters.
pub fn norm(run: &Training) -> f32 {
    let mut sum = 0.0;
    for parameter in run.model.parameters() {
        let x = parameter.get();
        sum += x.detach().to_vec::<f32>().iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
    }
    sum.sqrt() as f32
}

/// Whether all losses, and what became of the model, are those of the right loop.
fn judge(ran: &[Ran]) -> Result<(), Diagnosis> {
    let right: Vec<(Vec<f32>, f32)> =
        ran.iter().map(|it| training_ways::run(&it.size, it.seed, Way::RIGHT)).collect();
    let wrong = ran.iter().zip(&right).find(|(it, right)| !agrees(it, right));
    let Some((it, (losses, norm))) = wrong else { return Ok(()) };
    let (key, thought) = training_ways::explained(ran);
    let shown = |losses: &[f32], norm: f32| {
        let some: Vec<String> = losses.iter().take(4).map(|loss| format!("{loss:.4}")).collect();
        format!(
            "{} losses: {}, ..; norm of the parameters {norm:.4}",
            losses.len(),
            some.join(", ")
        )
    };
    Err(Diagnosis::new(key)
        .called(it.called.as_str())
        .got(shown(&it.losses, it.norm))
        .expected(shown(losses, *norm))
        .thought(thought))
}

/// Whether losses and model are equal but for the order of sums.
pub fn agrees(ran: &Ran, (losses, norm): &(Vec<f32>, f32)) -> bool {
    let close = |a: f32, b: f32| (a - b).abs() <= 1e-3 * b.abs().max(1e-2);
    ran.losses.len() == losses.len()
        && ran.losses.iter().zip(losses).all(|(&a, &b)| close(a, b))
        && close(ran.norm, *norm)
}

/// Whether the counters reach their targets, and the diagnosis finds nothing more.
fn counted(profile: &Profile, called: &str) -> Result<(), Diagnosis> {
    let counters = Counters::of(profile, PROFILED.steps());
    let diagnosis = profile.diagnosis();
    let missed = Target::ALL.into_iter().filter(|target| target.of(&counters) > target.most());
    let missed: Vec<Target> = missed.collect();
    // What happens once is no fault of a loop.
    let least = diagnosis.profiled_ns / 50;
    let again = || diagnosis.findings.iter().filter(|it| it.count > 1 && it.cost_ns >= least);
    let dearest = again().map(|it| it.problem);
    let found = training_words::of(&missed, &counters, dearest);
    let Some((key, thought)) = found else { return Ok(()) };
    let mut got: Vec<String> = missed.iter().map(|target| target.line(&counters)).collect();
    // A copy may cost little by its time, and its line helps all the same.
    let of_missed = |it: &&Finding| missed.iter().any(|target| target.problem() == it.problem);
    let shown = again().next().or_else(|| diagnosis.findings.iter().find(of_missed));
    got.extend(shown.map(|finding| format!("dearest: {finding}")));
    Err(Diagnosis::new(key)
        .called(called)
        .got(got.join("\n"))
        .expected(missed.iter().map(|target| target.bound()).collect::<Vec<_>>().join("\n"))
        .thought(thought))
}
