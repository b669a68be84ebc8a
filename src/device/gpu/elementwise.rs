//! Elementwise kernels: one thread an element.

use crate::device::driver::Params;
use crate::device::gpu::launch::{Fresh, each, kernel_for, launch, number, source};
use crate::device::gpu::walk::Walk;
use crate::device::{Binary, Compare, Unary, View};
use crate::dtype::DType;
use crate::storage::Storage;

/// y = f(x); see `kernels/unary.cu`.
pub fn unary(f: Unary, x: View) -> Storage {
    let (op, device, dtype) = (f.name(), x.storage.device(), x.dtype());
    let kernel = kernel_for(op, op, x);
    let walk = Walk::new(op, [x.layout]);
    let y = Fresh::new(device, dtype, walk.count() as usize);
    let x = source(op, x);
    let params = walk.append_to(Params::new().pointer(x.at).pointer(y.at()));
    launch(device, op, &kernel, each(walk.count()), &with_numbers(params, f, dtype));
    y.into_storage()
}

/// Adds the numbers that a function has beside x.
fn with_numbers(params: Params, f: Unary, dtype: DType) -> Params {
    match f {
        Unary::PowScalar(c)
        | Unary::AddScalar(c)
        | Unary::MulScalar(c)
        | Unary::DivScalar(c)
        | Unary::ClampMax(c)
        | Unary::ClampMin(c) => number(params, c, dtype),
        Unary::LeakyRelu(slope) => number(params, slope.into(), dtype),
        Unary::Softplus { beta, threshold } => {
            number(number(params, beta.into(), dtype), threshold.into(), dtype)
        }
        _ => params,
    }
}

/// y = f(a, b); see `kernels/binary.cu`.
pub fn binary(f: Binary, a: View, b: View) -> Storage {
    let op = f.name();
    combine(op, &kernel_for(op, op, a), [a, b], a.dtype())
}

/// Where f(a, b) holds; see `kernels/compare.cu`.
pub fn compare(f: Compare, a: View, b: View) -> Storage {
    let (name, operands) = match f {
        Compare::Gt => (Compare::Lt.name(), [b, a]),
        Compare::Ge => (Compare::Le.name(), [b, a]),
        _ => (f.name(), [a, b]),
    };
    combine(f.name(), &kernel_for(f.name(), name, a), operands, DType::Bool)
}

fn combine(op: &'static str, kernel: &str, [a, b]: [View; 2], to: DType) -> Storage {
    let device = a.storage.device();
    let walk = Walk::new(op, [a.layout, b.layout]);
    let y = Fresh::new(device, to, walk.count() as usize);
    let (a, b) = (source(op, a), source(op, b));
    let params = Params::new().pointer(a.at).pointer(b.at).pointer(y.at());
    launch(device, op, kernel, each(walk.count()), &walk.append_to(params));
    y.into_storage()
}
