//! A driver that writes down what it is asked for, and asks the driver behind it.
//!
//! The engine meets a device at one place, its [`Driver`]. So that is where a profile sees the
//! host's calls and the device's work; neither the engine's kernels nor its allocator know of it.

use std::sync::{Mutex, PoisonError};

use crate::device::Device;
use crate::device::cuda;
use crate::device::driver::{
    DevicePtr, Driver, Event as Mark, HostMemory, Launch, Module, Nanoseconds, Ran, Route, Stream,
};
use crate::device::sim;
use crate::error::Error;
use crate::memory::current_module;
use crate::profiler::clock::Clock;
use crate::profiler::event::{Call, Kind};
use crate::profiler::pending::{Time, Work};
use crate::profiler::recording::{self, span};

/// What stands before the driver of a device while a profile is recorded.
pub(crate) struct Observed(Device);

static SIM: [Observed; sim::MAX_DEVICES] = {
    let mut all = [const { Observed(Device::Cpu) }; sim::MAX_DEVICES];
    let mut n = 0;
    while n < all.len() {
        all[n] = Observed(Device::Sim(n));
        n += 1;
    }
    all
};
static CUDA: [Observed; cuda::MAX_DEVICES] = {
    let mut all = [const { Observed(Device::Cpu) }; cuda::MAX_DEVICES];
    let mut n = 0;
    while n < all.len() {
        all[n] = Observed(Device::Cuda(n));
        n += 1;
    }
    all
};

/// The driver of a device, observed; `None` if the device is none of a profile's.
pub(crate) fn observed(device: Device) -> Option<&'static dyn Driver> {
    let watched = recording::with(|recording| recording.pending.watches(device));
    let observed = match device {
        Device::Sim(n) => SIM.get(n),
        Device::Cuda(n) => CUDA.get(n),
        Device::Cpu => None,
    };
    observed.filter(|_| watched == Some(true)).map(|observed| observed as &dyn Driver)
}

/// Whose turn it is to give a device work: what ran last in a stream must be this call's.
static TURN: Mutex<()> = Mutex::new(());

/// What a piece of work is called and moves.
struct Task<'a> {
    kind: Kind,
    name: &'a str,
    bytes: u64,
}

impl Observed {
    fn inner(&self) -> &'static dyn Driver {
        self.0.own_driver()
    }

    /// Runs a call that gives a stream work, and writes both down.
    fn work<T>(
        &self,
        (call, of_call): (Call, &'static str),
        task: Task,
        stream: Stream,
        run: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.before(stream)?;
        let span = span(Kind::Call(call), of_call);
        let result = run();
        let place = span.place();
        drop(span);
        let after = self.after(before, stream, result.is_ok());
        if let (Some(place), Some(after)) = (place, after) {
            recording::with_that_of(place, |recording| {
                let work = after.work(self.0, stream, task, place.index, &mut recording.clock);
                recording.pending.work.push(work);
            });
        }
        result
    }

    /// A mark before the work, unless the device says itself when it worked.
    fn before(&self, stream: Stream) -> Result<Option<Mark>, Error> {
        let driver = self.inner();
        match self.0 {
            Device::Sim(_) => {
                // What ran before is none of this call's.
                driver.last_run(stream);
                Ok(None)
            }
            _ => driver.record(stream).map(Some),
        }
    }

    /// What there is to know of the work, if any was put into the stream.
    fn after(&self, before: Option<Mark>, stream: Stream, is_asked: bool) -> Option<After> {
        let driver = self.inner();
        let Some(before) = before else { return driver.last_run(stream).map(After::Ran) };
        match driver.record(stream) {
            Ok(after) if is_asked => Some(After::Marks(before, after)),
            after => {
                after.into_iter().chain([before]).for_each(|mark| driver.release(mark));
                None
            }
        }
    }
}

/// What a device says of work that it was given.
enum After {
    Ran(Ran),
    Marks(Mark, Mark),
}

impl After {
    fn work(
        self,
        device: Device,
        stream: Stream,
        task: Task,
        cause: usize,
        clock: &mut Clock,
    ) -> Work {
        let (ran, time) = match self {
            After::Ran(ran) => {
                let (start, end) = clock.of_device(device, ran);
                (ran, Time::Known(start, end))
            }
            After::Marks(from, to) => (Ran::default(), Time::Between(from, to)),
        };
        let (kind, name, module) = (task.kind, task.name.to_string(), current_module());
        let (bytes, l2_bytes, flops) = (task.bytes.max(ran.bytes), ran.l2_bytes, ran.flops);
        Work { device, stream, kind, name, module, cause, bytes, l2_bytes, flops, time }
    }
}

impl Driver for Observed {
    fn capacity(&self) -> u64 {
        self.inner().capacity()
    }

    fn alloc(&self, bytes: u64) -> Result<DevicePtr, Error> {
        let _span = span(Kind::Call(Call::Alloc), "alloc");
        self.inner().alloc(bytes)
    }

    fn free(&self, ptr: DevicePtr) -> Result<(), Error> {
        let _span = span(Kind::Call(Call::Free), "free");
        self.inner().free(ptr)
    }

    fn reserve(&self, bytes: u64) -> Result<DevicePtr, Error> {
        let _span = span(Kind::Call(Call::Alloc), "alloc");
        self.inner().reserve(bytes)
    }

    fn lend(&self, ptr: DevicePtr, bytes: u64) -> Result<(), Error> {
        self.inner().lend(ptr, bytes)
    }

    fn take_back(&self, ptr: DevicePtr) {
        self.inner().take_back(ptr);
    }

    fn copy_to_device(
        &self,
        to: DevicePtr,
        from: &[u8],
        host: HostMemory,
        stream: Stream,
    ) -> Result<Option<Mark>, Error> {
        let (name, bytes) = (Route::ToDevice(host).name(), from.len() as u64);
        let task = Task { kind: Kind::Copy, name, bytes };
        let run = || self.inner().copy_to_device(to, from, host, stream);
        self.work((Call::Copy, "copy_to_device"), task, stream, run)
    }

    fn copy_to_host(
        &self,
        to: &mut [u8],
        from: DevicePtr,
        host: HostMemory,
        stream: Stream,
    ) -> Result<Option<Mark>, Error> {
        let (name, bytes) = (Route::ToHost(host).name(), to.len() as u64);
        let task = Task { kind: Kind::Copy, name, bytes };
        let run = || self.inner().copy_to_host(to, from, host, stream);
        self.work((Call::Copy, "copy_to_host"), task, stream, run)
    }

    fn copy_on_device(
        &self,
        to: DevicePtr,
        from: DevicePtr,
        bytes: u64,
        stream: Stream,
    ) -> Result<(), Error> {
        let task = Task { kind: Kind::Copy, name: Route::OnDevice.name(), bytes: 2 * bytes };
        let run = || self.inner().copy_on_device(to, from, bytes, stream);
        self.work((Call::Copy, "copy_on_device"), task, stream, run)
    }

    fn load(&self, name: &str, ptx: &str) -> Result<Module, Error> {
        let _span = span(Kind::Call(Call::Load), "load");
        self.inner().load(name, ptx)
    }

    fn launch(&self, launch: &Launch, stream: Stream) -> Result<(), Error> {
        let task = Task { kind: Kind::Kernel, name: launch.kernel, bytes: 0 };
        self.work((Call::Launch, "launch"), task, stream, || self.inner().launch(launch, stream))
    }

    fn last_run(&self, stream: Stream) -> Option<Ran> {
        self.inner().last_run(stream)
    }

    fn default_stream(&self) -> Stream {
        self.inner().default_stream()
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        self.inner().create_stream()
    }

    fn record(&self, stream: Stream) -> Result<Mark, Error> {
        self.inner().record(stream)
    }

    fn wait(&self, stream: Stream, event: &Mark) -> Result<(), Error> {
        self.inner().wait(stream, event)
    }

    fn is_done(&self, event: &Mark) -> Result<bool, Error> {
        self.inner().is_done(event)
    }

    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<Nanoseconds, Error> {
        self.inner().elapsed(from, to)
    }

    fn release(&self, event: Mark) {
        self.inner().release(event);
    }

    fn synchronize_stream(&self, stream: Stream) -> Result<(), Error> {
        let _span = span(Kind::Call(Call::Synchronize), "synchronize_stream");
        self.inner().synchronize_stream(stream)
    }

    fn synchronize(&self) -> Result<(), Error> {
        let _span = span(Kind::Call(Call::Synchronize), "synchronize");
        self.inner().synchronize()
    }
}
