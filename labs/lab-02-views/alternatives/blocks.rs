//! 2.6.

use engine_room::{Attention, Tensor};

use super::super::attention::Block;

/// Queries, keys and values, each a product of its own: `(T, B, C)`.
fn projected(x: &Tensor, block: &Block) -> [Tensor; 3] {
    let c = x.shape()[2];
    [0, 1, 2].map(|part| x.matmul(&block.qkv.narrow(1, part * c, c)))
}

/// The engine's attention takes any strides, also those of the fused product.
pub fn fused(x: &Tensor, block: &Block) -> Tensor {
    let (t, b, c) = (x.shape()[0], x.shape()[1], x.shape()[2]);
    let (h, d) = (block.heads, c / block.heads);
    let qkv = x.matmul(&block.qkv).reshape(&[t, b, 3, h, d]).permute(&[2, 1, 3, 0, 4]);
    let part = |i: usize| qkv.select(0, i as isize);
    let y = part(0).scaled_dot_product_attention(&part(1), &part(2), Attention::default());
    y.permute(&[2, 0, 1, 3]).reshape(&[t, b, c]).matmul(&block.out)
}

pub fn four_dims(x: &Tensor, block: &Block) -> Tensor {
    let (t, b, c) = (x.shape()[0], x.shape()[1], x.shape()[2]);
    let (h, d) = (block.heads, c / block.heads);
    let [q, k, v] = projected(x, block).map(|x| x.view(&[t, b, h, d]).permute(&[1, 2, 0, 3]));
    let weights = q.matmul(&k.transpose(-2, -1)).div_scalar((d as f32).sqrt()).softmax(-1);
    weights.matmul(&v).permute(&[2, 0, 1, 3]).reshape(&[t, b, c]).matmul(&block.out)
}

/// Scaling makes new queries, and new ones are packed.
pub fn scaled_queries(x: &Tensor, block: &Block) -> Tensor {
    let (t, b, c) = (x.shape()[0], x.shape()[1], x.shape()[2]);
    let (h, d) = (block.heads, c / block.heads);
    let scale = (d as f32).powf(-0.25);
    let qk = x.matmul(&block.qkv.narrow(1, 0, 2 * c));
    let heads = |x: &Tensor| x.view(&[t, b * h, d]).transpose(0, 1);
    let q = heads(&qk.narrow(2, 0, c).mul_scalar(scale));
    let k = heads(&qk.narrow(2, c, c).mul_scalar(scale));
    let v = heads(&x.matmul(&block.qkv.narrow(1, 2 * c, c)));
    let y = q.bmm(&k.transpose(1, 2)).softmax(2).bmm(&v);
    y.transpose(0, 1).contiguous().view(&[t, b, c]).matmul(&block.out)
}

/// The scores transposed: their softmax needs the transpose back, which is a view.
pub fn keys_first(x: &Tensor, block: &Block) -> Tensor {
    let (t, b, c) = (x.shape()[0], x.shape()[1], x.shape()[2]);
    let (h, d) = (block.heads, c / block.heads);
    let [q, k, v] = projected(x, block).map(|x| x.reshape(&[t, b * h, d]).permute(&[1, 0, 2]));
    let scores = k.bmm(&q.permute(&[0, 2, 1])).permute(&[0, 2, 1]);
    let y = scores.mul_scalar(1.0 / f64::from(d as u32).sqrt()).softmax(-1).bmm(&v);
    y.permute(&[1, 0, 2]).reshape(&[t, b, c]).matmul(&block.out)
}

/// Each head finds its own rows of the output projection, and the sum needs no merge.
pub fn head_by_head(x: &Tensor, block: &Block) -> Tensor {
    let c = x.shape()[2];
    let d = c / block.heads;
    let qkv = x.matmul(&block.qkv).transpose(0, 1);
    let head = |head: usize| {
        let [q, k, v] = [0, 1, 2].map(|part| qkv.narrow(2, part * c + head * d, d));
        let scores = q.bmm(&k.transpose(1, 2)).div_scalar((d as f32).sqrt());
        scores.softmax(-1).bmm(&v).matmul(&block.out.narrow(0, head * d, d))
    };
    let first = head(0);
    (1..block.heads).fold(first, |sum, next| sum.add(&head(next))).transpose(0, 1)
}

/// Time and batch as rows of one matrix.
pub fn in_rows(x: &Tensor, block: &Block) -> Tensor {
    let (t, b, c) = (x.shape()[0], x.shape()[1], x.shape()[2]);
    let (h, d) = (block.heads, c / block.heads);
    let rows = x.view(&[t * b, c]);
    let weights = block.qkv.split(&[c, c, c], 1);
    let heads = |i: usize| rows.matmul(&weights[i]).view(&[t, b * h, d]).transpose(0, 1);
    let scores = heads(0).bmm(&heads(1).transpose(1, 2)).div_scalar((d as f32).sqrt());
    let y = scores.softmax(-1).bmm(&heads(2));
    y.transpose(0, 1).reshape(&[t * b, c]).matmul(&block.out).view(&[t, b, c])
}
