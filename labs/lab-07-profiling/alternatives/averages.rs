//! Other right answers to 7.2.

use std::collections::{BTreeMap, HashSet};

use super::super::averages::{Call, Row};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("7.2", "column by column", |table| table.key_averages = by_column),
        other("7.2", "from the last call to the first", |table| table.key_averages = backwards),
        other("7.2", "sets of keys around each call", |table| table.key_averages = with_sets),
    ]
}

type Key = (String, Vec<Vec<usize>>);

fn key(call: &Call, by_shape: bool) -> Key {
    (call.name.clone(), if by_shape { call.shapes.clone() } else { vec![] })
}

fn row((name, shapes): Key) -> Row {
    Row { name, shapes, ..Row::default() }
}

/// Whether a call, or one that it is inside of, has this key.
fn is_inside(calls: &[Call], call: Option<usize>, wanted: &Key, by_shape: bool) -> bool {
    match call {
        None => false,
        Some(at) => {
            key(&calls[at], by_shape) == *wanted
                || is_inside(calls, calls[at].parent, wanted, by_shape)
        }
    }
}

fn by_column(calls: &[Call], by_shape: bool) -> Vec<Row> {
    let mut keys: Vec<Key> = Vec::new();
    for call in calls {
        if !keys.contains(&key(call, by_shape)) {
            keys.push(key(call, by_shape));
        }
    }
    let parts = |at| -> u64 {
        calls.iter().filter(|call| call.parent == Some(at)).map(|call| call.cpu_ns).sum()
    };
    let of_key = |wanted: Key| {
        let own = || (0..calls.len()).filter(|&at| key(&calls[at], by_shape) == wanted);
        let outermost = |at: &usize| !is_inside(calls, calls[*at].parent, &wanted, by_shape);
        let below = |at: &usize| is_inside(calls, Some(*at), &wanted, by_shape);
        Row {
            count: own().count() as u64,
            cpu_total_ns: own().filter(outermost).map(|at| calls[at].cpu_ns).sum(),
            self_cpu_ns: own().map(|at| calls[at].cpu_ns - parts(at)).sum(),
            device_total_ns: (0..calls.len()).filter(below).map(|at| calls[at].kernels_ns).sum(),
            self_device_ns: own().map(|at| calls[at].kernels_ns).sum(),
            ..row(wanted.clone())
        }
    };
    keys.into_iter().map(of_key).collect()
}

/// Parts stand behind what they are parts of, so that all of them are known when it comes.
fn backwards(calls: &[Call], by_shape: bool) -> Vec<Row> {
    let mut device: Vec<u64> = calls.iter().map(|call| call.kernels_ns).collect();
    let mut own: Vec<i64> = calls.iter().map(|call| call.cpu_ns as i64).collect();
    let mut rows: Vec<(usize, Row)> = Vec::new();
    for at in (0..calls.len()).rev() {
        let call = &calls[at];
        let wanted = key(call, by_shape);
        if let Some(parent) = call.parent {
            device[parent] += device[at];
            own[parent] -= call.cpu_ns as i64;
        }
        let is_row = |(_, row): &(usize, Row)| (&row.name, &row.shapes) == (&wanted.0, &wanted.1);
        let place = rows.iter().position(is_row).unwrap_or_else(|| {
            rows.push((at, row(wanted.clone())));
            rows.len() - 1
        });
        let (first, row) = &mut rows[place];
        *first = at;
        row.count += 1;
        row.self_cpu_ns += own[at] as u64;
        row.self_device_ns += call.kernels_ns;
        if !is_inside(calls, call.parent, &wanted, by_shape) {
            row.cpu_total_ns += call.cpu_ns;
            row.device_total_ns += device[at];
        }
    }
    rows.sort_by_key(|(first, _)| *first);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn with_sets(calls: &[Call], by_shape: bool) -> Vec<Row> {
    let mut rows: BTreeMap<Key, (usize, Row)> = BTreeMap::new();
    let mut around: Vec<HashSet<Key>> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let own = key(call, by_shape);
        let mut keys = call.parent.map_or(HashSet::new(), |parent| around[parent].clone());
        let (_, sums) = rows.entry(own.clone()).or_insert_with(|| (at, row(own.clone())));
        sums.count += 1;
        sums.self_cpu_ns = sums.self_cpu_ns.wrapping_add(call.cpu_ns);
        sums.self_device_ns += call.kernels_ns;
        if keys.insert(own) {
            sums.cpu_total_ns += call.cpu_ns;
        }
        if let Some(parent) = call.parent {
            let (_, above) = rows.get_mut(&key(&calls[parent], by_shape)).expect("it came before");
            above.self_cpu_ns = above.self_cpu_ns.wrapping_sub(call.cpu_ns);
        }
        for key in &keys {
            rows.get_mut(key).expect("it came before").1.device_total_ns += call.kernels_ns;
        }
        around.push(keys);
    }
    let mut rows: Vec<(usize, Row)> = rows.into_values().collect();
    rows.sort_by_key(|(first, _)| *first);
    rows.into_iter().map(|(_, row)| row).collect()
}
