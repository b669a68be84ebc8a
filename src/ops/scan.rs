//! What runs along a dimension: running sums and maxima, sorting.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Scan;
use crate::ops::expect_dim;

impl Tensor {
    /// The sum of the elements up to each one along `dim`. Integers and `bool` give `i64`.
    #[track_caller]
    pub fn cumsum(&self, dim: isize) -> Tensor {
        apply(CumSum { dim: expect_dim("cumsum", self, dim) as isize }, [self])
    }

    /// The largest element up to each one along `dim`, and where (`i64`) it is: the last one of
    /// equals; NaN from the first NaN on.
    #[track_caller]
    pub fn cummax(&self, dim: isize) -> (Tensor, Tensor) {
        let dim = expect_dim("cummax", self, dim) as isize;
        picked(Scan::CumMax, self, dim)
    }

    /// The elements in ascending order along `dim`, and where (`i64`) each was; NaN last. Equal
    /// elements keep their order.
    #[track_caller]
    pub fn sort(&self, dim: isize) -> (Tensor, Tensor) {
        let dim = expect_dim("sort", self, dim) as isize;
        picked(Scan::Sort, self, dim)
    }
}

/// The elements at the places that a scan has found. They are gathered, so the gradient is that of
/// a gather.
fn picked(f: Scan, x: &Tensor, dim: isize) -> (Tensor, Tensor) {
    if x.shape().is_empty() {
        return (x.copy(), along(f, x, dim));
    }
    let index = along(f, &x.detach(), dim);
    (x.gather(dim, &index), index)
}

/// Runs the kernel, which works on rows, along any dimension.
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
        [Some(dy.flip(&[self.dim]).cumsum(self.dim).flip(&[self.dim]))]
    }
}
