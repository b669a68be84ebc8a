//! Operations that go by an index tensor.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::dtype::DType;
use crate::ops::autocast::casting;
use crate::ops::{expect_dim, expect_in_range, expect_one_device, refuse};
use crate::shape::Dims;

impl Tensor {
    /// `y[i, j] = x[index[i, j], j]` for `dim` 0, `x[i, index[i, j]]` for `dim` 1, and so on. The
    /// result has the shape of the index.
    ///
    /// # Panics
    /// If an index is negative or too large, or if the index has another rank, or is larger than x
    /// in a dimension other than `dim`.
    #[track_caller]
    pub fn gather(&self, dim: isize, index: &Tensor) -> Tensor {
        expect_one_device("gather", &[self, index]);
        let dim = expect_dim("gather", self, dim);
        check_index("gather", self, dim, index);
        apply(Gather { dim, from: *self.layout().shape() }, [self, index])
    }

    /// A copy of x with `y[index[i, j], j] += src[i, j]` for `dim` 0, and so on. Equal indices add
    /// up, in logical order.
    ///
    /// # Panics
    /// As [`gather`](Tensor::gather), and if the index and `src` differ in shape.
    #[track_caller]
    pub fn scatter_add(&self, dim: isize, index: &Tensor, src: &Tensor) -> Tensor {
        if let Some(cast) = casting("scatter_add", &[self, src]) {
            return cast.of(self).scatter_add(dim, index, &cast.of(src));
        }
        expect_one_device("scatter_add", &[self, index, src]);
        let dim = expect_dim("scatter_add", self, dim);
        check_index("scatter_add", self, dim, index);
        if index.shape() != src.shape() || self.dtype() != src.dtype() {
            let message = "the index and the source must have one shape, and the source x's type";
            let message = message.to_string();
            refuse("scatter_add", &[self, index, src], message);
        }
        apply(ScatterAdd { dim }, [self, index, src])
    }
}

/// Refuses an index that does not stand for elements of x along `dim`.
#[track_caller]
pub(super) fn check_index(op: &'static str, x: &Tensor, dim: usize, index: &Tensor) {
    if index.dtype() != DType::I64 {
        refuse(op, &[x, index], "the index must be i64".to_string());
    }
    let sizes = x.shape().iter().zip(index.shape()).enumerate();
    let too_large = sizes.clone().any(|(d, (have, want))| d != dim && want > have);
    if x.shape().is_empty() || x.shape().len() != index.shape().len() || too_large {
        let message = format!(
            "the index must have as many dimensions, and outside dimension {dim} no more elements"
        );
        refuse(op, &[x, index], message);
    }
    expect_in_range(op, x, dim, index);
}

/// `y[i, j] = x[i, index[i, j]]`. Shapes: x: `(B, C)`, index: `(B, K)` → `(B, K)`.
/// Gradient: dx is dy added up where it was taken from. Saves the index.
struct Gather {
    dim: usize,
    from: Dims,
}

impl Op<2> for Gather {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn forward(&self, ctx: &mut Ctx, [x, index]: [&Tensor; 2]) -> Tensor {
        ctx.save(index);
        let backend = x.device().backend();
        let y = backend.gather(x.view_of(), self.dim, index.view_of());
        Tensor::packed(y, index.shape())
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let zeros = Tensor::full_on(&self.from, 0, dy.dtype(), dy.device());
        [Some(zeros.scatter_add(self.dim as isize, &ctx.saved(0), dy)), None]
    }
}

/// y = x with src added at the indices. Shapes: x: `(B, C)`, index and src: `(B, K)` → `(B, C)`.
/// Gradient: dx = dy, and dsrc is dy gathered at the indices. Saves the index.
struct ScatterAdd {
    dim: usize,
}

impl Op<3> for ScatterAdd {
    fn name(&self) -> &'static str {
        "scatter_add"
    }

    fn forward(&self, ctx: &mut Ctx, [x, index, src]: [&Tensor; 3]) -> Tensor {
        ctx.save_if(ctx.needs(2), index);
        let backend = x.device().backend();
        let y = backend.scatter_add(x.view_of(), self.dim, index.view_of(), src.view_of());
        Tensor::packed(y, x.shape())
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 3] {
        let dsrc = ctx.needs(2).then(|| dy.gather(self.dim as isize, &ctx.saved(0)));
        [Some(dy.clone()), None, dsrc]
    }
}
