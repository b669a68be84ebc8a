//! Other right answers to 7.1.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::super::spans::{Span, Times};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("7.1", "the shortest that holds it", |table| table.self_times = shortest),
        other("7.1", "a stack of open spans, outer ones first", |table| table.self_times = stack),
        other("7.1", "what waits for its parent, by thread", |table| table.self_times = waiting),
        other("7.1", "the sum of all parts less theirs", |table| table.self_times = of_levels),
    ]
}

fn length(span: &Span) -> u64 {
    span.end_ns - span.start_ns
}

fn shortest(spans: &[Span]) -> Vec<Times> {
    let parent = |at: usize| {
        let inner = &spans[at];
        let mut best: Option<usize> = None;
        for (i, outer) in spans.iter().enumerate().skip(at + 1) {
            let holds = outer.start_ns <= inner.start_ns && outer.end_ns >= inner.end_ns;
            let shorter = best.is_none_or(|best| length(outer) < length(&spans[best]));
            if outer.thread == inner.thread && holds && shorter {
                best = Some(i);
            }
        }
        best
    };
    let mut parts = vec![0; spans.len()];
    for (at, span) in spans.iter().enumerate() {
        if let Some(parent) = parent(at) {
            parts[parent] += length(span);
        }
    }
    let times = spans.iter().zip(parts);
    times
        .map(|(span, parts)| Times { total_ns: length(span), self_ns: length(span) - parts })
        .collect()
}

fn stack(spans: &[Span]) -> Vec<Times> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&i| {
        (spans[i].thread, spans[i].start_ns, Reverse(spans[i].end_ns), Reverse(i))
    });
    let mut times: Vec<Times> =
        spans.iter().map(|span| Times { total_ns: length(span), self_ns: length(span) }).collect();
    let mut open: Vec<usize> = Vec::new();
    for at in order {
        let span = &spans[at];
        while let Some(&last) = open.last() {
            if spans[last].thread == span.thread && spans[last].end_ns >= span.end_ns {
                times[last].self_ns -= length(span);
                break;
            }
            open.pop();
        }
        open.push(at);
    }
    times
}

fn waiting(spans: &[Span]) -> Vec<Times> {
    let mut without_parent: HashMap<usize, Vec<&Span>> = HashMap::new();
    let mut times = Vec::new();
    for span in spans {
        let waiting = without_parent.entry(span.thread).or_default();
        let first = waiting.iter().position(|it| it.start_ns >= span.start_ns);
        let parts = waiting.split_off(first.unwrap_or(waiting.len()));
        let of_parts: u64 = parts.into_iter().map(length).sum();
        waiting.push(span);
        times.push(Times { total_ns: length(span), self_ns: length(span) - of_parts });
    }
    times
}

fn of_levels(spans: &[Span]) -> Vec<Times> {
    let holds = |outer: usize, inner: usize| {
        let (a, b) = (&spans[outer], &spans[inner]);
        outer > inner && a.thread == b.thread && a.start_ns <= b.start_ns && b.end_ns <= a.end_ns
    };
    let level = |at: usize| (0..spans.len()).filter(|&outer| holds(outer, at)).count();
    let levels: Vec<usize> = (0..spans.len()).map(level).collect();
    let self_ns = |at: usize| {
        let direct = |&inner: &usize| holds(at, inner) && levels[inner] == levels[at] + 1;
        length(&spans[at]) - (0..spans.len()).filter(direct).map(|i| length(&spans[i])).sum::<u64>()
    };
    (0..spans.len())
        .map(|at| Times { total_ns: length(&spans[at]), self_ns: self_ns(at) })
        .collect()
}
