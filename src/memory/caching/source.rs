//! Where an allocator's segments come from: a driver, or in tests a model of one.

use crate::device::Device;
use crate::device::driver::{DevicePtr, Driver, Event, Stream};
use crate::error::Error;

/// What the allocator asks of a device.
pub trait Source {
    /// A mark in a stream.
    type Event;

    /// Bytes that the device has.
    fn capacity(&self) -> u64;

    /// Memory for one tensor alone.
    ///
    /// # Errors
    /// `OutOfMemory` if the device has not that much left.
    fn alloc(&self, bytes: u64) -> Result<u64, Error>;

    /// Memory that will be lent out block by block.
    ///
    /// # Errors
    /// As [`alloc`](Source::alloc).
    fn reserve(&self, bytes: u64) -> Result<u64, Error>;

    /// Gives back what `alloc` or `reserve` gave.
    ///
    /// # Errors
    /// If the device has failed.
    fn free(&self, at: u64) -> Result<(), Error>;

    /// So many bytes of reserved memory now belong to a tensor.
    ///
    /// # Errors
    /// If the device has failed.
    fn lend(&self, at: u64, bytes: u64) -> Result<(), Error>;

    /// And now they do not any more.
    fn take_back(&self, at: u64);

    /// A mark after all that a stream has been given so far.
    ///
    /// # Errors
    /// If the device has failed, or the stream is not its own.
    fn record(&self, stream: usize) -> Result<Self::Event, Error>;

    /// Whether a stream has come to the mark.
    ///
    /// # Errors
    /// If the device has failed.
    fn is_done(&self, event: &Self::Event) -> Result<bool, Error>;

    /// Forgets a mark.
    fn release(&self, event: Self::Event);

    /// Waits for all streams.
    ///
    /// # Errors
    /// If the device has failed.
    fn synchronize(&self) -> Result<(), Error>;
}

/// The driver of a device as a source.
pub struct DriverSource {
    pub(in crate::memory) device: Device,
}

impl DriverSource {
    /// Asked for each time: while a profile is recorded, another one stands before it.
    fn driver(&self) -> &'static dyn Driver {
        self.device.driver()
    }
}

impl Source for DriverSource {
    type Event = Event;

    fn capacity(&self) -> u64 {
        self.driver().capacity()
    }

    fn alloc(&self, bytes: u64) -> Result<u64, Error> {
        self.driver().alloc(bytes).map(|at| at.0)
    }

    fn reserve(&self, bytes: u64) -> Result<u64, Error> {
        self.driver().reserve(bytes).map(|at| at.0)
    }

    fn free(&self, at: u64) -> Result<(), Error> {
        self.driver().free(DevicePtr(at))
    }

    fn lend(&self, at: u64, bytes: u64) -> Result<(), Error> {
        self.driver().lend(DevicePtr(at), bytes)
    }

    fn take_back(&self, at: u64) {
        self.driver().take_back(DevicePtr(at));
    }

    fn record(&self, stream: usize) -> Result<Event, Error> {
        self.driver().record(Stream { device: self.device, id: stream })
    }

    fn is_done(&self, event: &Event) -> Result<bool, Error> {
        self.driver().is_done(event)
    }

    fn release(&self, event: Event) {
        self.driver().release(event);
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.driver().synchronize()
    }
}
