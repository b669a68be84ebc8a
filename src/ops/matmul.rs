//! The matrix product, and what is a thin layer over it.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::{Device, MatmulKernel, View, matmul_by};
use crate::dtype::{DType, Scalar};
use crate::ops::autocast::casting;
use crate::ops::{expect_one_device, refuse};
use crate::shape::broadcast;
use crate::storage::Storage;

impl Tensor {
    /// c = a · b: matrices, or batches of them whose leading dimensions broadcast. A vector on the
    /// left counts as a row and one on the right as a column, and that dimension is gone in the
    /// result. The half types are multiplied in `f32` and rounded once.
    ///
    /// # Panics
    /// If an operand has no dimensions or is `bool`, if the types differ, if a's columns are not as
    /// many as b's rows, or if the leading dimensions do not broadcast.
    #[track_caller]
    pub fn matmul(&self, other: &Tensor) -> Tensor {
        if let Some(cast) = casting("matmul", &[self, other]) {
            return cast.of(self).matmul(&cast.of(other));
        }
        self.check_matmul(other);
        let (vector_left, vector_right) = (self.shape().len() == 1, other.shape().len() == 1);
        let a = if vector_left { self.unsqueeze(0) } else { self.clone() };
        let b = if vector_right { other.unsqueeze(1) } else { other.clone() };
        let mut c = match (a.shape().len(), b.shape().len()) {
            (2, 2) => apply(MatMul, [&a, &b]),
            _ => batched(self, &a, &b),
        };
        if vector_right {
            c = c.squeeze(-1);
        }
        if vector_left { c.squeeze(if vector_right { -1 } else { -2 }) } else { c }
    }

    /// c = a · b, matrix by matrix: `(B, M, K) · (B, K, N) → (B, M, N)`, and nothing is broadcast.
    ///
    /// # Panics
    /// If the operands have not three dimensions, or do not fit as in [`matmul`](Tensor::matmul).
    #[track_caller]
    pub fn bmm(&self, other: &Tensor) -> Tensor {
        expect_ranks("bmm", [self, other], [3, 3]);
        if self.shape()[0] != other.shape()[0] {
            let message = "the batches must have one size; matmul broadcasts".to_string();
            refuse("bmm", &[self, other], message);
        }
        self.matmul(other)
    }

    /// A matrix times a vector: `(M, K) · (K) → (M)`.
    ///
    /// # Panics
    /// If the operands have other ranks, or do not fit as in [`matmul`](Tensor::matmul).
    #[track_caller]
    pub fn mv(&self, vector: &Tensor) -> Tensor {
        expect_ranks("mv", [self, vector], [2, 1]);
        self.matmul(vector)
    }

    /// Σ a · b of two vectors: `(K) · (K) → ()`.
    ///
    /// # Panics
    /// If the operands have other ranks, or do not fit as in [`matmul`](Tensor::matmul).
    #[track_caller]
    pub fn dot(&self, other: &Tensor) -> Tensor {
        if let Some(cast) = casting("dot", &[self, other]) {
            return cast.of(self).dot(&cast.of(other));
        }
        expect_ranks("dot", [self, other], [1, 1]);
        self.matmul(other)
    }

    /// The product of each element with each other one: `(M), (N) → (M, N)`.
    ///
    /// # Panics
    /// If the operands are not vectors.
    #[track_caller]
    pub fn outer(&self, other: &Tensor) -> Tensor {
        expect_ranks("outer", [self, other], [1, 1]);
        self.unsqueeze(1).mul(other)
    }

    /// beta · x + alpha · (a · b): `(M, N)`, or what broadcasts to it, and `(M, K) · (K, N) →
    /// (M, N)`. With beta = 0, x does not count, not even a NaN in it.
    ///
    /// # Panics
    /// If a and b are not matrices that fit, or x does not broadcast to their product.
    #[track_caller]
    pub fn addmm(
        &self,
        a: &Tensor,
        b: &Tensor,
        beta: impl Into<Scalar>,
        alpha: impl Into<Scalar>,
    ) -> Tensor {
        if let Some(cast) = casting("addmm", &[self, a, b]) {
            return cast.of(self).addmm(&cast.of(a), &cast.of(b), beta, alpha);
        }
        expect_ranks("addmm", [a, b], [2, 2]);
        let (beta, alpha) = (beta.into(), alpha.into());
        let product = a.matmul(b);
        if broadcast(self.shape(), product.shape()).is_none_or(|to| &*to != product.shape()) {
            let message = format!("x does not broadcast to {:?}, the product", product.shape());
            refuse("addmm", &[self, a, b], message);
        }
        let product = scaled(&product, alpha);
        if beta.to_f64() == 0.0 { product } else { scaled(self, beta).add(&product) }
    }

    #[track_caller]
    fn check_matmul(&self, other: &Tensor) {
        expect_one_device("matmul", &[self, other]);
        let fault = if self.shape().is_empty() || other.shape().is_empty() {
            Some("needs vectors, matrices or batches of matrices".to_string())
        } else if self.dtype() != other.dtype() || self.dtype() == DType::Bool {
            Some("needs two operands of one type, and not bool; convert one with to()".to_string())
        } else {
            let k = self.shape()[self.shape().len() - 1];
            let rows = other.shape()[other.shape().len().saturating_sub(2)];
            (k != rows)
                .then(|| format!("the left one has {k} columns and the right one {rows} rows"))
        };
        if let Some(message) = fault {
            refuse("matmul", &[self, other], message);
        }
    }
}

/// x times a number.
#[track_caller]
fn scaled(x: &Tensor, by: Scalar) -> Tensor {
    if by.to_f64() == 1.0 { x.clone() } else { x.mul_scalar(by) }
}

#[track_caller]
fn expect_ranks(op: &'static str, operands: [&Tensor; 2], ranks: [usize; 2]) {
    if operands.map(|operand| operand.shape().len()) != ranks {
        let message = format!("needs operands of {} and {} dimensions", ranks[0], ranks[1]);
        refuse(op, &operands, message);
    }
}

/// The product of batches: both sides under the common leading dimensions, and those as one.
#[track_caller]
fn batched(left: &Tensor, a: &Tensor, b: &Tensor) -> Tensor {
    let (a_batch, a_matrix) = a.shape().split_at(a.shape().len() - 2);
    let (b_batch, b_matrix) = b.shape().split_at(b.shape().len() - 2);
    let Some(batch) = broadcast(a_batch, b_batch) else {
        let message =
            format!("the leading dimensions {a_batch:?} and {b_batch:?} do not broadcast");
        refuse("matmul", &[left, b], message)
    };
    let count = batch.numel();
    let a = a.expand(&[&batch[..], a_matrix].concat());
    let b = b.expand(&[&batch[..], b_matrix].concat());
    // Outside a closure, which would lose the line of the caller.
    let a = a.reshape(&[count, a_matrix[0], a_matrix[1]]);
    let b = b.reshape(&[count, b_matrix[0], b_matrix[1]]);
    let c = apply(BatchMatMul, [&a, &b]);
    c.reshape(&[&batch[..], &[a_matrix[0], b_matrix[1]]].concat())
}

/// c = a · b on a GPU by the kernel that is named, outside the graph: to compare the three. Two
/// matrices, or two batches of one size; [`matmul`](Tensor::matmul) chooses a kernel by itself.
///
/// # Panics
/// If the operands lie on the CPU, do not fit, or have a type that the kernel is not for.
#[track_caller]
pub fn matmul_with(kernel: MatmulKernel, a: &Tensor, b: &Tensor) -> Tensor {
    const OP: &str = "matmul_with";
    a.check_matmul(b);
    let (rank, fits) = (a.shape().len(), a.shape()[0] == b.shape()[0]);
    if rank != b.shape().len() || !(rank == 2 || rank == 3 && fits) {
        refuse(OP, &[a, b], "needs two matrices, or two batches of one size".to_string());
    }
    if a.device() == Device::Cpu {
        refuse(OP, &[a, b], "the kernels are a GPU's; move both there with to()".to_string());
    }
    product_by(a, b, |left, right| matmul_by(kernel, left, right))
}

/// The kernel works on batches; two matrices are a batch of one.
pub(super) fn product(a: &Tensor, b: &Tensor) -> Tensor {
    product_by(a, b, |left, right| a.device().backend().matmul(left, right))
}

fn product_by(a: &Tensor, b: &Tensor, multiply: impl Fn(View, View) -> Storage) -> Tensor {
    let batch = |x: &Tensor| {
        if x.shape().len() == 2 { x.layout().as_batch_of_one() } else { *x.layout() }
    };
    let (left, right) = (batch(a), batch(b));
    let left = View { storage: a.storage(), layout: &left };
    let right = View { storage: b.storage(), layout: &right };
    let rank = a.shape().len();
    let mut shape = *a.layout().shape();
    shape[rank - 1] = b.shape()[rank - 1];
    Tensor::packed(multiply(left, right), &shape)
}

/// c = a · b. Shapes: `(M, K) · (K, N) → (M, N)`. Gradient: da = dc · bᵀ, db = aᵀ · dc, the only
/// products whose shapes fit whatever M, K and N are. Saves each factor that the other one's
/// gradient needs: so not the weights, if the input needs no gradient.
struct MatMul;

impl Op<2> for MatMul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save_if(ctx.needs(1), a);
        ctx.save_if(ctx.needs(0), b);
        product(a, b)
    }

    fn backward(&self, ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
        let da = ctx.needs(0).then(|| dc.matmul(&ctx.saved(1).transpose(0, 1)));
        let db = ctx.needs(1).then(|| ctx.saved(0).transpose(0, 1).matmul(dc));
        [da, db]
    }
}

/// c = a · b for each matrix of a batch. Shapes: `(B, M, K) · (B, K, N) → (B, M, N)`. Gradient: as
/// of one product, matrix by matrix. Saves each factor that the other one's gradient needs.
struct BatchMatMul;

impl Op<2> for BatchMatMul {
    fn name(&self) -> &'static str {
        "bmm"
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save_if(ctx.needs(1), a);
        ctx.save_if(ctx.needs(0), b);
        product(a, b)
    }

    fn backward(&self, ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
        let da = ctx.needs(0).then(|| dc.matmul(&ctx.saved(1).transpose(1, 2)));
        let db = ctx.needs(1).then(|| ctx.saved(0).transpose(1, 2).matmul(dc));
        [da, db]
    }
}
