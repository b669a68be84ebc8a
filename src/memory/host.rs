//! Memory of the host: vectors that unwind with an error where a plain one would end the program.

use crate::device::Device;
use crate::error::{Error, raise};
use crate::memory::memory_allocated;

/// An empty vector with room for `numel` elements. If the host has no more memory it unwinds with
/// an [`Error`], where a plain `Vec` would end the program.
pub(crate) fn room<T>(numel: usize) -> Vec<T> {
    let mut values = Vec::new();
    if values.try_reserve_exact(numel).is_err() {
        raise(Error::OutOfMemory {
            device: Device::Cpu.to_string(),
            requested: (numel as u64).saturating_mul(size_of::<T>() as u64),
            allocated: memory_allocated(Device::Cpu),
            capacity: None,
            report: String::new(),
        })
    }
    values
}

/// `numel` times the same value, in such a vector.
pub(crate) fn filled<T: Clone>(value: T, numel: usize) -> Vec<T> {
    let mut values = room(numel);
    values.resize(numel, value);
    values
}
