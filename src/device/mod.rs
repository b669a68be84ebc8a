//! Devices: where tensors live, and the families of kernels that every backend provides.

mod allocation;
pub mod cpu;
pub mod cuda;
pub mod driver;
mod gpu;
mod kernels;
pub mod sim;
mod updates;

pub use allocation::Allocation;
pub use gpu::{MatmulKernel, matmul_by};
pub use kernels::{Binary, Compare, Draw, Reduce, Scan, Unary};
pub use updates::{AdamwRule, SgdRule, Update};

use std::fmt;
use std::str::FromStr;

use driver::Driver;

use crate::dtype::{DType, Scalar};
use crate::error::{Error, misuse, raise};
use crate::layout::Layout;
use crate::profiler::{self, Kind};
use crate::rng::GeneratorState;
use crate::storage::Storage;

/// Where a tensor's bytes are and where its operations run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Device {
    /// The host's memory and processor.
    Cpu,
    /// A simulated GPU, counted from 0: memory of its own, and a clock that is modelled.
    Sim(usize),
    /// An NVIDIA GPU, counted from 0 as the driver counts.
    Cuda(usize),
}

impl Device {
    /// The kernels of the device. The one place that tells devices apart.
    pub fn backend(self) -> &'static dyn Backend {
        match self {
            Device::Cpu => &cpu::Cpu,
            Device::Sim(_) | Device::Cuda(_) => &gpu::Gpu,
        }
    }

    /// The NVIDIA GPU with number `n`, if it is there and can be used.
    ///
    /// # Errors
    /// A sentence on what is missing; see [`cuda::cuda`].
    pub fn cuda(n: usize) -> Result<Device, Error> {
        cuda::cuda(n).map(|_| Device::Cuda(n))
    }

    /// What moves bytes to the device and back. It unwinds with an `Error` if an NVIDIA GPU cannot
    /// be used; [`Device::cuda`] says so before.
    ///
    /// # Panics
    /// For the CPU, which needs none, and for a simulated GPU that does not exist.
    #[track_caller]
    pub fn driver(self) -> &'static dyn Driver {
        if profiler::is_on()
            && let Some(observed) = profiler::observed(self)
        {
            return observed;
        }
        self.own_driver()
    }

    /// The driver itself, even while a profile is recorded.
    #[track_caller]
    pub(crate) fn own_driver(self) -> &'static dyn Driver {
        match self {
            Device::Sim(n) => sim::sim(n),
            Device::Cuda(n) => cuda::cuda(n).unwrap_or_else(|error| raise(error)),
            Device::Cpu => {
                let message = "the host's memory needs no driver".to_string();
                misuse("device", &[&self], message)
            }
        }
    }

    /// Waits until the device has done all that it was given. The CPU always has.
    ///
    /// # Errors
    /// If the device has failed.
    #[track_caller]
    pub fn synchronize(self) -> Result<(), Error> {
        let _span = profiler::span(Kind::Range, "synchronize");
        match self {
            Device::Cpu => Ok(()),
            device => device.driver().synchronize(),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Sim(n) => write!(f, "sim:{n}"),
            Device::Cuda(n) => write!(f, "cuda:{n}"),
        }
    }
}

impl FromStr for Device {
    type Err = String;

    /// A device by its name: `cpu`, `sim`, `sim:1`, `cuda` or `cuda:1`; without a number it is the
    /// first. Whether it is there is not asked.
    fn from_str(name: &str) -> Result<Device, String> {
        let (kind, number) = name.split_once(':').unwrap_or((name, "0"));
        match (kind, number.parse()) {
            ("cpu", _) if name == kind => Ok(Device::Cpu),
            ("sim", Ok(n)) => Ok(Device::Sim(n)),
            ("cuda", Ok(n)) => Ok(Device::Cuda(n)),
            _ => Err(format!("'{name}' is no device; write cpu, sim or cuda, or sim:1, cuda:1")),
        }
    }
}

/// An operand of a kernel: a storage and where in it the elements lie.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The numbers.
    pub storage: &'a Storage,
    /// Their shape, strides and offset.
    pub layout: &'a Layout,
}

impl View<'_> {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.storage.dtype()
    }
}

/// What attention computes with: y = softmax(q · kᵀ · scale + mask) · v.
#[derive(Clone, Copy)]
pub struct Attended<'a> {
    /// Queries, `(.., L, E)`.
    pub q: View<'a>,
    /// Keys, `(.., S, E)`.
    pub k: View<'a>,
    /// Values, `(.., S, V)`.
    pub v: View<'a>,
    /// What is added to the scores, `(.., L, S)`.
    pub mask: Option<View<'a>>,
    /// Whether query i sees keys 0 to i only.
    pub causal: bool,
    /// What the products are multiplied with.
    pub scale: f64,
}

/// What a device can compute. Every result is a fresh, contiguous storage.
///
/// The caller has checked shapes and dtypes; operands of one call lie on one device.
pub trait Backend: Sync {
    /// `numel` elements of type `dtype` on `device`, each standing for `value`.
    fn fill(&self, device: Device, dtype: DType, numel: usize, value: Scalar) -> Storage;
    /// The elements of type `dtype` on `device` that stand for 0, 1, … `numel` − 1.
    fn arange(&self, device: Device, dtype: DType, numel: usize) -> Storage;
    /// y = f(x), elementwise.
    fn unary(&self, f: Unary, x: View) -> Storage;
    /// y = f(a, b), elementwise; both views have one shape.
    fn binary(&self, f: Binary, a: View, b: View) -> Storage;
    /// Where f(a, b) holds, as `bool`; both views have one shape.
    fn compare(&self, f: Compare, a: View, b: View) -> Storage;
    /// y = a where the condition holds, else b; all three views have one shape.
    fn select(&self, condition: View, a: View, b: View) -> Storage;
    /// Reduces the dimensions for which `over` is true; the result has the others, in order, and
    /// type `to`. Sums and products are kept in a wider type and rounded once.
    fn reduce(&self, f: Reduce, x: View, over: &[bool], to: DType) -> Storage;
    /// `(outer, n) → (outer)`: the index of the largest element of each row, or of the smallest;
    /// the first one of equals, the first NaN if there is one.
    fn arg_reduce(&self, f: Reduce, x: View) -> Storage;
    /// `(outer, n) → (outer, n)`: what the scan leaves along each row.
    fn scan(&self, f: Scan, x: View) -> Storage;
    /// `(B, M, K) · (B, K, N) → (B, M, N)`, any strides.
    fn matmul(&self, a: View, b: View) -> Storage;
    /// `(outer, n) → (outer, n)`: softmax, or its logarithm, of each row.
    fn softmax(&self, x: View, log: bool) -> Storage;
    /// ln Σ exp(x) over the dimensions for which `over` is true; floating-point only.
    fn logsumexp(&self, x: View, over: &[bool]) -> Storage;
    /// Σ (x − mean)² / divisor over the dimensions for which `over` is true, or the root of it;
    /// floating-point only.
    fn variance(&self, x: View, over: &[bool], divisor: f64, root: bool) -> Storage;
    /// `(outer, n) → (outer, n), (outer), (outer)`: each row with mean 0 (if `centred`) and
    /// variance 1, times the weight, plus the bias; its mean, and 1 / √(variance + ε).
    fn layer_norm(
        &self,
        x: View,
        weight: Option<View>,
        bias: Option<View>,
        eps: f64,
        centred: bool,
    ) -> [Storage; 3];
    /// The gradients of x, the weight and the bias of `layer_norm`, from x and the result's
    /// gradient, `(outer, n)` each, and each row's mean and 1 / √(variance + ε), `(outer)`.
    fn layer_norm_backward(
        &self,
        x_and_dy: [View; 2],
        moments: [View; 2],
        weight: Option<View>,
        centred: bool,
    ) -> [Storage; 3];
    /// `(.., L, V), (.., L)`: attention, and ln Σ eᶻ over each query's scores z, in the type that
    /// is computed with. A query that sees nothing gets 0 and −∞. No operand is empty.
    fn attention(&self, x: Attended) -> [Storage; 2];
    /// The gradients of q, k and v, from ln Σ eᶻ of each query and the gradient of y.
    fn attention_backward(&self, x: Attended, log_sums: View, dy: View) -> [Storage; 3];
    /// `(V, ..), (K) → (K, ..)`: the slices of the first dimension that the index names; `i64`, in
    /// range.
    fn index_select(&self, x: View, index: View) -> Storage;
    /// A copy of x, `(V, ..)`, with each slice of src, `(K, ..)`, added to the one that the index,
    /// `(K)`, names; in its order.
    fn index_add(&self, x: View, index: View, src: View) -> Storage;
    /// The elements laid out anew in logical order, as elements of type `to`.
    fn copy(&self, x: View, to: DType) -> Storage;
    /// The elements laid out anew, those dimensions backwards for which `over` is true.
    fn flip(&self, x: View, over: &[bool]) -> Storage;
    /// `y[i, j] = x[index[i, j], j]` for `dim` 0, and so on; indices are in range.
    fn gather(&self, x: View, dim: usize, index: View) -> Storage;
    /// A copy of x with `y[index[i, j], j] += src[i, j]` for `dim` 0, and so on, in logical order.
    fn scatter_add(&self, x: View, dim: usize, index: View, src: View) -> Storage;
    /// `y[i]` is the element of x at place `index[i]`, counted in logical order.
    fn take(&self, x: View, index: View) -> Storage;
    /// The element of x at place `index[i]`, counted in logical order, becomes `src[i]`, or that
    /// is added to it; in place, in the order of the index, on behalf of `op`.
    fn put_in_place(&self, op: &'static str, x: View, index: View, src: View, accumulate: bool);
    /// x += alpha · y, in place; both views have one shape and dtype.
    fn add_in_place(&self, x: View, y: View, alpha: Scalar);
    /// x = x · y, in place; both views have one shape and dtype.
    fn mul_in_place(&self, x: View, y: View);
    /// x = y, in place, on behalf of `op`; both views have one shape and dtype.
    fn copy_in_place(&self, op: &'static str, x: View, y: View);
    /// x = value where the mask holds, in place; both views have one shape.
    fn masked_fill_in_place(&self, x: View, mask: View, value: Scalar);
    /// One step of AdamW of each parameter, in place.
    fn adamw_step(&self, updates: &[Update<AdamwRule>]);
    /// One step of SGD of each parameter, in place.
    fn sgd_step(&self, updates: &[Update<SgdRule>]);
    /// `numel` results of random numbers of a stream, from where it is: the same on every device.
    fn draw(&self, device: Device, what: Draw, numel: usize, from: GeneratorState) -> Storage;
}
