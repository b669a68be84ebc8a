//! Copies that are slow or go wrong, and round trips that are not found: 1.5 and 1.6.

use engine_room::driver::{HostMemory, Route};
use engine_room::{Device, Tensor, sim};

use super::super::pipeline::{Stage, send_one_by_one};
use super::super::solution;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    [slow(), misplaced(), counted_wrong(), run_wrong()].into_iter().flatten().collect()
}

fn slow() -> Vec<Wrong> {
    vec![
        send("1.5-one-by-one", "the loop as it was", send_one_by_one),
        send("1.5-each-pinned", "each pinned, nobody waits", |tensors, device| {
            let pinned: Vec<Tensor> = tensors.iter().map(Tensor::pin_memory).collect();
            let sent = pinned.iter().map(|tensor| tensor.to_non_blocking(device)).collect();
            device.synchronize().expect("the device is there");
            sent
        }),
        send("1.5-pageable", "joined and not pinned", |tensors, device| {
            cut(&joined(tensors).to(device), tensors, 0)
        }),
        send("1.5-too-many-copies", "eight at a time", |tensors, device| {
            let some = tensors.chunks(8);
            some.flat_map(|some| solution::send_all(some, device)).collect()
        }),
        send("1.5-too-many-bytes", "all of it for each half", |tensors, device| {
            let there = joined(tensors).pin_memory().to(device);
            joined(tensors).pin_memory().to(device);
            cut(&there, tensors, 0)
        }),
        send("1.5-came-back", "looks whether it has arrived", |tensors, device| {
            let there = joined(tensors).pin_memory().to(device);
            there.to(Device::Cpu);
            cut(&there, tensors, 0)
        }),
    ]
}

fn misplaced() -> Vec<Wrong> {
    vec![
        send("1.5-not-cut-up", "one long tensor", |tensors, device| {
            vec![joined(tensors).pin_memory().to(device)]
        }),
        send("1.5-still-flat", "without the shapes", |tensors, device| {
            let sent = solution::send_all(tensors, device);
            sent.iter().map(|tensor| tensor.reshape(&[-1])).collect()
        }),
        send("1.5-start-stands-still", "start is never moved", |tensors, device| {
            let there = joined(tensors).pin_memory().to(device);
            let part = |t: &Tensor| there.narrow(0, 0, t.numel()).reshape(t.shape());
            tensors.iter().map(part).collect()
        }),
        send("1.5-wrong-stretch", "one number too late", |tensors, device| {
            let mut one_more = tensors.to_vec();
            one_more.push(tensors[0].reshape(&[-1]).narrow(0, 0, 1));
            cut(&joined(&one_more).pin_memory().to(device), tensors, 1)
        }),
        send("1.5-not-sent", "the result thrown away", |tensors, device| {
            solution::send_all(tensors, device);
            tensors.to_vec()
        }),
        send("1.5-stacked", "stack for cat", |tensors, device| {
            let all: Vec<&Tensor> = tensors.iter().collect();
            cut(&Tensor::stack(&all, 0).reshape(&[-1]).to(device), tensors, 0)
        }),
        send("1.5-not-flattened", "cat of the tensors as they are", |tensors, device| {
            let all: Vec<&Tensor> = tensors.iter().collect();
            cut(&Tensor::cat(&all, 0).reshape(&[-1]).to(device), tensors, 0)
        }),
        send("1.5-joined-on-the-device", "sent, then joined", |tensors, device| {
            let sent: Vec<Tensor> = tensors.iter().map(|tensor| tensor.to(device)).collect();
            cut(&joined(&sent), tensors, 0)
        }),
    ]
}

fn counted_wrong() -> Vec<Wrong> {
    vec![
        find("1.6-always-none", "compares devices, which agree", |stages, input, _| {
            let mut x = input.clone();
            let differs = |stage: &Stage| {
                x = stage.run(&x);
                false
            };
            stages.iter().position(differs)
        }),
        find("1.6-device-compared", "the devices differ", |stages, input, gpu| {
            by(stages, input, gpu, |seen| !seen.stays)
        }),
        find("1.6-one-way-away", "to the host", |stages, input, gpu| {
            by(stages, input, gpu, |seen| seen.both(0) >= seen.input)
        }),
        find("1.6-one-way-back", "to the device", |stages, input, gpu| {
            by(stages, input, gpu, |seen| seen.both(1) >= seen.output)
        }),
        find("1.6-few-bytes", "any copies both ways", |stages, input, gpu| {
            by(stages, input, gpu, |seen| seen.both(0) > 0 && seen.both(1) > 0)
        }),
        find("1.6-pinned-missed", "pageable memory only", |stages, input, gpu| {
            by(stages, input, gpu, |seen| {
                seen.bytes[0][0] >= seen.input && seen.bytes[1][0] >= seen.output
            })
        }),
        find("1.6-same-size", "as many bytes as came", |stages, input, gpu| {
            by(stages, input, gpu, |seen| seen.both(0) >= seen.input && seen.both(1) >= seen.input)
        }),
        find("1.6-slowest", "the slowest stage", |stages, input, gpu| {
            largest(stages, input, gpu, |_| sim::clock(gpu).host_ns)
        }),
        find("1.6-most-bytes", "the most bytes", |stages, input, gpu| {
            largest(stages, input, gpu, |seen| seen.both(0) + seen.both(1))
        }),
    ]
}

fn run_wrong() -> Vec<Wrong> {
    vec![
        find("1.6-counters-add-up", "counters never reset", |stages, input, gpu| {
            sim::reset(gpu);
            let mut x = input.clone();
            let mut found = None;
            for (at, stage) in stages.iter().enumerate() {
                let y = stage.run(&x);
                let seen = Seen::of(&x, &y, gpu);
                if seen.both(0) >= seen.input && seen.both(1) >= seen.output {
                    found = Some(at);
                }
                x = y;
            }
            found
        }),
        find("1.6-not-chained", "every stage on the input", |stages, input, gpu| {
            let on_device = input.to(Device::Sim(gpu));
            stages.iter().position(|stage| {
                sim::reset(gpu);
                let y = stage.run(&on_device);
                let seen = Seen::of(&on_device, &y, gpu);
                seen.both(0) >= seen.input && seen.both(1) >= seen.output
            })
        }),
        find("1.6-stage-twice", "once for each direction", |stages, input, gpu| {
            let mut x = input.clone();
            let mut found = None;
            for (at, stage) in stages.iter().enumerate() {
                let [away, back] = [0, 1].map(|way| {
                    sim::reset(gpu);
                    Seen::of(&x, &stage.run(&x), gpu).both(way)
                });
                let y = stage.run(&x);
                if away >= x.nbytes() && back >= y.nbytes() {
                    found = Some(at);
                }
                x = y;
            }
            found
        }),
        find("1.6-nothing-run", "judged by their names", |stages, _, _| {
            stages.iter().position(|stage| stage.name == "clamp")
        }),
    ]
}

fn send(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&[Tensor], Device) -> Vec<Tensor>,
) -> Wrong {
    wrong("1.5", diagnosis, name, |table| table.send_all = f)
}

fn find(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&[Stage], &Tensor, usize) -> Option<usize>,
) -> Wrong {
    wrong("1.6", diagnosis, name, |table| table.find_round_trip = f)
}

fn joined(tensors: &[Tensor]) -> Tensor {
    let flat: Vec<Tensor> = tensors.iter().map(|tensor| tensor.reshape(&[-1])).collect();
    Tensor::cat(&flat.iter().collect::<Vec<&Tensor>>(), 0)
}

fn cut(long: &Tensor, tensors: &[Tensor], mut start: usize) -> Vec<Tensor> {
    let part = |tensor: &Tensor| {
        let part = long.narrow(0, start, tensor.numel()).reshape(tensor.shape());
        start += tensor.numel();
        part
    };
    tensors.iter().map(part).collect()
}

/// What a stage has moved: to the host and to the device, each from pageable and pinned memory.
struct Seen {
    bytes: [[u64; 2]; 2],
    input: u64,
    output: u64,
    stays: bool,
}

impl Seen {
    fn of(x: &Tensor, y: &Tensor, gpu: usize) -> Seen {
        let traffic = sim::transfers(gpu);
        let memory = [HostMemory::Pageable, HostMemory::Pinned];
        let ways: [fn(HostMemory) -> Route; 2] = [Route::ToHost, Route::ToDevice];
        Seen {
            bytes: ways.map(|way| memory.map(|memory| traffic.on(way(memory)).bytes)),
            input: x.nbytes(),
            output: y.nbytes(),
            stays: x.device() == y.device(),
        }
    }

    fn both(&self, way: usize) -> u64 {
        self.bytes[way].iter().sum()
    }
}

/// The first stage of which this holds.
fn by(
    stages: &[Stage],
    input: &Tensor,
    gpu: usize,
    holds: impl Fn(&Seen) -> bool,
) -> Option<usize> {
    let mut x = input.clone();
    stages.iter().position(|stage| {
        sim::reset(gpu);
        let y = stage.run(&x);
        let seen = Seen::of(&x, &y, gpu);
        x = y;
        holds(&seen)
    })
}

/// The stage with most of something.
fn largest(
    stages: &[Stage],
    input: &Tensor,
    gpu: usize,
    of: impl Fn(&Seen) -> u64,
) -> Option<usize> {
    let mut x = input.clone();
    let mut best: Option<(u64, usize)> = None;
    for (at, stage) in stages.iter().enumerate() {
        sim::reset(gpu);
        let y = stage.run(&x);
        let much = of(&Seen::of(&x, &y, gpu));
        x = y;
        if best.is_none_or(|(most, _)| much > most) {
            best = Some((much, at));
        }
    }
    best.map(|(_, at)| at)
}
