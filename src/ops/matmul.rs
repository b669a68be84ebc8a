//! The matrix product.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::ops::{expect_f32, refuse};

impl Tensor {
    /// c = a · b for two matrices.
    ///
    /// # Panics
    /// If they are not matrices, or if a's columns are not as many as b's rows.
    #[track_caller]
    pub fn matmul(&self, other: &Tensor) -> Tensor {
        expect_f32("matmul", &[self, other]);
        match (self.shape(), other.shape()) {
            ([_, k], [rows, _]) if k == rows => apply(MatMul, [self, other]),
            ([_, k], [rows, _]) => {
                let message = format!("the left one has {k} columns and the right one {rows} rows");
                refuse("matmul", &[self, other], message)
            }
            _ => refuse("matmul", &[self, other], "needs two matrices".to_string()),
        }
    }
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
        let shape = [a.shape()[0], b.shape()[1]];
        Tensor::packed(a.device().backend().matmul(a.view_of(), b.view_of()), &shape)
    }

    fn backward(&self, ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
        let da = ctx.needs(0).then(|| dc.matmul(&ctx.saved(1).transpose(0, 1)));
        let db = ctx.needs(1).then(|| ctx.saved(0).transpose(0, 1).matmul(dc));
        [da, db]
    }
}
