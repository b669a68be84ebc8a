//! Who held the memory at the peak: the operation, in which module, and what for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use engine_room::memory::{Action, Label, Snapshot};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::experiments::step::{Recorded, highest, record, say};

const SHOWN: usize = 12;

/// Prints the largest holders.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    let Recorded { history, .. } = record(device, args.seed);
    say(output);
    let mut table = Table::new()
        .column("bytes", "bytes", "")
        .column("tensors", "tensors", "")
        .column("op", "made by", "")
        .column("module", "in", "")
        .column("role", "for", "");
    let mut rows: Vec<_> = holders(&history, highest(&history)).into_iter().collect();
    rows.sort_by_key(|&(_, (bytes, _))| Reverse(bytes));
    let (shown, rest) = rows.split_at(SHOWN.min(rows.len()));
    for ([op, module, role], (bytes, tensors)) in shown {
        let names = [op, module, role].map(|name| name.as_str().into());
        table.row([Cell::Bytes(*bytes), Cell::Count(*tensors)].into_iter().chain(names));
    }
    let all = rest.iter().fold((0, 0), |sum, (_, it)| (sum.0 + it.0, sum.1 + it.1));
    let names = ["all others", "", ""].map(Cell::from);
    table.row([Cell::Bytes(all.0), Cell::Count(all.1)].into_iter().chain(names));
    output.say("What this step had made that was alive at its peak:\n");
    output.table("rows", &table);
    Ok(())
}

/// Bytes and tensors by operation, module and role, after so many entries of a history.
fn holders(history: &Snapshot, entries: usize) -> BTreeMap<[String; 3], (u64, u64)> {
    let mut live: HashMap<u64, (u64, Label)> = HashMap::new();
    for entry in &history.trace[..entries] {
        match entry.action {
            Action::Alloc => drop(live.insert(entry.address, (entry.size, entry.label))),
            Action::FreeRequested => drop(live.remove(&entry.address)),
            _ => {}
        }
    }
    let mut holders = BTreeMap::new();
    for (bytes, Label { op, role, module }) in live.into_values() {
        let holder = [op.to_string(), every_block(module), role.name().to_string()];
        let (sum, tensors) = holders.entry(holder).or_insert((0, 0));
        *sum += bytes;
        *tensors += 1;
    }
    holders
}

/// `blocks.3.linear1` as one of `blocks.*.linear1`.
fn every_block(module: &str) -> String {
    let star = |name: &str| match name.parse::<usize>() {
        Ok(_) => "*".to_string(),
        Err(_) => name.to_string(),
    };
    module.split('.').map(star).collect::<Vec<_>>().join(".")
}
