//! Clipping: gradients that are too large are scaled or cut down before a step.

use crate::Tensor;
use crate::autograd::no_grad;
use crate::device::{Device, Reduce};
use crate::dtype::DType;
use crate::error::{Error, misuse};
use crate::nn::Parameter;
use crate::optim::group::non_negative;

/// Scales all gradients down together so that their norm is at most `max_norm`, and gives the norm
/// before. The norm is that of all numbers of all gradients as one list:
///
/// ```text
/// norm = (Σ |g|ᵖ)^(1/p), for p = ∞ max |g|          g ← g · max_norm / (norm + 10⁻⁶)
/// ```
///
/// Gradients whose norm is small enough stay as they are, to the last bit; without any gradient
/// the norm is 0. It is computed in `f64`, on a GPU in `f32`: a square of an `f16` may be too large
/// for one. Call it after the gradients of a scaled loss were unscaled, or the scale is clipped,
/// too.
///
/// A norm that is infinite or NaN makes the gradients 0 or NaN, as in PyTorch.
///
/// # Errors
/// With `error_if_nonfinite`, if the norm is infinite or NaN. The gradients stay as they are.
///
/// # Panics
/// If `max_norm` is negative, or p is not above 0.
#[track_caller]
pub fn clip_grad_norm_(
    params: &[Parameter],
    max_norm: f64,
    norm_type: f64,
    error_if_nonfinite: bool,
) -> Result<f64, Error> {
    non_negative("clip_grad_norm_", "largest norm", max_norm);
    if norm_type.is_nan() || norm_type <= 0.0 {
        let message = "the p of a norm is above 0; 2 gives the length, inf the largest number";
        misuse("clip_grad_norm_", &[&norm_type], message.to_string());
    }
    let grads = gradients(params);
    let norms: Vec<f64> = grads.iter().map(|grad| norm(grad, norm_type)).collect();
    let total = match norm_type {
        f64::INFINITY => norms.into_iter().fold(0.0, larger),
        p => norms.into_iter().map(|norm| norm.powf(p)).sum::<f64>().powf(1.0 / p),
    };
    if error_if_nonfinite && !total.is_finite() {
        return Err(Error::NonFinite { norm: total.to_string() });
    }
    let factor = max_norm / (total + 1e-6);
    if factor.is_nan() || factor < 1.0 {
        scale(&grads, factor);
    }
    Ok(total)
}

/// Cuts every number of every gradient to −`clip_value` to `clip_value`; NaN stays NaN.
///
/// # Panics
/// If the value is negative.
#[track_caller]
pub fn clip_grad_value_(params: &[Parameter], clip_value: f64) {
    non_negative("clip_grad_value_", "largest value", clip_value);
    let clamp = |grad: &Tensor| grad.copy_(&grad.clamp(-clip_value, clip_value));
    no_grad(|| gradients(params).iter().for_each(clamp));
}

/// The gradients that there are.
pub(crate) fn gradients<'a>(params: impl IntoIterator<Item = &'a Parameter>) -> Vec<Tensor> {
    params.into_iter().filter_map(|param| param.get().grad()).collect()
}

/// Multiplies gradients in place.
pub(crate) fn scale(grads: &[Tensor], factor: f64) {
    no_grad(|| grads.iter().for_each(|grad| grad.copy_(&grad.mul_scalar(factor))));
}

/// The p-norm of one tensor, computed in `f64`; on a GPU, which has no kernels for that, in `f32`.
pub(crate) fn norm(x: &Tensor, p: f64) -> f64 {
    let wide = if x.device() == Device::Cpu { DType::F64 } else { DType::F32 };
    let reduce = if p == 1.0 {
        Reduce::Norm1
    } else if p == 2.0 {
        Reduce::Norm2
    } else if p == f64::INFINITY {
        Reduce::NormInf
    } else {
        let powers = no_grad(|| x.to(wide).abs().pow_scalar(p).sum());
        return powers.to(DType::F64).item_as::<f64>().powf(1.0 / p);
    };
    let over = vec![true; x.shape().len()];
    let norm = x.device().backend().reduce(reduce, x.view_of(), &over, wide);
    Tensor::packed(norm, &[]).to(DType::F64).item_as()
}

/// The larger one; NaN if one is NaN.
fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}
