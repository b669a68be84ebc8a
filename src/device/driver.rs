//! The seam under every GPU: memory, copies, kernels, streams and events, as a driver offers them.
//!
//! The simulated GPU and CUDA both stand behind [`Driver`], so the code above cannot tell them
//! apart. A copy is always CUDA's `Async` form, put into a stream; whoever wants a blocking one
//! synchronises the stream after it, which is also what PyTorch's `to()` does. NVIDIA documents
//! which copies return when ("CUDA Driver API", chapter "API synchronization behavior"), and for
//! some only that they *may* wait. What is promised here holds always: a driver that cannot be sure
//! of it synchronises the stream itself.

mod launch;

use std::fmt;

pub use launch::{Launch, Module, Params};

use crate::device::Device;
use crate::error::Error;

/// A span of time on the device's clock. That of a simulated GPU is *modelled*.
pub type Nanoseconds = u64;

/// An address in the memory of a device. The host cannot read through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// What an allocation of no bytes gives. Nothing may be read from it or written to it.
    pub const NULL: DevicePtr = DevicePtr(0);

    /// The address so many bytes further on.
    pub fn offset(self, bytes: u64) -> DevicePtr {
        DevicePtr(self.0.wrapping_add(bytes))
    }
}

impl fmt::Display for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// When a piece of work ran on a device's clock, and what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ran {
    /// When it began.
    pub start_ns: Nanoseconds,
    /// When it ended.
    pub end_ns: Nanoseconds,
    /// Bytes between it and the memory of the device.
    pub bytes: u64,
    /// Bytes that it asked the L2 cache for.
    pub l2_bytes: u64,
    /// Floating-point operations.
    pub flops: u64,
}

/// How the operating system holds a block of host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostMemory {
    /// Ordinary memory, which may be moved or paged out: the GPU cannot fetch from it by itself, so
    /// the driver first copies it, piece by piece, into a staging buffer that cannot move.
    Pageable,
    /// Page-locked memory: the GPU's copy engine uses it while the host does other work.
    Pinned,
}

/// Between which memories a copy goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// From the host to the device.
    ToDevice(HostMemory),
    /// From the device to the host.
    ToHost(HostMemory),
    /// Within the memory of the device.
    OnDevice,
}

impl Route {
    /// Every route, in the order of tables.
    pub const ALL: [Route; 5] = [
        Route::ToDevice(HostMemory::Pageable),
        Route::ToDevice(HostMemory::Pinned),
        Route::ToHost(HostMemory::Pageable),
        Route::ToHost(HostMemory::Pinned),
        Route::OnDevice,
    ];

    /// The words for it in tables.
    pub fn name(self) -> &'static str {
        match self {
            Route::ToDevice(HostMemory::Pageable) => "to device, pageable",
            Route::ToDevice(HostMemory::Pinned) => "to device, pinned",
            Route::ToHost(HostMemory::Pageable) => "to host, pageable",
            Route::ToHost(HostMemory::Pinned) => "to host, pinned",
            Route::OnDevice => "on device",
        }
    }
}

/// A queue of work: what one stream holds runs in order, and two streams do not wait for one
/// another. The default stream is one like the others (CUDA's `CU_STREAM_NON_BLOCKING`, as PyTorch
/// makes its own). Streams live as long as their device, so make few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stream {
    pub(crate) device: Device,
    pub(crate) id: usize,
}

/// A mark in a stream; done when all the work before it is. Give it back with [`Driver::release`].
#[derive(Debug)]
pub struct Event {
    pub(crate) device: Device,
    /// Whatever the driver knows the event by.
    pub(crate) id: u64,
}

/// What a device with memory of its own can be asked for. No call waits unless it says so.
///
/// Host memory belongs to the caller, and the caller alone can keep it still. After a copy from or
/// to *pageable* memory has returned, that memory is free again. A copy from or to *pinned* memory
/// returns an [`Event`], and until that is done the block must stay allocated, must not be written
/// (a source), and must be neither read nor written (a target). The borrow in the argument ends
/// earlier than that: the engine keeps the promise by holding the event with the storage.
pub trait Driver: Send + Sync {
    /// Bytes of memory that the device has.
    fn capacity(&self) -> u64;

    /// Memory for `bytes` bytes, at an address that is a multiple of 256 ("CUDA C++ Programming
    /// Guide", "Device Memory Accesses"; a simulated GPU has 512). What stands in it is undefined.
    /// Nothing changes when it fails.
    ///
    /// # Errors
    /// `OutOfMemory` if the device has not that much left.
    fn alloc(&self, bytes: u64) -> Result<DevicePtr, Error>;

    /// Gives memory back; of [`DevicePtr::NULL`] there is nothing to give. Waits for the device
    /// first, since work that is pending may use the memory. That makes it slow, and is why PyTorch
    /// keeps freed memory in a cache (PyTorch, "CUDA semantics", "Memory management").
    ///
    /// # Errors
    /// If the address is not the first of a live allocation.
    fn free(&self, ptr: DevicePtr) -> Result<(), Error>;

    /// As [`alloc`](Driver::alloc), for memory that an allocator above lends out piece by piece.
    /// [`free`](Driver::free) gives it back.
    ///
    /// # Errors
    /// As [`alloc`](Driver::alloc).
    fn reserve(&self, bytes: u64) -> Result<DevicePtr, Error> {
        self.alloc(bytes)
    }

    /// Says that so many bytes of reserved memory now belong to a tensor. A driver that checks
    /// every access holds kernels to that; the others need not know. (NVIDIA's compute-sanitizer
    /// is told the same through NVTX's memory functions.)
    ///
    /// # Errors
    /// If the bytes are not reserved, or lent already.
    fn lend(&self, ptr: DevicePtr, bytes: u64) -> Result<(), Error> {
        let _ = (ptr, bytes);
        Ok(())
    }

    /// Says that what was lent at an address belongs to nobody now. Waits for nothing.
    fn take_back(&self, ptr: DevicePtr) {
        let _ = ptr;
    }

    /// Copies all of `from` to the device. Pageable: waits for the stream and then until the bytes
    /// are *staged*; they may arrive later. Pinned: returns at once, with the event until which
    /// `from` must stay as it is.
    ///
    /// # Errors
    /// If the target does not lie in one live allocation; then nothing is copied.
    fn copy_to_device(
        &self,
        to: DevicePtr,
        from: &[u8],
        host: HostMemory,
        stream: Stream,
    ) -> Result<Option<Event>, Error>;

    /// Fills `to` from the device. Pageable: returns when the bytes are there. Pinned: returns at
    /// once, with the event until which `to` must not be touched.
    ///
    /// # Errors
    /// If the source does not lie in one live allocation; then nothing is copied.
    fn copy_to_host(
        &self,
        to: &mut [u8],
        from: DevicePtr,
        host: HostMemory,
        stream: Stream,
    ) -> Result<Option<Event>, Error>;

    /// Copies within the device's memory. Returns at once.
    ///
    /// # Errors
    /// If either end does not lie in one live allocation or both overlap; then nothing is copied.
    fn copy_on_device(
        &self,
        to: DevicePtr,
        from: DevicePtr,
        bytes: u64,
        stream: Stream,
    ) -> Result<(), Error>;

    /// Loads the kernels of a PTX text; `name` is for messages. Waits for the device.
    ///
    /// # Errors
    /// If the text cannot be read, with its line; `OutOfMemory` if its variables do not fit.
    fn load(&self, name: &str, ptx: &str) -> Result<Module, Error>;

    /// Runs a kernel. Returns at once; memory that it uses must stay allocated until the stream has
    /// come past it ([`Driver::free`] sees to that).
    ///
    /// # Errors
    /// If the launch is one that the device cannot make; then nothing has run. What goes wrong in
    /// the kernel is reported here or by a later call that waits: CUDA reports it later, and the
    /// device is lost; a simulated GPU does here, with the line of the source, and stays usable.
    fn launch(&self, launch: &Launch, stream: Stream) -> Result<(), Error>;

    /// When the last kernel or copy of a stream ran, once: `None` if nothing did since this was
    /// asked before. A simulated GPU says so by itself; NVIDIA's driver tells the times of events
    /// only.
    fn last_run(&self, stream: Stream) -> Option<Ran> {
        let _ = stream;
        None
    }

    /// The stream that is always there.
    fn default_stream(&self) -> Stream;

    /// One more stream.
    fn create_stream(&self) -> Result<Stream, Error>;

    /// Marks the work that the stream holds so far.
    fn record(&self, stream: Stream) -> Result<Event, Error>;

    /// Lets what is put into the stream from now on wait for the event. The host does not wait.
    fn wait(&self, stream: Stream, event: &Event) -> Result<(), Error>;

    /// Whether all work before the event is done.
    fn is_done(&self, event: &Event) -> Result<bool, Error>;

    /// The time between two events on the device's clock. Around a launch that is the time of the
    /// kernel if the stream had something to do until it; an idle stream is at the first event at
    /// once, and then the launch itself counts too. That is so on a GPU as well.
    ///
    /// # Errors
    /// If one of them is not done, or if `from` came after `to`.
    fn elapsed(&self, from: &Event, to: &Event) -> Result<Nanoseconds, Error>;

    /// Gives an event back. A driver has only so many.
    fn release(&self, event: Event);

    /// Waits until the stream is empty.
    fn synchronize_stream(&self, stream: Stream) -> Result<(), Error>;

    /// Waits until every stream is empty.
    fn synchronize(&self) -> Result<(), Error>;
}
