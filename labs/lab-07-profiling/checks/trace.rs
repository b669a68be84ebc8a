//! 7.4: traces of runs by hand and at random, read as a viewer reads them.

use engine_room::rng::Generator;
use grading::{Check, Diagnosis};

use super::super::trace::Event;
use super::Implementation;
use super::thoughts::{below_zero, explained};
use super::trace_arrows::check_arrows;
use super::trace_names::check_names;
use super::trace_read::{Complete, Seen, read, says};
use super::trace_thoughts::{
    PLACES, Place, TIMES, Time, Written, are_places, are_times, is_close, place, times,
};
use super::trace_words::{EMPTY, LOST, NEGATIVE, NO_EVENTS, NO_PROCESSES, PROCESS, TWICE_WRITTEN};

/// A run, and what the learner's trace of it shows.
pub struct Run {
    pub name: String,
    pub events: Vec<Event>,
    pub seen: Seen,
}

/// 7.4
pub fn trace(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut runs = vec![traced(imp, check, "a launch and its kernel", example())?];
    check_names(imp, check)?;
    runs.push(traced(imp, check, "a call that asks for two kernels", two_kernels())?);
    for number in 0..8 {
        let name = format!("random run {}", number + 1);
        runs.push(traced(imp, check, &name, at_random(number, &mut rng))?);
    }
    let written: Vec<Written> = runs.iter().map(|run| (&run.events[..], run.in_order())).collect();
    check_places(&runs, &written)?;
    check_times(&runs, &written)?;
    check_processes(&runs)?;
    check_arrows(&runs)?;
    let called = "chrome_trace of no events";
    let text = check.call(called, || (imp.chrome_trace)(&[]));
    let text = text.map_err(|diagnosis| {
        Diagnosis { key: EMPTY.0.to_string(), ..diagnosis }.thought(EMPTY.1)
    })?;
    let seen = read(&text).map_err(|diagnosis| diagnosis.called(called))?;
    check.require(seen.events.is_empty(), || {
        says(LOST).called(called).got(format!("{:?}", seen.events)).expected("no events")
    })
}

/// The trace of a run, in which every event is found once.
fn traced(
    imp: &Implementation,
    check: &mut Check,
    name: &str,
    events: Vec<Event>,
) -> Result<Run, Diagnosis> {
    let called = called_words(name, &events);
    let text = check.call(called.as_str(), || (imp.chrome_trace)(&events));
    let text = text.map_err(|diagnosis| below_zero(diagnosis, NEGATIVE))?;
    let seen = read(&text).map_err(|diagnosis| diagnosis.called(called.as_str()))?;
    let count = |event: &Event| seen.events.iter().filter(|it| it.name == event.name).count();
    let odd = events.iter().find(|event| count(event) != 1);
    check.require(odd.is_none() && seen.events.len() == events.len(), || {
        let says_of = match odd.map(count) {
            _ if seen.events.is_empty() => NO_EVENTS,
            Some(0) => LOST,
            _ => TWICE_WRITTEN,
        };
        let times = odd.map_or(String::new(), |it| format!(", {} {} times", it.name, count(it)));
        says(says_of)
            .called(called.as_str())
            .got(format!("{} complete events{times}", seen.events.len()))
            .expected(format!("{}, each once", events.len()))
    })?;
    Ok(Run { name: name.to_string(), events, seen })
}

impl Run {
    /// What the learner wrote for each event.
    fn in_order(&self) -> Vec<&Complete> {
        let of = |event: &Event| self.seen.events.iter().find(|it| it.name == event.name);
        self.events.iter().filter_map(of).collect()
    }

    /// What was called, for people.
    pub fn called(&self) -> String {
        called_words(&self.name, &self.events)
    }
}

fn check_times(runs: &[Run], written: &[Written]) -> Result<(), Diagnosis> {
    let is_right =
        |want: (f64, f64), got: &Complete| is_close(want.0, got.at.ts) && is_close(want.1, got.dur);
    for (run, (events, seen)) in runs.iter().zip(written) {
        for (at, got) in seen.iter().enumerate() {
            let want = times(events, at, Time::Right);
            if !is_right(want, got) {
                let (key, thought) = explained(TIMES, |thought| are_times(written, thought));
                let Event { name, start_ns, end_ns, .. } = &events[at];
                return Err(Diagnosis::new(key)
                    .called(format!("{}\n{name} from {start_ns} to {end_ns}", run.called()))
                    .got(format!("ts {}, dur {}", got.at.ts, got.dur))
                    .expected(format!("ts {:.3}, dur {:.3}", want.0, want.1))
                    .thought(thought));
            }
        }
    }
    Ok(())
}

fn check_places(runs: &[Run], written: &[Written]) -> Result<(), Diagnosis> {
    for (run, (events, seen)) in runs.iter().zip(written) {
        for (at, got) in seen.iter().enumerate() {
            let want = place(events, at, Place::Right);
            if want != (got.at.pid, got.at.tid) {
                let (key, thought) = explained(PLACES, |thought| are_places(written, thought));
                return Err(Diagnosis::new(key)
                    .called(format!("{}\n{}", run.called(), words(&events[at])))
                    .got(format!("pid {}, tid {}", got.at.pid, got.at.tid))
                    .expected(format!("pid {}, tid {}", want.0, want.1))
                    .thought(thought));
            }
        }
    }
    Ok(())
}

fn check_processes(runs: &[Run]) -> Result<(), Diagnosis> {
    for run in runs {
        for (at, event) in run.events.iter().enumerate() {
            let (pid, _) = place(&run.events, at, Place::Right);
            let want = event.device.map_or("host".to_string(), |it| format!("device {it}"));
            let named = run.seen.processes.iter().filter(|(of, _)| *of == pid);
            let names: Vec<&String> = named.map(|(_, name)| name).collect();
            if names.is_empty() || names.iter().any(|name| **name != want) {
                return Err(says(if names.is_empty() { NO_PROCESSES } else { PROCESS })
                    .called(run.called())
                    .got(format!("names of process {pid}: {names:?}"))
                    .expected(format!("{want:?}")));
            }
        }
    }
    Ok(())
}

fn event(name: &str, device: Option<usize>, lane: usize, (start_ns, end_ns): (u64, u64)) -> Event {
    Event { name: name.to_string(), device, lane, start_ns, end_ns, cause: None }
}

/// That of the statement, with the kernel first.
fn example() -> Vec<Event> {
    let kernel = event("matmul kernel", Some(0), 0, (7005, 9005));
    vec![Event { cause: Some(1), ..kernel }, event("launch", None, 7, (5000, 6250))]
}

/// A call that stands first in the list, two kernels, and one that nobody asked for.
fn two_kernels() -> Vec<Event> {
    let work = |name, device, lane, times| Event {
        cause: Some(0),
        ..event(name, Some(device), lane, times)
    };
    vec![
        event("launch of two", None, 7, (9_001, 9_850)),
        work("first kernel", 0, 3, (12_000, 19_010)),
        work("second kernel", 1, 0, (15_002, 20_000)),
        event("kernel of another program", Some(1), 5, (8_000, 9_500)),
    ]
}

/// Calls of a few threads, some of which ask devices for up to three pieces of work.
fn at_random(number: usize, rng: &mut Generator) -> Vec<Event> {
    let devices = 1 + number % 3;
    let mut now = 1_666_382_280_874_284_123 + rng.below(1 << 30) as u64;
    let mut events = Vec::new();
    for call in 0..3 + rng.below(12) {
        // A pause of up to twenty minutes between two calls.
        let pause = if rng.below(4) == 0 { 300 * rng.below(1 << 32) } else { rng.below(5000) };
        now += 1 + pause as u64;
        let start = now;
        let length = [0, rng.below(900), rng.below(5_000_000)][rng.below(3)] as u64;
        let name = format!("launch {call}");
        events.push(event(&name, None, 30 + rng.below(3), (start, start + length)));
        let cause = Some(events.len() - 1);
        for part in 0..rng.below(4) {
            let start = start + length + 1 + rng.below(40_000) as u64;
            let end = start + rng.below(3_000_000) as u64;
            let name = format!("kernel {call}.{part}");
            let work = event(&name, Some(rng.below(devices)), rng.below(4), (start, end));
            events.push(Event { cause, ..work });
        }
    }
    shuffled(events, rng)
}

/// In another order, with the causes set right.
fn shuffled(events: Vec<Event>, rng: &mut Generator) -> Vec<Event> {
    let mut order: Vec<usize> = (0..events.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, rng.below(last + 1));
    }
    let place = |at: usize| order.iter().position(|&it| it == at);
    let moved =
        |&at: &usize| Event { cause: events[at].cause.and_then(place), ..events[at].clone() };
    order.iter().map(moved).collect()
}

/// An event and its place.
pub fn words(event: &Event) -> String {
    let place = event.device.map_or("the host".to_string(), |it| format!("device {it}"));
    format!("{} on lane {} of {place}", event.name, event.lane)
}

fn called_words(name: &str, events: &[Event]) -> String {
    format!("chrome_trace of {} events, {name}", events.len())
}
