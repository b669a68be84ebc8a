//! The CPU backend: plain loops over slices, one file a family of kernels.
//!
//! Each kernel has a fast path for rows whose elements lie side by side and one general path for
//! any strides. The order of additions is fixed, so the same input gives the same bits every time.

mod elementwise;
mod index;
#[expect(unsafe_code, reason = "the matrix product of another crate takes raw pointers")]
mod matmul;
mod reduce;
mod softmax;

use crate::device::{Backend, Binary, Reduce, Unary, View};
use crate::dtype::{Buffer, DType, Element};
use crate::storage::Storage;

/// The host's processor.
pub struct Cpu;

impl Backend for Cpu {
    fn unary(&self, f: Unary, x: View) -> Storage {
        elementwise::unary(f, x)
    }

    fn binary(&self, f: Binary, a: View, b: View) -> Storage {
        elementwise::binary(f, a, b)
    }

    fn reduce(&self, f: Reduce, x: View, over: &[bool]) -> Storage {
        reduce::reduce(f, x, over)
    }

    fn argmax(&self, x: View) -> Storage {
        reduce::argmax(x)
    }

    fn matmul(&self, a: View, b: View) -> Storage {
        matmul::matmul(a, b)
    }

    fn softmax(&self, x: View, log: bool) -> Storage {
        softmax::softmax(x, log)
    }

    fn copy(&self, x: View) -> Storage {
        match x.storage.dtype() {
            DType::F32 => elementwise::copy::<f32>(x),
            DType::I64 => elementwise::copy::<i64>(x),
        }
    }

    fn flip(&self, x: View, over: &[bool]) -> Storage {
        match x.storage.dtype() {
            DType::F32 => elementwise::flip::<f32>(x, over),
            DType::I64 => elementwise::flip::<i64>(x, over),
        }
    }

    fn gather(&self, x: View, dim: usize, index: View) -> Storage {
        index::gather(x, dim, index)
    }

    fn scatter_add(&self, x: View, dim: usize, index: View, src: View) -> Storage {
        index::scatter_add(x, dim, index, src)
    }

    fn add_in_place(&self, x: View, y: View, alpha: f32) {
        elementwise::add_in_place(x, y, alpha)
    }

    fn fill_in_place(&self, x: View, value: f32) {
        elementwise::fill_in_place(x, value)
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
