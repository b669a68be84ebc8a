//! Whole slices of a dimension by a list of their numbers: picked, and added to.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::dtype::DType;
use crate::ops::{expect_dim, expect_in_range, expect_one_device, refuse};

impl Tensor {
    /// The slices of a dimension that a list (`i64`, one dimension) names, in its order. Always a
    /// copy.
    ///
    /// # Panics
    /// If an index is negative or too large, or the list has not one dimension.
    #[track_caller]
    pub fn index_select(&self, dim: isize, index: &Tensor) -> Tensor {
        let dim = expect_list("index_select", self, dim, index);
        expect_in_range("index_select", self, dim, index);
        self.slices(dim, index)
    }

    /// A copy of x with the slices of `src` added to those that a list (`i64`) names.
    ///
    /// # Panics
    /// If the shapes or types do not fit, or an index is out of range.
    #[track_caller]
    pub fn index_add(&self, dim: isize, index: &Tensor, src: &Tensor) -> Tensor {
        let dim = expect_list("index_add", self, dim, index);
        let mut expected = self.shape().to_vec();
        expected[dim] = index.numel();
        if src.shape() != expected || src.dtype() != self.dtype() {
            let message = format!(
                "needs a source {} {expected:?}: a slice for each index of the list",
                self.dtype()
            );
            refuse("index_add", &[self, index, src], message);
        }
        expect_in_range("index_add", self, dim, index);
        self.with_added(dim, index, src)
    }

    /// As [`index_select`](Tensor::index_select) with a list that has been checked.
    #[track_caller]
    pub(super) fn slices(&self, dim: usize, index: &Tensor) -> Tensor {
        apply(IndexSelect { dim, size: self.shape()[dim] }, [self, index])
    }

    /// As [`index_add`](Tensor::index_add) with a list that has been checked.
    #[track_caller]
    fn with_added(&self, dim: usize, index: &Tensor, src: &Tensor) -> Tensor {
        apply(IndexAdd { dim }, [self, index, src])
    }
}

#[track_caller]
fn expect_list(op: &'static str, x: &Tensor, dim: isize, index: &Tensor) -> usize {
    expect_one_device(op, &[x, index]);
    let dim = expect_dim(op, x, dim);
    if x.shape().is_empty() || index.shape().len() != 1 || index.dtype() != DType::I64 {
        let message = "needs a dimension and a list of i64 indices, with one dimension";
        refuse(op, &[x, index], message.to_string());
    }
    dim
}

/// y = the slices of x that the index names. Shapes: x: `(B, T, C)`, index: `(K)` → `(K, T, C)`,
/// or K in the place of the dimension. Gradient: dx = 0 with each slice of dy added where it came
/// from. Saves the index.
struct IndexSelect {
    dim: usize,
    size: usize,
}

impl Op<2> for IndexSelect {
    fn name(&self) -> &'static str {
        "index_select"
    }

    fn forward(&self, ctx: &mut Ctx, [x, index]: [&Tensor; 2]) -> Tensor {
        ctx.save(index);
        let x = to_front(x, self.dim);
        let y = x.device().backend().index_select(x.view_of(), index.view_of());
        let shape = [index.shape(), &x.shape()[1..]].concat();
        to_front(&Tensor::packed(y, &shape), self.dim).contiguous_for("index_select")
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let mut shape = dy.shape().to_vec();
        shape[self.dim] = self.size;
        // Read as often as there are elements, and written nowhere.
        let zeros = Tensor::full_on(&[], 0, dy.dtype(), dy.device()).expand(&shape);
        [Some(zeros.with_added(self.dim, &ctx.saved(0), dy)), None]
    }
}

/// y = x with slices added. Shapes: x: `(V, C)`, index: `(K)`, src: `(K, C)` → `(V, C)`. Gradient:
/// dx = dy, dsrc = the slices of dy that the index names. Saves the index.
struct IndexAdd {
    dim: usize,
}

impl Op<3> for IndexAdd {
    fn name(&self) -> &'static str {
        "index_add"
    }

    fn forward(&self, ctx: &mut Ctx, [x, index, src]: [&Tensor; 3]) -> Tensor {
        ctx.save_if(ctx.needs(2), index);
        let (x, src) = (to_front(x, self.dim), to_front(src, self.dim));
        let backend = x.device().backend();
        let y = backend.index_add(x.view_of(), index.view_of(), src.view_of());
        to_front(&Tensor::packed(y, x.shape()), self.dim).contiguous_for("index_add")
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 3] {
        let dsrc = ctx.needs(2).then(|| dy.slices(self.dim, &ctx.saved(0)));
        [Some(dy.clone()), None, dsrc]
    }
}

/// x with a dimension and the first one exchanged; a second time undoes it.
fn to_front(x: &Tensor, dim: usize) -> Tensor {
    if dim == 0 { x.clone() } else { x.transpose(0, dim as isize) }
}
