//! The linear layer's product.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::dtype::DType;
use crate::layout::Layout;
use crate::ops::autocast::casting;
use crate::ops::matmul::product;
use crate::ops::{expect_one_device, refuse};

impl Tensor {
    /// y = x · wᵀ + b: a weight `(O, I)` makes `(.., O)` of `(.., I)`. The half types are
    /// multiplied in `f32` and rounded; the sum with the bias is rounded again.
    ///
    /// # Panics
    /// If the shapes do not fit, if the types differ, or if they are `bool`.
    #[track_caller]
    pub fn linear(&self, weight: &Tensor, bias: Option<&Tensor>) -> Tensor {
        if let Some(cast) = casting("linear", &[self, weight, bias.unwrap_or(weight)]) {
            return cast.of(self).linear(&cast.of(weight), cast.of_some(bias).as_ref());
        }
        check(self, weight, bias);
        match bias {
            Some(bias) => apply(Linear, [self, weight, bias]),
            None => apply(Linear, [self, weight]),
        }
    }
}

#[track_caller]
fn check(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) {
    let operands: Vec<&Tensor> = [x, weight].into_iter().chain(bias).collect();
    expect_one_device("linear", &operands);
    let dtype = x.dtype();
    if dtype == DType::Bool || operands.iter().any(|operand| operand.dtype() != dtype) {
        let message = "needs operands of one type, and not bool; convert one with to()";
        refuse("linear", &operands, message.to_string());
    }
    let &[outputs, inputs] = weight.shape() else {
        refuse("linear", &operands, "the weight must have two dimensions, (out, in)".to_string())
    };
    if x.shape().last() != Some(&inputs) {
        let message = format!("the last dimension of x must be {inputs}, as the weight's");
        refuse("linear", &operands, message);
    }
    if bias.is_some_and(|bias| bias.shape() != [outputs]) {
        refuse("linear", &operands, format!("the bias must be [{outputs}], one for each output"));
    }
}

/// y = x · wᵀ + b; b, the third input, may be missing. Shapes: x: `(.., I)`, w: `(O, I)`, b: `(O)`
/// → `(.., O)`. Gradient: dx = dy · w; over all rows, dw = dyᵀ · x and db = Σ dy. Saves x if w
/// needs a gradient, and w if x does; not y, so that the bias can be added to it in place.
struct Linear;

impl<const N: usize> Op<N> for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn forward(&self, ctx: &mut Ctx, inputs: [&Tensor; N]) -> Tensor {
        let (x, weight) = (inputs[0], inputs[1]);
        ctx.save_if(ctx.needs(1), x);
        ctx.save_if(ctx.needs(0), weight);
        let y = product(&rows(x), &weight.transpose(0, 1));
        if let Some(bias) = inputs.get(2) {
            let bias = bias.expand(y.shape());
            y.device().backend().add_in_place(y.view_of(), bias.view_of(), 1.into());
        }
        y.with_layout(Layout::contiguous(&with_last(x, weight.shape()[0])))
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; N] {
        let dy_rows = rows(dy);
        std::array::from_fn(|i| {
            let gradient = || match i {
                0 => {
                    let weight = ctx.saved(1);
                    dy_rows.matmul(&weight).reshape(&with_last(dy, weight.shape()[1]))
                }
                1 => dy_rows.transpose(0, 1).matmul(&rows(&ctx.saved(0))),
                _ => dy_rows.sum_dims(&[0], false),
            };
            ctx.needs(i).then(gradient)
        })
    }
}

/// All dimensions but the last as one.
fn rows(x: &Tensor) -> Tensor {
    let (outer, inner) = x.shape().split_at(x.shape().len() - 1);
    if outer.len() == 1 { x.clone() } else { x.reshape(&[outer.iter().product(), inner[0]]) }
}

/// The shape of x with another last dimension.
fn with_last(x: &Tensor, size: usize) -> Vec<usize> {
    [&x.shape()[..x.shape().len() - 1], &[size]].concat()
}
