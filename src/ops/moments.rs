//! Reductions that are more than a sum: variance, norms, and the logarithm of a sum of
//! exponentials.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Reduce;
use crate::ops::autocast::casting;
use crate::ops::reduce::Over;
use crate::ops::{expect_floating, floating, refuse};

impl Tensor {
    /// The variance of all elements, Σ (x − mean)² / (n − 1); NaN of less than two.
    #[track_caller]
    pub fn var(&self) -> Tensor {
        self.var_dims(&[], false, 1)
    }

    /// The variance over `dims`, Σ (x − mean)² / (n − correction). A correction of 1 gives an
    /// estimate without bias, 0 the mean square. The dimensions are read as in
    /// [`sum_dims`](Tensor::sum_dims).
    ///
    /// # Panics
    /// If the elements are not floating-point.
    #[track_caller]
    pub fn var_dims(&self, dims: &[isize], keepdim: bool, correction: i64) -> Tensor {
        expect_floating("var", &[self]);
        let over = Over::new("var", self, dims, keepdim);
        apply(Spread { over, correction, root: false }, [self])
    }

    /// The standard deviation of all elements: the root of [`var`](Tensor::var).
    #[track_caller]
    pub fn std(&self) -> Tensor {
        self.std_dims(&[], false, 1)
    }

    /// The standard deviation over `dims`: the root of [`var_dims`](Tensor::var_dims). Its gradient
    /// at 0 is 0, as in PyTorch.
    ///
    /// # Panics
    /// If the elements are not floating-point.
    #[track_caller]
    pub fn std_dims(&self, dims: &[isize], keepdim: bool, correction: i64) -> Tensor {
        expect_floating("std", &[self]);
        let over = Over::new("std", self, dims, keepdim);
        apply(Spread { over, correction, root: true }, [self])
    }

    /// [`var_dims`](Tensor::var_dims) and [`mean_dims`](Tensor::mean_dims).
    ///
    /// # Panics
    /// If the elements are not floating-point.
    #[track_caller]
    pub fn var_mean(&self, dims: &[isize], keepdim: bool, correction: i64) -> (Tensor, Tensor) {
        (self.var_dims(dims, keepdim, correction), self.mean_dims(dims, keepdim))
    }

    /// The p-norm of all elements, for a p of 1, 2 or infinity.
    #[track_caller]
    pub fn norm(&self, p: f64) -> Tensor {
        self.norm_dims(p, &[], false)
    }

    /// The p-norm over `dims`: Σ |x| for p = 1, √Σ x² for 2, max |x| for infinity. The gradient of
    /// the 2-norm at 0, where it has a corner, is 0. The dimensions are read as in
    /// [`sum_dims`](Tensor::sum_dims).
    ///
    /// # Panics
    /// For another p, if the elements are not floating-point, or if the maximum is of none.
    #[track_caller]
    pub fn norm_dims(&self, p: f64, dims: &[isize], keepdim: bool) -> Tensor {
        if let Some(cast) = casting("norm", &[self]) {
            return cast.of(self).norm_dims(p, dims, keepdim);
        }
        expect_floating("norm", &[self]);
        let over = Over::new("norm", self, dims, keepdim);
        let f = match p {
            1.0 => Reduce::Norm1,
            2.0 => Reduce::Norm2,
            f64::INFINITY => Reduce::NormInf,
            _ => refuse("norm", &[self], format!("p is 1, 2 or infinity here, and not {p}")),
        };
        if f == Reduce::NormInf && over.count() == 0 {
            refuse("norm", &[self], "the maximum of no elements does not exist".to_string());
        }
        apply(Norm { over, f }, [self])
    }

    /// ln Σ eˣ over `dims`, which are read as in [`sum_dims`](Tensor::sum_dims), without overflow
    /// on the way; −∞ of none. Integers give `f32`.
    #[track_caller]
    pub fn logsumexp(&self, dims: &[isize], keepdim: bool) -> Tensor {
        if let Some(cast) = casting("logsumexp", &[self]) {
            return cast.of(self).logsumexp(dims, keepdim);
        }
        apply(LogSumExp(Over::new("logsumexp", self, dims, keepdim)), [&floating(self)])
    }
}

/// y = Σ (x − mean)² / (n − correction) over some dimensions, or the root of it. Shapes:
/// `(B, T, C) → (B, C)` for T. Gradient: dx = 2 · (x − mean) / (n − correction) · dy; of the root
/// s, (x − mean) / (n − correction) / s · dy, and 0 where s = 0. Saves x, and the root.
struct Spread {
    over: Over,
    correction: i64,
    root: bool,
}

impl Spread {
    fn divisor(&self) -> f64 {
        (self.over.count() as f64 - self.correction as f64).max(0.0)
    }
}

impl Op<1> for Spread {
    fn name(&self) -> &'static str {
        match self.root {
            true => "std",
            false => "var",
        }
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let backend = x.device().backend();
        let y = backend.variance(x.view_of(), self.over.dims(), self.divisor(), self.root);
        let y = Tensor::packed(y, self.over.to());
        ctx.save(x);
        ctx.save_if(self.root, &y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let x = ctx.saved(0);
        let deviation = x.sub(&x.mean_dims(&self.over.named(), true));
        let slope = match self.root {
            false => dy.mul_scalar(2.0 / self.divisor()),
            true => {
                let y = ctx.saved(1);
                let slope = dy.div(&y).div_scalar(self.divisor());
                slope.masked_fill(&y.eq(&zero_like(&y)), 0)
            }
        };
        [Some(deviation.mul(&self.over.repeat(&slope)))]
    }
}

/// 0 of x's type, without dimensions.
fn zero_like(x: &Tensor) -> Tensor {
    Tensor::full_on(&[], 0, x.dtype(), x.device())
}

/// y = Σ |x|, √Σ x² or max |x| over some dimensions. Shapes: `(B, T, C) → (B, C)` for T. Gradient:
/// dx = sign(x) · dy; x / y · dy, and 0 where y = 0; sign(x) · dy in equal parts for the elements
/// with the largest |x|. Saves x, and y where the gradient needs it.
struct Norm {
    over: Over,
    f: Reduce,
}

impl Op<1> for Norm {
    fn name(&self) -> &'static str {
        "norm"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = self.over.reduce(self.f, x, x.dtype());
        ctx.save(x);
        ctx.save_if(self.f != Reduce::Norm1, &y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let x = ctx.saved(0);
        let dx = match self.f {
            Reduce::Norm1 => x.sign().mul(&self.over.repeat(dy)),
            Reduce::Norm2 => {
                let y = ctx.saved(1);
                let is_zero = self.over.repeat(&y.eq(&zero_like(&y)));
                let direction = x.div(&self.over.repeat(&y)).masked_fill(&is_zero, 0);
                direction.mul(&self.over.repeat(dy))
            }
            _ => {
                let largest = self.over.repeat(&ctx.saved(1));
                // NaN is not equal to itself, and counts as the largest.
                let is_largest = x.abs().eq(&largest).add(&x.ne(&x));
                x.sign().mul(&self.over.share(&is_largest, dy))
            }
        };
        [Some(dx)]
    }
}

/// y = ln Σ eˣ over some dimensions. Shapes: `(B, T, C) → (B, C)` for T. Gradient: dx = softmax(x)
/// · dy, where the softmax is exp(x − y); NaN where both are infinite, as in PyTorch. Saves x and
/// y.
struct LogSumExp(Over);

impl Op<1> for LogSumExp {
    fn name(&self) -> &'static str {
        "logsumexp"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = x.device().backend().logsumexp(x.view_of(), self.0.dims());
        let y = Tensor::packed(y, self.0.to());
        ctx.save(x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let (x, y) = (ctx.saved(0), ctx.saved(1));
        let shares = x.sub(&self.0.repeat(&y)).exp();
        [Some(shares.mul(&self.0.repeat(dy)))]
    }
}
