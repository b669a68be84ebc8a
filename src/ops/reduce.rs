//! Reductions over dimensions: sum, mean, the maximum, and where it is.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::{Binary, Reduce, View};
use crate::ops::binary::binary;
use crate::ops::{expect_dim, expect_f32, refuse};
use crate::shape::Dims;

impl Tensor {
    /// The sum of all elements.
    #[track_caller]
    pub fn sum(&self) -> Tensor {
        self.sum_dims(&[], false)
    }

    /// The sum over `dims`; over all of them if none is named, as in PyTorch. With `keepdim` they
    /// stay with size 1.
    ///
    /// # Panics
    /// If a dimension does not exist or is named twice.
    #[track_caller]
    pub fn sum_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        expect_f32("sum", &[self]);
        apply(Sum(Over::new("sum", self, dims, keepdim)), [self])
    }

    /// The mean of all elements; NaN of none.
    #[track_caller]
    pub fn mean(&self) -> Tensor {
        self.mean_dims(&[], false)
    }

    /// The mean over `dims`, which are read as in [`sum_dims`](Tensor::sum_dims).
    #[track_caller]
    pub fn mean_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        expect_f32("mean", &[self]);
        let over = Over::new("mean", self, dims, keepdim);
        self.sum_dims(dims, keepdim).mul_scalar(1.0 / over.count() as f32)
    }

    /// The maximum over `dims` (PyTorch's `amax`), which are read as in
    /// [`sum_dims`](Tensor::sum_dims). NaN if an element is NaN. Equal maxima share the gradient.
    ///
    /// # Panics
    /// If there is nothing to take the maximum of.
    #[track_caller]
    pub fn max_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        expect_f32("max", &[self]);
        let over = Over::new("max", self, dims, keepdim);
        if over.count() == 0 {
            refuse("max", &[self], "the maximum of no elements does not exist".to_string());
        }
        apply(Max(over), [self])
    }

    /// The index (`i64`) of the largest element along `dim`: the first one of equals, the first
    /// NaN if there is one. It has no gradient.
    ///
    /// # Panics
    /// If the dimension does not exist or is empty.
    #[track_caller]
    pub fn argmax(&self, dim: isize) -> Tensor {
        expect_f32("argmax", &[self]);
        let dim = expect_dim("argmax", self, dim);
        if self.shape().get(dim) == Some(&0) {
            refuse("argmax", &[self], "the maximum of no elements does not exist".to_string());
        }
        let mut order: Vec<usize> = (0..self.shape().len()).filter(|&other| other != dim).collect();
        let outer = order.len();
        order.extend((dim < self.shape().len()).then_some(dim));
        let rows = self.layout().permute(&order);
        let x = View { storage: self.storage(), layout: &rows };
        Tensor::packed(self.device().backend().argmax(x), &rows.shape()[..outer])
    }
}

/// Which dimensions a reduction runs over, and what is left.
struct Over {
    /// For each dimension of the input, whether it is reduced.
    dims: Vec<bool>,
    from: Dims,
    /// The input's shape with 1 in each reduced dimension.
    kept: Dims,
    /// The result's shape.
    to: Dims,
}

impl Over {
    #[track_caller]
    fn new(op: &'static str, x: &Tensor, dims: &[isize], keepdim: bool) -> Over {
        let from = *x.layout().shape();
        let mut over = vec![dims.is_empty(); from.len()];
        for &dim in dims {
            let dim = expect_dim(op, x, dim);
            // A tensor without dimensions may be reduced over its only, imaginary one.
            if let Some(seen) = over.get_mut(dim)
                && std::mem::replace(seen, true)
            {
                refuse(op, &[x], format!("dimension {dim} is named twice"));
            }
        }
        let mut kept = from;
        for (size, _) in kept.iter_mut().zip(&over).filter(|(_, over)| **over) {
            *size = 1;
        }
        let rest = x.layout().split(|dim| over[dim]).0;
        Over { dims: over, from, kept, to: if keepdim { kept } else { *rest.shape() } }
    }

    /// How many elements become one.
    fn count(&self) -> usize {
        let reduced = self.from.iter().zip(&self.dims).filter(|(_, over)| **over);
        reduced.map(|(size, _)| size).product()
    }

    fn reduce(&self, f: Reduce, x: &Tensor) -> Tensor {
        Tensor::packed(x.device().backend().reduce(f, x.view_of(), &self.dims), &self.to)
    }

    /// A tensor of the result's shape, repeated to the input's.
    fn repeat(&self, y: &Tensor) -> Tensor {
        y.reshape(&self.kept).expand(&self.from)
    }
}

/// y = Σ x over some dimensions. Shapes: `(B, T, C) → (B, C)` for T.
/// Gradient: each summand counts once, so dx repeats dy. Saves nothing.
struct Sum(Over);

impl Op<1> for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        self.0.reduce(Reduce::Sum, x)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(self.0.repeat(dy))]
    }
}

/// y = max x over some dimensions. Shapes: `(B, T, C) → (B, C)` for T. Gradient: dy goes to the
/// maximum, in equal parts to equal maxima, as in PyTorch's `amax`. Saves x and y.
struct Max(Over);

impl Op<1> for Max {
    fn name(&self) -> &'static str {
        "max"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = self.0.reduce(Reduce::Max, x);
        ctx.save(x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let is_max = binary(Binary::Eq, &ctx.saved(0), &self.0.repeat(&ctx.saved(1)));
        let ties = self.0.reduce(Reduce::Sum, &is_max);
        [Some(is_max.mul(&self.0.repeat(&dy.div(&ties))))]
    }
}
