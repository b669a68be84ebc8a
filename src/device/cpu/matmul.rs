//! The matrix product, by the `matrixmultiply` crate: it takes strides, so a transposed operand
//! is read where it lies.

use crate::device::View;
use crate::device::cpu::walk::{Operand, map};
use crate::device::cpu::{elements, operand};
use crate::dtype::{Arithmetic, DType, Element, bf16, f16, with_element};
use crate::layout::Layout;
use crate::memory::filled;
use crate::storage::Storage;

/// `(B, M, K) · (B, K, N) → (B, M, N)`. The half types are multiplied in `f32` and rounded once;
/// integers wrap around.
pub fn matmul(a: View, b: View) -> Storage {
    match a.dtype() {
        DType::F32 => of_type::<f32>(a, b, |a, b, out| gemm(matrixmultiply::sgemm, a, b, out)),
        DType::F64 => of_type::<f64>(a, b, |a, b, out| gemm(matrixmultiply::dgemm, a, b, out)),
        DType::F16 => of_halves::<f16>(a, b),
        DType::BF16 => of_halves::<bf16>(a, b),
        _ => with_element!(a.dtype(), number T => of_type::<T>(a, b, one_by_one)),
    }
}

fn of_type<T: Element>(
    a: View,
    b: View,
    product: impl Fn(Operand<T>, Operand<T>, &mut [T]),
) -> Storage {
    let (left, right) = (a.storage.read("matmul"), b.storage.read("matmul"));
    Storage::new(batch((elements(&left), a.layout), (elements(&right), b.layout), product))
}

/// Widened to packed `f32` matrices first: each element is used many times.
fn of_halves<T: Element<Compute = f32>>(a: View, b: View) -> Storage {
    let (left, right) = (a.storage.read("matmul"), b.storage.read("matmul"));
    let left = map(operand::<T>(&left, a), T::to_compute);
    let right = map(operand::<T>(&right, b), T::to_compute);
    let packed = |x: View| Layout::contiguous(x.layout.shape());
    let product = batch((&left, &packed(a)), (&right, &packed(b)), |a, b, out| {
        gemm(matrixmultiply::sgemm, a, b, out)
    });
    Storage::new(product.into_iter().map(T::of_compute).collect::<Vec<T>>())
}

/// One product after the other, each written where its matrix of the result lies.
fn batch<T: Element>(
    (a, a_layout): Operand<T>,
    (b, b_layout): Operand<T>,
    product: impl Fn(Operand<T>, Operand<T>, &mut [T]),
) -> Vec<T> {
    let (a_shape, b_shape) = (a_layout.shape(), b_layout.shape());
    let (batches, m, n) = (a_shape[0], a_shape[1], b_shape[2]);
    let mut out = filled(T::default(), Layout::contiguous(&[batches, m, n]).shape().numel());
    if out.is_empty() || a_shape[2] == 0 {
        return out;
    }
    for (i, out) in out.chunks_exact_mut(m * n).enumerate() {
        product((a, &a_layout.select(0, i)), (b, &b_layout.select(0, i)), out);
    }
    out
}

/// Each element by its definition.
fn one_by_one<T: Element>((a, a_layout): Operand<T>, (b, b_layout): Operand<T>, out: &mut [T]) {
    let n = b_layout.shape()[1];
    for (place, out) in out.iter_mut().enumerate() {
        let (row, column) = (a_layout.select(0, place / n), b_layout.select(1, place % n));
        let products = row
            .positions()
            .zip(column.positions())
            .map(|(i, j)| a[i].to_compute().mul(b[j].to_compute()));
        *out = T::of_compute(products.fold(T::Compute::default(), Arithmetic::add));
    }
}

/// The product of `matrixmultiply` for one type: sizes, 1, a and its strides, b and its strides,
/// 0, the result and its strides.
type Gemm<T> = unsafe fn(
    usize,
    usize,
    usize,
    T,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    *mut T,
    isize,
    isize,
);

/// c = a · b for two matrices with elements, c packed.
fn gemm<T: Arithmetic>(
    gemm: Gemm<T>,
    (a, a_layout): Operand<T>,
    (b, b_layout): Operand<T>,
    c: &mut [T],
) {
    let (m, k, n) = (a_layout.shape()[0], a_layout.shape()[1], b_layout.shape()[1]);
    let within =
        |layout: &Layout, len: usize| layout.last_position().is_some_and(|last| last < len);
    assert!(b_layout.shape()[0] == k && c.len() == m * n, "the caller has compared the sizes");
    assert!(within(a_layout, a.len()) && within(b_layout, b.len()));
    let [a_steps, b_steps] = [a_layout, b_layout].map(|layout| *layout.strides());
    // SAFETY: strides are not negative and neither matrix is empty, so the product reads from the
    // offset up to the last position, which the assertion above has found within each slice, and
    // it writes the m * n elements of `c`, which the assertions have counted.
    unsafe {
        gemm(
            m,
            k,
            n,
            T::from_scalar(1.into()),
            a.as_ptr().add(a_layout.offset()),
            a_steps[0] as isize,
            a_steps[1] as isize,
            b.as_ptr().add(b_layout.offset()),
            b_steps[0] as isize,
            b_steps[1] as isize,
            T::default(),
            c.as_mut_ptr(),
            n as isize,
            1,
        );
    }
}
