//! Attention: weighted means of values, with weights from the products of queries and keys.
//!
//! Source of what is saved: T. Dao et al., "FlashAttention", 2022. One number for each query, the
//! logarithm of its sum of exponentials, is enough to compute its weights anew.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply, is_grad_enabled};
use crate::device::{Attended, Device};
use crate::dtype::DType;
use crate::ops::autocast::casting;
use crate::ops::{expect_floating, expect_one_device, refuse};
use crate::shape::broadcast;

/// What [`scaled_dot_product_attention`](Tensor::scaled_dot_product_attention) may be told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attention<'a> {
    /// `bool`: which keys, for each query, take part. Floating-point: what is added to the scores.
    /// It broadcasts to `(.., L, S)`.
    pub mask: Option<&'a Tensor>,
    /// Whether query i sees keys 0 to i only.
    pub causal: bool,
    /// What the scores are multiplied with; 1 / √E if it is not given.
    pub scale: Option<f64>,
}

impl Tensor {
    /// softmax(q · kᵀ · scale + mask) · v, for queries q, keys k and values v:
    /// `(.., L, E), (.., S, E), (.., S, V) → (.., L, V)`, whose leading dimensions broadcast. A
    /// query that may see no key gets 0. The half types are computed in `f32` and rounded once.
    ///
    /// # Panics
    /// If shapes or types do not fit, or if there is a mask and `causal` is asked for, too.
    #[track_caller]
    pub fn scaled_dot_product_attention(
        &self,
        key: &Tensor,
        value: &Tensor,
        options: Attention,
    ) -> Tensor {
        if let Some(cast) = casting("scaled_dot_product_attention", &[self, key, value]) {
            let (key, value, mask) = (cast.of(key), cast.of(value), cast.of_some(options.mask));
            let options = Attention { mask: mask.as_ref(), ..options };
            return cast.of(self).scaled_dot_product_attention(&key, &value, options);
        }
        let (query, scores) = (self, check(self, key, value, options));
        let (batch, _) = scores.split_at(scores.len() - 2);
        let (q, k, v) = (batched(query, batch), batched(key, batch), batched(value, batch));
        let width = q.shape()[q.shape().len() - 1] as f64;
        let scale = options.scale.unwrap_or(1.0 / width.sqrt());
        let op = ScaledDotProductAttention { causal: options.causal, scale };
        match options.mask {
            Some(mask) => apply(op, [&q, &k, &v, &as_numbers(mask, q.dtype()).expand(&scores)]),
            None => apply(op, [&q, &k, &v]),
        }
    }
}

/// The matrices of x for each place of a batch.
#[track_caller]
fn batched(x: &Tensor, batch: &[usize]) -> Tensor {
    let full = [batch, &x.shape()[x.shape().len() - 2..]].concat();
    if x.shape() == full { x.clone() } else { x.expand(&full) }
}

/// What a mask adds to the scores: −∞ where a `bool` says that a key is hidden.
fn as_numbers(mask: &Tensor, dtype: DType) -> Tensor {
    if mask.dtype() != DType::Bool {
        return mask.clone();
    }
    let of = |value: f64| Tensor::full_on(&[], value, dtype, mask.device());
    Tensor::where_cond(mask, &of(0.0), &of(f64::NEG_INFINITY))
}

/// The shape of the scores.
#[track_caller]
fn check(q: &Tensor, k: &Tensor, v: &Tensor, options: Attention) -> Vec<usize> {
    const OP: &str = "scaled_dot_product_attention";
    let operands: Vec<&Tensor> = [q, k, v].into_iter().chain(options.mask).collect();
    expect_one_device(OP, &operands);
    expect_floating(OP, &operands[..3]);
    let ranks = [q, k, v].map(|x| x.shape().len());
    if ranks.iter().any(|&rank| rank < 2) || q.dtype() != k.dtype() || k.dtype() != v.dtype() {
        let message = "needs queries, keys and values of one type, with two dimensions or more";
        refuse(OP, &operands, message.to_string());
    }
    let ([q_batch, q_own], [k_batch, k_own], [v_batch, v_own]) = (halves(q), halves(k), halves(v));
    if q_own[1] != k_own[1] || k_own[0] != v_own[0] {
        let message = "queries must be as wide as keys, and values as many as keys".to_string();
        refuse(OP, &operands, message);
    }
    let batch = broadcast(q_batch, k_batch).and_then(|batch| broadcast(&batch, v_batch));
    let Some(batch) = batch else {
        refuse(OP, &operands, "the leading dimensions do not broadcast".to_string())
    };
    let scores = [&batch[..], &[q_own[0], k_own[0]]].concat();
    let Some(mask) = options.mask else { return scores };
    if options.causal {
        let message = "takes a mask or `causal`, not both; put the causal part into the mask";
        refuse(OP, &operands, message.to_string());
    }
    if broadcast(mask.shape(), &scores).is_none_or(|to| *to != scores[..])
        || !(mask.dtype() == DType::Bool || mask.dtype() == q.dtype())
    {
        let message = format!("the mask must be bool or {} and broadcast to {scores:?}", q.dtype());
        refuse(OP, &operands, message);
    }
    scores
}

/// The leading dimensions and the last two.
fn halves(x: &Tensor) -> [&[usize]; 2] {
    let (batch, own) = x.shape().split_at(x.shape().len() - 2);
    [batch, own]
}

/// y = p · v with p = softmax(z) along the keys and z = q · kᵀ · scale + mask, the mask being a
/// fourth input that may be missing. Shapes: q: `(B, L, E)`, k: `(B, S, E)`, v: `(B, S, V)`,
/// mask: `(B, L, S)` → `(B, L, V)`.
/// Gradient: dv = pᵀ · dy; with dp = dy · vᵀ, dz = p · (dp − Σ p · dp); dq = dz · k · scale,
/// dk = dzᵀ · q · scale, dmask = dz.
/// Saves q, k, v, the mask, and ln Σ eᶻ of each query, from which p = exp(z − ln Σ eᶻ) comes back:
/// not the weights, which grow with L · S.
struct ScaledDotProductAttention {
    causal: bool,
    scale: f64,
}

impl<const N: usize> Op<N> for ScaledDotProductAttention {
    fn name(&self) -> &'static str {
        "scaled_dot_product_attention"
    }

    fn forward(&self, ctx: &mut Ctx, inputs: [&Tensor; N]) -> Tensor {
        for input in inputs {
            ctx.save(input);
        }
        let [q, k, v] = [inputs[0], inputs[1], inputs[2]];
        let (batch, last) = (&q.shape()[..q.shape().len() - 1], v.shape()[v.shape().len() - 1]);
        let shape = [batch, &[last]].concat();
        if [q, k, v].iter().any(|x| x.numel() == 0) {
            // No key, no weight, and a mean of nothing is 0; without width every key weighs alike.
            let wide = DType::promote(q.dtype(), DType::F32);
            let scores = self.scores(&inputs.map(|x| x.to(wide)));
            ctx.save(&scores.logsumexp(&[-1], true));
            return weights(&scores).matmul(&v.to(wide)).to(q.dtype());
        }
        let [y, log_sums] = q.device().backend().attention(self.attended(&inputs));
        ctx.save(&Tensor::packed(log_sums, &[batch, &[1]].concat()));
        Tensor::packed(y, &shape)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; N] {
        let inputs: [Tensor; N] = std::array::from_fn(|i| ctx.saved(i));
        let empty = inputs[..3].iter().any(|x| x.numel() == 0);
        if is_grad_enabled() || ctx.needs(3) || empty {
            return self.of_operations(ctx, &inputs, dy);
        }
        let borrowed = inputs.each_ref();
        let attended = self.attended(&borrowed);
        let (log_sums, backend) = (ctx.saved(N), dy.device().backend());
        let gradients = backend.attention_backward(attended, log_sums.view_of(), dy.view_of());
        let mut gradients = gradients
            .into_iter()
            .zip(&inputs)
            .map(|(gradient, x)| Tensor::packed(gradient, x.shape()));
        std::array::from_fn(|i| gradients.next().filter(|_| ctx.needs(i)))
    }
}

impl ScaledDotProductAttention {
    fn attended<'a>(&self, inputs: &'a [&'a Tensor]) -> Attended<'a> {
        let [q, k, v] = [0, 1, 2].map(|i| inputs[i].view_of());
        let mask = inputs.get(3).map(|mask| mask.view_of());
        Attended { q, k, v, mask, causal: self.causal, scale: self.scale }
    }

    /// The backward pass where it is recorded, or where the mask asks for a gradient: then the
    /// scores exist as tensors.
    fn of_operations<const N: usize>(
        &self,
        ctx: &Ctx,
        inputs: &[Tensor; N],
        dy: &Tensor,
    ) -> [Option<Tensor>; N] {
        let (dtype, wide) = (dy.dtype(), DType::promote(dy.dtype(), DType::F32));
        let (inputs, dy) = (inputs.each_ref().map(|x| x.to(wide)), dy.to(wide));
        let [q, k, v] = [&inputs[0], &inputs[1], &inputs[2]];
        let p = weights(&self.scores(&inputs));
        let turned = |x: &Tensor| x.transpose(-2, -1);
        let dp = dy.matmul(&turned(v));
        let dz = p.mul(&dp.sub(&p.mul(&dp).sum_dims(&[-1], true)));
        std::array::from_fn(|i| {
            let gradient = || match i {
                0 => dz.matmul(k).mul_scalar(self.scale),
                1 => turned(&dz).matmul(q).mul_scalar(self.scale),
                2 => turned(&p).matmul(&dy),
                _ => dz.clone(),
            };
            ctx.needs(i).then(|| gradient().to(dtype))
        })
    }

    /// z of q, k, v and the mask: `(.., L, S)`, with −∞ where a query may not see a key.
    fn scores(&self, inputs: &[Tensor]) -> Tensor {
        // The queries are fewer numbers than the scores, so they are scaled.
        let z = inputs[0].mul_scalar(self.scale).matmul(&inputs[1].transpose(-2, -1));
        match inputs.get(3) {
            Some(mask) => z.add(mask),
            None if self.causal => {
                z.masked_fill(&later_keys(z.shape(), z.device()), f64::NEG_INFINITY)
            }
            None => z,
        }
    }
}

/// Where a key comes after the query: `(L, S)`.
fn later_keys(scores: &[usize], device: Device) -> Tensor {
    let places = |count| Tensor::arange_on(count, DType::I64, device);
    let (queries, keys) = (scores[scores.len() - 2], scores[scores.len() - 1]);
    places(keys).gt(&places(queries).unsqueeze(-1))
}

/// p = softmax(z) along the keys, and 0 for a query that sees no key: there all scores are −∞.
fn weights(scores: &Tensor) -> Tensor {
    let dtype = scores.dtype();
    let log_sums = scores.detach().logsumexp(&[-1], true);
    let blind = log_sums.eq(&Tensor::full_on(&[], f64::NEG_INFINITY, dtype, scores.device()));
    scores.masked_fill(&blind, 0).softmax(-1).masked_fill(&blind, 0)
}
