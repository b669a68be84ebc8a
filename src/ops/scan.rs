//! What runs along a dimension: running sums, products and extremes, sorting.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Scan;
use crate::dtype::DType;
use crate::ops::autocast::casting;
use crate::ops::expect_dim;
use crate::profiler;

impl Tensor {
    /// The sum of the elements up to each one along `dim`. Integers and `bool` give `i64`.
    #[track_caller]
    pub fn cumsum(&self, dim: isize) -> Tensor {
        if let Some(cast) = casting("cumsum", &[self]) {
            return cast.of(self).cumsum(dim);
        }
        apply(CumSum { dim: expect_dim("cumsum", self, dim) as isize }, [self])
    }

    /// The product of the elements up to each one along `dim`. Integers and `bool` give `i64`.
    #[track_caller]
    pub fn cumprod(&self, dim: isize) -> Tensor {
        if let Some(cast) = casting("cumprod", &[self]) {
            return cast.of(self).cumprod(dim);
        }
        apply(CumProd { dim: expect_dim("cumprod", self, dim) as isize }, [self])
    }

    /// The largest element up to each one along `dim`, and where (`i64`) it is: the last one of
    /// equals; NaN from the first NaN on.
    #[track_caller]
    pub fn cummax(&self, dim: isize) -> (Tensor, Tensor) {
        let dim = expect_dim("cummax", self, dim) as isize;
        picked("cummax", Scan::CumMax, self, dim)
    }

    /// The smallest element up to each one along `dim`, and where (`i64`) it is, as
    /// [`cummax`](Tensor::cummax).
    #[track_caller]
    pub fn cummin(&self, dim: isize) -> (Tensor, Tensor) {
        let dim = expect_dim("cummin", self, dim) as isize;
        picked("cummin", Scan::CumMin, self, dim)
    }

    /// The elements in ascending order along `dim`, and where (`i64`) each was; NaN last. Equal
    /// elements keep their order.
    #[track_caller]
    pub fn sort(&self, dim: isize) -> (Tensor, Tensor) {
        let dim = expect_dim("sort", self, dim) as isize;
        picked("sort", Scan::Sort, self, dim)
    }
}

/// The elements at the places that a scan has found. They are gathered, so the gradient is that of
/// a gather.
#[track_caller]
fn picked(op: &'static str, f: Scan, x: &Tensor, dim: isize) -> (Tensor, Tensor) {
    let _span = profiler::unrecorded(op);
    if x.shape().is_empty() {
        return (x.copy(), along(f, x, dim));
    }
    let index = along(f, &x.detach(), dim);
    (x.gather(dim, &index), index)
}

/// Runs the kernel, which works on rows, along any dimension.
#[track_caller]
fn along(f: Scan, x: &Tensor, dim: isize) -> Tensor {
    let rows = x.transpose(dim, -1);
    let y = Tensor::packed(rows.device().backend().scan(f, rows.view_of()), rows.shape());
    y.transpose(dim, -1).contiguous()
}

/// y = the sum of x up to each element along a dimension. Shapes: any → the same. Gradient: x
/// counts in its own sum and all later ones, so dx is the running sum of dy from the other end.
/// Saves nothing.
struct CumSum {
    dim: isize,
}

impl Op<1> for CumSum {
    fn name(&self) -> &'static str {
        "cumsum"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        along(Scan::CumSum, x, self.dim)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(sum_from_here_on(dy, self.dim))]
    }
}

/// The running sum from the other end.
fn sum_from_here_on(x: &Tensor, dim: isize) -> Tensor {
    x.flip(&[dim]).cumsum(dim).flip(&[dim])
}

/// y = the product of x up to each element along a dimension. Shapes: any → the same. Gradient: x
/// is a factor of its own product and all later ones, so dx is the sum of dy · y from it on,
/// divided by x. At the first 0 along the dimension the products count without that factor; behind
/// it dx is 0. Saves x and y.
struct CumProd {
    dim: isize,
}

impl Op<1> for CumProd {
    fn name(&self) -> &'static str {
        "cumprod"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = along(Scan::CumProd, x, self.dim);
        ctx.save(x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let (x, y) = (ctx.saved(0), ctx.saved(1));
        let number = |value: i32, dtype| Tensor::full_on(&[], value, dtype, x.device());
        let is_zero = x.eq(&number(0, x.dtype()));
        let nonzero = x.masked_fill(&is_zero, 1);
        let dx = sum_from_here_on(&dy.mul(&y), self.dim).div(&nonzero).masked_fill(&is_zero, 0);
        if !is_zero.any().item_as::<bool>() {
            return [Some(dx)];
        }
        let zeros = is_zero.cumsum(self.dim);
        let first = zeros.eq(&number(1, DType::I64)).mul(&is_zero);
        let without = x.masked_fill(&first, 1).cumprod(self.dim);
        let at_first = sum_from_here_on(&dy.mul(&without), self.dim);
        [Some(Tensor::where_cond(&first, &at_first, &dx))]
    }
}
