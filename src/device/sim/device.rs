//! A simulated GPU as a [`Driver`]: memory, modelled time line and counters under one lock.
//!
//! Each call checks first, then moves bytes or runs the kernel, then moves the clock, so a refused
//! call changes nothing. The lock is held for one such call; what runs under it needs no other.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine_room_sim::exec::{self, Program};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::memory::{self, Memory};
use engine_room_sim::timeline::{self, Timeline};

use super::launches::Record;
use super::transfers::Transfers;
use crate::device::Device;
use crate::device::driver::{
    DevicePtr, Driver, Event, HostMemory, Launch, Module, Nanoseconds, Ran, Route, Stream,
};
use crate::error::Error;

/// The addresses of device 0 begin here, those of device 1 a tebibyte later, and so on: the address
/// of one device is none of another.
const BASE: u64 = 0x7f00_0000_0000;
const WINDOW: u64 = 1 << 40;

/// A GPU that is simulated; see [`sim`](super::sim).
pub struct SimDevice {
    pub(super) number: usize,
    state: Mutex<State>,
}

pub(super) struct State {
    /// The GPU and its memory.
    pub(super) device: exec::Device,
    pub(super) timeline: Timeline,
    /// What has been loaded; [`Module`]s are indices of it.
    pub(super) programs: Vec<Program>,
    pub(super) transfers: Transfers,
    pub(super) launches: Record,
    /// The last kernel or copy of each stream.
    pub(super) last_runs: BTreeMap<usize, Ran>,
}

impl SimDevice {
    pub(super) fn new(number: usize) -> SimDevice {
        let start = BASE + number as u64 * WINDOW;
        let gpu = Gpu::default();
        let memory = Memory::new(start..start + WINDOW, gpu.figures().capacity);
        let state = State {
            device: exec::Device { gpu, memory },
            timeline: Timeline::new(),
            programs: Vec::new(),
            transfers: Transfers::default(),
            launches: Record::default(),
            last_runs: BTreeMap::new(),
        };
        SimDevice { number, state: Mutex::new(state) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device that streams, events and modules of this one belong to.
    pub(super) fn own(&self) -> Device {
        Device::Sim(self.number)
    }

    fn name(&self) -> String {
        self.own().to_string()
    }

    pub(super) fn fault<T>(&self, message: String) -> Result<T, Error> {
        Err(Error::Device { device: self.name(), message })
    }

    /// The state for work in a stream, if that is one of this device.
    pub(super) fn with_stream(
        &self,
        op: &str,
        stream: Stream,
    ) -> Result<MutexGuard<'_, State>, Error> {
        let state = self.state();
        if stream.device != self.own() || !state.timeline.has_stream(stream.id) {
            let (device, id) = (stream.device, stream.id);
            return self.fault(format!("{op}: stream {id} of {device} is not its own"));
        }
        Ok(state)
    }

    /// The time of an event, if that is one of this device.
    fn time_of(&self, op: &str, event: &Event) -> Result<Nanoseconds, Error> {
        match event.device == self.own() {
            true => Ok(event.id),
            false => self.fault(format!("{op}: the event is one of {}", event.device)),
        }
    }

    pub(super) fn error(&self, error: memory::Error) -> Error {
        let device = self.name();
        match error {
            memory::Error::Fault(message) => Error::Device { device, message },
            memory::Error::OutOfMemory { requested, allocated, capacity } => Error::OutOfMemory {
                device,
                requested,
                allocated,
                capacity: Some(capacity),
                report: String::new(),
            },
        }
    }

    /// Moves the clock and the counters on after a copy. Pinned host memory is in use until the
    /// event; the other kinds have none in use.
    fn copied(&self, state: &mut State, route: Route, bytes: u64, stream: Stream) -> Option<Event> {
        if bytes > 0 {
            let figures = state.device.gpu.figures();
            let (start_ns, end_ns) =
                state.timeline.copy(figures, crossing(route), bytes, stream.id);
            state.transfers.add(route, bytes, end_ns - start_ns);
            state.last_runs.insert(stream.id, Ran { start_ns, end_ns, bytes, ..Ran::default() });
        }
        let event = Event { device: self.own(), id: state.timeline.record(stream.id) };
        match route {
            Route::ToDevice(HostMemory::Pinned) | Route::ToHost(HostMemory::Pinned) => Some(event),
            _ => None,
        }
    }
}

/// The route as the time line knows it.
fn crossing(route: Route) -> timeline::Route {
    let pinned = |memory| memory == HostMemory::Pinned;
    match route {
        Route::ToDevice(memory) => timeline::Route::ToDevice { pinned: pinned(memory) },
        Route::ToHost(memory) => timeline::Route::ToHost { pinned: pinned(memory) },
        Route::OnDevice => timeline::Route::OnDevice,
    }
}

impl Driver for SimDevice {
    fn capacity(&self) -> u64 {
        self.state().device.memory.capacity()
    }

    fn alloc(&self, bytes: u64) -> Result<DevicePtr, Error> {
        let at = self.state().device.memory.alloc(bytes);
        at.map(DevicePtr).map_err(|error| self.error(error))
    }

    fn reserve(&self, bytes: u64) -> Result<DevicePtr, Error> {
        let at = self.state().device.memory.reserve(bytes);
        at.map(DevicePtr).map_err(|error| self.error(error))
    }

    fn lend(&self, ptr: DevicePtr, bytes: u64) -> Result<(), Error> {
        let lent = self.state().device.memory.lend(ptr.0, bytes);
        lent.map_err(|error| self.error(error))
    }

    fn take_back(&self, ptr: DevicePtr) {
        self.state().device.memory.take_back(ptr.0);
    }

    fn free(&self, ptr: DevicePtr) -> Result<(), Error> {
        let mut state = self.state();
        state.device.memory.free(ptr.0).map_err(|error| self.error(error))?;
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
        let written = state.device.memory.write("copy_to_device", to.0, from);
        written.map_err(|error| self.error(error))?;
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
        let read = state.device.memory.read("copy_to_host", from.0, to);
        read.map_err(|error| self.error(error))?;
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
        let copied = state.device.memory.copy("copy_on_device", to.0, from.0, bytes);
        copied.map_err(|error| self.error(error))?;
        self.copied(&mut state, Route::OnDevice, bytes, stream);
        Ok(())
    }

    fn load(&self, name: &str, ptx: &str) -> Result<Module, Error> {
        self.load_ptx(name, ptx)
    }

    fn launch(&self, launch: &Launch, stream: Stream) -> Result<(), Error> {
        self.launch_kernel(launch, stream)
    }

    fn last_run(&self, stream: Stream) -> Option<Ran> {
        self.with_stream("last_run", stream).ok()?.last_runs.remove(&stream.id)
    }

    fn default_stream(&self) -> Stream {
        Stream { device: self.own(), id: 0 }
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        Ok(Stream { device: self.own(), id: self.state().timeline.add_stream() })
    }

    fn record(&self, stream: Stream) -> Result<Event, Error> {
        let state = self.with_stream("record", stream)?;
        Ok(Event { device: self.own(), id: state.timeline.record(stream.id) })
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
