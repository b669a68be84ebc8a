//! 7.4: the arrows of a trace, from each cause to what it asked for.

use std::collections::{BTreeMap, BTreeSet};

use grading::Diagnosis;

use super::super::trace::Event;
use super::thoughts::explained;
use super::trace::{Run, words};
use super::trace_read::{At, End, says};
use super::trace_thoughts::{ENDS, Ends, ends, is_close};
use super::trace_words as text;

/// Every arrow is there once, both its ends are where they belong, and they find each other.
///
/// # Errors
/// If not.
pub fn check_arrows(runs: &[Run]) -> Result<(), Diagnosis> {
    for run in runs {
        check_count(run, runs).map_err(|it| it.called(run.called()))?;
    }
    for run in runs {
        if let Some(diagnosis) = wrong_end(run, runs) {
            return Err(diagnosis.called(run.called()));
        }
    }
    for run in runs {
        check_ids(run, runs).map_err(|it| it.called(run.called()))?;
    }
    Ok(())
}

/// The work of a run that has a cause: the cause, and the work.
fn wanted(events: &[Event]) -> Vec<(usize, usize)> {
    let pair = |(at, event): (usize, &Event)| event.cause.map(|cause| (cause, at));
    events.iter().enumerate().filter_map(pair).collect()
}

fn check_count(run: &Run, runs: &[Run]) -> Result<(), Diagnosis> {
    let wanted = wanted(&run.events).len();
    let (begins, ends) = (run.seen.begins.len(), run.seen.ends.len());
    if (begins, ends) == (wanted, wanted) {
        return Ok(());
    }
    Err(says(wrong_count(runs))
        .got(format!("{begins} objects with ph s, {ends} with ph f"))
        .expected(format!("{wanted} of each")))
}

/// Which thought gives so many arrows in all runs.
fn wrong_count(runs: &[Run]) -> text::Says {
    let is = |count: &dyn Fn(&[Event]) -> usize| {
        runs.iter().all(|Run { events, seen, .. }| {
            let count = count(events);
            (seen.begins.len(), seen.ends.len()) == (count, count)
        })
    };
    if is(&|_| 0) {
        text::NO_ARROWS
    } else if runs.iter().any(|run| run.seen.begins.len() != run.seen.ends.len()) {
        text::HALF
    } else if is(&<[Event]>::len) {
        text::FOR_EVERY_EVENT
    } else if is(&|events| causes(events).len()) {
        text::ONE_A_CAUSE
    } else if is(&|events| wanted(events).iter().filter(|(cause, _)| *cause > 0).count()) {
        text::CAUSE_ZERO
    } else {
        text::COUNT
    }
}

/// The events that are a cause, each once.
fn causes(events: &[Event]) -> BTreeSet<usize> {
    wanted(events).into_iter().map(|(cause, _)| cause).collect()
}

fn is_at(a: &At, b: &At) -> bool {
    (a.pid, a.tid) == (b.pid, b.tid) && is_close(a.ts, b.ts)
}

/// Whether these places are those, in any order.
fn are_at(want: &[At], got: &[&At]) -> bool {
    let count = |of: &At| want.iter().filter(|it| is_at(it, of)).count();
    let found = |of: &At| got.iter().filter(|it| is_at(it, of)).count();
    want.len() == got.len() && want.iter().all(|it| count(it) == found(it))
}

/// Whether all ends are where a thought puts them.
fn agrees(Run { events, seen, .. }: &Run, thought: Ends) -> bool {
    let arrows = wanted(events);
    let want = |side: usize| -> Vec<At> {
        arrows.iter().map(|&(cause, at)| ends(events, cause, at, thought)[side].clone()).collect()
    };
    let places = |ends: &[End]| -> Vec<At> { ends.iter().map(|end| end.at.clone()).collect() };
    let (begins, ends) = (places(&seen.begins), places(&seen.ends));
    are_at(&want(0), &begins.iter().collect::<Vec<_>>())
        && are_at(&want(1), &ends.iter().collect::<Vec<_>>())
}

fn wrong_end(run: &Run, runs: &[Run]) -> Option<Diagnosis> {
    if agrees(run, Ends::Right) {
        return None;
    }
    let (key, thought) = explained(ENDS, |thought| runs.iter().all(|run| agrees(run, thought)));
    let all = [("s", &run.seen.begins, 0), ("f", &run.seen.ends, 1)];
    for (phase, seen, side) in all {
        for (cause, at) in wanted(&run.events) {
            let want = &ends(&run.events, cause, at, Ends::Right)[side];
            if seen.iter().all(|end| !is_at(&end.at, want)) {
                let event = &run.events[at];
                return Some(
                    Diagnosis::new(key)
                        .got(format!("no {phase} there{}", first_of(seen)))
                        .expected(format!(
                            "for the arrow to {}: {phase} at {}",
                            words(event),
                            shown(want)
                        ))
                        .thought(thought),
                );
            }
        }
    }
    Some(Diagnosis::new(key).got("ends of arrows twice in one place").thought(thought))
}

fn first_of(seen: &[End]) -> String {
    seen.first().map_or(String::new(), |end| format!("; the first one is at {}", shown(&end.at)))
}

fn shown(At { pid, tid, ts }: &At) -> String {
    format!("pid {pid}, tid {tid}, ts {ts}")
}

/// Both ends have the same id, name and category, and no other arrow has the id.
fn check_ids(run: &Run, runs: &[Run]) -> Result<(), Diagnosis> {
    let Run { events, seen, .. } = run;
    if let Some(end) = seen.ends.iter().find(|end| end.binding != "e") {
        return Err(says(text::BINDING)
            .got(format!("an f at {} with bp {:?}", shown(&end.at), end.binding))
            .expected("bp \"e\""));
    }
    for (cause, at) in wanted(events) {
        let [from, to] = ends(events, cause, at, Ends::Right);
        let of = |list: &[End], place: &At| -> Vec<End> {
            list.iter().filter(|it| is_at(&it.at, place)).cloned().collect()
        };
        let (begins, all_ends) = (of(&seen.begins, &from), of(&seen.ends, &to));
        let pair = |begin: &&End| all_ends.iter().any(|end| end.id == begin.id);
        let Some(begin) = begins.iter().find(pair) else {
            let got = format!("ids {:?} and {:?}", ids(&begins), ids(&all_ends));
            return Err(says(text::TWO_IDS)
                .got(got)
                .expected(format!("one id at both ends of the arrow to {}", words(&events[at]))));
        };
        let end = all_ends.iter().find(|end| end.id == begin.id).unwrap_or(begin);
        if end.names != begin.names {
            return Err(says(text::TWO_NAMES)
                .got(format!("name and cat {:?} at s, {:?} at f", begin.names, end.names))
                .expected("the same at both"));
        }
        let same = seen.ends.iter().filter(|end| end.id == begin.id).count();
        if same > 1 {
            let got = format!("id {} at {same} arrows", begin.id);
            return Err(says(shared(runs)).got(got).expected("an id of its own for each"));
        }
    }
    Ok(())
}

fn ids(ends: &[End]) -> Vec<&str> {
    ends.iter().map(|end| end.id.as_str()).collect()
}

/// Which thought gives the same id to several arrows.
fn shared(runs: &[Run]) -> text::Says {
    let of_all = |ids: fn(&End) -> String| {
        runs.iter().all(|run| {
            let mut by_id: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for begin in &run.seen.begins {
                by_id.entry(&begin.id).or_default().push(ids(begin));
            }
            by_id.values().all(|list| list.iter().all(|it| *it == list[0]))
        })
    };
    let is_one = runs
        .iter()
        .all(|run| run.seen.begins.iter().all(|begin| begin.id == run.seen.begins[0].id));
    if is_one {
        text::ONE_ID
    } else if of_all(|begin| shown(&begin.at)) {
        text::ID_OF_CAUSE
    } else {
        text::ID_OF_PLACE
    }
}
