//! Layer normalisation and RMSNorm, and their gradients; see `kernels/layer_norm.cu`.

use crate::device::View;
use crate::device::driver::Params;
use crate::device::gpu::launch::{Fresh, address, kernel_for, launch, source};
use crate::device::gpu::reduce::{columns_block, sum_of_parts};
use crate::device::gpu::rows::Rows;
use crate::device::gpu::walk::Walk;
use crate::dtype::DType;
use crate::layout::Layout;
use crate::storage::Storage;

const OP: &str = "layer_norm";

/// Parts of the rows for the gradients of weight and bias, so that the whole GPU has work, and the
/// fewest rows of one.
const PARTS: u32 = 64;
const ROWS: u32 = 32;

/// y, and the mean and 1 / √(variance + ε) of each row of `(outer, n)`, these in `f32`.
pub fn layer_norm(
    x: View,
    weight: Option<View>,
    bias: Option<View>,
    eps: f64,
    centred: bool,
) -> [Storage; 3] {
    let (kernel, device, dtype) = (kernel_for(OP, OP, x), x.storage.device(), x.dtype());
    let rows = Rows::new(OP, [x.layout]);
    let packed = Layout::contiguous(&[rows.len() as usize]);
    let layouts = [weight, bias].map(|factor| factor.or(weight).or(bias));
    let factors = Walk::new(OP, layouts.map(|factor| factor.map_or(&packed, |x| x.layout)));
    let y = Fresh::new(device, dtype, rows.numel() as usize);
    let moments = [(); 2].map(|()| Fresh::new(device, DType::F32, rows.count() as usize));
    let (x, weight, bias) =
        (source(OP, x), weight.map(|weight| source(OP, weight)), bias.map(|bias| source(OP, bias)));
    let params = Params::new().pointer(x.at).pointer(address(weight.as_ref()));
    let params = params.pointer(address(bias.as_ref())).pointer(y.at());
    let params = params.pointer(moments[0].at()).pointer(moments[1].at());
    let params = factors.append_to(rows.append_to(params)).f32(eps as f32).i32(centred.into());
    launch(device, OP, &kernel, rows.threads(), &params);
    let [mean, rstd] = moments;
    [y, mean, rstd].map(Fresh::into_storage)
}

/// The gradients of x, the weight and the bias.
pub fn layer_norm_backward(
    [x, dy]: [View; 2],
    [mean, rstd]: [View; 2],
    weight: Option<View>,
    centred: bool,
) -> [Storage; 3] {
    let (device, dtype) = (x.storage.device(), x.dtype());
    let [kernel, sums_kernel] =
        ["layer_norm_backward", "layer_norm_sums"].map(|name| kernel_for(OP, name, x));
    let rows = Rows::new(OP, [x.layout, dy.layout]);
    let moments = Walk::new(OP, [mean.layout, rstd.layout]);
    let packed = Layout::contiguous(&[rows.len() as usize]);
    let factors = Walk::new(OP, [weight.map_or(&packed, |weight| weight.layout)]);
    let operands = [x, dy, mean, rstd].map(|x| source(OP, x));
    let all = || operands.iter().fold(Params::new(), |params, x| params.pointer(x.at));
    let weight = weight.map(|weight| source(OP, weight));

    let dx = Fresh::new(device, dtype, rows.numel() as usize);
    let params = all().pointer(address(weight.as_ref())).pointer(dx.at());
    let params = moments.append_to(rows.append_to(params));
    let params = factors.append_to(params).i32(centred.into());
    if rows.len() > 0 {
        launch(device, OP, &kernel, rows.threads(), &params);
    }

    let parts = rows.count().div_ceil(ROWS).clamp(1, PARTS);
    let sums = || Fresh::new(device, DType::F32, (parts * rows.len()) as usize);
    let (dweight, dbias) = (sums(), sums());
    let params = rows.append_to(all().pointer(dweight.at()).pointer(dbias.at()));
    let block = columns_block(rows.len() as usize, rows.count());
    let grid = [rows.len().div_ceil(block[0]), parts, 1];
    launch(device, OP, &sums_kernel, (grid, block), &moments.append_to(params));
    let [dweight, dbias] =
        [dweight, dbias].map(|sums| sum_of_parts(OP, &sums, [parts, rows.len()], dtype));
    [dx.into_storage(), dweight, dbias]
}
