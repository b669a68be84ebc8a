//! Sums over all events of one key: PyTorch's `key_averages`.

use std::collections::BTreeMap;

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
    /// The module that computed: a row for each module that a model is made of.
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
    /// Time of devices on all work that was asked for inside.
    pub device_time_total: Nanoseconds,
    /// Time of devices on the work that was asked for inside, and inside no other operation.
    pub self_device_time_total: Nanoseconds,
    /// Bytes allocated less bytes freed inside.
    pub memory: i64,
    /// The same without parts.
    pub self_memory: i64,
    /// Floating-point operations by formula.
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
    /// Whether any event ran on a device.
    pub has_device: bool,
    pub(super) group_by: GroupBy,
    pub(super) modelled: Option<String>,
}

type Key = (bool, String, Vec<Vec<usize>>);

impl GroupBy {
    fn key(self, event: &Event) -> Key {
        let name = match self {
            GroupBy::Module => event.module.to_string(),
            _ => event.name.clone(),
        };
        let shapes = if self == GroupBy::InputShape { event.shapes.clone() } else { Vec::new() };
        (event.kind.is_on_device(), name, shapes)
    }
}

impl Profile {
    /// The sums over all events of one key.
    pub fn key_averages(&self, group_by: GroupBy) -> KeyAverages {
        let mut sums = Sums { rows: Vec::new(), places: BTreeMap::new() };
        let (events, self_times) = (self.events(), self.self_times());
        let keys: Vec<Key> = events.iter().map(|event| group_by.key(event)).collect();
        for (at, event) in events.iter().enumerate() {
            let row = sums.row(&keys[at]);
            row.count += 1;
            row.flops += event.flops;
            let enclosing: Vec<usize> = self.ancestors(at).collect();
            match event.kind.is_on_device() {
                true => {
                    row.device_time_total += event.duration_ns();
                    row.self_device_time_total += event.duration_ns();
                    sums.add_device_time(event.duration_ns(), &enclosing[1..], events, &keys);
                }
                false => {
                    row.self_cpu_time_total += self_times[at];
                    row.self_memory += event.allocated;
                    let is_outermost = enclosing[1..].iter().all(|&above| keys[above] != keys[at]);
                    row.cpu_time_total += if is_outermost { event.duration_ns() } else { 0 };
                    sums.add_memory(event.allocated, &enclosing, &keys);
                }
            }
        }
        let device = |event: &&Event| event.kind.is_on_device();
        let of_host = events.iter().zip(&self_times).filter(|(event, _)| !device(event));
        KeyAverages {
            rows: sums.rows,
            cpu_total: of_host.map(|(_, &ns)| ns).sum(),
            device_total: events.iter().filter(device).map(Event::duration_ns).sum(),
            has_device: events.iter().any(|event| device(&event)),
            group_by,
            modelled: self.modelled().map(str::to_string),
        }
    }
}

/// The rows while they grow.
struct Sums {
    rows: Vec<Average>,
    places: BTreeMap<Key, usize>,
}

impl Sums {
    fn row(&mut self, key: &Key) -> &mut Average {
        let place = *self.places.entry(key.clone()).or_insert_with(|| {
            let (is_on_device, key, shapes) = key.clone();
            self.rows.push(Average { key, shapes, is_on_device, ..Average::default() });
            self.rows.len() - 1
        });
        &mut self.rows[place]
    }

    /// Counts a device's time under each key around it once, and under the innermost event that is
    /// more than a call as its own.
    fn add_device_time(
        &mut self,
        ns: Nanoseconds,
        around: &[usize],
        events: &[Event],
        keys: &[Key],
    ) {
        let is_call = |&&at: &&usize| matches!(events[at].kind, Kind::Call(_));
        if let Some(&owner) = around.iter().find(|at| !is_call(at)) {
            self.row(&keys[owner]).self_device_time_total += ns;
        }
        for (i, &at) in around.iter().enumerate() {
            if around[..i].iter().all(|&inner| keys[inner] != keys[at]) {
                self.row(&keys[at]).device_time_total += ns;
            }
        }
    }

    fn add_memory(&mut self, bytes: i64, around: &[usize], keys: &[Key]) {
        for (i, &at) in around.iter().enumerate() {
            if around[..i].iter().all(|&inner| keys[inner] != keys[at]) {
                self.row(&keys[at]).memory += bytes;
            }
        }
    }
}
