//! Page-locked host memory, as CUDA's copy engines need it.
//!
//! The engine's buffers are Rust vectors, so the memory of one is not asked of CUDA
//! (`cuMemHostAlloc`) but registered with it where it lies (`cuMemHostRegister`), and taken off
//! again before the vector goes. That is what PyTorch does with `pinned_use_cuda_host_register`. If
//! the system refuses, e.g. because of its limit on locked memory, the memory stays pageable and
//! its copies are waited for: slower, and right all the same.

#![allow(unsafe_code)] // Calls into a C library.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::api::api;
use super::errors::SUCCESS;
use super::opened;
use crate::device::driver::Driver;

/// `CU_MEMHOSTREGISTER_PORTABLE`: page-locked for every GPU, not only the one that was asked.
const PORTABLE: u32 = 1;

/// First address and bytes of what is registered.
static LOCKED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn locked() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether all of this memory is held by one [`PageLock`].
pub(super) fn is_locked(start: *const u8, bytes: usize) -> bool {
    let (locked, start) = (locked(), start.addr());
    let below = locked.range(..=start).next_back();
    below.is_some_and(|(&first, &size)| start - first + bytes <= size)
}

/// Holds a buffer's memory in place for copies that nobody waits for. Must be dropped before the
/// buffer; a storage sees to that.
#[derive(Debug)]
pub struct PageLock {
    /// Where the memory begins, if a GPU knows of it.
    registered: Option<usize>,
}

impl PageLock {
    /// Page-locks memory, if the program has opened an NVIDIA GPU; a simulated one needs nothing.
    pub(crate) fn new(buffer: &[u8]) -> PageLock {
        let Some(device) = opened().next().filter(|_| !buffer.is_empty()) else {
            return PageLock { registered: None };
        };
        let start = buffer.as_ptr();
        let memory = start.cast_mut().cast();
        // SAFETY: the memory is there; a storage keeps it until this lock has been dropped. The
        // driver writes nothing into it until a copy is asked for.
        let done = device.enter("pin_memory").is_ok()
            && unsafe { (device.api.host_register)(memory, buffer.len(), PORTABLE) } == SUCCESS;
        if done {
            locked().insert(start.expose_provenance(), buffer.len());
        }
        PageLock { registered: done.then(|| start.addr()) }
    }
}

impl Drop for PageLock {
    fn drop(&mut self) {
        let (Some(start), Ok(api)) = (self.registered, api()) else { return };
        locked().remove(&start);
        for device in opened() {
            // One that has failed copies nothing any more, and there is nobody to tell here.
            let _ = device.synchronize();
        }
        // SAFETY: the memory was registered by `new` and is still there; the devices have finished
        // their copies, and no new one can take it for locked.
        unsafe { (api.host_unregister)(std::ptr::with_exposed_provenance_mut(start)) };
    }
}
