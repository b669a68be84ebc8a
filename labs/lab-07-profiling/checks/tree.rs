//! Calls within calls at random, as 7.1 and 7.2 read them.

use engine_room::Device;
use engine_room::profiler::{Event, Kind, Profile};
use engine_room::rng::Generator;

use super::super::averages::Call;
use super::super::spans::Span;

/// A call, where it ran and when. A list of them is in the order in which they began.
#[derive(Debug, Clone)]
pub struct Timed {
    pub name: String,
    pub shapes: Vec<Vec<usize>>,
    pub thread: usize,
    pub start_ns: u64,
    pub end_ns: u64,
    pub parent: Option<usize>,
    pub kernels_ns: u64,
}

/// Names that call each other; few, so that they come again inside themselves.
const NAMES: [&str; 6] = ["linear", "matmul", "add", "norm", "copy", "attention"];

/// Shapes that are easily taken for each other: the same numbers, the same number of elements.
fn shapes(rng: &mut Generator) -> Vec<Vec<usize>> {
    let list: [&[&[usize]]; 6] =
        [&[&[2, 3], &[3]], &[&[2], &[3, 3]], &[&[3], &[2, 3]], &[&[3, 2], &[3]], &[&[2, 3]], &[]];
    list[rng.below(6)].iter().map(|shape| shape.to_vec()).collect()
}

/// So many threads, each with a few calls one after the other and calls within them.
pub fn random(threads: usize, depth: usize, rng: &mut Generator) -> Vec<Timed> {
    let mut list = Vec::new();
    let base = rng.below(1000) as u64;
    for number in 0..threads {
        // As a system numbers them: not from 0, and not in a row.
        let thread = 40_000 + 137 * (threads - number) + rng.below(90);
        let span = (base + rng.below(50) as u64, base + 3000 + rng.below(3000) as u64);
        fill(&mut list, (thread, None), span, depth, rng);
    }
    list
}

/// Cuts a span of time into calls with gaps between them, or none, and fills each call.
fn fill(
    list: &mut Vec<Timed>,
    (thread, parent): (usize, Option<usize>),
    (start, end): (u64, u64),
    depth: usize,
    rng: &mut Generator,
) {
    let (mut at, mut least_gap) = (start, 0);
    for _ in 0..1 + rng.below(4) {
        let rest = (end - at) as usize;
        let gap = if rng.below(3) == 0 { 0 } else { rng.below(rest / 4 + 1) }.max(least_gap);
        let length = match rng.below(8) {
            0 => rest.saturating_sub(gap),
            1 => 0,
            _ => rng.below(rest.saturating_sub(gap) / 2 + 1),
        };
        // Of an empty call at a border nobody can tell which side it belongs to.
        if gap >= rest || length == 0 && gap == 0 {
            continue;
        }
        let (from, to) = (at + gap as u64, at + (gap + length) as u64);
        let name = NAMES[rng.below(NAMES.len())].to_string();
        let kernels_ns = if rng.below(2) == 0 { 0 } else { 1 + rng.below(900) as u64 };
        let shapes = shapes(rng);
        list.push(Timed { name, shapes, thread, start_ns: from, end_ns: to, parent, kernels_ns });
        let own = list.len() - 1;
        if depth > 1 && length > 3 {
            fill(list, (thread, Some(own)), (from, to), depth - 1, rng);
        }
        (at, least_gap) = (to, usize::from(length == 0));
    }
}

/// How many calls a call is inside of.
fn depth(list: &[Timed], at: usize) -> usize {
    std::iter::successors(list[at].parent, |&above| list[above].parent).count()
}

/// In the order in which they ended, the inner one first where two end at the same time.
pub fn spans(list: &[Timed]) -> Vec<Span> {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|&at| (list[at].end_ns, std::cmp::Reverse(depth(list, at)), at));
    let span = |&at: &usize| {
        let Timed { name, thread, start_ns, end_ns, .. } = list[at].clone();
        Span { name, thread, start_ns, end_ns }
    };
    order.iter().map(span).collect()
}

/// As a profile holds them.
pub fn calls(list: &[Timed]) -> Vec<Call> {
    let call = |timed: &Timed| {
        let Timed { name, shapes, parent, kernels_ns, .. } = timed.clone();
        Call { name, shapes, parent, cpu_ns: timed.end_ns - timed.start_ns, kernels_ns }
    };
    list.iter().map(call).collect()
}

/// The same as a profile of the engine, which finds the parents by itself.
pub fn profile(list: &[Timed]) -> Profile {
    let host = |timed: &Timed| {
        let event = Event::of_host(Kind::Op, &timed.name, timed.thread);
        let shapes = timed.shapes.clone();
        Event { shapes, ..event }.between(timed.start_ns, timed.end_ns)
    };
    let mut events: Vec<Event> = list.iter().map(host).collect();
    for (at, timed) in list.iter().enumerate().filter(|(_, timed)| timed.kernels_ns > 0) {
        let event = Event::of_host(Kind::Kernel, "a kernel", 0).between(0, timed.kernels_ns);
        events.push(Event { device: Device::Sim(0), cause: Some(at), ..event });
    }
    Profile::from_events(events)
}
