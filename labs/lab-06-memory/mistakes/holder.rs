//! Wrong readings of a table: 6.4.

use engine_room::memory::Role;

use super::super::solution::find_holder as right;
use super::super::table::{Asked, Finding, MemoryTable, Row};
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_graphs();
    all.extend(of_whose_graphs());
    all.extend(of_the_cache());
    all.extend(of_pieces());
    all
}

fn holder(
    diagnosis: &'static str,
    name: &'static str,
    find_holder: fn(&MemoryTable) -> Finding,
) -> Wrong {
    wrong("6.4", diagnosis, name, |table| table.find_holder = find_holder)
}

/// The table without graphs, so that only the request is looked at.
fn without_graphs(table: &MemoryTable) -> MemoryTable {
    let mut table = table.clone();
    for row in &mut table.rows {
        row.role = Role::Other;
    }
    table
}

fn is_earlier(table: &MemoryTable, row: &Row) -> bool {
    row.used && row.step > 0 && row.step < table.step
}

/// As if the tensors that `which` accepts were what a graph keeps.
fn blaming(table: &MemoryTable, which: fn(&MemoryTable, &Row) -> bool) -> Finding {
    let losses = table.rows.iter().any(|row| is_earlier(table, row) && row.op == table.loss_op);
    if !table.rows.iter().any(|row| row.used && which(table, row)) {
        return right(&without_graphs(table));
    }
    if losses { Finding::LossesKept } else { Finding::MetricKeepsGraphs }
}

fn of_graphs() -> Vec<Wrong> {
    vec![
        holder("6.4-losses-alone", "a kept loss is a kept graph", |table| {
            blaming(table, |table, row| is_earlier(table, row) && row.op == table.loss_op)
        }),
        holder("6.4-any-earlier", "whatever is old", |table| blaming(table, is_earlier)),
        holder("6.4-data-blamed", "activations from before", |table| {
            blaming(table, |table, row| row.step < table.step && row.role == Role::Activation)
        }),
        holder("6.4-this-step", "all activations", |table| {
            blaming(table, |_, row| row.step > 0 && row.role == Role::Activation)
        }),
        holder("6.4-no-graphs", "only the request", |table| right(&without_graphs(table))),
        holder("6.4-asked-first", "the request comes first", |table| {
            match right(&without_graphs(table)) {
                Finding::Healthy => right(table),
                finding => finding,
            }
        }),
    ]
}

fn of_whose_graphs() -> Vec<Wrong> {
    vec![
        holder("6.4-always-losses", "a list of losses", |table| match right(table) {
            Finding::MetricKeepsGraphs => Finding::LossesKept,
            finding => finding,
        }),
        holder("6.4-loss-of-this-step", "any loss alive", |table| match right(table) {
            Finding::MetricKeepsGraphs
                if table.rows.iter().any(|row| row.used && row.op == table.loss_op) =>
            {
                Finding::LossesKept
            }
            finding => finding,
        }),
    ]
}

/// Free bytes in all, and the largest free block.
fn free(table: &MemoryTable) -> (u64, u64) {
    let free = || table.rows.iter().filter(|row| !row.used).map(|row| row.bytes);
    (free().sum(), free().max().unwrap_or(0))
}

fn of_the_cache() -> Vec<Wrong> {
    vec![
        holder("6.4-release-forgotten", "no second try", |table| {
            match (right(table), table.asked) {
                (Finding::Healthy, Asked::Tensor(bytes))
                    if bytes > table.outside && bytes > free(table).1 =>
                {
                    Finding::Fragmented
                }
                (finding, _) => finding,
            }
        }),
        holder("6.4-empty-cache-first", "empty_cache helps a tensor", |table| {
            match (right(table), table.asked) {
                (Finding::Healthy, Asked::Tensor(bytes))
                    if bytes > table.outside && bytes > free(table).1 =>
                {
                    Finding::UnusedCache
                }
                (finding, _) => finding,
            }
        }),
        holder("6.4-nobody-asks", "any cache is too much", |table| {
            let more = Asked::OtherProgram(table.outside + 1);
            let cached = right(&MemoryTable { asked: more, ..table.clone() });
            let reported = table.asked == Asked::Nobody && cached == Finding::UnusedCache;
            if reported { cached } else { right(table) }
        }),
        holder("6.4-pieces-returned", "every free block can go back", |table| {
            match (right(table), table.asked) {
                (Finding::Fragmented, Asked::Tensor(_)) => Finding::Healthy,
                (Finding::Fragmented, _) => Finding::UnusedCache,
                (finding, _) => finding,
            }
        }),
        holder("6.4-outside-forgotten", "reserved bytes only", |table| {
            right(&MemoryTable { outside: 0, ..table.clone() })
        }),
    ]
}

fn of_pieces() -> Vec<Wrong> {
    vec![holder("6.4-sum-fits", "free bytes are enough", |table| {
        match (right(table), table.asked) {
            (Finding::Fragmented, Asked::Tensor(_)) => Finding::Healthy,
            (finding, _) => finding,
        }
    })]
}
