//! Other right readings of a table: 6.4.

use std::collections::BTreeMap;

use engine_room::memory::Role;

use super::super::table::{Asked, Finding, MemoryTable, Row};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("6.4", "segments in a map", |table| table.find_holder = with_a_map),
        other("6.4", "segment by segment, as they lie", |table| table.find_holder = as_they_lie),
    ]
}

fn with_a_map(table: &MemoryTable) -> Finding {
    let old: Vec<&Row> =
        table.rows.iter().filter(|row| row.used && (1..table.step).contains(&row.step)).collect();
    if old.iter().any(|row| row.role == Role::Activation) {
        let kept = old.iter().filter(|row| row.op == table.loss_op).count();
        return if kept > 0 { Finding::LossesKept } else { Finding::MetricKeepsGraphs };
    }
    // Bytes of each segment: free, in use.
    let mut segments: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for row in &table.rows {
        let (free, used) = segments.entry(row.segment).or_default();
        *(if row.used { used } else { free }) += row.bytes;
    }
    let back: u64 = segments.values().filter(|it| it.1 == 0).map(|it| it.0).sum();
    let free: u64 = segments.values().map(|it| it.0).sum();
    let short = |bytes: u64| match bytes <= table.outside + free {
        true => Finding::Fragmented,
        false => Finding::Full,
    };
    match table.asked {
        Asked::Nobody => Finding::Healthy,
        Asked::Tensor(bytes) => {
            let fits = table.rows.iter().any(|row| !row.used && row.bytes >= bytes);
            if fits || table.outside + back >= bytes { Finding::Healthy } else { short(bytes) }
        }
        Asked::OtherProgram(bytes) if table.outside >= bytes => Finding::Healthy,
        Asked::OtherProgram(bytes) if table.outside + back >= bytes => Finding::UnusedCache,
        Asked::OtherProgram(bytes) => short(bytes),
    }
}

fn as_they_lie(table: &MemoryTable) -> Finding {
    let now = table.step;
    let mut leak = None;
    for row in &table.rows {
        let graph = row.used && row.step >= 1 && row.step != now && row.role == Role::Activation;
        if graph && leak.is_none() {
            leak = Some(Finding::MetricKeepsGraphs);
        }
    }
    if leak.is_some() {
        for row in &table.rows {
            if row.used && row.step >= 1 && row.step != now && row.op == table.loss_op {
                leak = Some(Finding::LossesKept);
            }
        }
    }
    if let Some(finding) = leak {
        return finding;
    }
    let (mut whole, mut in_pieces, mut largest) = (0, 0, 0);
    for rows in table.rows.chunk_by(|a, b| a.segment == b.segment) {
        let free: u64 = rows.iter().map(|row| if row.used { 0 } else { row.bytes }).sum();
        match rows.iter().all(|row| !row.used) {
            true => whole += free,
            false => in_pieces += free,
        }
        for row in rows.iter().filter(|row| !row.used) {
            largest = largest.max(row.bytes);
        }
    }
    let reach = table.outside + whole;
    match table.asked {
        Asked::Tensor(n) if n > reach && n > largest && n <= reach + in_pieces => {
            Finding::Fragmented
        }
        Asked::Tensor(n) if n > reach && n > largest => Finding::Full,
        Asked::OtherProgram(n) if n > reach + in_pieces => Finding::Full,
        Asked::OtherProgram(n) if n > reach => Finding::Fragmented,
        Asked::OtherProgram(n) if n > table.outside => Finding::UnusedCache,
        _ => Finding::Healthy,
    }
}
