//! Reductions over dimensions: sum, product, mean, the extremes, and where they are.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::{Reduce, View};
use crate::dtype::DType;
use crate::ops::{expect_dim, expect_floating, refuse};
use crate::shape::Dims;

impl Tensor {
    /// The sum of all elements.
    #[track_caller]
    pub fn sum(&self) -> Tensor {
        self.sum_dims(&[], false)
    }

    /// The sum over `dims`; over all of them if none is named, as in PyTorch. With `keepdim` they
    /// stay with size 1. Integers and `bool` give `i64`; the half types are summed in a wider one
    /// and rounded once.
    ///
    /// # Panics
    /// If a dimension does not exist or is named twice.
    #[track_caller]
    pub fn sum_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        let over = Over::new("sum", self, dims, keepdim);
        apply(Sum { over, from: self.dtype(), to: self.dtype().of_sum() }, [self])
    }

    /// The product over `dims`, which are read as in [`sum_dims`](Tensor::sum_dims).
    #[track_caller]
    pub fn prod_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        apply(Prod(Over::new("prod", self, dims, keepdim)), [self])
    }

    /// The mean of all elements; NaN of none.
    #[track_caller]
    pub fn mean(&self) -> Tensor {
        self.mean_dims(&[], false)
    }

    /// The mean over `dims`, which are read as in [`sum_dims`](Tensor::sum_dims).
    ///
    /// # Panics
    /// If the elements are not floating-point: a mean of integers is none.
    #[track_caller]
    pub fn mean_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        expect_floating("mean", &[self]);
        let over = Over::new("mean", self, dims, keepdim);
        let count = over.count() as i64;
        match self.dtype() {
            // Neither the sum nor the count of 100,000 ones fits an f16, but their mean does.
            DType::F16 | DType::BF16 => {
                let sum = Sum { over, from: self.dtype(), to: DType::F32 };
                apply(sum, [self]).div_scalar(count).to(self.dtype())
            }
            _ => self.sum_dims(dims, keepdim).div_scalar(count),
        }
    }

    /// The maximum over `dims` (PyTorch's `amax`), which are read as in
    /// [`sum_dims`](Tensor::sum_dims). NaN if an element is NaN. Equal maxima share the gradient.
    ///
    /// # Panics
    /// If there is nothing to take the maximum of.
    #[track_caller]
    pub fn max_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        apply(Extreme::new("max", self, dims, keepdim, Reduce::Max), [self])
    }

    /// The minimum over `dims` (PyTorch's `amin`), as [`max_dims`](Tensor::max_dims).
    ///
    /// # Panics
    /// If there is nothing to take the minimum of.
    #[track_caller]
    pub fn min_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        apply(Extreme::new("min", self, dims, keepdim, Reduce::Min), [self])
    }

    /// The index (`i64`) of the largest element along `dim`: the first one of equals, the first
    /// NaN if there is one. It has no gradient.
    ///
    /// # Panics
    /// If the dimension does not exist or is empty.
    #[track_caller]
    pub fn argmax(&self, dim: isize) -> Tensor {
        self.place_of("argmax", Reduce::Max, dim)
    }

    /// The index (`i64`) of the smallest element along `dim`, as [`argmax`](Tensor::argmax).
    ///
    /// # Panics
    /// If the dimension does not exist or is empty.
    #[track_caller]
    pub fn argmin(&self, dim: isize) -> Tensor {
        self.place_of("argmin", Reduce::Min, dim)
    }

    #[track_caller]
    fn place_of(&self, op: &'static str, f: Reduce, dim: isize) -> Tensor {
        let dim = expect_dim(op, self, dim);
        if self.shape().get(dim) == Some(&0) {
            refuse(op, &[self], "there are no elements along an empty dimension".to_string());
        }
        let mut order: Vec<usize> = (0..self.shape().len()).filter(|&other| other != dim).collect();
        let outer = order.len();
        order.extend((dim < self.shape().len()).then_some(dim));
        let rows = self.layout().permute(&order);
        let x = View { storage: self.storage(), layout: &rows };
        Tensor::packed(self.device().backend().arg_reduce(f, x), &rows.shape()[..outer])
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

    fn reduce(&self, f: Reduce, x: &Tensor, to: DType) -> Tensor {
        Tensor::packed(x.device().backend().reduce(f, x.view_of(), &self.dims, to), &self.to)
    }

    /// A tensor of the result's shape, repeated to the input's.
    fn repeat(&self, y: &Tensor) -> Tensor {
        y.reshape(&self.kept).expand(&self.from)
    }
}

/// y = Σ x over some dimensions. Shapes: `(B, T, C) → (B, C)` for T.
/// Gradient: each summand counts once, so dx repeats dy. Saves nothing.
struct Sum {
    over: Over,
    from: DType,
    to: DType,
}

impl Op<1> for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        self.over.reduce(Reduce::Sum, x, self.to)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(self.over.repeat(&dy.to(self.from)))]
    }
}

/// y = Π x over some dimensions. Shapes: `(B, T, C) → (B, C)` for T. Gradient: dx = dy · the
/// product of the others, which is y / x where no element is 0, the product of the rest at the only
/// 0, and 0 everywhere else. Saves x.
struct Prod(Over);

impl Op<1> for Prod {
    fn name(&self) -> &'static str {
        "prod"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        self.0.reduce(Reduce::Prod, x, x.dtype().of_sum())
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let x = ctx.saved(0);
        let number = |value: i32, dtype| Tensor::full_on(&[], value, dtype, x.device());
        let zero = number(0, x.dtype());
        let is_zero = x.eq(&zero);
        let zeros = self.0.repeat(&self.0.reduce(Reduce::Sum, &is_zero, DType::I64));
        let nonzero = x.masked_fill(&is_zero, 1);
        let rest = self.0.repeat(&self.0.reduce(Reduce::Prod, &nonzero, x.dtype()));
        let only = zeros.eq(&number(1, DType::I64)).mul(&is_zero);
        let none = zeros.eq(&number(0, DType::I64));
        let others = Tensor::where_cond(&none, &rest.div(&nonzero), &zero);
        let others = Tensor::where_cond(&only, &rest, &others);
        [Some(others.mul(&self.0.repeat(dy)))]
    }
}

/// y = max x or min x over some dimensions. Shapes: `(B, T, C) → (B, C)` for T. Gradient: dy goes
/// to the extreme element, in equal parts to equal ones, as in PyTorch's `amax`. Saves x and y.
struct Extreme {
    over: Over,
    f: Reduce,
}

impl Extreme {
    #[track_caller]
    fn new(name: &'static str, x: &Tensor, dims: &[isize], keepdim: bool, f: Reduce) -> Extreme {
        let over = Over::new(name, x, dims, keepdim);
        if over.count() == 0 {
            refuse(name, &[x], format!("the {name}imum of no elements does not exist"));
        }
        Extreme { over, f }
    }
}

impl Op<1> for Extreme {
    fn name(&self) -> &'static str {
        match self.f {
            Reduce::Max => "max",
            _ => "min",
        }
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = self.over.reduce(self.f, x, x.dtype());
        ctx.save(x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let is_extreme = ctx.saved(0).eq(&self.over.repeat(&ctx.saved(1)));
        let ties = self.over.reduce(Reduce::Sum, &is_extreme, DType::I64);
        // 100,000 ties are too many for an f16, though each one's share is not too small for it.
        let wide = DType::promote(dy.dtype(), DType::F32);
        let share = dy.to(wide).div(&ties.to(wide)).to(dy.dtype());
        [Some(is_extreme.to(dy.dtype()).mul(&self.over.repeat(&share)))]
    }
}
