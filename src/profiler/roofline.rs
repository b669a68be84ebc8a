//! The roofline: each kernel of a profile held against what its GPU can reach at most.
//!
//! A kernel's bytes, its operations and its time say how many operations it does for a byte (its
//! intensity), how fast it does them, and which roof it would meet first.

use std::collections::BTreeMap;
use std::fmt;

use crate::device::Device;
use crate::device::driver::Nanoseconds;
use crate::profiler::event::{Event, Kind};
use crate::profiler::profile::Profile;
use crate::profiler::roofs::{Roof, Roofs};

/// The share of its nearest roof from which on that roof is what holds a kernel up.
pub const HELD: f64 = 0.5;

/// Where a kernel's bytes and operations come from. Of several kernels in one row the last of these
/// counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The device counted them: a simulated GPU does.
    Counted,
    /// By formula, from the shapes of the operation that asked for it: what that has to read, write
    /// and compute at least. Several kernels of one operation share it by the time that they take.
    Formula,
    /// Neither is there.
    Unknown,
}

/// What a kernel's time goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// This roof, of which it reaches at least [`HELD`].
    By(Roof),
    /// The host: it needs longer to launch such a kernel than the device to run it.
    Launches,
    /// None of these: it waits for results of its own, for integers or special functions, or for
    /// work that is spread over too few threads.
    Neither,
    /// Neither bytes nor operations are known.
    Unknown,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Bound::By(roof) => roof.fmt(f),
            Bound::Launches => f.write_str("launches"),
            Bound::Neither => f.write_str("neither"),
            Bound::Unknown => f.write_str("unknown"),
        }
    }
}

/// All kernels of one name on one device, or all operations of one name on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct RooflineRow {
    /// The kernel's name, or the operation's.
    pub name: String,
    /// Where they ran.
    pub device: Device,
    /// How many.
    pub calls: u64,
    /// What they took together; of an operation without its parts.
    pub time_ns: Nanoseconds,
    /// Bytes between them and the memory.
    pub bytes: u64,
    /// Bytes that they asked the L2 cache for, if that was counted.
    pub l2_bytes: u64,
    /// Floating-point operations.
    pub flops: u64,
    /// Where bytes and operations come from.
    pub source: Source,
    /// What the host's shortest call took that launched one of them; 0 for an operation.
    pub launch_ns: Nanoseconds,
    /// The roof that they would meet first if nothing else held them up, and the share of it that
    /// they reach; `None` if neither bytes nor operations are known.
    pub nearest: Option<(Roof, f64)>,
    /// What their time goes by.
    pub bound: Bound,
}

/// Every kernel of a profile under the roofs of a processor.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofline {
    /// The processor.
    pub roofs: Roofs,
    /// What takes longest first.
    pub rows: Vec<RooflineRow>,
    pub(super) modelled: Option<String>,
}

impl RooflineRow {
    /// Operations a byte of memory; `None` if no byte is known of.
    pub fn intensity(&self) -> Option<f64> {
        (self.bytes > 0).then(|| self.flops as f64 / self.bytes as f64)
    }

    /// Operations per second.
    pub fn flops_per_s(&self) -> f64 {
        self.flops as f64 * 1e9 / self.time_ns as f64
    }

    /// Bytes of memory per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.time_ns as f64
    }

    /// Whether a faster kernel would not make the program faster.
    fn is_shorter_than_its_launch(&self) -> bool {
        self.time_ns < self.calls * self.launch_ns
    }

    /// The nearest roof, and what follows.
    fn place(&mut self, roofs: &Roofs) {
        let needs = [
            (Roof::Memory, self.bytes as f64 / roofs.memory),
            (Roof::L2, roofs.l2.map_or(0.0, |l2| self.l2_bytes as f64 / l2)),
            (Roof::Arithmetic, self.flops as f64 / roofs.flops),
        ];
        let longest = needs.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let seconds = self.time_ns as f64 / 1e9;
        self.nearest =
            longest.filter(|need| need.1 > 0.0).map(|(roof, need)| (roof, need / seconds));
        self.bound = match self.nearest {
            _ if self.is_shorter_than_its_launch() => Bound::Launches,
            None => Bound::Unknown,
            Some((roof, share)) if share >= HELD => Bound::By(roof),
            Some(_) => Bound::Neither,
        };
    }
}

/// What one kernel or operation did.
struct Done {
    time_ns: Nanoseconds,
    bytes: u64,
    l2_bytes: u64,
    flops: u64,
    source: Source,
}

impl Profile {
    /// Every kernel under these roofs, by device and name; under those of the host every operation
    /// that asked no device for anything. What took no time is left out: on a *modelled* clock all
    /// that the host computes.
    ///
    /// An NVIDIA GPU says what time it was before and after a launch. In a stream that was idle the
    /// launch's own latency lies between, so short kernels there look slower than they are.
    pub fn roofline(&self, roofs: &Roofs) -> Roofline {
        let events = self.events();
        let done = if roofs.of_host { self.operations() } else { self.kernels() };
        let mut rows: Vec<RooflineRow> = Vec::new();
        let mut places = BTreeMap::new();
        for (at, done) in done {
            let event = &events[at];
            let key = (event.device.to_string(), &event.name);
            let place = *places.entry(key).or_insert(rows.len());
            if place == rows.len() {
                rows.push(RooflineRow::new(event));
            }
            rows[place].add(&done, self.launch_of(event));
        }
        rows.retain(|row| row.time_ns > 0);
        rows.iter_mut().for_each(|row| row.place(roofs));
        rows.sort_by_key(|row| std::cmp::Reverse(row.time_ns));
        Roofline { roofs: roofs.clone(), rows, modelled: self.modelled().map(str::to_string) }
    }

    /// What the call took that launched a kernel.
    fn launch_of(&self, event: &Event) -> Nanoseconds {
        event.cause.map_or(0, |cause| self.events()[cause].duration_ns())
    }

    /// All kernels: by the device's counts, or by formula.
    fn kernels(&self) -> Vec<(usize, Done)> {
        let events = self.events();
        let kernels = (0..events.len()).filter(|&at| events[at].kind == Kind::Kernel);
        let (mut done, mut of_operations) = (Vec::new(), BTreeMap::<usize, Vec<usize>>::new());
        for at in kernels {
            let event = &events[at];
            let own = Done::counted(event);
            if own.source == Source::Unknown
                && let Some(op) = self.formula_of(at)
            {
                of_operations.entry(op).or_default().push(done.len());
            }
            done.push((at, own));
        }
        for (op, places) in of_operations {
            let times: Vec<u64> = places.iter().map(|&place| done[place].1.time_ns).collect();
            let bytes = shared(events[op].bytes, &times);
            let flops = shared(events[op].flops, &times);
            for ((place, bytes), flops) in places.into_iter().zip(bytes).zip(flops) {
                let done = &mut done[place].1;
                (done.bytes, done.flops, done.source) = (bytes, flops, Source::Formula);
            }
        }
        done
    }

    /// The operation that asked for a kernel, if a formula says what that does. What a backward
    /// pass asks for directly belongs to no operation.
    fn formula_of(&self, kernel: usize) -> Option<usize> {
        let events = self.events();
        let is_work = |&at: &usize| matches!(events[at].kind, Kind::Op | Kind::Backward);
        let op = self.ancestors(kernel).find(is_work)?;
        (events[op].bytes > 0 || events[op].flops > 0).then_some(op)
    }

    /// The operations of the host itself. One that consists of others, and does no arithmetic
    /// besides, moves no bytes besides either.
    fn operations(&self) -> Vec<(usize, Done)> {
        let (events, times) = (self.events(), self.self_times());
        let mut asks = vec![false; events.len()];
        let mut has_parts = vec![false; events.len()];
        for (at, event) in events.iter().enumerate() {
            if matches!(event.kind, Kind::Call(_)) || event.kind.is_on_device() {
                self.ancestors(at).for_each(|above| asks[above] = true);
            }
            // A view inside is no part of the work.
            if let (Kind::Op, true, Some(parent)) = (event.kind, event.bytes > 0, event.parent) {
                has_parts[parent] = true;
            }
        }
        let is_own = |&at: &usize| events[at].kind == Kind::Op && !asks[at];
        let done = |at: usize| {
            let bytes = match has_parts[at] && events[at].flops == 0 {
                true => 0,
                false => events[at].bytes,
            };
            (at, Done::by_formula(times[at], bytes, events[at].flops))
        };
        (0..events.len()).filter(is_own).map(done).collect()
    }
}

impl Done {
    fn counted(event: &Event) -> Done {
        let Event { bytes, l2_bytes, flops, .. } = *event;
        let source = match bytes == 0 && l2_bytes == 0 && flops == 0 {
            true => Source::Unknown,
            false => Source::Counted,
        };
        Done { time_ns: event.duration_ns(), bytes, l2_bytes, flops, source }
    }

    fn by_formula(time_ns: Nanoseconds, bytes: u64, flops: u64) -> Done {
        let source = if bytes == 0 && flops == 0 { Source::Unknown } else { Source::Formula };
        Done { time_ns, bytes, l2_bytes: 0, flops, source }
    }
}

impl RooflineRow {
    fn new(event: &Event) -> RooflineRow {
        RooflineRow {
            name: event.name.clone(),
            device: event.device,
            calls: 0,
            time_ns: 0,
            bytes: 0,
            l2_bytes: 0,
            flops: 0,
            source: Source::Counted,
            launch_ns: Nanoseconds::MAX,
            nearest: None,
            bound: Bound::Unknown,
        }
    }

    fn add(&mut self, done: &Done, launch_ns: Nanoseconds) {
        self.calls += 1;
        self.time_ns += done.time_ns;
        self.bytes += done.bytes;
        self.l2_bytes += done.l2_bytes;
        self.flops += done.flops;
        self.source = self.source.max(done.source);
        self.launch_ns = self.launch_ns.min(launch_ns);
    }
}

/// A whole in parts as large as the weights say, without a remainder; equal parts of no weight.
fn shared(whole: u64, weights: &[u64]) -> Vec<u64> {
    let equal = weights.iter().all(|&weight| weight == 0);
    let weight = |i: usize| if equal { 1 } else { u128::from(weights[i]) };
    let all: u128 = (0..weights.len()).map(weight).sum();
    let (mut seen, mut given) = (0, 0);
    let mut part = |i: usize| {
        seen += weight(i);
        let until = (u128::from(whole) * seen / all) as u64;
        let part = until - given;
        given = until;
        part
    };
    (0..weights.len()).map(&mut part).collect()
}
