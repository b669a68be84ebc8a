//! Moving a tensor's bytes: to a device, back to the host, and into page-locked memory.

use crate::Tensor;
use crate::device::cuda::PageLock;
use crate::device::driver::{DevicePtr, Event, HostMemory, Stream};
use crate::device::{Allocation, Device};
use crate::dtype::{Buffer, Element, with_element};
use crate::error::{Error, raise};
use crate::memory::{self, filled};
use crate::profiler::{self, Kind};
use crate::storage::{Pending, Storage};

impl Tensor {
    /// Whether the numbers lie in page-locked memory of the host, which a device can read and
    /// write while the host does other work.
    pub fn is_pinned(&self) -> bool {
        self.storage().is_pinned()
    }

    /// A copy in page-locked memory of the host, outside the graph; the tensor itself if it is
    /// there already. Such memory cannot be paged out, so take it for what is copied often only.
    /// NVIDIA GPUs know it as such if the program had opened one before, e.g. by `Device::cuda`.
    #[track_caller]
    pub fn pin_memory(&self) -> Tensor {
        if self.is_pinned() {
            return self.clone();
        }
        let _span = profiler::span(Kind::Op, "pin_memory");
        let host = self.on_host();
        let packed = host.contiguous_for("pin_memory");
        let bytes = packed.storage().read("pin_memory");
        let buffer = Buffer::from_bytes(self.dtype(), shown(&bytes, &packed));
        drop(bytes);
        let lock = PageLock::new(buffer.bytes());
        Tensor::packed(Storage::of_buffer(buffer, Some(lock)), self.shape())
    }

    /// As `to(device)`, but without waiting for the copy where that is possible, outside the graph
    /// (PyTorch's `to(device, non_blocking=True)`).
    ///
    /// To a device: possible if the tensor is pinned; then it cannot be changed before the copy is
    /// done. From a device: the result is pinned, and cannot be read before. Both are refused until
    /// then; [`Device::synchronize`] waits.
    #[track_caller]
    pub fn to_non_blocking(&self, device: Device) -> Tensor {
        let _span = profiler::span(Kind::Op, "to");
        match (self.device(), device) {
            (Device::Cpu, Device::Cpu) => self.clone(),
            (from, Device::Cpu) => self.fetched(from, false),
            (Device::Cpu, to) => self.sent(to, false),
            (_, to) => self.on_host().sent(to, false),
        }
    }

    /// Says that work of another stream uses the tensor's memory: once the tensor is gone, the
    /// memory is not handed out again before that work is done. The engine's own operations run in
    /// the default stream and need no mention; kernels that a program launches itself may not.
    ///
    /// # Panics
    /// If the tensor is on the CPU, or the stream is one of another device.
    #[track_caller]
    pub fn record_stream(&self, stream: Stream) {
        memory::record_stream(self.device(), self.storage().address(), stream);
    }

    /// A tensor on another device with the same numbers, outside the graph. It waits for the copy.
    #[track_caller]
    pub(crate) fn moved_to(&self, device: Device) -> Tensor {
        match (self.device(), device) {
            (from, to) if from == to => self.clone(),
            (from, Device::Cpu) => self.fetched(from, true),
            (_, to) => self.on_host().sent(to, true),
        }
    }

    /// The tensor with its numbers in the host's memory; itself if they are there.
    #[track_caller]
    pub(super) fn on_host(&self) -> Tensor {
        match self.device() {
            Device::Cpu => self.clone(),
            device => self.fetched(device, true),
        }
    }

    /// From the host to a device. Only the elements that the tensor shows cross, packed.
    #[track_caller]
    fn sent(&self, device: Device, wait: bool) -> Tensor {
        let packed = self.detach().contiguous_for("to");
        let (driver, host) = (device.driver(), memory_of(&packed));
        let allocation = Allocation::new(device, packed.nbytes());
        let contents = packed.storage().read("to");
        let (to, stream) = (allocation.at(), driver.default_stream());
        let event = or_raise(driver.copy_to_device(to, shown(&contents, &packed), host, stream));
        drop(contents);
        settle(packed.storage(), device, event, wait, false);
        let storage = Storage::of_device(self.dtype(), allocation);
        Tensor::packed(storage, self.shape())
    }

    /// From a device to the host. Only the elements that the tensor shows cross: the device packs a
    /// view with gaps first. The packed copy is given back at once: only later work of the same
    /// stream can get its memory.
    #[track_caller]
    fn fetched(&self, device: Device, wait: bool) -> Tensor {
        let packed = self.detach().contiguous_for("to");
        let contents = packed.storage().read("to");
        let from = contents.allocation().expect("it lies on a device").at();
        let from = from.offset((packed.storage_offset() * self.dtype().size()) as u64);
        let mut buffer = with_element!(self.dtype(), T => {
            T::into_buffer(filled(T::default(), self.numel()))
        });
        let (event, lock) = copy_to_host(&mut buffer, device, from, wait);
        let storage = Storage::of_buffer(buffer, lock);
        settle(&storage, device, event, wait, true);
        Tensor::packed(storage, self.shape())
    }
}

fn memory_of(x: &Tensor) -> HostMemory {
    if x.is_pinned() { HostMemory::Pinned } else { HostMemory::Pageable }
}

/// The bytes of a packed tensor, of all that its storage has.
fn shown<'a>(buffer: &'a Buffer, packed: &Tensor) -> &'a [u8] {
    let (size, first) = (packed.dtype().size(), packed.storage_offset());
    &buffer.bytes()[first * size..(first + packed.numel()) * size]
}

/// Fills a buffer from a device. Where nobody waits its memory is pinned, as PyTorch makes it: else
/// the driver would wait. It is page-locked before the copy begins.
#[track_caller]
fn copy_to_host(
    buffer: &mut Buffer,
    device: Device,
    from: DevicePtr,
    wait: bool,
) -> (Option<Event>, Option<PageLock>) {
    let driver = device.driver();
    let (host, stream) =
        (if wait { HostMemory::Pageable } else { HostMemory::Pinned }, driver.default_stream());
    if let Some(bytes) = buffer.bytes_mut() {
        let lock = (!wait).then(|| PageLock::new(bytes));
        return (or_raise(driver.copy_to_host(bytes, from, host, stream)), lock);
    }
    // Bytes that become truth values are looked at, so these are waited for.
    let (dtype, mut bytes) = (buffer.dtype(), vec![0; buffer.nbytes()]);
    let event = or_raise(driver.copy_to_host(&mut bytes, from, HostMemory::Pageable, stream));
    *buffer = Buffer::from_bytes(dtype, &bytes);
    (event, (!wait).then(|| PageLock::new(buffer.bytes())))
}

fn or_raise<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| raise(error))
}

/// Waits for a copy, or leaves its event with the host's storage.
#[track_caller]
fn settle(host: &Storage, device: Device, event: Option<Event>, wait: bool, to_host: bool) {
    let driver = device.driver();
    if wait {
        or_raise(driver.synchronize_stream(driver.default_stream()));
    }
    match event {
        Some(event) if wait => driver.release(event),
        Some(event) => host.hold_for(Pending { device, event, to_host }),
        None => {}
    }
}
