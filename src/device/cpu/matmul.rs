//! The matrix product, by the `gemm-f32` crate, and in `f64`, which is for checking, by
//! `matrixmultiply`. Both take strides, so a transposed operand is read where it lies.
//!
//! One large product is cut up among the threads by the crate, along its rows and columns; of a
//! batch each product is the work of one thread. Either way no sum is cut, so the bits do not
//! depend on the number of threads.

use std::mem::MaybeUninit;

use gemm_common::Parallelism;

use crate::device::View;
use crate::device::cpu::parallel::build_bands;
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
        DType::F32 => of_type::<f32>(a, b, product_f32),
        DType::F64 => of_type::<f64>(a, b, |a, b, out, _| product_f64(a, b, out)),
        DType::F16 => of_halves::<f16>(a, b),
        DType::BF16 => of_halves::<bf16>(a, b),
        _ => with_element!(a.dtype(), number T => {
            of_type::<T>(a, b, |a, b, out, _| one_by_one(a, b, out))
        }),
    }
}

fn of_type<T: Element>(
    a: View,
    b: View,
    product: impl Fn(Operand<T>, Operand<T>, &mut [MaybeUninit<T>], Parallelism) + Sync,
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
    let product = batch((&left, &packed(a)), (&right, &packed(b)), product_f32);
    Storage::new(product.into_iter().map(T::of_compute).collect::<Vec<T>>())
}

/// Multiplications from which on one product is worth more than one thread.
const MANY: usize = 1 << 22;

/// Multiplications that take as long as one element of an elementwise operation.
const WORTH: usize = 16;

/// Each product, written where its matrix of the result lies.
fn batch<T: Element>(
    (a, a_layout): Operand<T>,
    (b, b_layout): Operand<T>,
    product: impl Fn(Operand<T>, Operand<T>, &mut [MaybeUninit<T>], Parallelism) + Sync,
) -> Vec<T> {
    let (a_shape, b_shape) = (a_layout.shape(), b_layout.shape());
    let (batches, m, n) = (a_shape[0], a_shape[1], b_shape[2]);
    let numel = Layout::contiguous(&[batches, m, n]).shape().numel();
    if numel == 0 || a_shape[2] == 0 {
        return filled(T::default(), numel);
    }
    let cost = m * n * a_shape[2];
    let alone = batches == 1 && cost >= MANY && rayon::current_num_threads() > 1;
    let threads = if alone { Parallelism::Rayon(0) } else { Parallelism::None };
    // As many elements as the multiplications are worth.
    build_bands(numel, m * n, batches * cost / WORTH, |i, out| {
        product((a, &a_layout.select(0, i)), (b, &b_layout.select(0, i)), out, threads);
    })
}

/// Each element by its definition.
fn one_by_one<T: Element>(
    (a, a_layout): Operand<T>,
    (b, b_layout): Operand<T>,
    out: &mut [MaybeUninit<T>],
) {
    let n = b_layout.shape()[1];
    for (place, out) in out.iter_mut().enumerate() {
        let (row, column) = (a_layout.select(0, place / n), b_layout.select(1, place % n));
        let products = row
            .positions()
            .zip(column.positions())
            .map(|(i, j)| a[i].to_compute().mul(b[j].to_compute()));
        out.write(T::of_compute(products.fold(T::Compute::default(), Arithmetic::add)));
    }
}

/// c = a · b for two matrices with elements, c packed.
fn product_f32(
    (a, a_layout): Operand<f32>,
    (b, b_layout): Operand<f32>,
    c: &mut [MaybeUninit<f32>],
    threads: Parallelism,
) {
    let Sizes { m, k, n, a_steps, b_steps } = checked((a, a_layout), (b, b_layout), c);
    let gemm = gemm_f32::gemm::f32::get_gemm_fn();
    // The crate likes columns side by side. So it is asked for cᵀ = bᵀ · aᵀ: each pair of sizes and
    // strides the other way round.
    let (c_column, c_row) = (n as isize, 1);
    // SAFETY: strides are not negative and neither matrix is empty, so the product reads from the
    // offset up to the last position, which `checked` has found within each slice, and it writes
    // the m * n elements of `c`, which `checked` has counted.
    unsafe {
        let (a, b) = (a.as_ptr().add(a_layout.offset()), b.as_ptr().add(b_layout.offset()));
        gemm(
            n,
            m,
            k,
            c.as_mut_ptr().cast(),
            c_column,
            c_row,
            false,
            b,
            b_steps[0],
            b_steps[1],
            a,
            a_steps[0],
            a_steps[1],
            0.0,
            1.0,
            false,
            false,
            false,
            threads,
        );
    }
}

/// c = a · b for two matrices with elements, c packed.
fn product_f64(
    (a, a_layout): Operand<f64>,
    (b, b_layout): Operand<f64>,
    c: &mut [MaybeUninit<f64>],
) {
    let Sizes { m, k, n, a_steps, b_steps } = checked((a, a_layout), (b, b_layout), c);
    let c_steps = [n as isize, 1];
    // SAFETY: as in `product_f32`.
    unsafe {
        let (a, b) = (a.as_ptr().add(a_layout.offset()), b.as_ptr().add(b_layout.offset()));
        matrixmultiply::dgemm(
            m,
            k,
            n,
            1.0,
            a,
            a_steps[0],
            a_steps[1],
            b,
            b_steps[0],
            b_steps[1],
            0.0,
            c.as_mut_ptr().cast(),
            c_steps[0],
            c_steps[1],
        );
    }
}

/// Sizes and strides of a product whose elements lie where they should.
struct Sizes {
    m: usize,
    k: usize,
    n: usize,
    a_steps: [isize; 2],
    b_steps: [isize; 2],
}

fn checked<T>((a, a_layout): Operand<T>, (b, b_layout): Operand<T>, c: &[MaybeUninit<T>]) -> Sizes {
    let (m, k, n) = (a_layout.shape()[0], a_layout.shape()[1], b_layout.shape()[1]);
    let within =
        |layout: &Layout, len: usize| layout.last_position().is_some_and(|last| last < len);
    assert!(b_layout.shape()[0] == k && c.len() == m * n, "the caller has compared the sizes");
    assert!(within(a_layout, a.len()) && within(b_layout, b.len()));
    let steps = |layout: &Layout| [layout.strides()[0] as isize, layout.strides()[1] as isize];
    Sizes { m, k, n, a_steps: steps(a_layout), b_steps: steps(b_layout) }
}
