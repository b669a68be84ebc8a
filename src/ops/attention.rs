//! Attention: weighted means of values, with weights from the products of queries and keys.
//!
//! Source of what is saved: T. Dao et al., "FlashAttention", 2022. One number for each query, the
//! logarithm of its sum of exponentials, is enough to compute its weights anew.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply, is_grad_enabled};
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
        let expanded = |x: &Tensor| {
            let full = [batch, &x.shape()[x.shape().len() - 2..]].concat();
            if x.shape() == full { x.clone() } else { x.expand(&full) }
        };
        let (q, k, v) = (expanded(query), expanded(key), expanded(value));
        let width = q.shape()[q.shape().len() - 1] as f64;
        let scale = options.scale.unwrap_or(1.0 / width.sqrt());
        let op = ScaledDotProductAttention { causal: options.causal, scale };
        match options.mask {
            Some(mask) => apply(op, [&q, &k, &v, &mask.expand(&scores)]),
            None => apply(op, [&q, &k, &v]),
        }
    }
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
/// not the weights, which grow with L · S. If the backward pass is recorded, the sum is too.
struct ScaledDotProductAttention {
    causal: bool,
    scale: f64,
}

impl<const N: usize> Op<N> for ScaledDotProductAttention {
    fn name(&self) -> &'static str {
        "scaled_dot_product_attention"
    }

    fn forward(&self, ctx: &mut Ctx, inputs: [&Tensor; N]) -> Tensor {
        let wide = DType::promote(inputs[0].dtype(), DType::F32);
        let [q, k, v] = [0, 1, 2].map(|i| inputs[i].to(wide));
        let scores = self.scores(&q, &k, inputs.get(3).copied());
        let log_sum = scores.logsumexp(&[-1], true);
        for input in inputs {
            ctx.save(input);
        }
        ctx.save(&log_sum);
        weights(&scores, &log_sum).matmul(&v).to(inputs[0].dtype())
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; N] {
        let (dtype, wide) = (dy.dtype(), DType::promote(dy.dtype(), DType::F32));
        let [q, k, v] = [0, 1, 2].map(|i| ctx.saved(i).to(wide));
        let (mask, dy) = ((N > 3).then(|| ctx.saved(3)), dy.to(wide));
        let scores = self.scores(&q, &k, mask.as_ref());
        let p = match is_grad_enabled() {
            true => recorded_weights(&scores, &ctx.saved(N)),
            false => weights(&scores, &ctx.saved(N)),
        };
        let turned = |x: &Tensor| x.transpose(-2, -1);
        let dp = dy.matmul(&turned(&v));
        let dz = p.mul(&dp.sub(&p.mul(&dp).sum_dims(&[-1], true)));
        std::array::from_fn(|i| {
            let gradient = || match i {
                0 => dz.matmul(&k).mul_scalar(self.scale),
                1 => turned(&dz).matmul(&q).mul_scalar(self.scale),
                2 => turned(&p).matmul(&dy),
                _ => dz.clone(),
            };
            ctx.needs(i).then(|| gradient().to(dtype))
        })
    }
}

impl ScaledDotProductAttention {
    /// z: `(.., L, S)`, with −∞ where a query may not see a key.
    fn scores(&self, q: &Tensor, k: &Tensor, mask: Option<&Tensor>) -> Tensor {
        // The queries are fewer numbers than the scores, so they are scaled.
        let z = q.mul_scalar(self.scale).matmul(&k.transpose(-2, -1));
        let hide = |hidden: &Tensor| z.masked_fill(hidden, f64::NEG_INFINITY);
        match mask {
            Some(mask) if mask.dtype() == DType::Bool => hide(&mask.eq(&mask.zeros_like())),
            Some(mask) => z.add(mask),
            None if self.causal => hide(&later_keys(z.shape()).to(z.device())),
            None => z,
        }
    }
}

/// Where a key comes after the query: `(L, S)`.
fn later_keys(scores: &[usize]) -> Tensor {
    let (queries, keys) = (scores[scores.len() - 2], scores[scores.len() - 1]);
    let later = (0..queries).flat_map(|i| (0..keys).map(move |j| j > i));
    Tensor::from_vec(later.collect(), &[queries, keys])
}

/// Where the logarithm of a sum says that all terms were 0.
fn is_blind(log_sum: &Tensor) -> Tensor {
    let dtype = log_sum.dtype();
    log_sum.eq(&Tensor::full_on(&[], f64::NEG_INFINITY, dtype, log_sum.device()))
}

/// p = exp(z − ln Σ eᶻ); 0 for a query that sees no key.
fn weights(scores: &Tensor, log_sum: &Tensor) -> Tensor {
    scores.sub(&log_sum.masked_fill(&is_blind(log_sum), 0)).exp()
}

/// The same with the sum as a function of the scores, so that p can be differentiated.
fn recorded_weights(scores: &Tensor, log_sum: &Tensor) -> Tensor {
    let blind = is_blind(log_sum);
    let seen = scores.masked_fill(&blind, 0);
    seen.softmax(-1).masked_fill(&blind, 0)
}
