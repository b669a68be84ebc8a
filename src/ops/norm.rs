//! Layer normalisation and RMSNorm: one kernel for each pass. A backward pass that is
//! recorded is made of operations instead.
//!
//! Sources: J. L. Ba et al., "Layer Normalization", 2016; B. Zhang and R. Sennrich, "Root Mean
//! Square Layer Normalization", 2019.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply, is_grad_enabled};
use crate::dtype::DType;
use crate::ops::autocast::casting;
use crate::ops::{expect_floating, expect_one_device, refuse};

impl Tensor {
    /// (x − mean) / √(variance + ε) · weight + bias, where mean and variance are taken over the
    /// last dimensions, whose sizes `normalized_shape` repeats; weight and bias have just these. ε
    /// is usually 1e-5.
    ///
    /// # Panics
    /// If the shapes or the types do not fit, or x is not floating-point.
    #[track_caller]
    pub fn layer_norm(
        &self,
        normalized_shape: &[usize],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Tensor {
        if let Some(cast) = casting("layer_norm", &[self]) {
            let (weight, bias) = (cast.of_some(weight), cast.of_some(bias));
            return cast.of(self).layer_norm(normalized_shape, weight.as_ref(), bias.as_ref(), eps);
        }
        check("layer_norm", self, normalized_shape, [weight, bias]);
        let op = LayerNorm { dims: normalized_shape.len(), eps, centred: true };
        match (weight, bias) {
            (Some(weight), Some(bias)) => apply(op, [self, weight, bias]),
            (Some(weight), None) => apply(op, [self, weight]),
            (None, Some(bias)) => apply(op, [self]).add(bias),
            (None, None) => apply(op, [self]),
        }
    }

    /// x / √(mean of x² + ε) · weight, where the mean is taken over the last dimensions, whose
    /// sizes `normalized_shape` repeats; the weight has just these.
    ///
    /// # Panics
    /// If the shapes or the types do not fit, or x is not floating-point.
    #[track_caller]
    pub fn rms_norm(
        &self,
        normalized_shape: &[usize],
        weight: Option<&Tensor>,
        eps: f64,
    ) -> Tensor {
        if let Some(cast) = casting("rms_norm", &[self, weight.unwrap_or(self)]) {
            let y = cast.of(self).rms_norm(normalized_shape, cast.of_some(weight).as_ref(), eps);
            return y.to(self.dtype());
        }
        check("rms_norm", self, normalized_shape, [weight, None]);
        let op = LayerNorm { dims: normalized_shape.len(), eps, centred: false };
        match weight {
            Some(weight) => apply(op, [self, weight]),
            None => apply(op, [self]),
        }
    }
}

#[track_caller]
fn check(op: &'static str, x: &Tensor, shape: &[usize], factors: [Option<&Tensor>; 2]) {
    let operands: Vec<&Tensor> = [x].into_iter().chain(factors.into_iter().flatten()).collect();
    expect_one_device(op, &operands);
    expect_floating(op, &operands);
    if shape.is_empty() || !x.shape().ends_with(shape) {
        let message = format!("the last dimensions must be {shape:?}, at least one of them");
        refuse(op, &operands, message);
    }
    let fits = |factor: &&Tensor| factor.shape() == shape && factor.dtype() == x.dtype();
    if !operands[1..].iter().all(fits) {
        let message = format!("weight and bias must be {} {shape:?}", x.dtype());
        refuse(op, &operands, message);
    }
}

/// y = n · weight + bias with n = (x − mean) · r and r = 1 / √(variance + ε), over the last
/// dimensions; for RMSNorm the mean counts as 0. Weight and bias, the second and third input, may
/// be missing. Shapes: x: `(B, T, C)`, weight and bias: `(C)` → `(B, T, C)`.
/// Gradient: with dn = dy · weight, dx = r · (dn − mean(dn) − n · mean(dn · n)), without mean(dn)
/// for RMSNorm; dweight = Σ dy · n and dbias = Σ dy over B and T. Saves x, the weight, and of each
/// row mean and r: n is computed anew. If the backward pass is recorded, they are too, since they
/// depend on x.
struct LayerNorm {
    /// How many dimensions the moments are taken over.
    dims: usize,
    eps: f64,
    centred: bool,
}

impl<const N: usize> Op<N> for LayerNorm {
    fn name(&self) -> &'static str {
        match self.centred {
            true => "layer_norm",
            false => "rms_norm",
        }
    }

    fn forward(&self, ctx: &mut Ctx, inputs: [&Tensor; N]) -> Tensor {
        let x = inputs[0];
        let (outer, inner) = x.shape().split_at(x.shape().len() - self.dims);
        let rows = x.reshape(&[outer.iter().product::<usize>(), inner.iter().product()]);
        let factor = |i: usize| inputs.get(i).map(|factor| factor.view_of());
        let backend = x.device().backend();
        let [y, mean, r] =
            backend.layer_norm(rows.view_of(), factor(1), factor(2), self.eps, self.centred);
        let of_row = [outer, &vec![1; self.dims]].concat();
        ctx.save(x);
        ctx.save_if(self.centred, &Tensor::packed(mean, &of_row));
        ctx.save(&Tensor::packed(r, &of_row));
        if let Some(weight) = inputs.get(1) {
            ctx.save_if(ctx.needs(0), weight);
        }
        Tensor::packed(y, x.shape())
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; N] {
        if !is_grad_enabled() {
            let gradients = self.in_one_kernel(ctx, dy);
            return std::array::from_fn(|i| ctx.needs(i).then(|| gradients[i].clone()));
        }
        let (dtype, wide) = (dy.dtype(), DType::promote(dy.dtype(), DType::F32));
        let (normal, r) = self.normal(ctx, wide);
        let dy = dy.to(wide);
        let dx = || {
            let dn = if N > 1 { dy.mul(&ctx.saved(3).to(wide)) } else { dy.clone() };
            let along = normal.mul(&self.mean(&dn.mul(&normal)));
            let dn = if self.centred { dn.sub(&self.mean(&dn)) } else { dn };
            dn.sub(&along).mul(&r)
        };
        std::array::from_fn(|i| {
            let gradient = || match i {
                0 => dx(),
                1 => self.sum_of_rows(&dy.mul(&normal)),
                _ => self.sum_of_rows(&dy),
            };
            ctx.needs(i).then(|| gradient().to(dtype))
        })
    }
}

impl LayerNorm {
    /// dx, dweight and dbias.
    fn in_one_kernel(&self, ctx: &Ctx, dy: &Tensor) -> [Tensor; 3] {
        let (x, r) = (ctx.saved(0), ctx.saved(2));
        let (outer, inner) = x.shape().split_at(x.shape().len() - self.dims);
        let rows = [outer.iter().product::<usize>(), inner.iter().product()];
        let (flat, flat_dy) = (x.reshape(&rows), dy.reshape(&rows));
        let mean = if self.centred { ctx.saved(1) } else { r.zeros_like() };
        let weight = ctx.has_saved(3).then(|| ctx.saved(3));
        let [dx, dweight, dbias] = x.device().backend().layer_norm_backward(
            [flat.view_of(), flat_dy.view_of()],
            [mean.view_of(), r.view_of()],
            weight.as_ref().map(Tensor::view_of),
            self.centred,
        );
        [(dx, x.shape()), (dweight, inner), (dbias, inner)]
            .map(|(gradient, shape)| Tensor::packed(gradient, shape))
    }

    /// n and r of the saved x.
    fn normal(&self, ctx: &Ctx, wide: DType) -> (Tensor, Tensor) {
        let x = ctx.saved(0).to(wide);
        let x = if self.centred { x.sub(&self.mean(&x)) } else { x.clone() };
        let r = self.mean(&x.mul(&x)).add_scalar(self.eps).rsqrt();
        (x.mul(&r), r)
    }

    /// The mean over the last dimensions, which stay with size 1.
    fn mean(&self, x: &Tensor) -> Tensor {
        let dims: Vec<isize> = (1..=self.dims as isize).map(|dim| -dim).collect();
        x.mean_dims(&dims, true)
    }

    /// The sum over all other dimensions.
    fn sum_of_rows(&self, x: &Tensor) -> Tensor {
        let outer = (x.shape().len() - self.dims) as isize;
        if outer == 0 { x.clone() } else { x.sum_dims(&(0..outer).collect::<Vec<_>>(), false) }
    }
}
