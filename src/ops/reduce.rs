//! Reductions over dimensions: sum, product and mean, and how many elements hold.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Reduce;
use crate::dtype::DType;
use crate::ops::autocast::casting;
use crate::ops::{expect_dim, expect_floating, refuse};
use crate::profiler;
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
        if let Some(cast) = casting("sum", &[self]) {
            return cast.of(self).sum_dims(dims, keepdim);
        }
        let over = Over::new("sum", self, dims, keepdim);
        apply(Sum { over, from: self.dtype(), to: self.dtype().of_sum() }, [self])
    }

    /// The product of all elements.
    #[track_caller]
    pub fn prod(&self) -> Tensor {
        self.prod_dims(&[], false)
    }

    /// The product over `dims`, which are read as in [`sum_dims`](Tensor::sum_dims).
    #[track_caller]
    pub fn prod_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        if let Some(cast) = casting("prod", &[self]) {
            return cast.of(self).prod_dims(dims, keepdim);
        }
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

    /// Whether any element is not 0; false of none. NaN is not 0.
    #[track_caller]
    pub fn any(&self) -> Tensor {
        self.any_dims(&[], false)
    }

    /// Whether any element over `dims` is not 0, as `bool`; of `u8`, as `u8`, as in PyTorch. The
    /// dimensions are read as in [`sum_dims`](Tensor::sum_dims).
    #[track_caller]
    pub fn any_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        let over = Over::new("any", self, dims, keepdim);
        let _span = profiler::unrecorded("any");
        over.truth(Reduce::Sum, self)
    }

    /// Whether every element is not 0; true of none. NaN is not 0.
    #[track_caller]
    pub fn all(&self) -> Tensor {
        self.all_dims(&[], false)
    }

    /// Whether every element over `dims` is not 0, of the type that
    /// [`any_dims`](Tensor::any_dims) gives.
    #[track_caller]
    pub fn all_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        let over = Over::new("all", self, dims, keepdim);
        let _span = profiler::unrecorded("all");
        over.truth(Reduce::Prod, self)
    }

    /// How many elements over `dims` are not 0, as `i64`. The dimensions are read as in
    /// [`sum_dims`](Tensor::sum_dims).
    #[track_caller]
    pub fn count_nonzero(&self, dims: &[isize]) -> Tensor {
        let over = Over::new("count_nonzero", self, dims, false);
        let _span = profiler::unrecorded("count_nonzero");
        over.reduce(Reduce::Sum, &is_nonzero(self), DType::I64)
    }
}

/// Where x is not 0.
#[track_caller]
fn is_nonzero(x: &Tensor) -> Tensor {
    x.detach().ne(&Tensor::full_on(&[], 0, x.dtype(), x.device()))
}

/// Which dimensions a reduction runs over, and what is left.
pub(super) struct Over {
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
    pub(super) fn new(op: &'static str, x: &Tensor, dims: &[isize], keepdim: bool) -> Over {
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
    pub(super) fn count(&self) -> usize {
        let reduced = self.from.iter().zip(&self.dims).filter(|(_, over)| **over);
        reduced.map(|(size, _)| size).product()
    }

    pub(super) fn reduce(&self, f: Reduce, x: &Tensor, to: DType) -> Tensor {
        Tensor::packed(x.device().backend().reduce(f, x.view_of(), &self.dims, to), &self.to)
    }

    /// The sum or the product of what is 1 where x is not 0: "or" and "and".
    #[track_caller]
    fn truth(&self, f: Reduce, x: &Tensor) -> Tensor {
        let holds = self.reduce(f, &is_nonzero(x), DType::Bool);
        if x.dtype() == DType::U8 { holds.to(DType::U8) } else { holds }
    }

    /// The reduced dimensions, as a public method takes them; of a tensor without any, none.
    pub(super) fn named(&self) -> Vec<isize> {
        (0..self.dims.len()).filter(|&dim| self.dims[dim]).map(|dim| dim as isize).collect()
    }

    /// For each dimension, whether it is reduced.
    pub(super) fn dims(&self) -> &[bool] {
        &self.dims
    }

    /// The result's shape.
    pub(super) fn to(&self) -> &[usize] {
        &self.to
    }

    /// dy in equal parts to the elements for which `takes` holds, and 0 to the others.
    pub(super) fn share(&self, takes: &Tensor, dy: &Tensor) -> Tensor {
        let ties = self.reduce(Reduce::Sum, takes, DType::I64);
        // 100,000 ties are too many for an f16, though each one's share is not too small for it.
        let wide = DType::promote(dy.dtype(), DType::F32);
        let share = dy.to(wide).div(&ties.to(wide)).to(dy.dtype());
        takes.to(dy.dtype()).mul(&self.repeat(&share))
    }

    /// A tensor of the result's shape, repeated to the input's.
    pub(super) fn repeat(&self, y: &Tensor) -> Tensor {
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
/// product of the others: y / x where x is not 0, the product of the rest at the only 0, and 0
/// where there are more. Saves x and y.
struct Prod(Over);

impl Op<1> for Prod {
    fn name(&self) -> &'static str {
        "prod"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = self.0.reduce(Reduce::Prod, x, x.dtype().of_sum());
        ctx.save(x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let (x, y) = (ctx.saved(0), ctx.saved(1));
        let number = |value: i32, dtype| Tensor::full_on(&[], value, dtype, x.device());
        let is_zero = x.eq(&number(0, x.dtype()));
        let zeros = self.0.repeat(&self.0.reduce(Reduce::Sum, &is_zero, DType::I64));
        let only = zeros.eq(&number(1, DType::I64)).mul(&is_zero);
        let nonzero = x.masked_fill(&is_zero, 1);
        let rest = self.0.repeat(&nonzero.prod_dims(&self.0.named(), true));
        // Where there is a 0, y / x is 0 too. Its own gradient still knows the zero's factor.
        let others = self.0.repeat(&y).div(&nonzero).masked_fill(&is_zero, 0);
        [Some(Tensor::where_cond(&only, &rest, &others).mul(&self.0.repeat(dy)))]
    }
}
