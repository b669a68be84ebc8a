//! An NVIDIA GPU as a [`Driver`]: memory, copies, streams and events by NVIDIA's own functions.
//!
//! Each call makes the GPU's context the one of the calling thread, which costs next to nothing if
//! it is that already. What the driver leaves open is settled here: it knows its allocations, so
//! that a copy beside them is refused in words, and it waits where NVIDIA only says that a call
//! *may* wait.

#![allow(unsafe_code)] // Calls into a C library.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::api::{Api, Code, Handle};
use super::errors::{NOT_READY, OUT_OF_MEMORY, SUCCESS, is_fatal};
use super::kernels::Loaded;
use super::open::explained;
use super::{Properties, pinned};
use crate::device::Device;
use crate::device::driver::{
    DevicePtr, Driver, Event, HostMemory, Launch, Module, Nanoseconds, Stream,
};
use crate::error::Error;

/// `CU_STREAM_NON_BLOCKING`: a stream that does not wait for CUDA's oldest stream, nor that for it.
const NON_BLOCKING: u32 = 1;

/// An NVIDIA GPU; see [`cuda`](super::cuda).
pub struct CudaDevice {
    number: usize,
    pub(super) api: &'static Api,
    context: Handle,
    properties: Properties,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// First address and bytes of what is allocated.
    allocations: BTreeMap<u64, u64>,
    /// [`Stream`]s are indices of it; the first is the default stream.
    streams: Vec<Handle>,
    /// [`Module`]s are indices of it.
    pub(super) modules: Vec<Loaded>,
    /// The kernels launched last, each once in a row, for the message when one has failed.
    pub(super) recent: VecDeque<String>,
}

impl CudaDevice {
    /// A GPU whose context is there, with its default stream.
    pub(super) fn new(
        number: usize,
        api: &'static Api,
        context: Handle,
        properties: Properties,
    ) -> Result<CudaDevice, Error> {
        let state = Mutex::new(State::default());
        let device = CudaDevice { number, api, context, properties, state };
        device.create_stream()?;
        Ok(device)
    }

    pub(super) fn properties(&self) -> &Properties {
        &self.properties
    }

    /// The device that streams, events and modules of this one belong to.
    pub(super) fn own(&self) -> Device {
        Device::Cuda(self.number)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn fault<T>(&self, message: String) -> Result<T, Error> {
        Err(Error::Device { device: self.own().to_string(), message })
    }

    /// The error for a code that a call on behalf of `op` came back with, and what else the driver
    /// said. A kernel that fails is reported by a later call, so the kernels launched last are
    /// named.
    pub(super) fn error(&self, op: &str, code: Code, said: &str) -> Error {
        let mut message = format!("{op}: {}", explained(self.api, code));
        if !said.is_empty() {
            message += &format!("; the driver says: {said}");
        }
        let recent = &self.state().recent;
        if is_fatal(code) && !recent.is_empty() {
            let names = recent.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            message += &format!(
                "; launched last: {names}; with CUDA_LAUNCH_BLOCKING=1 in the environment the \
                 launch that fails says so itself"
            );
        }
        Error::Device { device: self.own().to_string(), message }
    }

    /// Nothing, if a call on behalf of `op` came back with success.
    pub(super) fn check(&self, op: &str, code: Code) -> Result<(), Error> {
        if code == SUCCESS { Ok(()) } else { Err(self.error(op, code, "")) }
    }

    /// Makes this GPU the one of the calling thread.
    pub(super) fn enter(&self, op: &str) -> Result<(), Error> {
        // SAFETY: the context is kept until the program ends.
        self.check(op, unsafe { (self.api.context_set)(self.context) })
    }

    /// As [`enter`](CudaDevice::enter), for work in a stream, if that is one of this device.
    pub(super) fn enter_stream(&self, op: &str, stream: Stream) -> Result<Handle, Error> {
        let handle = self.state().streams.get(stream.id).copied();
        let Some(handle) = handle.filter(|_| stream.device == self.own()) else {
            let Stream { device, id } = stream;
            return self.fault(format!("{op}: stream {id} of {device} is not its own"));
        };
        self.enter(op)?;
        Ok(handle)
    }

    /// The driver's handle of an event, if that is one of this device.
    fn event(&self, op: &str, event: &Event) -> Result<Handle, Error> {
        match event.device == self.own() {
            true => Ok(Handle(std::ptr::with_exposed_provenance_mut(event.id as usize))),
            false => self.fault(format!("{op}: the event is one of {}", event.device)),
        }
    }

    /// Refuses a range that does not lie in one live allocation. None is needed for no bytes.
    fn expect_range(&self, op: &str, at: DevicePtr, bytes: u64) -> Result<(), Error> {
        let state = self.state();
        let below = state.allocations.range(..=at.0).next_back();
        let fits = below.is_some_and(|(start, size)| {
            at.0.checked_add(bytes).is_some_and(|end| end - start <= *size)
        });
        if fits || bytes == 0 {
            return Ok(());
        }
        let near = below.map_or("nothing is allocated below it".to_string(), |(start, size)| {
            format!("the allocation below it has {size} bytes at {start:#x}")
        });
        let what = format!("{bytes} bytes at {at} do not lie within a live allocation");
        drop(state);
        self.fault(format!("{op}: {what}; {near}"))
    }

    /// The error for an allocation that does not fit. Other programs use the GPU's memory too, so
    /// what is taken is what the driver says, not the sum of our own.
    fn full(&self, requested: u64) -> Error {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both numbers may be written; if the call fails they stay 0.
        unsafe { (self.api.memory_info)(&raw mut free, &raw mut total) };
        let capacity = self.properties.capacity;
        let allocated = capacity.saturating_sub(free as u64);
        let device = self.own().to_string();
        Error::OutOfMemory {
            device,
            requested,
            allocated,
            capacity: Some(capacity),
            report: String::new(),
        }
    }

    /// After a copy was put into a stream: an event if the host's memory is page-locked, and else
    /// waits. NVIDIA only says that a copy of pageable memory "might be synchronous" ("CUDA Driver
    /// API", "API synchronization behavior"). Memory that is called pinned but is not page-locked
    /// must be waited for as well: nothing would keep it from being freed during the copy.
    fn settle(
        &self,
        op: &str,
        (host, start, bytes): (HostMemory, *const u8, usize),
        stream: Stream,
    ) -> Result<Option<Event>, Error> {
        if host == HostMemory::Pageable || !pinned::is_locked(start, bytes) {
            self.synchronize_stream(stream)?;
        }
        match host {
            HostMemory::Pageable => Ok(None),
            HostMemory::Pinned => self.marked(op, stream).map(Some),
        }
    }

    /// An event that is done when the stream has come to it.
    fn marked(&self, op: &str, stream: Stream) -> Result<Event, Error> {
        let handle = self.enter_stream(op, stream)?;
        let mut event = Handle::NONE;
        // SAFETY: the handle may be written; 0 asks for an event that takes the time.
        self.check(op, unsafe { (self.api.event_create)(&raw mut event, 0) })?;
        // SAFETY: both are live handles of this context.
        self.check(op, unsafe { (self.api.event_record)(event, handle) })?;
        Ok(Event { device: self.own(), id: event.0.expose_provenance() as u64 })
    }
}

impl Driver for CudaDevice {
    fn capacity(&self) -> u64 {
        self.properties.capacity
    }

    fn alloc(&self, bytes: u64) -> Result<DevicePtr, Error> {
        if bytes == 0 {
            return Ok(DevicePtr::NULL);
        }
        self.enter("alloc")?;
        let mut at = 0;
        // SAFETY: the address may be written.
        let code = unsafe { (self.api.memory_alloc)(&raw mut at, bytes as usize) };
        if code == OUT_OF_MEMORY {
            return Err(self.full(bytes));
        }
        self.check("alloc", code)?;
        self.state().allocations.insert(at, bytes);
        Ok(DevicePtr(at))
    }

    fn free(&self, ptr: DevicePtr) -> Result<(), Error> {
        if ptr == DevicePtr::NULL {
            return Ok(());
        }
        if self.state().allocations.remove(&ptr.0).is_none() {
            return self.fault(format!("free({ptr}): no live allocation begins there"));
        }
        self.synchronize()?;
        // SAFETY: the address came from `memory_alloc`, and was taken off the list just now, so it
        // is given back once; no work that uses it is pending.
        self.check("free", unsafe { (self.api.memory_free)(ptr.0) })
    }

    fn copy_to_device(
        &self,
        to: DevicePtr,
        from: &[u8],
        host: HostMemory,
        stream: Stream,
    ) -> Result<Option<Event>, Error> {
        let op = "copy_to_device";
        self.expect_range(op, to, from.len() as u64)?;
        let handle = self.enter_stream(op, stream)?;
        if !from.is_empty() {
            let start = from.as_ptr().cast();
            // SAFETY: the target lies in one allocation. `settle` waits while `from` is borrowed,
            // unless a `PageLock` holds the memory, and that waits before it lets go.
            let code = unsafe { (self.api.copy_to_device)(to.0, start, from.len(), handle) };
            self.check(op, code)?;
        }
        self.settle(op, (host, from.as_ptr(), from.len()), stream)
    }

    fn copy_to_host(
        &self,
        to: &mut [u8],
        from: DevicePtr,
        host: HostMemory,
        stream: Stream,
    ) -> Result<Option<Event>, Error> {
        let op = "copy_to_host";
        self.expect_range(op, from, to.len() as u64)?;
        let handle = self.enter_stream(op, stream)?;
        if !to.is_empty() {
            let start = to.as_mut_ptr().cast();
            // SAFETY: the source lies in one allocation. `settle` waits while `to` is borrowed,
            // unless a `PageLock` holds the memory, and that waits before it lets go.
            let code = unsafe { (self.api.copy_to_host)(start, from.0, to.len(), handle) };
            self.check(op, code)?;
        }
        self.settle(op, (host, to.as_ptr(), to.len()), stream)
    }

    fn copy_on_device(
        &self,
        to: DevicePtr,
        from: DevicePtr,
        bytes: u64,
        stream: Stream,
    ) -> Result<(), Error> {
        let op = "copy_on_device";
        self.expect_range(op, to, bytes)?;
        self.expect_range(op, from, bytes)?;
        if to.0.abs_diff(from.0) < bytes {
            return self.fault(format!("{op}: {bytes} bytes from {from} overlap those at {to}"));
        }
        let handle = self.enter_stream(op, stream)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both ranges lie in allocations, and `free` waits before it takes one away.
        let code = unsafe { (self.api.copy_on_device)(to.0, from.0, bytes as usize, handle) };
        self.check(op, code)
    }

    fn load(&self, name: &str, ptx: &str) -> Result<Module, Error> {
        self.load_ptx(name, ptx)
    }

    fn launch(&self, launch: &Launch, stream: Stream) -> Result<(), Error> {
        self.launch_kernel(launch, stream)
    }

    fn default_stream(&self) -> Stream {
        Stream { device: self.own(), id: 0 }
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        self.enter("create_stream")?;
        let mut stream = Handle::NONE;
        // SAFETY: the handle may be written.
        let code = unsafe { (self.api.stream_create)(&raw mut stream, NON_BLOCKING) };
        self.check("create_stream", code)?;
        let mut state = self.state();
        state.streams.push(stream);
        Ok(Stream { device: self.own(), id: state.streams.len() - 1 })
    }

    fn record(&self, stream: Stream) -> Result<Event, Error> {
        self.marked("record", stream)
    }

    fn wait(&self, stream: Stream, event: &Event) -> Result<(), Error> {
        let event = self.event("wait", event)?;
        let handle = self.enter_stream("wait", stream)?;
        // SAFETY: both are live handles; 0 is the default.
        self.check("wait", unsafe { (self.api.stream_wait)(handle, event, 0) })
    }

    fn is_done(&self, event: &Event) -> Result<bool, Error> {
        let event = self.event("is_done", event)?;
        self.enter("is_done")?;
        // SAFETY: an event is live until `release` takes it.
        match unsafe { (self.api.event_query)(event) } {
            SUCCESS => Ok(true),
            NOT_READY => Ok(false),
            code => self.check("is_done", code).map(|()| true),
        }
    }

    fn elapsed(&self, from: &Event, to: &Event) -> Result<Nanoseconds, Error> {
        let (start, end) = (self.event("elapsed", from)?, self.event("elapsed", to)?);
        self.enter("elapsed")?;
        let mut milliseconds = 0.0;
        // SAFETY: the number may be written, and both events are live.
        let code = unsafe { (self.api.event_elapsed)(&raw mut milliseconds, start, end) };
        self.check("elapsed", code)?;
        match milliseconds >= 0.0 {
            true => Ok((f64::from(milliseconds) * 1e6).round() as Nanoseconds),
            false => self.fault("elapsed: the first event came after the second".to_string()),
        }
    }

    fn release(&self, event: Event) {
        let Ok(handle) = self.event("release", &event) else { return };
        if self.enter("release").is_ok() {
            // SAFETY: the event was handed over, so nobody uses it again.
            unsafe { (self.api.event_destroy)(handle) };
        }
    }

    fn synchronize_stream(&self, stream: Stream) -> Result<(), Error> {
        let handle = self.enter_stream("synchronize_stream", stream)?;
        // SAFETY: streams are live until the program ends.
        self.check("synchronize_stream", unsafe { (self.api.stream_synchronize)(handle) })
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.enter("synchronize")?;
        // SAFETY: it takes no arguments.
        self.check("synchronize", unsafe { (self.api.context_synchronize)() })
    }
}
