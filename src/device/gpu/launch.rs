//! One launch of a kernel: its operands, its parameters, its threads.

use crate::device::driver::{DevicePtr, Launch, Params};
use crate::device::gpu::modules;
use crate::device::{Allocation, Device, View};
use crate::dtype::{DType, Element, Scalar, with_element};
use crate::error::{Error, misuse, raise};
use crate::storage::{Reading, Storage, Writing};

/// Threads of a block where the kernel does not care: enough warps to hide memory's latency, and
/// few enough registers for several blocks a multiprocessor.
pub(super) const BLOCK: u32 = 256;

/// The blocks that make one thread for each of `count` elements.
pub(super) fn blocks_for(count: u32) -> u32 {
    count.div_ceil(BLOCK)
}

/// The grid and the blocks with one thread for each of `count` elements.
pub(super) fn each(count: u32) -> ([u32; 3], [u32; 3]) {
    ([blocks_for(count), 1, 1], [BLOCK, 1, 1])
}

/// A number of elements as kernels count them, in 32 bits.
///
/// # Panics
/// With a `Misuse` if there are more.
pub(super) fn count(op: &'static str, numel: usize) -> u32 {
    u32::try_from(numel).ok().filter(|&count| count <= i32::MAX as u32).unwrap_or_else(|| {
        let message = "a kernel counts elements in 32 bits, up to 2147483647; work on parts of it";
        misuse(op, &[&format!("{numel} elements")], message.to_string())
    })
}

/// A borrowed operand of a kernel.
pub(super) struct Held<Guard> {
    _guard: Guard,
    /// Of the view's first element.
    pub at: DevicePtr,
}

/// One that the kernel reads.
pub(super) type Source<'a> = Held<Reading<'a>>;

/// One that the kernel writes.
pub(super) type Target<'a> = Held<Writing<'a>>;

/// The address of an operand, or null for one that is missing.
pub(super) fn address<Guard>(held: Option<&Held<Guard>>) -> DevicePtr {
    held.map_or(DevicePtr::NULL, |held| held.at)
}

fn first(allocation: Option<&Allocation>, view: View) -> DevicePtr {
    let allocation = allocation.expect("operands of one operation lie on one device");
    allocation.at().offset((view.layout.offset() * view.dtype().size()) as u64)
}

/// Borrows a view for reading on behalf of `op`.
pub(super) fn source<'a>(op: &'static str, view: View<'a>) -> Source<'a> {
    let guard = view.storage.read(op);
    let at = first(guard.allocation(), view);
    Held { _guard: guard, at }
}

/// Borrows a view for writing on behalf of `op`.
pub(super) fn target<'a>(op: &'static str, view: View<'a>) -> Target<'a> {
    let guard = view.storage.write(op);
    let at = first(guard.allocation(), view);
    Held { _guard: guard, at }
}

/// Memory for a result.
pub(super) struct Fresh {
    device: Device,
    dtype: DType,
    allocation: Allocation,
}

impl Fresh {
    /// Room for `numel` elements; unwinds with an `Error` if the device has not that much left.
    pub fn new(device: Device, dtype: DType, numel: usize) -> Fresh {
        Fresh { device, dtype, allocation: Allocation::new(device, (numel * dtype.size()) as u64) }
    }

    /// Where the memory is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The address of the first element.
    pub fn at(&self) -> DevicePtr {
        self.allocation.at()
    }

    /// The storage, when the kernels that fill it have been launched.
    pub fn into_storage(self) -> Storage {
        Storage::of_device(self.dtype, self.allocation)
    }
}

/// Runs a kernel in the default stream on behalf of `op`. Nothing is launched for no blocks.
///
/// Unwinds with an `Error` that names the operation if the device cannot, or has failed.
pub(super) fn launch(
    device: Device,
    op: &'static str,
    kernel: &str,
    (grid, block): ([u32; 3], [u32; 3]),
    params: &Params,
) {
    if grid.contains(&0) {
        return;
    }
    let (driver, module) = (device.driver(), modules::module_of(device, kernel));
    let launch = Launch { module, kernel, grid, block, shared_bytes: 0, params };
    if let Err(error) = driver.launch(&launch, driver.default_stream()) {
        raise(match error {
            Error::Device { device, message } => {
                Error::Device { device, message: format!("{op}: {message}") }
            }
            other => other,
        })
    }
}

/// The name of the kernel for `dtype`.
///
/// # Panics
/// With a `Misuse` if there is none.
pub(super) fn kernel_for(op: &'static str, name: &str, x: View) -> String {
    let kernel = format!("{name}_{}", x.dtype());
    if !modules::has_kernel(&kernel) {
        let what = format!("{} {:?} on {}", x.dtype(), x.layout.shape(), x.storage.device());
        let message = format!(
            "there is no kernel for {} on a GPU; convert with to(), or compute on the cpu",
            x.dtype()
        );
        misuse(op, &[&what], message)
    }
    kernel
}

/// The name of the kernel that moves elements as large as x's.
pub(super) fn kernel_of_size(name: &str, x: View) -> String {
    format!("{name}_b{}", x.dtype().size())
}

/// Adds a number that stands beside elements of type `dtype`: `Constant` of
/// `kernels/elementwise.cuh`.
pub(super) fn number(params: Params, value: Scalar, dtype: DType) -> Params {
    match dtype {
        DType::I64 => params.i64(value.to_i64()),
        DType::I32 => params.i64(value.to_i32().into()),
        DType::U8 => params.i64(value.to_u8().into()),
        DType::Bool => params.i64(value.to_bool().into()),
        _ => params.f32(value.to_f32()),
    }
}

/// The bits of the element that stands for a number, the lowest ones.
pub(super) fn bits(value: Scalar, dtype: DType) -> i64 {
    let mut bytes = [0; 8];
    with_element!(dtype, T => {
        bytes[..dtype.size()].copy_from_slice(T::bytes(&[T::from_scalar(value)]));
    });
    i64::from_le_bytes(bytes)
}
