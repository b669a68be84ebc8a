//! A simulated GPU as a [`Driver`]: memory, modelled clock and counters under one lock.
//!
//! Each call checks first, then moves bytes, then moves the clock, so a refused call changes
//! nothing. The lock is held for one such call and never while waiting for anything.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::clock::Timeline;
use super::gpus::Gpu;
use super::memory::{Memory, Refusal};
use super::transfers::Transfers;
use crate::device::driver::{DevicePtr, Driver, Event, HostMemory, Nanoseconds, Route, Stream};
use crate::error::Error;

/// The addresses of device 0 begin here, those of device 1 a tebibyte later, and so on: the address
/// of one device is none of another.
const BASE: u64 = 0x7f00_0000_0000;
const WINDOW: u64 = 1 << 40;

/// A GPU that is simulated; see [`sim`](super::sim).
pub struct SimDevice {
    number: usize,
    state: Mutex<State>,
}

pub(super) struct State {
    pub(super) gpu: Gpu,
    pub(super) memory: Memory,
    pub(super) timeline: Timeline,
    pub(super) transfers: Transfers,
}

impl SimDevice {
    pub(super) fn new(number: usize) -> SimDevice {
        let start = BASE + number as u64 * WINDOW;
        let gpu = Gpu::default();
        let state = State {
            gpu,
            memory: Memory::new(start..start + WINDOW, gpu.figures().capacity),
            timeline: Timeline::new(),
            transfers: Transfers::default(),
        };
        SimDevice { number, state: Mutex::new(state) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self) -> String {
        format!("sim:{}", self.number)
    }

    fn fault<T>(&self, message: String) -> Result<T, Error> {
        Err(Error::Device { device: self.name(), message })
    }

    /// The state for work in a stream, if that is one of this device.
    fn with_stream(&self, op: &str, stream: Stream) -> Result<MutexGuard<'_, State>, Error> {
        let state = self.state();
        if stream.device != self.number || !state.timeline.has_stream(stream.id) {
            let (device, id) = (stream.device, stream.id);
            return self.fault(format!("{op}: stream {id} of device {device} is not its own"));
        }
        Ok(state)
    }

    /// The time of an event, if that is one of this device.
    fn time_of(&self, op: &str, event: &Event) -> Result<Nanoseconds, Error> {
        match event.device == self.number {
            true => Ok(event.id),
            false => self.fault(format!("{op}: the event is one of device {}", event.device)),
        }
    }

    fn error(&self, state: &State, refusal: Refusal) -> Error {
        let device = self.name();
        match refusal {
            Refusal::Fault(message) => Error::Device { device, message },
            Refusal::OutOfMemory { requested, allocated } => {
                let capacity = Some(state.memory.capacity());
                Error::OutOfMemory { device, requested, allocated, capacity }
            }
        }
    }

    /// Moves the clock and the counters on after a copy. Pinned host memory is in use until the
    /// event; the other kinds have none in use.
    fn copied(&self, state: &mut State, route: Route, bytes: u64, stream: Stream) -> Option<Event> {
        if bytes > 0 {
            let figures = state.gpu.figures();
            let modelled_ns = state.timeline.copy(figures, route, bytes, stream.id);
            state.transfers.add(route, bytes, modelled_ns);
        }
        let event = Event { device: self.number, id: state.timeline.record(stream.id) };
        match route {
            Route::ToDevice(HostMemory::Pinned) | Route::ToHost(HostMemory::Pinned) => Some(event),
            _ => None,
        }
    }
}

impl Driver for SimDevice {
    fn capacity(&self) -> u64 {
        self.state().memory.capacity()
    }

    fn alloc(&self, bytes: u64) -> Result<DevicePtr, Error> {
        let mut state = self.state();
        state.memory.alloc(bytes).map_err(|refusal| self.error(&state, refusal))
    }

    fn free(&self, ptr: DevicePtr) -> Result<(), Error> {
        let mut state = self.state();
        if let Err(refusal) = state.memory.free(ptr) {
            return Err(self.error(&state, refusal));
        }
        if ptr != DevicePtr::NULL {
            state.timeline.synchronize();
        }
        Ok(())
    }

    fn copy_to_device(
        &self,
        to: DevicePtr,
        from: &[u8],
        host: HostMemory,
        stream: Stream,
    ) -> Result<Option<Event>, Error> {
        let mut state = self.with_stream("copy_to_device", stream)?;
        let bytes = from.len() as u64;
        match state.memory.write("copy_to_device", to, bytes) {
            Ok(target) => target.copy_from_slice(from),
            Err(refusal) => return Err(self.error(&state, refusal)),
        }
        Ok(self.copied(&mut state, Route::ToDevice(host), bytes, stream))
    }

    fn copy_to_host(
        &self,
        to: &mut [u8],
        from: DevicePtr,
        host: HostMemory,
        stream: Stream,
    ) -> Result<Option<Event>, Error> {
        let mut state = self.with_stream("copy_to_host", stream)?;
        let bytes = to.len() as u64;
        match state.memory.read("copy_to_host", from, bytes) {
            Ok(source) => to.copy_from_slice(source),
            Err(refusal) => return Err(self.error(&state, refusal)),
        }
        Ok(self.copied(&mut state, Route::ToHost(host), bytes, stream))
    }

    fn copy_on_device(
        &self,
        to: DevicePtr,
        from: DevicePtr,
        bytes: u64,
        stream: Stream,
    ) -> Result<(), Error> {
        let mut state = self.with_stream("copy_on_device", stream)?;
        if let Err(refusal) = state.memory.copy(to, from, bytes) {
            return Err(self.error(&state, refusal));
        }
        self.copied(&mut state, Route::OnDevice, bytes, stream);
        Ok(())
    }

    fn default_stream(&self) -> Stream {
        Stream { device: self.number, id: 0 }
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        Ok(Stream { device: self.number, id: self.state().timeline.add_stream() })
    }

    fn record(&self, stream: Stream) -> Result<Event, Error> {
        let state = self.with_stream("record", stream)?;
        Ok(Event { device: self.number, id: state.timeline.record(stream.id) })
    }

    fn wait(&self, stream: Stream, event: &Event) -> Result<(), Error> {
        let time = self.time_of("wait", event)?;
        self.with_stream("wait", stream)?.timeline.wait(stream.id, time);
        Ok(())
    }

    fn is_done(&self, event: &Event) -> Result<bool, Error> {
        let time = self.time_of("is_done", event)?;
        Ok(self.state().timeline.is_done(time))
    }

    fn elapsed(&self, from: &Event, to: &Event) -> Result<Nanoseconds, Error> {
        let (start, end) = (self.time_of("elapsed", from)?, self.time_of("elapsed", to)?);
        if !self.state().timeline.has_passed(start.max(end)) {
            return self.fault("elapsed: an event is not done yet; synchronize first".to_string());
        }
        match end.checked_sub(start) {
            Some(time) => Ok(time),
            None => self.fault("elapsed: the first event came after the second".to_string()),
        }
    }

    fn release(&self, _event: Event) {}

    fn synchronize_stream(&self, stream: Stream) -> Result<(), Error> {
        self.with_stream("synchronize_stream", stream)?.timeline.synchronize_stream(stream.id);
        Ok(())
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.state().timeline.synchronize();
        Ok(())
    }
}
