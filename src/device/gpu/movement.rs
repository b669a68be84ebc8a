//! Kernels that lay elements out anew: as they are, as another type, or chosen from two tensors.

use crate::device::View;
use crate::device::driver::{DevicePtr, Params};
use crate::device::gpu::launch::{Fresh, each, kernel_of_size, launch, source};
use crate::device::gpu::walk::Walk;
use crate::dtype::DType;
use crate::storage::Storage;

/// The elements in logical order, as elements of type `to`; see `kernels/move.cu` and `cast.cu`.
pub fn copy(x: View, to: DType) -> Storage {
    let (device, walk) = (x.storage.device(), Walk::new("copy", [x.layout]));
    if x.dtype() == to {
        let first = source("copy", x);
        return moved("copy", x, &walk, first.at);
    }
    let y = Fresh::new(device, to, walk.count() as usize);
    let from = DType::ALL.iter().position(|&dtype| dtype == x.dtype());
    let from = from.expect("every type is one of all") as i32;
    let x = source("to", x);
    let params = walk.append_to(Params::new().pointer(x.at).pointer(y.at())).i32(from);
    launch(device, "to", &format!("to_{to}"), each(walk.count()), &params);
    y.into_storage()
}

/// The elements with some dimensions backwards: a copy from the other end.
pub fn flip(x: View, over: &[bool]) -> Storage {
    let (walk, last) = Walk::backwards("flip", x.layout, over);
    let first = source("flip", x);
    moved("flip", x, &walk, first.at.offset((last * x.dtype().size()) as u64))
}

/// The elements that a walk comes by.
fn moved(op: &'static str, x: View, walk: &Walk<1>, start: DevicePtr) -> Storage {
    let device = x.storage.device();
    let y = Fresh::new(device, x.dtype(), walk.count() as usize);
    let params = walk.append_to(Params::new().pointer(start).pointer(y.at()));
    launch(device, op, &kernel_of_size("copy", x), each(walk.count()), &params);
    y.into_storage()
}

/// y = a where the condition holds, else b.
pub fn select(condition: View, a: View, b: View) -> Storage {
    let (op, device, kernel) = ("where", a.storage.device(), kernel_of_size("where", a));
    let walk = Walk::new(op, [condition.layout, a.layout, b.layout]);
    let y = Fresh::new(device, a.dtype(), walk.count() as usize);
    let (condition, a, b) = (source(op, condition), source(op, a), source(op, b));
    let params = Params::new().pointer(condition.at).pointer(a.at).pointer(b.at).pointer(y.at());
    launch(device, op, &kernel, each(walk.count()), &walk.append_to(params));
    y.into_storage()
}
