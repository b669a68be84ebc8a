//! Sums over all events of one key: PyTorch's `key_averages`.

use std::collections::HashMap;

use crate::device::driver::Nanoseconds;
use crate::profiler::event::{Event, Kind};
use crate::profiler::profile::Profile;

/// What makes two events one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Their name.
    Name,
    /// Their name and the shapes of their operands.
    InputShape,
    /// The module that computed: a row for each module that a model is made of. Its totals are
    /// those of the module and its parts, forward and backward, and its calls are what counts. The
    /// row without a name has what no module computed as its own, and everything as its total.
    Module,
}

/// All events of one key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Average {
    /// Name or module.
    pub key: String,
    /// The shapes of the operands, if these are part of the key.
    pub shapes: Vec<Vec<usize>>,
    /// Whether the events run on a device.
    pub is_on_device: bool,
    /// How many events.
    pub count: u64,
    /// Time on the host. Of an event inside another one of the same key only the outer one counts.
    pub cpu_time_total: Nanoseconds,
    /// Time on the host without that of direct parts.
    pub self_cpu_time_total: Nanoseconds,
    /// Time of devices on all work that was asked for inside. A driver's call has none, as in
    /// PyTorch: the work has a row, and so has the operation that it is part of.
    pub device_time_total: Nanoseconds,
    /// Time of devices on the work that was asked for inside, and inside no other operation.
    pub self_device_time_total: Nanoseconds,
    /// Bytes of the host's memory allocated less bytes freed inside.
    pub memory: i64,
    /// The same without parts.
    pub self_memory: i64,
    /// Bytes of the memory of devices allocated less bytes freed inside.
    pub device_memory: i64,
    /// The same without parts.
    pub self_device_memory: i64,
    /// Floating-point operations: by formula, and of a simulated GPU's kernels as counted.
    pub flops: u64,
}

impl Average {
    /// Time on the host of one event, on average.
    pub fn cpu_time(&self) -> f64 {
        self.cpu_time_total as f64 / self.count.max(1) as f64
    }

    /// Time on devices of one event, on average.
    pub fn device_time(&self) -> f64 {
        self.device_time_total as f64 / self.count.max(1) as f64
    }

    /// Adds what an event has without its parts.
    fn add_own(&mut self, event: &Event, self_ns: Nanoseconds) {
        match event.kind.is_on_device() {
            true => self.self_device_time_total += self_ns,
            false => self.self_cpu_time_total += self_ns,
        }
        self.self_memory += event.allocated;
        self.self_device_memory += event.device_allocated;
    }

    /// Adds an event with its parts.
    fn add_total(&mut self, event: &Event, inside: &Inside) {
        match event.kind {
            Kind::Kernel | Kind::Copy => self.device_time_total += event.duration_ns(),
            Kind::Call(_) => self.cpu_time_total += event.duration_ns(),
            _ => {
                self.cpu_time_total += event.duration_ns();
                self.device_time_total += inside.device_ns;
            }
        }
        self.memory += inside.allocated;
        self.device_memory += inside.device_allocated;
    }

    /// Adds what is a part's own to the totals.
    fn add_part(&mut self, part: &Average) {
        self.cpu_time_total += part.self_cpu_time_total;
        self.device_time_total += part.self_device_time_total;
        self.memory += part.self_memory;
        self.device_memory += part.self_device_memory;
    }
}

/// What an event contains, its own and that of its parts.
#[derive(Clone, Copy, Default)]
struct Inside {
    device_ns: Nanoseconds,
    allocated: i64,
    device_allocated: i64,
}

impl Inside {
    fn of(event: &Event) -> Inside {
        let device_ns = if event.kind.is_on_device() { event.duration_ns() } else { 0 };
        let (allocated, device_allocated) = (event.allocated, event.device_allocated);
        Inside { device_ns, allocated, device_allocated }
    }

    fn add(&mut self, part: Inside) {
        self.device_ns += part.device_ns;
        self.allocated += part.allocated;
        self.device_allocated += part.device_allocated;
    }
}

/// The rows, in the order in which their keys first came up.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyAverages {
    /// A row for each key.
    pub rows: Vec<Average>,
    /// Time of the host on all events, none counted twice.
    pub cpu_total: Nanoseconds,
    /// Time of devices on all their work.
    pub device_total: Nanoseconds,
    /// Whether any event took a device's time.
    pub has_device: bool,
    pub(super) group_by: GroupBy,
    pub(super) modelled: Option<String>,
}

impl Profile {
    /// The sums over all events of one key. The steps of a schedule are one key,
    /// `ProfilerStep*`.
    pub fn key_averages(&self, group_by: GroupBy) -> KeyAverages {
        let rows = match group_by {
            GroupBy::Module => self.by_module(),
            GroupBy::Name | GroupBy::InputShape => self.by_key(group_by == GroupBy::InputShape),
        };
        let sum = |on_device: bool| -> Nanoseconds {
            let own = self.events().iter().zip(self.self_times());
            own.filter(|(event, _)| event.kind.is_on_device() == on_device).map(|(_, ns)| ns).sum()
        };
        let (cpu_total, device_total) = (sum(false), sum(true));
        let modelled = self.modelled().map(str::to_string);
        let has_device = device_total > 0;
        KeyAverages { rows, cpu_total, device_total, has_device, group_by, modelled }
    }

    fn by_key(&self, with_shapes: bool) -> Vec<Average> {
        let (mut rows, keys) = rows_of(self.events(), with_shapes);
        for (at, event) in self.events().iter().enumerate() {
            let row = &mut rows[keys[at]];
            row.count += 1;
            row.flops += event.flops;
            row.add_own(event, self.self_ns(at));
            if let (true, Some(owner)) = (event.kind.is_on_device(), self.owner(event)) {
                rows[keys[owner]].self_device_time_total += event.duration_ns();
            }
        }
        self.add_totals(&mut rows, &keys);
        rows
    }

    /// The innermost event around a device's work that is more than a call.
    fn owner(&self, work: &Event) -> Option<usize> {
        let is_call = |at: usize| matches!(self.events()[at].kind, Kind::Call(_));
        work.cause.and_then(|cause| self.ancestors(cause).find(|&at| !is_call(at)))
    }

    /// Adds the totals of the outermost events of each key. What an event contains is summed from
    /// the inside out.
    fn add_totals(&self, rows: &mut [Average], keys: &[usize]) {
        let mut inside: Vec<Inside> = self.events().iter().map(Inside::of).collect();
        let mut open = vec![0; rows.len()];
        for (at, is_entry) in self.walk() {
            let (event, key) = (&self.events()[at], keys[at]);
            if is_entry {
                open[key] += 1;
                continue;
            }
            open[key] -= 1;
            if open[key] == 0 {
                rows[key].add_total(event, &inside[at]);
            }
            if let Some(above) = event.above() {
                let part = inside[at];
                inside[above].add(part);
            }
        }
    }

    /// The way into each event (`true`), through its parts and out of it (`false`).
    fn walk(&self) -> Vec<(usize, bool)> {
        let events = self.events();
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); events.len()];
        for (at, event) in events.iter().enumerate() {
            event.above().into_iter().for_each(|above| parts[above].push(at));
        }
        let mut way = Vec::with_capacity(2 * events.len());
        let outermost = (0..events.len()).filter(|&at| events[at].above().is_none());
        let mut left: Vec<(usize, bool)> = outermost.rev().map(|at| (at, true)).collect();
        while let Some((at, is_entry)) = left.pop() {
            way.push((at, is_entry));
            if is_entry {
                left.push((at, false));
                left.extend(parts[at].iter().rev().map(|&part| (part, true)));
            }
        }
        way
    }

    fn by_module(&self) -> Vec<Average> {
        let mut own: Vec<Average> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (at, event) in self.events().iter().enumerate() {
            let place = *places.entry(event.module).or_insert_with(|| {
                own.push(Average { key: event.module.to_string(), ..Average::default() });
                own.len() - 1
            });
            own[place].count += u64::from(event.kind == Kind::Module);
            own[place].add_own(event, self.self_ns(at));
            // What kernels count is what the operations have by formula.
            own[place].flops += if event.kind.is_on_device() { 0 } else { event.flops };
        }
        let mut rows = own.clone();
        for row in &mut rows {
            row.flops = 0;
            let key = row.key.clone();
            for part in own.iter().filter(|part| is_within(&part.key, &key)) {
                row.add_part(part);
                row.flops += part.flops;
            }
        }
        rows
    }
}

/// Whether `blocks.0.linear1` is `blocks.0` or a part of it. All are within the whole.
fn is_within(module: &str, outer: &str) -> bool {
    let rest = module.strip_prefix(outer);
    outer.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// An empty row for each key, in the order in which they come up, and the row of each event. As in
/// PyTorch, a range that a program named itself is in another row than an operation of that name.
fn rows_of(events: &[Event], with_shapes: bool) -> (Vec<Average>, Vec<usize>) {
    let mut rows = Vec::new();
    let mut places = HashMap::new();
    let mut row_of = |event: &Event| {
        let is_named = matches!(event.kind, Kind::Step | Kind::Range);
        let name = if event.kind == Kind::Step { "ProfilerStep*" } else { &event.name };
        let shapes: &[Vec<usize>] = if with_shapes { &event.shapes } else { &[] };
        let is_on_device = event.kind.is_on_device();
        let key = (is_on_device, is_named, name.to_string(), shapes.to_vec());
        *places.entry(key).or_insert_with(|| {
            let (key, shapes) = (name.to_string(), shapes.to_vec());
            rows.push(Average { key, shapes, is_on_device, ..Average::default() });
            rows.len() - 1
        })
    };
    let keys = events.iter().map(&mut row_of).collect();
    (rows, keys)
}
