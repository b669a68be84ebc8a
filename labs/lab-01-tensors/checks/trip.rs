//! 1.6: pipelines with and without a round trip, and what each stage has moved.

use std::rc::Rc;

use engine_room::driver::{HostMemory, Nanoseconds, Route};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor, sim};
use grading::{Check, Diagnosis};

use super::super::pipeline::Stage;
use super::Implementation;
use super::models::{Answered, Model, judge};
use super::pipelines::Move::*;
use super::pipelines::{Log, Move, Run, input, stages};

/// Pipelines; the round trip may be at any place, or nowhere. Where nothing is uploaded first, the
/// input is on the device.
const PIPELINES: &[&[Move]] = &[
    &[Upload, Transpose, Trip, Crop, Fetch],
    &[Upload, Transpose, Crop, Fetch],
    &[Upload, Log, Constant, LogAndConstant, Crop, PinnedTrip, Transpose, Fetch],
    &[UploadPinned, Save, Constant, Table, Transpose, Fetch],
    &[UploadPinned, Save, Crop, Table, Log, Trip, Save, Fetch],
    &[Upload, Crop, ShrinkingTrip, Transpose, LogAndConstant],
    &[UploadPinned, GrowingTrip, Save, Log, Constant, Table],
    &[Upload, Table, Save, Fetch, Upload, PinnedTrip],
    &[Upload, LogAndConstant, SaveAndConstant, LogAndConstant, LogAndTable],
    &[Upload, Transpose, Trip, LogAndTable, SaveAndConstant, Table, LogAndConstant, Fetch],
    &[Crop, Table, Save, Trip, Fetch],
    &[Log, Save, Transpose, LogAndTable],
    &[Upload],
    &[],
];

/// What the counters of the device say of one stage, and its input and output in bytes.
struct Seen {
    to_host: [u64; 2],
    to_device: [u64; 2],
    took: Nanoseconds,
    input: u64,
    output: u64,
    stays: bool,
}

impl Seen {
    fn away(&self) -> u64 {
        self.to_host.iter().sum()
    }

    fn back(&self) -> u64 {
        self.to_device.iter().sum()
    }
}

/// 1.6
pub fn trip(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut answers = Vec::new();
    for (at, moves) in PIPELINES.iter().enumerate() {
        let gpu = 20 + at;
        let uploaded = matches!(moves.first(), Some(Upload | UploadPinned));
        let x = input(&mut rng).to(if uploaded { Device::Cpu } else { Device::Sim(gpu) });
        let want = moves.iter().position(|what| what.is_trip());
        let seen = observed(moves, &x, gpu);
        let called = described(&stages(moves, Device::Sim(gpu), &Log::default()), gpu);
        let got = run(imp, check, &called, moves, &x, gpu, &mut rng)?;
        answers.push(Answered { called, question: seen, got, want });
    }
    judge(check, &answers, MODELS)
}

/// The learner's answer. The stages note in which order they run, and with what.
fn run(
    imp: &Implementation,
    check: &mut Check,
    called: &str,
    moves: &[Move],
    x: &Tensor,
    gpu: usize,
    rng: &mut Generator,
) -> Result<Option<usize>, Diagnosis> {
    let log = Log::default();
    let stages = stages(moves, Device::Sim(gpu), &log);
    // What the counters showed before is of no account: somebody else has used the device.
    let others = Tensor::rand(&[200, 300 + rng.below(50)], rng).to(Device::Sim(gpu));
    others.to(Device::Cpu);
    let got = check.call(called, || (imp.find_round_trip)(&stages, x, gpu))?;
    drop(stages);
    let runs = Rc::into_inner(log).map(|log| log.into_inner()).unwrap_or_default();
    in_order(called, x, &runs, got)?;
    Ok(got)
}

/// No stage twice, and each with what the one before it gave.
fn in_order(called: &str, x: &Tensor, runs: &[Run], got: Option<usize>) -> Result<(), Diagnosis> {
    let mut given = super::pipelines::name(x);
    for (at, run) in runs.iter().enumerate() {
        let again = runs[..at].iter().any(|earlier| earlier.stage == run.stage);
        let (key, thought) = match () {
            () if again => ("1.6-stage-twice", AGAIN),
            () if run.stage != at || run.input != given => ("1.6-not-chained", CHAINED),
            () => {
                given.clone_from(&run.output);
                continue;
            }
        };
        let stage = run.stage;
        return Err(Diagnosis::new(key)
            .called(called)
            .got(format!("run number {at} was stage {stage}, with the input {}", run.input))
            .expected(format!("stage {at} with the input {given}"))
            .thought(thought));
    }
    if runs.is_empty() && got.is_some() {
        return Err(Diagnosis::new("1.6-nothing-run")
            .called(called)
            .got(format!("{got:?} without running a stage"))
            .expected("an answer from what the stages do")
            .thought("What a stage says it does is not what it does. Run it and count."));
    }
    Ok(())
}

fn described(stages: &[Stage], gpu: usize) -> String {
    let names: Vec<&str> = stages.iter().map(|stage| stage.name).collect();
    format!("find_round_trip(stages [{}], the input, gpu {gpu})", names.join(", "))
}

/// The check's own run.
fn observed(moves: &[Move], x: &Tensor, gpu: usize) -> Vec<Seen> {
    let mut x = x.clone();
    let observe = |stage: Stage| {
        sim::reset(gpu);
        let y = stage.run(&x);
        let (transfers, clock) = (sim::transfers(gpu), sim::clock(gpu));
        let memory = [HostMemory::Pageable, HostMemory::Pinned];
        let to_host = memory.map(|memory| transfers.on(Route::ToHost(memory)));
        let to_device = memory.map(|memory| transfers.on(Route::ToDevice(memory)));
        let seen = Seen {
            to_host: to_host.map(|traffic| traffic.bytes),
            to_device: to_device.map(|traffic| traffic.bytes),
            took: clock.host_ns,
            input: x.nbytes(),
            output: y.nbytes(),
            stays: x.device() == y.device() && x.device() != Device::Cpu,
        };
        x = y;
        seen
    };
    stages(moves, Device::Sim(gpu), &Log::default()).into_iter().map(observe).collect()
}

/// The first stage that fits, or the last one; where no thought is wrong there is one at most.
fn found(seen: &[Seen], last: bool, fits: impl Fn(&Seen) -> bool) -> Option<usize> {
    if last { seen.iter().rposition(fits) } else { seen.iter().position(fits) }
}

/// The same with counters that are never set to zero.
fn found_in_sums(seen: &[Seen], last: bool) -> Option<usize> {
    let mut sums = [0, 0];
    let mut grown = Vec::new();
    for stage in seen {
        sums = [sums[0] + stage.away(), sums[1] + stage.back()];
        grown.push(sums[0] >= stage.input && sums[1] >= stage.output);
    }
    if last { grown.iter().rposition(|&fits| fits) } else { grown.iter().position(|&fits| fits) }
}

/// The stage with most of something.
fn most(seen: &[Seen], of: impl Fn(&Seen) -> u64) -> Option<usize> {
    (0..seen.len()).rev().max_by_key(|&at| of(&seen[at]))
}

const fn model(
    key: &'static str,
    thought: &'static str,
    answer: fn(&Vec<Seen>) -> Option<usize>,
) -> Model<Vec<Seen>, Option<usize>> {
    Model { key, thought, answer }
}

const MODELS: &[Model<Vec<Seen>, Option<usize>>] = &[
    model("1.6-always-none", NEVER, |_| None),
    model("1.6-device-compared", DEVICES, |seen| found(seen, false, |stage| !stage.stays)),
    model("1.6-device-compared", DEVICES, |seen| found(seen, true, |stage| !stage.stays)),
    model("1.6-slowest", SLOWEST, |seen| most(seen, |stage| stage.took)),
    model("1.6-most-bytes", MOST, |seen| most(seen, |stage| stage.away() + stage.back())),
    model("1.6-one-way-away", AWAY, |seen| found(seen, false, |s| s.away() >= s.input)),
    model("1.6-one-way-away", AWAY, |seen| found(seen, true, |s| s.away() >= s.input)),
    model("1.6-one-way-back", BACK, |seen| found(seen, false, |s| s.back() >= s.output)),
    model("1.6-one-way-back", BACK, |seen| found(seen, true, |s| s.back() >= s.output)),
    model("1.6-few-bytes", FEW, |seen| found(seen, false, |s| s.away() > 0 && s.back() > 0)),
    model("1.6-few-bytes", FEW, |seen| found(seen, true, |s| s.away() > 0 && s.back() > 0)),
    model("1.6-pinned-missed", PINNED, |seen| {
        found(seen, false, |s| s.to_host[0] >= s.input && s.to_device[0] >= s.output)
    }),
    model("1.6-counters-add-up", SUMS, |seen| found_in_sums(seen, false)),
    model("1.6-counters-add-up", SUMS, |seen| found_in_sums(seen, true)),
    model("1.6-same-size", SIZE, |seen| {
        found(seen, false, |s| s.away() >= s.input && s.back() >= s.input)
    }),
    model("1.6-same-size", SIZE, |seen| {
        found(seen, false, |s| s.away() >= s.output && s.back() >= s.output)
    }),
    model("1.6-same-size", SIZE, |seen| {
        found(seen, false, |s| s.away() > 0 && s.away() == s.back())
    }),
];

const AGAIN: &str = "A stage ran twice. It may train, write or log: run each once, and read the \
    counters before and after.";
const CHAINED: &str = "A stage did not get what the one before it gave. Keep the output, and \
    hand it to the next stage.";
const NEVER: &str = "No round trip was found, and there is one. `y.device()` cannot show it, \
    since the output is back on the device; the counters of the device can.";
const DEVICES: &str = "The devices of input and output have been compared. A round trip begins \
    and ends on the device; what changes the device is an upload or a fetch, one way.";
const SLOWEST: &str = "That is the stage that takes longest. One upload of a large table takes \
    longer than a small round trip, and is no round trip.";
const MOST: &str = "That is the stage that moves most bytes. One upload of a large table moves \
    more than a small round trip, one way. There has to be traffic both ways.";
const AWAY: &str = "That stage sends its input to the host, and nothing of it comes back: a \
    fetch, or a copy that is saved. A round trip needs as many bytes as the output has on the \
    way back.";
const BACK: &str = "That stage sends as many bytes to the device as its output has, and its \
    input never went to the host: an upload. A round trip needs both ways.";
const FEW: &str = "That stage copies both ways, but few bytes: it logs some numbers and sends a \
    constant. Compare the bytes with those of the input and of the output.";
const PINNED: &str = "A round trip through pinned memory was not seen. Pageable and pinned \
    memory are two routes with counters of their own; add them up.";
const SUMS: &str = "The counters have gone on from stage to stage: a copy saved by one and an \
    upload of another look like a round trip. `sim::reset(gpu)` before each stage, or subtract \
    what they showed before it.";
const SIZE: &str = "A round trip may change the size: what leaves as f32 may come back as bf16, \
    or as twice as many rows. Compare the bytes to the host with the input's, and the bytes back \
    with the output's.";
