//! The recording that is on, if one is: where events go while they happen.
//!
//! While none is on, a span costs one look at a flag. While one is, each costs a lock at its
//! beginning and at its end. A span ends when its guard is dropped, so an error that leaves it in
//! the middle closes it, too.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::device::driver::Nanoseconds;
use crate::device::sim;
use crate::memory::current_module;
use crate::profiler::event::{Event, Kind};
use crate::profiler::pending::Pending;

static ON: AtomicBool = AtomicBool::new(false);
static RECORDING: Mutex<Option<Recording>> = Mutex::new(None);

thread_local! {
    /// The spans of this thread that have begun and not ended, the innermost last.
    static OPEN: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
    /// The number of this thread in a recording.
    static THREAD: Cell<(u64, usize)> = const { Cell::new((0, 0)) };
}

/// Stands for the end of a span that has not ended.
const OPEN_END: Nanoseconds = Nanoseconds::MAX;

/// What tells the host's time.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clock {
    /// The computer's.
    Measured(Instant),
    /// That of a simulated GPU, from so many nanoseconds on: *modelled*, and the same every time.
    Modelled(usize, Nanoseconds),
}

impl Clock {
    /// Nanoseconds since the recording began.
    pub fn now(&self) -> Nanoseconds {
        match *self {
            Clock::Measured(start) => start.elapsed().as_nanos() as u64,
            Clock::Modelled(n, start) => sim::clock(n).host_ns.saturating_sub(start),
        }
    }
}

/// What a recording writes down beside names and times.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    pub shapes: bool,
    pub memory: bool,
    pub flops: bool,
}

/// The events so far.
pub(super) struct Recording {
    /// Which recording of the program it is.
    number: u64,
    pub clock: Clock,
    pub wanted: Wanted,
    pub events: Vec<Event>,
    /// How many events came before what is to be kept, and from where on nothing is kept again, in
    /// turns: warm-up steps are recorded, as they cost what recording costs, and then dropped.
    pub turns: Vec<usize>,
    /// The work of devices whose times are not known yet.
    pub pending: Pending,
    threads: usize,
}

/// An event of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    recording: u64,
    pub index: usize,
}

/// The lock is held for a moment only.
fn recording() -> MutexGuard<'static, Option<Recording>> {
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a recording is on: all that a span costs while none is.
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Begins a recording; false if one is on already.
pub(super) fn start(clock: Clock, wanted: Wanted, pending: Pending) -> bool {
    static NUMBER: Mutex<u64> = Mutex::new(0);
    let mut recording = recording();
    if recording.is_some() {
        return false;
    }
    let mut number = NUMBER.lock().unwrap_or_else(PoisonError::into_inner);
    *number += 1;
    let (number, events, turns) = (*number, Vec::new(), Vec::new());
    *recording = Some(Recording { number, clock, wanted, events, turns, pending, threads: 0 });
    true
}

/// Switches the recording on or off, and says whether what comes is to be kept.
pub(super) fn switch(on: bool, keep: bool) {
    if let Some(recording) = &mut *recording() {
        let keeps = recording.turns.len() % 2 == 1;
        if keep != keeps {
            recording.turns.push(recording.events.len());
        }
        ON.store(on, Ordering::Relaxed);
    }
}

/// Ends the recording. What has not ended by now ends now.
pub(super) fn stop() -> Option<Recording> {
    let mut recording = recording().take()?;
    ON.store(false, Ordering::Relaxed);
    let now = recording.clock.now();
    let open = recording.events.iter_mut().filter(|event| event.end_ns == OPEN_END);
    open.for_each(|event| event.end_ns = now.max(event.start_ns));
    Some(recording)
}

/// Looks at the recording, if one is on.
pub(super) fn with<T>(f: impl FnOnce(&mut Recording) -> T) -> Option<T> {
    if !is_on() {
        return None;
    }
    recording().as_mut().map(f)
}

/// Changes the innermost open span of this thread, if there is one.
pub(super) fn with_innermost(f: impl FnOnce(&Wanted, &mut Event)) {
    let Some(place) = OPEN.with_borrow(|open| open.last().copied()) else { return };
    with(|recording| {
        if recording.number == place.recording {
            f(&recording.wanted, &mut recording.events[place.index]);
        }
    });
}

/// The lines that called the open spans of this thread, the innermost first; none if no recording
/// is on.
pub(super) fn open_lines() -> Vec<&'static Location<'static>> {
    let open = OPEN.with_borrow(|open| open.clone());
    let lines = with(|recording| {
        let own = open.iter().rev().filter(|place| place.recording == recording.number);
        own.filter_map(|place| recording.events[place.index].at).collect()
    });
    lines.unwrap_or_default()
}

/// A span that ends when this is dropped.
#[must_use]
pub(crate) struct Span(Option<Place>);

/// Begins a span of this thread.
#[track_caller]
pub(crate) fn span(kind: Kind, name: impl Into<Cow<'static, str>>) -> Span {
    if !is_on() {
        return Span(None);
    }
    begin(kind, name.into(), Location::caller())
}

/// Begins a span of this thread that another line than this one is to answer for.
pub(crate) fn span_at(
    kind: Kind,
    name: &'static str,
    at: &'static Location<'static>,
) -> Option<Span> {
    is_on().then(|| begin(kind, name.into(), at))
}

fn begin(kind: Kind, name: Cow<'static, str>, at: &'static Location<'static>) -> Span {
    let place = with(|recording| {
        let thread = recording.thread();
        let mine = |open: &Place| open.recording == recording.number;
        let parent = OPEN.with_borrow(|open| open.last().copied().filter(mine));
        let name = match kind {
            Kind::Backward => format!("{name} backward"),
            _ => name.into_owned(),
        };
        let mut event = Event::of_host(kind, &name, thread);
        (event.parent, event.module) = (parent.map(|place| place.index), current_module());
        (event.at, event.start_ns, event.end_ns) = (Some(at), recording.clock.now(), OPEN_END);
        recording.events.push(event);
        Place { recording: recording.number, index: recording.events.len() - 1 }
    });
    if let Some(place) = place {
        OPEN.with_borrow_mut(|open| open.push(place));
    }
    Span(place)
}

impl Recording {
    /// The number of this thread: they are counted as they come.
    fn thread(&mut self) -> usize {
        let (recording, thread) = THREAD.get();
        if recording == self.number {
            return thread;
        }
        self.threads += 1;
        THREAD.set((self.number, self.threads - 1));
        self.threads - 1
    }
}

impl Span {
    /// The event, while the recording is on.
    pub(super) fn place(&self) -> Option<Place> {
        self.0
    }

    /// Adds to what is known of the span.
    pub(super) fn with(&self, f: impl FnOnce(&Wanted, &mut Event)) {
        let Some(place) = self.0 else { return };
        with(|recording| {
            if recording.number == place.recording {
                f(&recording.wanted, &mut recording.events[place.index]);
            }
        });
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(place) = self.0 else { return };
        OPEN.with_borrow_mut(|open| open.retain(|it| *it != place));
        with(|recording| {
            if recording.number == place.recording {
                recording.events[place.index].end_ns = recording.clock.now();
            }
        });
    }
}
