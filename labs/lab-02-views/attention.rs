//! Two attention blocks as programs write them, with the copies that nobody wrote.

use engine_room::{DType, Tensor};

/// The weights of an attention block whose input is `C` numbers wide.
pub struct Block {
    /// Heads; each is `D = C / heads` numbers wide.
    pub heads: usize,
    /// The projections to queries, keys and values side by side: `(C, 3 C)`. The first C columns
    /// make the queries, the next C the keys, the last C the values.
    pub qkv: Tensor,
    /// The output projection: `(C, C)`.
    pub out: Tensor,
}

/// Self-attention on `x: (T, B, C)`, time first, as `torch.nn.MultiheadAttention` takes it unless
/// it is told otherwise. One product makes queries, keys and values. Returns `(T, B, C)`.
pub fn attend_with_copies(x: &Tensor, block: &Block) -> Tensor {
    let (t, b, c) = (x.shape()[0], x.shape()[1], x.shape()[2]);
    let (h, d) = (block.heads, c / block.heads);
    let qkv = x.matmul(&block.qkv); // (T, B, 3 C)
    let mut parts = Vec::new();
    for part in 0..3 {
        let own = qkv.narrow(2, part * c, c); // (T, B, C)
        parts.push(own.reshape(&[t, b * h, d]).transpose(0, 1)); // (B H, T, D)
    }
    let (q, k, v) = (&parts[0], &parts[1], &parts[2]);
    let scores = q.bmm(&k.transpose(1, 2)).mul_scalar(1.0 / (d as f32).sqrt()); // (B H, T, T)
    let y = scores.softmax(-1).bmm(v); // (B H, T, D)
    y.transpose(0, 1).reshape(&[t, b, c]).matmul(&block.out)
}

/// The sizes of attention with grouped keys and values: `heads / kv_heads` heads share each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Sequences at once, B.
    pub batch: usize,
    /// Tokens that ask, L: all of a prompt, or 1 while an answer is made token by token.
    pub queries: usize,
    /// Tokens that are asked, S.
    pub keys: usize,
    /// Heads of the queries, H.
    pub heads: usize,
    /// Heads of the keys and values, G, which divides H.
    pub kv_heads: usize,
    /// Numbers in a head, D.
    pub head_width: usize,
    /// The type of all tensors.
    pub dtype: DType,
}

/// Attention from projections to the input of the output projection, batch first, as models of the
/// Llama family write it: `q: (B, L, H D)`, `k, v: (B, S, G D)` → `(B, L, H D)`.
pub fn grouped_attention(q: &Tensor, k: &Tensor, v: &Tensor, sizes: &Sizes) -> Tensor {
    let &Sizes { batch: b, queries: l, keys: s, heads: h, kv_heads: g, head_width: d, .. } = sizes;
    let q = q.reshape(&[b, l, h, d]).transpose(1, 2); // (B, H, L, D)
    let k = repeated(&k.reshape(&[b, s, g, d]).transpose(1, 2), h / g); // (B, H, S, D)
    let v = repeated(&v.reshape(&[b, s, g, d]).transpose(1, 2), h / g);
    let scores = product(&q, &k.transpose(2, 3)).mul_scalar(1.0 / (d as f32).sqrt());
    let y = product(&scores.softmax(-1), &v); // (B, H, L, D)
    y.transpose(1, 2).reshape(&[b, l, h * d])
}

/// Every head of `x: (B, G, S, D)` so many times in a row: `(B, G times, S, D)`.
fn repeated(x: &Tensor, times: usize) -> Tensor {
    let (b, g, s, d) = (x.shape()[0], x.shape()[1], x.shape()[2], x.shape()[3]);
    if times == 1 {
        return x.clone();
    }
    x.unsqueeze(2).expand(&[b, g, times, s, d]).reshape(&[b, g * times, s, d])
}

/// `(B, H, M, K) · (B, H, K, N) → (B, H, M, N)`, in the steps that `matmul` takes: batch and heads
/// become one dimension, and `bmm` takes any strides as they are.
fn product(x: &Tensor, y: &Tensor) -> Tensor {
    let (b, h, m, k) = (x.shape()[0], x.shape()[1], x.shape()[2], x.shape()[3]);
    let n = y.shape()[3];
    let x = x.reshape(&[b * h, m, k]);
    let y = y.reshape(&[b * h, k, n]);
    x.bmm(&y).reshape(&[b, h, m, n])
}
