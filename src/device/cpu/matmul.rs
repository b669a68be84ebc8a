//! The matrix product, by the `gemm-f32` crate, and in `f64`, which is for checking, by
//! `matrixmultiply`. Both take strides, so a transposed operand is read where it lies.
//!
//! One large product is cut up among the threads by the crate, along its rows and columns; of a
//! batch each product is the work of one thread. Either way no sum is cut, so the bits do not
//! depend on the number of threads.

use std::mem::MaybeUninit;
use std::ops::Range;

use gemm_common::Parallelism;

use crate::device::View;
use crate::device::cpu::parallel::build_bands;
use crate::device::cpu::walk::{Operand, map};
use crate::device::cpu::{elements, operand};
use crate::dtype::{Arithmetic, DType, Element, Float, bf16, f16, with_element};
use crate::layout::Layout;
use crate::memory::filled;
use crate::storage::Storage;

/// `(B, M, K) · (B, K, N) → (B, M, N)`. The half types are multiplied in `f32` and rounded once;
/// integers wrap around.
pub fn matmul(a: View, b: View) -> Storage {
    match a.dtype() {
        DType::F32 => of_type::<f32>(a, b, multiply_new),
        DType::F64 => of_type::<f64>(a, b, multiply_new),
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
    let product = batch((&left, &packed(a)), (&right, &packed(b)), multiply_new);
    Storage::new(product.into_iter().map(T::of_compute).collect::<Vec<T>>())
}

/// Multiplications from which on one product is worth more than one thread.
const MANY: usize = 1 << 22;

/// Multiplications that take as long as one element of an elementwise operation.
pub const WORTH: usize = 16;

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

/// A matrix inside a slice. All its elements lie within: [`Matrix::new`] has looked.
#[derive(Clone, Copy)]
pub struct Matrix<'a, C> {
    values: &'a [C],
    at: usize,
    sizes: [usize; 2],
    steps: [usize; 2],
}

impl<'a, C> Matrix<'a, C> {
    /// The matrix of these sizes that begins `at` an element; for one step down or to the right it
    /// goes so many elements on.
    pub fn new(values: &'a [C], at: usize, sizes: [usize; 2], steps: [usize; 2]) -> Matrix<'a, C> {
        let last = |i: usize| (sizes[i] - 1).saturating_mul(steps[i]);
        let ends = || at.saturating_add(last(0)).saturating_add(last(1));
        assert!(sizes.contains(&0) || ends() < values.len(), "a matrix that leaves its slice");
        Matrix { values, at, sizes, steps }
    }

    /// A matrix with its rows one after the other.
    pub fn packed(values: &'a [C], rows: usize, columns: usize) -> Matrix<'a, C> {
        Matrix::new(values, 0, [rows, columns], [columns, 1])
    }

    fn of((values, layout): Operand<'a, C>) -> Matrix<'a, C> {
        let pair = |dims: &[usize]| [dims[0], dims[1]];
        Matrix::new(values, layout.offset(), pair(layout.shape()), pair(layout.strides()))
    }

    /// Rows and columns exchanged.
    pub fn turned(self) -> Matrix<'a, C> {
        let ([m, n], [i, j]) = (self.sizes, self.steps);
        Matrix { sizes: [n, m], steps: [j, i], ..self }
    }

    /// Some of the rows.
    pub fn rows(self, range: Range<usize>) -> Matrix<'a, C> {
        let at = self.at + range.start * self.steps[0];
        Matrix::new(self.values, at, [range.len(), self.sizes[1]], self.steps)
    }

    /// The address of the first element; of a matrix that has some.
    fn start(&self) -> *const C {
        &raw const self.values[self.at]
    }
}

/// c = scale · (a · b) + c for matrices that have elements, or without c if it is not `kept`; c
/// packed.
pub fn multiply<C: Product>(a: Matrix<C>, b: Matrix<C>, scale: f64, c: &mut [C], kept: bool) {
    assert!(a.sizes[1] == b.sizes[0] && c.len() == a.sizes[0] * b.sizes[1]);
    // SAFETY: c has just been counted.
    unsafe { C::product(a, b, scale, c.as_mut_ptr(), kept, Parallelism::None) };
}

/// c = a · b for two matrices with elements, c packed.
fn multiply_new<C: Product>(
    a: Operand<C>,
    b: Operand<C>,
    c: &mut [MaybeUninit<C>],
    threads: Parallelism,
) {
    let (a, b) = (Matrix::of(a), Matrix::of(b));
    assert!(a.sizes[1] == b.sizes[0] && c.len() == a.sizes[0] * b.sizes[1]);
    // SAFETY: c has just been counted, and what is not kept is not read.
    unsafe { C::product(a, b, 1.0, c.as_mut_ptr().cast(), false, threads) };
}

/// The types that products are computed in.
pub trait Product: Float {
    /// c = scale · (a · b) + c, or without c if it is not `kept`; the columns of a are as many as
    /// the rows of b, and none of these sizes is 0.
    ///
    /// # Safety
    /// `c` is valid for writes of m · n elements, and for reads of them if it is kept.
    unsafe fn product(
        a: Matrix<Self>,
        b: Matrix<Self>,
        scale: f64,
        c: *mut Self,
        kept: bool,
        threads: Parallelism,
    );
}

impl Product for f32 {
    // SAFETY: what the trait asks of the caller is all that is needed.
    unsafe fn product(
        a: Matrix<f32>,
        b: Matrix<f32>,
        scale: f64,
        c: *mut f32,
        kept: bool,
        threads: Parallelism,
    ) {
        let gemm = gemm_f32::gemm::f32::get_gemm_fn();
        let ([m, k], n) = (a.sizes, b.sizes[1]);
        let [a_row, a_column] = a.steps.map(|step| step as isize);
        let [b_row, b_column] = b.steps.map(|step| step as isize);
        // The crate likes columns side by side. So it is asked for cᵀ = bᵀ · aᵀ: each pair of sizes
        // and strides the other way round.
        let (c_column, c_row) = (n as isize, 1);
        let keep = if kept { 1.0 } else { 0.0 };
        // SAFETY: every element of a and b lies in its slice, as `Matrix::new` has seen, and the
        // caller vouches for c.
        unsafe {
            gemm(
                n,
                m,
                k,
                c,
                c_column,
                c_row,
                kept,
                b.start(),
                b_row,
                b_column,
                a.start(),
                a_row,
                a_column,
                keep,
                scale as f32,
                false,
                false,
                false,
                threads,
            );
        }
    }
}

impl Product for f64 {
    // SAFETY: what the trait asks of the caller is all that is needed.
    unsafe fn product(
        a: Matrix<f64>,
        b: Matrix<f64>,
        scale: f64,
        c: *mut f64,
        kept: bool,
        _: Parallelism,
    ) {
        let ([m, k], n) = (a.sizes, b.sizes[1]);
        let [a_row, a_column] = a.steps.map(|step| step as isize);
        let [b_row, b_column] = b.steps.map(|step| step as isize);
        let (keep, c_row) = (if kept { 1.0 } else { 0.0 }, n as isize);
        let (a, b) = (a.start(), b.start());
        // SAFETY: every element of a and b lies in its slice, as `Matrix::new` has seen, and the
        // caller vouches for c.
        unsafe {
            matrixmultiply::dgemm(
                m, k, n, scale, a, a_row, a_column, b, b_row, b_column, keep, c, c_row, 1,
            );
        }
    }
}
