//! The CPU backend: plain loops over slices, one file a family of kernels.
//!
//! Each kernel has a fast path for rows whose elements lie side by side and one general path for
//! any strides. The order of additions is fixed, so the same input gives the same bits every time.

mod activation;
mod attention;
mod copy;
mod elementwise;
mod in_place;
mod index;
mod lanes;
#[expect(unsafe_code, reason = "the matrix product of another crate takes raw pointers")]
mod matmul;
#[expect(unsafe_code, reason = "a vector is filled in place")]
mod norm;
mod norm_backward;
mod optimizer;
#[expect(unsafe_code, reason = "a vector is filled in place, in wide instructions")]
mod parallel;
mod random;
mod reduce;
mod scan;
mod softmax;
#[expect(unsafe_code, reason = "a vector is filled in place")]
mod turn;
#[expect(unsafe_code, reason = "what a loop has filled is read from uninitialised room")]
mod walk;

use crate::device::{
    AdamwRule, Attended, Backend, Binary, Compare, Device, Draw, Reduce, Scan, SgdRule, Unary,
    Update, View,
};
use crate::dtype::{Buffer, DType, Element, Scalar, with_element};
use crate::memory::filled;
use crate::rng::GeneratorState;
use crate::storage::Storage;
use walk::Operand;

/// The host's processor.
pub struct Cpu;

impl Backend for Cpu {
    fn fill(&self, _: Device, dtype: DType, numel: usize, value: Scalar) -> Storage {
        with_element!(dtype, T => Storage::new(filled(T::from_scalar(value), numel)))
    }

    fn arange(&self, _: Device, dtype: DType, numel: usize) -> Storage {
        let numbers = (0..numel as i64).map(Scalar::Int);
        with_element!(dtype, T => Storage::new(numbers.map(T::from_scalar).collect()))
    }

    fn unary(&self, f: Unary, x: View) -> Storage {
        elementwise::unary(f, x)
    }

    fn binary(&self, f: Binary, a: View, b: View) -> Storage {
        elementwise::binary(f, a, b)
    }

    fn compare(&self, f: Compare, a: View, b: View) -> Storage {
        elementwise::compare(f, a, b)
    }

    fn select(&self, condition: View, a: View, b: View) -> Storage {
        elementwise::select(condition, a, b)
    }

    fn reduce(&self, f: Reduce, x: View, over: &[bool], to: DType) -> Storage {
        reduce::reduce(f, x, over, to)
    }

    fn arg_reduce(&self, f: Reduce, x: View) -> Storage {
        with_element!(x.dtype(), T => scan::arg_reduce::<T>(f, x))
    }

    fn scan(&self, f: Scan, x: View) -> Storage {
        with_element!(x.dtype(), T => scan::scan::<T>(f, x))
    }

    fn matmul(&self, a: View, b: View) -> Storage {
        matmul::matmul(a, b)
    }

    fn softmax(&self, x: View, log: bool) -> Storage {
        with_element!(x.dtype(), float T => softmax::softmax::<T>(x, log))
    }

    fn logsumexp(&self, x: View, over: &[bool]) -> Storage {
        with_element!(x.dtype(), float T => softmax::logsumexp::<T>(x, over))
    }

    fn variance(&self, x: View, over: &[bool], divisor: f64, root: bool) -> Storage {
        with_element!(x.dtype(), float T => norm::variance::<T>(x, over, divisor, root))
    }

    fn layer_norm(
        &self,
        x: View,
        weight: Option<View>,
        bias: Option<View>,
        eps: f64,
        centred: bool,
    ) -> [Storage; 3] {
        with_element!(x.dtype(), float T => norm::layer_norm::<T>(x, weight, bias, eps, centred))
    }

    fn layer_norm_backward(
        &self,
        x_and_dy: [View; 2],
        moments: [View; 2],
        weight: Option<View>,
        centred: bool,
    ) -> [Storage; 3] {
        with_element!(x_and_dy[0].dtype(), float T => {
            norm_backward::layer_norm_backward::<T>(x_and_dy, moments, weight, centred)
        })
    }

    fn attention(&self, x: Attended) -> [Storage; 2] {
        with_element!(x.q.dtype(), float T => attention::attention::<T>(x))
    }

    fn attention_backward(&self, x: Attended, log_sums: View, dy: View) -> [Storage; 3] {
        with_element!(x.q.dtype(), float T => attention::attention_backward::<T>(x, log_sums, dy))
    }

    fn index_select(&self, x: View, index: View) -> Storage {
        with_element!(x.dtype(), T => index::index_select::<T>(x, index))
    }

    fn index_add(&self, x: View, index: View, src: View) -> Storage {
        with_element!(x.dtype(), T => index::index_add::<T>(x, index, src))
    }

    fn copy(&self, x: View, to: DType) -> Storage {
        copy::copy(x, to)
    }

    fn flip(&self, x: View, over: &[bool]) -> Storage {
        with_element!(x.dtype(), T => copy::flip::<T>(x, over))
    }

    fn gather(&self, x: View, dim: usize, index: View) -> Storage {
        with_element!(x.dtype(), T => index::gather::<T>(x, dim, index))
    }

    fn scatter_add(&self, x: View, dim: usize, index: View, src: View) -> Storage {
        with_element!(x.dtype(), T => index::scatter_add::<T>(x, dim, index, src))
    }

    fn take(&self, x: View, index: View) -> Storage {
        with_element!(x.dtype(), T => index::take::<T>(x, index))
    }

    fn put_in_place(&self, op: &'static str, x: View, index: View, src: View, accumulate: bool) {
        with_element!(x.dtype(), T => in_place::put::<T>(op, x, index, src, accumulate))
    }

    fn add_in_place(&self, x: View, y: View, alpha: Scalar) {
        in_place::add(x, y, alpha)
    }

    fn mul_in_place(&self, x: View, y: View) {
        in_place::mul(x, y)
    }

    fn copy_in_place(&self, op: &'static str, x: View, y: View) {
        in_place::assign(op, x, y)
    }

    fn masked_fill_in_place(&self, x: View, mask: View, value: Scalar) {
        in_place::masked_fill(x, mask, value)
    }

    fn adamw_step(&self, updates: &[Update<AdamwRule>]) {
        optimizer::adamw(updates)
    }

    fn sgd_step(&self, updates: &[Update<SgdRule>]) {
        optimizer::sgd(updates)
    }

    fn draw(&self, _: Device, what: Draw, numel: usize, from: GeneratorState) -> Storage {
        random::draw(what, numel, from)
    }
}

/// The elements of a borrowed buffer. The public methods check dtypes before they call a kernel.
fn elements<T: Element>(buffer: &Buffer) -> &[T] {
    buffer.as_slice().expect("a kernel is called with the dtype that its caller has checked")
}

/// The elements of a borrowed buffer, to be written.
fn elements_mut<T: Element>(buffer: &mut Buffer) -> &mut [T] {
    buffer.as_mut_slice().expect("a kernel is called with the dtype that its caller has checked")
}

/// The elements of a borrowed buffer and where a view has them.
fn operand<'a, T: Element>(buffer: &'a Buffer, view: View<'a>) -> Operand<'a, T> {
    (elements(buffer), view.layout)
}
