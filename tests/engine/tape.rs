//! Events that are made up, one after the other, for tests of what a profile says. Times are in
//! microseconds; the line that adds an event is the line of the program.

use std::panic::Location;

use engine_room::Device;
use engine_room::driver::Route;
use engine_room::profiler::{Call, Diagnosis, Event, Kind, Profile};

/// Nanoseconds of a microsecond.
pub const US: u64 = 1000;

/// From when to when, in microseconds.
pub type Span = (u64, u64);

/// Events so far. The host's are of the thread that was named last, a device's of the stream.
pub struct Tape {
    events: Vec<Event>,
    thread: usize,
    stream: usize,
}

impl Tape {
    /// Nothing yet.
    pub fn new() -> Tape {
        Tape { events: Vec::new(), thread: 0, stream: 0 }
    }

    /// What comes is of this thread.
    pub fn thread(&mut self, thread: usize) -> &mut Tape {
        self.thread = thread;
        self
    }

    /// What comes is of this stream.
    pub fn stream(&mut self, stream: usize) -> &mut Tape {
        self.stream = stream;
        self
    }

    /// A span of the host.
    #[track_caller]
    pub fn span(&mut self, kind: Kind, name: &str, (start, end): Span) -> &mut Tape {
        let mut event = Event::of_host(kind, name, self.thread).between(start * US, end * US);
        event.at = Some(Location::caller());
        self.events.push(event);
        self
    }

    /// An operation.
    #[track_caller]
    pub fn op(&mut self, name: &str, span: Span) -> &mut Tape {
        self.span(Kind::Op, name, span)
    }

    /// A call to a driver that gives the device nothing to do.
    #[track_caller]
    pub fn call(&mut self, call: Call, span: Span) -> &mut Tape {
        self.span(Kind::Call(call), "call", span)
    }

    /// A copy that nobody asked for, of which the host does its part from when to when.
    #[track_caller]
    pub fn hidden_copy(&mut self, bytes: u64, span: Span) -> &mut Tape {
        self.op("contiguous", span);
        self.events.last_mut().expect("it was added").hidden_copy = bytes;
        self
    }

    /// A launch and its kernel.
    #[track_caller]
    pub fn kernel(&mut self, device: Device, call: Span, kernel: Span) -> &mut Tape {
        self.call(Call::Launch, call);
        self.work(device, Kind::Kernel, "kernel", 0, kernel)
    }

    /// A copy of the first NVIDIA GPU, and the call that asks for it.
    #[track_caller]
    pub fn copy(&mut self, route: Route, bytes: u64, call: Span, copy: Span) -> &mut Tape {
        self.copy_of(Device::Cuda(0), route, bytes, call, copy)
    }

    /// A copy of a device.
    #[track_caller]
    pub fn copy_of(
        &mut self,
        device: Device,
        route: Route,
        bytes: u64,
        call: Span,
        copy: Span,
    ) -> &mut Tape {
        self.call(Call::Copy, call);
        self.work(device, Kind::Copy, route.name(), bytes, copy)
    }

    /// Work that the last call asked for.
    fn work(
        &mut self,
        device: Device,
        kind: Kind,
        name: &str,
        bytes: u64,
        (start, end): Span,
    ) -> &mut Tape {
        let cause = Some(self.events.len() - 1);
        let event = Event::of_host(kind, name, self.stream).between(start * US, end * US);
        self.events.push(Event { device, cause, bytes, ..event });
        self
    }

    /// What is wrong with a program of these events.
    pub fn diagnosis(&self) -> Diagnosis {
        Profile::from_events(self.events.clone()).diagnosis()
    }
}
