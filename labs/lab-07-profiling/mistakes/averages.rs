//! Wrong answers to 7.2.

use super::super::averages::{Call, Row};
use super::super::solution::key_averages as right;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_recursion();
    all.extend(of_keys());
    all.extend(of_shapes());
    all.extend(of_self_times());
    all.extend(of_parts());
    all.extend(of_devices());
    all.extend(of_clocks());
    all
}

fn averages(
    diagnosis: &'static str,
    name: &'static str,
    averages: fn(&[Call], bool) -> Vec<Row>,
) -> Wrong {
    wrong("7.2", diagnosis, name, |table| table.key_averages = averages)
}

fn is_row(row: &Row, call: &Call, by_shape: bool) -> bool {
    row.name == call.name && (!by_shape || row.shapes == call.shapes)
}

fn is_same(a: &Call, b: &Call, by_shape: bool) -> bool {
    a.name == b.name && (!by_shape || a.shapes == b.shapes)
}

/// All that a call is inside of.
fn above(calls: &[Call], at: usize) -> Vec<usize> {
    let mut above = Vec::new();
    let mut next = calls[at].parent;
    while let Some(parent) = next {
        above.push(parent);
        next = calls[parent].parent;
    }
    above
}

/// The right rows with one number of each summed anew over the calls of its key.
fn summed(
    calls: &[Call],
    by_shape: bool,
    field: fn(&mut Row) -> &mut u64,
    of_call: impl Fn(usize) -> u64,
) -> Vec<Row> {
    let mut rows = right(calls, by_shape);
    for row in &mut rows {
        let own = (0..calls.len()).filter(|&at| is_row(row, &calls[at], by_shape));
        *field(row) = own.map(&of_call).fold(0, u64::wrapping_add);
    }
    rows
}

fn cpu(row: &mut Row) -> &mut u64 {
    &mut row.cpu_total_ns
}

fn of_recursion() -> Vec<Wrong> {
    vec![
        averages("7.2-every-level", "all of them", |calls, by_shape| {
            summed(calls, by_shape, cpu, |at| calls[at].cpu_ns)
        }),
        averages("7.2-direct-parent-only", "one level up", |calls, by_shape| {
            summed(calls, by_shape, cpu, |at| {
                let same = |parent: usize| is_same(&calls[parent], &calls[at], by_shape);
                if calls[at].parent.is_some_and(same) { 0 } else { calls[at].cpu_ns }
            })
        }),
        averages("7.2-innermost", "the deepest", |calls, by_shape| {
            summed(calls, by_shape, cpu, |at| {
                let same = |&it: &usize| is_same(&calls[it], &calls[at], by_shape);
                let deeper = (0..calls.len()).filter(same).any(|it| above(calls, it).contains(&at));
                if deeper { 0 } else { calls[at].cpu_ns }
            })
        }),
        averages("7.2-outermost-counted", "counted with the total", |calls, by_shape| {
            summed(
                calls,
                by_shape,
                |row| &mut row.count,
                |at| {
                    let same = |&it: &usize| is_same(&calls[it], &calls[at], by_shape);
                    u64::from(!above(calls, at).iter().any(same))
                },
            )
        }),
        averages("7.2-inside-by-name", "a name inside itself", |calls, by_shape| {
            summed(calls, by_shape, cpu, |at| {
                let same = |&it: &usize| calls[it].name == calls[at].name;
                if above(calls, at).iter().any(same) { 0 } else { calls[at].cpu_ns }
            })
        }),
        averages("7.2-inside-by-shape", "always with the shapes", |calls, by_shape| {
            summed(calls, by_shape, cpu, |at| {
                let same = |&it: &usize| is_same(&calls[it], &calls[at], true);
                if above(calls, at).iter().any(same) { 0 } else { calls[at].cpu_ns }
            })
        }),
    ]
}

/// The right rows of calls with other shapes.
fn reshaped(calls: &[Call], by_shape: bool, to: fn(&[Vec<usize>]) -> Vec<Vec<usize>>) -> Vec<Row> {
    let other: Vec<Call> =
        calls.iter().map(|call| Call { shapes: to(&call.shapes), ..call.clone() }).collect();
    let mut rows = right(&other, by_shape);
    if by_shape {
        for row in &mut rows {
            let first = other.iter().position(|call| is_row(row, call, true));
            row.shapes = first.map_or(Vec::new(), |at| calls[at].shapes.clone());
        }
    }
    rows
}

fn of_keys() -> Vec<Wrong> {
    vec![
        averages("7.2-shapes-ignored", "by name", |calls, _| right(calls, false)),
        averages("7.2-name-is-key", "the name alone is compared", |calls, by_shape| {
            let mut rows = right(calls, false);
            for row in rows.iter_mut().filter(|_| by_shape) {
                let first = calls.iter().find(|call| call.name == row.name);
                row.shapes = first.map_or(Vec::new(), |call| call.shapes.clone());
            }
            rows
        }),
        averages("7.2-always-by-shape", "by shape", |calls, _| right(calls, true)),
        averages("7.2-flag-turned", "if and else exchanged", |calls, by_shape| {
            right(calls, !by_shape)
        }),
        averages("7.2-shapes-of-first", "the shapes of the first call", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            for row in &mut rows {
                let first = calls.iter().find(|call| is_row(row, call, by_shape));
                row.shapes = first.map_or(Vec::new(), |call| call.shapes.clone());
            }
            rows
        }),
    ]
}

fn of_shapes() -> Vec<Wrong> {
    vec![
        averages("7.2-number-of-elements", "products", |calls, by_shape| {
            reshaped(calls, by_shape, |shapes| {
                shapes.iter().map(|shape| vec![shape.iter().product()]).collect()
            })
        }),
        averages("7.2-numbers-in-a-row", "one list of sizes", |calls, by_shape| {
            reshaped(calls, by_shape, |shapes| vec![shapes.concat()])
        }),
        averages("7.2-first-operand", "the input's shape", |calls, by_shape| {
            reshaped(calls, by_shape, |shapes| shapes.first().cloned().into_iter().collect())
        }),
        averages("7.2-only-neighbours", "the last row only", |calls, by_shape| {
            let mut rows: Vec<Row> = Vec::new();
            let whole = right(calls, by_shape);
            let mut from = 0;
            for at in 1..=calls.len() {
                if at < calls.len() && is_same(&calls[from], &calls[at], by_shape) {
                    continue;
                }
                let row = whole.iter().find(|row| is_row(row, &calls[from], by_shape));
                let (name, shapes) = row.map(|it| (it.name.clone(), it.shapes.clone())).unwrap();
                rows.push(of_run(
                    calls,
                    from..at,
                    by_shape,
                    Row { name, shapes, ..Row::default() },
                ));
                from = at;
            }
            rows
        }),
        averages("7.2-order", "dearest first", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            rows.sort_by_key(|row| std::cmp::Reverse(row.cpu_total_ns));
            rows
        }),
    ]
}

/// The row of calls that follow each other.
fn of_run(calls: &[Call], run: std::ops::Range<usize>, by_shape: bool, mut row: Row) -> Row {
    for at in 0..calls.len() {
        let call = &calls[at];
        let above = above(calls, at);
        let same = |it: &usize| is_same(&calls[*it], call, by_shape);
        if run.contains(&at) {
            row.count += 1;
            row.cpu_total_ns += if above.iter().any(same) { 0 } else { call.cpu_ns };
            let parts = calls.iter().filter(|it| it.parent == Some(at)).map(|it| it.cpu_ns);
            row.self_cpu_ns += call.cpu_ns - parts.sum::<u64>();
            row.self_device_ns += call.kernels_ns;
        }
        if run.contains(&at) || above.iter().any(|it| run.contains(it)) {
            row.device_total_ns += call.kernels_ns;
        }
    }
    row
}

fn of_self_times() -> Vec<Wrong> {
    vec![
        averages("7.2-self-is-total", "no parts", |calls, by_shape| {
            summed(calls, by_shape, |row| &mut row.self_cpu_ns, |at| calls[at].cpu_ns)
        }),
        averages("7.2-self-of-totals", "from the rows, down to 0", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            for row in &mut rows {
                let mut own = row.cpu_total_ns;
                for call in calls.iter().filter(|call| !is_row(row, call, by_shape)) {
                    let is_part = |parent: usize| is_row(row, &calls[parent], by_shape);
                    if call.parent.is_some_and(is_part) {
                        own = own.saturating_sub(call.cpu_ns);
                    }
                }
                row.self_cpu_ns = own;
            }
            rows
        }),
        averages("7.2-below-zero", "from the rows, and all parts", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            for row in &mut rows {
                let mut own = row.cpu_total_ns;
                for call in calls {
                    let is_part = |parent: usize| is_row(row, &calls[parent], by_shape);
                    if call.parent.is_some_and(is_part) {
                        own -= call.cpu_ns;
                    }
                }
                row.self_cpu_ns = own;
            }
            rows
        }),
    ]
}

fn of_parts() -> Vec<Wrong> {
    vec![
        averages("7.2-all-descendants", "all that it holds", |calls, by_shape| {
            summed(
                calls,
                by_shape,
                |row| &mut row.self_cpu_ns,
                |at| {
                    let inside = |part: &usize| above(calls, *part).contains(&at);
                    let parts: u64 =
                        (0..calls.len()).filter(inside).map(|part| calls[part].cpu_ns).sum();
                    calls[at].cpu_ns - parts
                },
            )
        }),
        averages("7.2-own-key-kept", "a call to itself is no part", |calls, by_shape| {
            summed(
                calls,
                by_shape,
                |row| &mut row.self_cpu_ns,
                |at| {
                    let is_part =
                        |it: &&Call| it.parent == Some(at) && !is_same(it, &calls[at], by_shape);
                    calls[at].cpu_ns - calls.iter().filter(is_part).map(|it| it.cpu_ns).sum::<u64>()
                },
            )
        }),
        averages("7.2-means", "by the count", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            for row in &mut rows {
                row.cpu_total_ns /= row.count;
                row.self_cpu_ns /= row.count;
                row.device_total_ns /= row.count;
                row.self_device_ns /= row.count;
            }
            rows
        }),
    ]
}

fn of_devices() -> Vec<Wrong> {
    vec![
        averages("7.2-every-level-of-device", "along the whole chain", |calls, by_shape| {
            summed(
                calls,
                by_shape,
                |row| &mut row.device_total_ns,
                |at| {
                    let inside = |part: &usize| *part == at || above(calls, *part).contains(&at);
                    (0..calls.len()).filter(inside).map(|part| calls[part].kernels_ns).sum()
                },
            )
        }),
        averages("7.2-device-not-carried", "its own kernels", |calls, by_shape| {
            summed(calls, by_shape, |row| &mut row.device_total_ns, |at| calls[at].kernels_ns)
        }),
        averages("7.2-device-one-level", "its own and its parts'", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            for row in &mut rows {
                row.device_total_ns = 0;
                for call in calls {
                    let above = call.parent.map(|parent| &calls[parent]);
                    if [Some(call), above].into_iter().flatten().any(|it| is_row(row, it, by_shape))
                    {
                        row.device_total_ns += call.kernels_ns;
                    }
                }
            }
            rows
        }),
        averages("7.2-device-of-outermost", "only calls that count", |calls, by_shape| {
            summed(
                calls,
                by_shape,
                |row| &mut row.device_total_ns,
                |at| {
                    let same = |&it: &usize| is_same(&calls[it], &calls[at], by_shape);
                    if above(calls, at).iter().any(same) { 0 } else { calls[at].kernels_ns }
                },
            )
        }),
    ]
}

fn of_clocks() -> Vec<Wrong> {
    vec![
        averages("7.2-self-device-is-total", "one number", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            rows.iter_mut().for_each(|row| row.self_device_ns = row.device_total_ns);
            rows
        }),
        averages("7.2-self-device-less-parts", "as on the CPU", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            for part in calls {
                let Some(parent) = part.parent else { continue };
                let Call { name, shapes, .. } = &calls[parent];
                let of_key =
                    |row: &&mut Row| row.name == *name && (!by_shape || row.shapes == *shapes);
                for row in rows.iter_mut().filter(of_key) {
                    row.self_device_ns = row.self_device_ns.wrapping_sub(part.kernels_ns);
                }
            }
            rows
        }),
        averages("7.2-device-in-cpu", "all time is time", |calls, by_shape| {
            let mut rows = right(calls, by_shape);
            rows.iter_mut().for_each(|row| row.cpu_total_ns += row.device_total_ns);
            rows
        }),
    ]
}
