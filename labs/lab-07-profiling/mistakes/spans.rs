//! Wrong answers to 7.1.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::super::solution::self_times as right;
use super::super::spans::{Span, Times};
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_parent();
    all.extend(of_names());
    all.extend(of_borders());
    all.extend(of_equals());
    all.extend(of_the_parts());
    all.extend(of_one_part());
    all.extend(of_the_result());
    all
}

fn spans(diagnosis: &'static str, name: &'static str, times: fn(&[Span]) -> Vec<Times>) -> Wrong {
    wrong("7.1", diagnosis, name, |table| table.self_times = times)
}

fn length(span: &Span) -> u64 {
    span.end_ns - span.start_ns
}

fn totals(spans: &[Span]) -> Vec<Times> {
    let times = |span| Times { total_ns: length(span), self_ns: length(span) };
    spans.iter().map(times).collect()
}

fn around(outer: &Span, inner: &Span) -> bool {
    outer.start_ns <= inner.start_ns && inner.end_ns <= outer.end_ns
}

/// The place of the span that is open around the one at `at`.
fn parent(spans: &[Span], at: usize) -> Option<usize> {
    let inner = &spans[at];
    (at + 1..spans.len()).find(|&i| spans[i].thread == inner.thread && around(&spans[i], inner))
}

/// Each span is subtracted from those that `outer` names.
fn minus(spans: &[Span], outer: fn(&[Span], usize) -> Vec<usize>) -> Vec<Times> {
    let mut times = totals(spans);
    for at in 0..spans.len() {
        for outer in outer(spans, at) {
            times[outer].self_ns = times[outer].self_ns.saturating_sub(length(&spans[at]));
        }
    }
    times
}

/// The shortest span of the thread that fits.
fn shortest(spans: &[Span], at: usize, fits: fn(&Span, &Span) -> bool) -> Vec<usize> {
    let inner = &spans[at];
    let fits = |i: &usize| *i != at && spans[*i].thread == inner.thread && fits(&spans[*i], inner);
    (0..spans.len()).filter(fits).min_by_key(|&i| length(&spans[i])).into_iter().collect()
}

fn of_the_parent() -> Vec<Wrong> {
    vec![
        spans("7.1-all-descendants", "all that it holds, with a panic", |spans| {
            let mut times = totals(spans);
            for (at, inner) in spans.iter().enumerate() {
                for outer in at + 1..spans.len() {
                    if spans[outer].thread == inner.thread && around(&spans[outer], inner) {
                        times[outer].self_ns -= length(inner);
                    }
                }
            }
            times
        }),
        spans("7.1-threads", "any thread", |spans| {
            minus(spans, |spans, at| {
                let inner = &spans[at];
                let began = |i: &usize| spans[*i].start_ns <= inner.start_ns;
                (at + 1..spans.len()).find(began).into_iter().collect()
            })
        }),
        spans("7.1-outermost", "the thread's root", |spans| {
            minus(spans, |spans, at| {
                let mut outermost = parent(spans, at);
                while let Some(above) = outermost.and_then(|outer| parent(spans, outer)) {
                    outermost = Some(above);
                }
                outermost.into_iter().collect()
            })
        }),
        spans("7.1-next-in-list", "the next of the thread", |spans| {
            minus(spans, |spans, at| {
                let next = (at + 1..spans.len()).find(|&i| spans[i].thread == spans[at].thread);
                next.into_iter().collect()
            })
        }),
        spans("7.1-sibling", "what began last", |spans| {
            minus(spans, |spans, at| {
                let inner = &spans[at];
                let begun = |i: &usize| {
                    spans[*i].thread == inner.thread && spans[*i].start_ns < inner.start_ns
                };
                (0..spans.len())
                    .filter(begun)
                    .max_by_key(|&i| spans[i].start_ns)
                    .into_iter()
                    .collect()
            })
        }),
    ]
}

fn of_names() -> Vec<Wrong> {
    vec![
        spans("7.1-by-name", "a map of names", |spans| {
            let mut times = totals(spans);
            let named: HashMap<&str, usize> =
                spans.iter().enumerate().map(|(i, span)| (span.name.as_str(), i)).collect();
            for (at, span) in spans.iter().enumerate() {
                if let Some(parent) = parent(spans, at) {
                    times[named[spans[parent].name.as_str()]].self_ns -= length(span);
                }
            }
            times
        }),
        spans("7.1-own-name-kept", "a recursive call is no part", |spans| {
            minus(spans, |spans, at| {
                let other = |&parent: &usize| spans[parent].name != spans[at].name;
                parent(spans, at).filter(other).into_iter().collect()
            })
        }),
    ]
}

fn of_borders() -> Vec<Wrong> {
    vec![
        spans("7.1-borders", "strictly inside", |spans| {
            minus(spans, |spans, at| {
                shortest(spans, at, |a, b| a.start_ns < b.start_ns && b.end_ns < a.end_ns)
            })
        }),
        spans("7.1-borders-start", "began before", |spans| {
            minus(spans, |spans, at| {
                shortest(spans, at, |a, b| a.start_ns < b.start_ns && b.end_ns <= a.end_ns)
            })
        }),
        spans("7.1-borders-end", "ended after", |spans| {
            minus(spans, |spans, at| {
                shortest(spans, at, |a, b| a.start_ns <= b.start_ns && b.end_ns < a.end_ns)
            })
        }),
    ]
}

fn of_equals() -> Vec<Wrong> {
    vec![
        spans("7.1-equals-apart", "longer", |spans| {
            minus(spans, |spans, at| {
                shortest(spans, at, |a, b| around(a, b) && length(a) > length(b))
            })
        }),
        spans("7.1-equals-reversed", "outer ones first", |spans| {
            let mut order: Vec<usize> = (0..spans.len()).collect();
            order.sort_by_key(|&i| (spans[i].thread, spans[i].start_ns, Reverse(spans[i].end_ns)));
            let mut times = totals(spans);
            let mut open: Vec<usize> = Vec::new();
            for at in order {
                let is_open = |&i: &usize| {
                    spans[i].thread == spans[at].thread && spans[i].end_ns >= spans[at].end_ns
                };
                open.truncate(open.iter().rposition(is_open).map_or(0, |last| last + 1));
                if let Some(&outer) = open.last() {
                    times[outer].self_ns -= length(&spans[at]);
                }
                open.push(at);
            }
            times
        }),
        spans("7.1-last-of-equals", "the last of the shortest", |spans| {
            minus(spans, |spans, at| {
                let (mut last, mut least) = (None, u64::MAX);
                for outer in at + 1..spans.len() {
                    let fits = spans[outer].thread == spans[at].thread
                        && around(&spans[outer], &spans[at]);
                    if fits && length(&spans[outer]) <= least {
                        (last, least) = (Some(outer), length(&spans[outer]));
                    }
                }
                last.into_iter().collect()
            })
        }),
        spans("7.1-equals-each-other", "any other one", |spans| {
            minus(spans, |spans, at| shortest(spans, at, around))
        }),
    ]
}

fn of_the_parts() -> Vec<Wrong> {
    vec![
        spans("7.1-self-is-total", "no parts", totals),
        spans("7.1-self-of-parts", "the self times of parts", |spans| {
            let mut times = totals(spans);
            for at in 0..spans.len() {
                if let Some(parent) = parent(spans, at) {
                    times[parent].self_ns -= times[at].self_ns;
                }
            }
            times
        }),
    ]
}

fn of_one_part() -> Vec<Wrong> {
    vec![
        spans("7.1-last-part", "overwritten", |spans| {
            let mut times = totals(spans);
            for (at, span) in spans.iter().enumerate() {
                if let Some(parent) = parent(spans, at) {
                    times[parent].self_ns = length(&spans[parent]) - length(span);
                }
            }
            times
        }),
        spans("7.1-first-part", "find", |spans| {
            let mut times = totals(spans);
            for (at, of) in times.iter_mut().enumerate() {
                let part = (0..spans.len()).find(|&i| parent(spans, i) == Some(at));
                of.self_ns -= part.map_or(0, |part| length(&spans[part]));
            }
            times
        }),
        spans("7.1-longest-part", "max", |spans| {
            let mut times = totals(spans);
            for (at, of) in times.iter_mut().enumerate() {
                let parts = (0..spans.len()).filter(|&i| parent(spans, i) == Some(at));
                of.self_ns -= parts.map(|part| length(&spans[part])).max().unwrap_or(0);
            }
            times
        }),
        spans("7.1-sum-of-parts", "not taken off", |spans| {
            let mut times = right(spans);
            times.iter_mut().for_each(|it| it.self_ns = it.total_ns - it.self_ns);
            times
        }),
        spans("7.1-below-zero", "each part twice, unless it is the first", |spans| {
            let mut times = right(spans);
            for at in 0..spans.len() {
                // What was found for the span before is still there.
                if at > 6
                    && let Some(parent) = parent(spans, at - 1)
                {
                    times[parent].self_ns -= length(&spans[at - 1]);
                }
            }
            times
        }),
    ]
}

fn of_the_result() -> Vec<Wrong> {
    vec![
        spans("7.1-total-is-self", "one number", |spans| {
            let mut times = right(spans);
            times.iter_mut().for_each(|it| it.total_ns = it.self_ns);
            times
        }),
        spans("7.1-end-included", "to the end and with it", |spans| {
            let longer: Vec<Span> =
                spans.iter().map(|it| Span { end_ns: it.end_ns + 1, ..it.clone() }).collect();
            let mut times = totals(&longer);
            for (at, span) in longer.iter().enumerate() {
                if let Some(parent) = parent(spans, at) {
                    let length = length(span);
                    times[parent].self_ns = times[parent].self_ns.saturating_sub(length);
                }
            }
            times
        }),
        spans("7.1-summed-by-name", "sums", |spans| {
            let times = right(spans);
            let of = |name: &str| {
                let mut sum = Times { total_ns: 0, self_ns: 0 };
                for (_, it) in spans.iter().zip(&times).filter(|(span, _)| span.name == name) {
                    sum.total_ns += it.total_ns;
                    sum.self_ns += it.self_ns;
                }
                sum
            };
            spans.iter().map(|span| of(&span.name)).collect()
        }),
        spans("7.1-one-a-name", "a row for each name", |spans| {
            let mut names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names.iter().map(|_| Times { total_ns: 0, self_ns: 0 }).collect()
        }),
        spans("7.1-order", "in the order of their starts", |spans| {
            let times = right(spans);
            let mut order: Vec<usize> = (0..spans.len()).collect();
            order.sort_by_key(|&i| (spans[i].start_ns, Reverse(spans[i].end_ns)));
            order.into_iter().map(|i| times[i]).collect()
        }),
    ]
}
