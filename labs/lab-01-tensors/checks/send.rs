//! 1.5: what arrives on the device, and what the copies cost by the device's counters.

use engine_room::driver::{HostMemory, Route};
use engine_room::rng::Generator;
use engine_room::sim::{self, Gpu};
use engine_room::{Device, Tensor};
use grading::diagnosis::key;
use grading::{Check, Diagnosis, Idea};

use super::Implementation;

/// The simulated GPU of this check.
const GPU: usize = 15;
const DEVICE: Device = Device::Sim(GPU);

/// 1.5
pub fn send(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for (words, tensors) in small_lists(&mut rng) {
        numbers(imp, check, words, &tensors)?;
    }
    for gpu in [Gpu::T4, Gpu::H100] {
        sim::select_gpu(GPU, gpu);
        let count = 120 + rng.below(40);
        let many: Vec<Tensor> = (0..count).map(|_| weights(&mut rng, 24, 100)).collect();
        quickly(imp, check, "a model of small layers", &many)?;
        let few = [weights(&mut rng, 700, 800), weights(&mut rng, 20, 30)];
        quickly(imp, check, "a large layer and a small one", &few)?;
    }
    numbers(imp, check, "one tensor", &[weights(&mut rng, 3, 9)])
}

/// A random matrix with sizes from `low` to `high` - 1.
fn weights(rng: &mut Generator, low: usize, high: usize) -> Tensor {
    let size = [low + rng.below(high - low), low + rng.below(high - low)];
    Tensor::rand(&size, rng)
}

/// Lists with shapes of every kind.
fn small_lists(rng: &mut Generator) -> Vec<(&'static str, Vec<Tensor>)> {
    let lists = |rng: &mut Generator, first: &[usize], second: &[usize]| {
        vec![Tensor::rand(first, rng), Tensor::rand(second, rng), Tensor::rand(&[2, 1, 3], rng)]
    };
    let mut views = lists(rng, &[4, 3], &[5, 2]);
    views[0] = views[0].transpose(0, 1);
    views[1] = views[1].narrow(0, 1, 3);
    vec![
        ("three lists", vec![3, 5, 2].into_iter().map(|n| Tensor::rand(&[n], rng)).collect()),
        ("three tensors", lists(rng, &[2, 3], &[4])),
        ("a transposed view and a part of a matrix among them", views),
        ("a single number among them", lists(rng, &[], &[3, 2])),
        ("a tensor without elements among them", lists(rng, &[0, 4], &[3, 2])),
    ]
}

fn called(words: &str, tensors: &[Tensor]) -> String {
    let shapes: Vec<&[usize]> = tensors.iter().map(Tensor::shape).collect();
    match tensors.len() {
        0..=4 => format!("send_all(tensors {shapes:?}, {DEVICE}), {words}"),
        n => format!("send_all({n} tensors, {DEVICE}), {words}"),
    }
}

/// The shapes and the numbers that arrive.
fn numbers(
    imp: &Implementation,
    check: &mut Check,
    words: &str,
    tensors: &[Tensor],
) -> Result<(), Diagnosis> {
    let before: Vec<Vec<f32>> = tensors.iter().map(Tensor::to_vec).collect();
    let called = called(words, tensors);
    let sent = check.call(called.as_str(), || (imp.send_all)(tensors, DEVICE));
    arrived(check, &called, tensors, &before, &sent.map_err(of_a_panic)?)
}

/// Panics of the engine that have a typical reason.
fn of_a_panic(panic: Diagnosis) -> Diagnosis {
    let reasons = [
        ("stack", "1.5-stacked", STACKED),
        ("cat(", "1.5-not-flattened", UNFLAT),
        ("a copy from", "1.5-read-too-early", EARLY),
    ];
    match reasons.into_iter().find(|(words, ..)| panic.got.contains(words)) {
        Some((_, key, thought)) if panic.key == key::PANICKED => {
            Diagnosis { key: key.to_owned(), ..panic }.thought(thought)
        }
        _ => panic,
    }
}

fn arrived(
    check: &Check,
    called: &str,
    tensors: &[Tensor],
    before: &[Vec<f32>],
    sent: &[Tensor],
) -> Result<(), Diagnosis> {
    let wrong = |key: &str, got: String, expected: String, thought: &str| {
        Err(Diagnosis::new(key).called(called).got(got).expected(expected).thought(thought))
    };
    if sent.len() != tensors.len() {
        let key = if sent.len() == 1 { "1.5-not-cut-up" } else { key::WRONG_VALUE };
        let thought = if sent.len() == 1 { NOT_CUT } else { "" };
        let count = |n: usize| format!("{n} tensors");
        return wrong(key, count(sent.len()), count(tensors.len()), thought);
    }
    for (at, (tensor, sent)) in tensors.iter().zip(sent).enumerate() {
        if sent.device() != DEVICE {
            let on = |device: Device| format!("tensor {at} on {device}");
            return wrong("1.5-not-sent", on(sent.device()), on(DEVICE), NOT_SENT);
        }
        if sent.shape() != tensor.shape() {
            let shape = |tensor: &Tensor| format!("tensor {at} has shape {:?}", tensor.shape());
            let flat = sent.shape() == [tensor.numel()];
            let key = if flat { "1.5-still-flat" } else { key::WRONG_SHAPE };
            return wrong(key, shape(sent), shape(tensor), if flat { FLAT } else { "" });
        }
        same_numbers(check, &format!("{called}\ntensor {at}"), before, at, sent)?;
    }
    Ok(())
}

fn same_numbers(
    check: &Check,
    called: &str,
    before: &[Vec<f32>],
    at: usize,
    sent: &Tensor,
) -> Result<(), Diagnosis> {
    let (want, got) = (&before[at], sent.to_vec::<f32>());
    if got == *want {
        return Ok(());
    }
    let shown = |values: &[f32]| values.iter().take(12).copied().collect::<Vec<f32>>();
    let all = before.concat();
    let idea = |key, thought, value: &[f32]| Idea { key, thought, value: shown(value) };
    let mut ideas = vec![idea("1.5-start-stands-still", START, &all[..want.len()])];
    ideas.extend(all.windows(want.len()).map(|part| idea("1.5-wrong-stretch", STRETCH, part)));
    let mut sorted = [want.clone(), got.clone()];
    sorted.iter_mut().for_each(|values| values.sort_by(f32::total_cmp));
    if sorted[0] == sorted[1] {
        ideas.push(idea("1.5-order-of-memory", MEMORY, &got));
    }
    check.equal("its numbers", called, &shown(&got), &shown(want), &ideas)
}

/// Numbers first, then the time of the calls.
fn quickly(
    imp: &Implementation,
    check: &mut Check,
    words: &str,
    tensors: &[Tensor],
) -> Result<(), Diagnosis> {
    let before: Vec<Vec<f32>> = tensors.iter().map(Tensor::to_vec).collect();
    let called = called(words, tensors);
    sim::reset(GPU);
    let sent = check.call(called.as_str(), || (imp.send_all)(tensors, DEVICE));
    let sent = sent.map_err(of_a_panic)?;
    let (clock, cost) = (sim::clock(GPU), Cost::counted());
    // What was not waited for counts as well.
    let took = clock.host_ns.max(clock.device_ns);
    arrived(check, &called, tensors, &before, &sent)?;
    let bytes: u64 = tensors.iter().map(Tensor::nbytes).sum();
    let needed = bytes as f64 / clock.gpu.figures().pinned as f64 * 1e9;
    let bound = 1.1 * needed + 20_000.0;
    check.require(took as f64 <= bound, || {
        let (key, thought) = cost.reason(bytes, tensors.len() as u64);
        let us = |ns: f64| format!("{:.0} us (modelled, {})", ns / 1e3, clock.gpu);
        Diagnosis::new(key)
            .called(called.as_str())
            .got(format!("{}; {cost}", us(took as f64)))
            .expected(format!("at most {}, for {bytes} bytes", us(bound)))
            .thought(thought)
    })
}

/// What the device has counted.
struct Cost {
    copies: u64,
    bytes: u64,
    pageable: u64,
    back: u64,
    launches: u64,
}

impl Cost {
    fn counted() -> Cost {
        let transfers = sim::transfers(GPU);
        let [pageable, pinned] =
            [HostMemory::Pageable, HostMemory::Pinned].map(|m| transfers.on(Route::ToDevice(m)));
        let back = [HostMemory::Pageable, HostMemory::Pinned]
            .map(|memory| transfers.on(Route::ToHost(memory)).bytes);
        Cost {
            copies: pageable.count + pinned.count,
            bytes: pageable.bytes + pinned.bytes,
            pageable: pageable.count,
            back: back.iter().sum(),
            launches: sim::launches(GPU).count,
        }
    }

    fn reason(&self, bytes: u64, tensors: u64) -> (&'static str, &'static str) {
        match self {
            _ if self.back > 0 => ("1.5-came-back", BACK),
            _ if self.bytes > bytes => ("1.5-too-many-bytes", TWICE),
            _ if self.launches > 0 => ("1.5-joined-on-the-device", ON_DEVICE),
            _ if self.copies >= tensors && tensors > 2 && self.pageable == 0 => {
                ("1.5-each-pinned", EACH_PINNED)
            }
            _ if self.copies >= tensors && tensors > 2 => ("1.5-one-by-one", EACH),
            _ if self.pageable > 0 => ("1.5-pageable", PAGEABLE),
            _ => ("1.5-too-many-copies", COPIES),
        }
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Cost { copies, bytes, pageable, .. } = self;
        write!(f, "copies: {copies}, of them from pageable memory: {pageable}, bytes: {bytes}")
    }
}

const ON_DEVICE: &str = "The tensors have been joined on the device, after each was sent by \
    itself. That saves no copy, and joining takes the device some kernels more. Join them on \
    the host, before anything is sent.";
const STACKED: &str = "`stack` puts tensors of one shape side by side. These have different \
    shapes: flatten them and join them with `cat`.";
const UNFLAT: &str = "`cat` joins along one dimension, and all others have to fit. Flatten each \
    tensor first: `t.reshape(&[t.numel()])`.";
const EARLY: &str = "The numbers were read before the copy had arrived. Nothing has to be read \
    on the host here.";
const NOT_CUT: &str = "All numbers have arrived in one tensor. Cut it up again: each tensor is a \
    stretch of it under its own shape.";
const NOT_SENT: &str = "The tensor is not on the device. `x.to(device)` returns a new tensor \
    there and leaves x where it is.";
const FLAT: &str = "The numbers have arrived in a row. Give each stretch the shape of its tensor \
    with `reshape`: on the device, too, that is a view.";
const START: &str = "Those are the numbers of the first tensor. The place where a tensor begins \
    moves on by the elements of those before it.";
const STRETCH: &str = "Those numbers were sent, and belong elsewhere: the stretch begins at the \
    wrong place. A tensor begins where the elements of those before it end.";
const MEMORY: &str = "The numbers are right and their order is not. A view shows its numbers in \
    another order than they lie in memory; `reshape` goes by what the view shows.";
const BACK: &str =
    "Numbers went back from the device to the host. Nothing on the host is asked for.";
const TWICE: &str = "More bytes were sent than the tensors have. Each number has to cross once.";
const EACH_PINNED: &str = "Pinned memory and copies that nobody waits for take the staging and \
    the waiting away. The call remains, with its 6 us, and the latency: hundreds of copies pay \
    them hundreds of times. Only fewer copies help.";
const EACH: &str = "One copy for each tensor. Every copy costs a call and a latency before its \
    first byte moves, 10 us together, in which the link could carry 120 kB or more. Join the \
    tensors on the host and send them at once.";
const PAGEABLE: &str = "One copy, and from pageable memory. The driver cannot let the device \
    fetch from there, so it first copies every byte into a buffer of its own, which costs as \
    much as the link again. Send from pinned memory: `x.pin_memory()`.";
const COPIES: &str = "The memory is pinned and each byte crosses once, but there are too many \
    copies for this few bytes, or one of them waits for another.";
