//! The recording that is on, if one is: where events go while they happen.
//!
//! While none is on, a span costs one look at a flag. While one is, each costs a lock at its
//! beginning and at its end. A span ends when its guard is dropped, so an error that leaves it in
//! the middle closes it, too. On its thread it ends whatever began in it and has not ended: spans
//! nest, even where guards are dropped in another order or never.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::driver::Nanoseconds;
use crate::error::Error;
use crate::memory::current_module;
use crate::profiler::clock::Clock;
use crate::profiler::event::{Event, Kind};
use crate::profiler::pending::{Pending, Watched};

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

/// Begins a recording, and says which of the program it is; `None` if one is on already.
pub(super) fn start(clock: Clock, wanted: Wanted) -> Option<u64> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut recording = recording();
    if recording.is_some() {
        return None;
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
    let (events, turns, pending) = (Vec::new(), Vec::new(), Pending::default());
    *recording = Some(Recording { number, clock, wanted, events, turns, pending, threads: 0 });
    Some(number)
}

/// Lets a recording watch a device.
///
/// # Errors
/// If the device has failed.
pub(super) fn watch(
    number: u64,
    begin: impl FnOnce(&mut Clock) -> Result<Watched, Error>,
) -> Result<(), Error> {
    with_that_of(Place { recording: number, index: 0 }, |recording| {
        recording.pending.devices.push(begin(&mut recording.clock)?);
        Ok(())
    })
    .unwrap_or(Ok(()))
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

/// Ends that recording. What has not ended by now ends now.
pub(super) fn stop(number: u64) -> Option<Recording> {
    let mut recording = recording().take_if(|recording| recording.number == number)?;
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

/// Looks at the recording that an event belongs to, if that has not ended. It may be switched off:
/// what began before that goes on.
pub(super) fn with_that_of<T>(place: Place, f: impl FnOnce(&mut Recording) -> T) -> Option<T> {
    recording().as_mut().filter(|recording| recording.number == place.recording).map(f)
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

/// Changes the innermost open span of this thread, if there is one.
pub(super) fn with_innermost(f: impl FnOnce(&Wanted, &mut Event)) {
    // A thread that ends frees what it holds when its open spans are gone already.
    let innermost = OPEN.try_with(|open| open.borrow().last().copied());
    let Ok(Some(place)) = innermost else { return };
    with_that_of(place, |recording| f(&recording.wanted, &mut recording.events[place.index]));
}

/// A span that ends when this is dropped, on the thread where it began.
#[must_use]
pub(crate) struct Span(Option<Place>, PhantomData<*const ()>);

/// Begins a span of this thread.
#[track_caller]
pub(crate) fn span(kind: Kind, name: impl Into<Cow<'static, str>>) -> Span {
    match is_on() {
        true => begin(kind, name.into(), Location::caller()),
        false => Span(None, PhantomData),
    }
}

/// The same with a name that costs something to know.
#[track_caller]
pub(crate) fn span_named(kind: Kind, name: impl FnOnce() -> &'static str) -> Span {
    match is_on() {
        true => begin(kind, name().into(), Location::caller()),
        false => Span(None, PhantomData),
    }
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
        let mut event = Event::of_host(kind, name, thread);
        (event.parent, event.module) = (parent.map(|place| place.index), current_module());
        (event.at, event.start_ns, event.end_ns) = (Some(at), recording.clock.now(), OPEN_END);
        recording.events.push(event);
        Place { recording: recording.number, index: recording.events.len() - 1 }
    });
    if let Some(place) = place {
        OPEN.with_borrow_mut(|open| open.push(place));
    }
    Span(place, PhantomData)
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

    fn end(&mut self, place: Place) {
        let now = self.clock.now();
        let event = &mut self.events[place.index];
        event.end_ns = now.max(event.start_ns);
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
        with_that_of(place, |recording| f(&recording.wanted, &mut recording.events[place.index]));
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            close(place);
        }
    }
}

/// Ends a span of this thread and what began in it. Guards of another recording stay as they are.
fn close(place: Place) {
    let inside = OPEN.try_with(|open| {
        let mut open = open.borrow_mut();
        let Some(at) = open.iter().rposition(|&it| it == place) else { return Vec::new() };
        let inside = open.split_off(at);
        let (ended, others) = inside.into_iter().partition(|it| it.recording == place.recording);
        open.extend::<Vec<Place>>(others);
        ended
    });
    let ended: Vec<Place> = inside.unwrap_or_else(|_| vec![place]);
    with_that_of(place, |recording| ended.into_iter().for_each(|it| recording.end(it)));
}
