//! Attention that still copies, or computes something else: 2.6.

use engine_room::{Tensor, memory};

use super::super::attention::{Block, attend_with_copies};
use super::super::solution;
use super::{Wrong, wrong};

/// T, B, C, H, D.
type Five = [usize; 5];

pub fn mistakes() -> Vec<Wrong> {
    [copies(), numbers()].into_iter().flatten().collect()
}

fn block(diagnosis: &'static str, name: &'static str, f: fn(&Tensor, &Block) -> Tensor) -> Wrong {
    wrong("2.6", diagnosis, name, |table| table.attend = f)
}

fn copies() -> Vec<Wrong> {
    vec![
        block("2.6-as-many-as-before", "what was there", attend_with_copies),
        block("2.6-contiguous-copies-too", "contiguous first", |x, block| {
            with(x, block, |own| own.contiguous())
        }),
        block("2.6-copied-by-hand", "copies written out", |x, block| {
            with(x, block, |own| own.copy())
        }),
        block("2.6-copied-by-arithmetic", "times 1", |x, block| {
            with(x, block, |own| own.mul_scalar(1.0))
        }),
        block("2.6-copies-left", "values only", |x, block| {
            let c = x.shape()[2];
            let qk = x.matmul(&block.qkv.narrow(1, 0, 2 * c));
            let v = x.matmul(&block.qkv.narrow(1, 2 * c, c));
            let parts = [qk.narrow(2, 0, c), qk.narrow(2, c, c), v];
            finished(x, block, parts.map(|own| heads(&own, sizes(x, block))))
        }),
        block("2.6-counters-reset", "the counter emptied", |x, block| {
            let y = attend_with_copies(x, block);
            memory::reset_hidden_copies();
            y
        }),
        block("2.6-gradient-lost", "detached", |x, block| solution::attend(&x.detach(), block)),
    ]
}

fn numbers() -> Vec<Wrong> {
    vec![
        block("2.6-heads-not-merged", "reshaped without a transpose", |x, block| {
            let [q, k, v] = parts(x, block).map(|own| heads(&own, sizes(x, block)));
            weighed(&q, &k, &v, scale(x, block)).reshape(x.shape()).matmul(&block.out)
        }),
        block("2.6-sequences-mixed", "heads by name only", |x, block| {
            let [t, b, _, h, d] = sizes(x, block);
            let parts = parts(x, block).map(|own| own.reshape(&[b * h, t, d]));
            let y = weighed(&parts[0], &parts[1], &parts[2], scale(x, block));
            y.reshape(x.shape()).matmul(&block.out)
        }),
        block("2.6-other-columns", "head by head in a row", |x, block| {
            let [t, b, _, h, d] = sizes(x, block);
            let qkv = x.matmul(&block.qkv).view(&[t, b * h, 3 * d]).transpose(0, 1);
            finished(x, block, [0, 1, 2].map(|part| qkv.narrow(2, part * d, d)))
        }),
        block("2.6-not-scaled", "no scale", |x, block| {
            let [q, k, v] = parts(x, block).map(|own| heads(&own, sizes(x, block)));
            merged(x, block, &weighed(&q, &k, &v, 1.0))
        }),
        block("2.6-scaled-by-width", "the whole width", |x, block| {
            let [q, k, v] = parts(x, block).map(|own| heads(&own, sizes(x, block)));
            merged(x, block, &weighed(&q, &k, &v, 1.0 / (x.shape()[2] as f32).sqrt()))
        }),
        block("2.6-softmax-over-queries", "the other dimension", |x, block| {
            let [q, k, v] = parts(x, block).map(|own| heads(&own, sizes(x, block)));
            let scores = q.bmm(&k.transpose(1, 2)).mul_scalar(scale(x, block));
            merged(x, block, &scores.softmax(1).bmm(&v))
        }),
        block("2.6-keys-and-queries-swapped", "keys ask", |x, block| {
            let [q, k, v] = parts(x, block).map(|own| heads(&own, sizes(x, block)));
            finished(x, block, [k, q, v])
        }),
        block("2.6-not-projected", "no output projection", |x, block| {
            let [q, k, v] = parts(x, block).map(|own| heads(&own, sizes(x, block)));
            let y = weighed(&q, &k, &v, scale(x, block));
            y.transpose(0, 1).reshape(x.shape())
        }),
    ]
}

fn sizes(x: &Tensor, block: &Block) -> Five {
    let c = x.shape()[2];
    [x.shape()[0], x.shape()[1], c, block.heads, c / block.heads]
}

fn scale(x: &Tensor, block: &Block) -> f32 {
    1.0 / (sizes(x, block)[4] as f32).sqrt()
}

/// Queries, keys and values without a copy: `(T, B, C)`.
fn parts(x: &Tensor, block: &Block) -> [Tensor; 3] {
    let c = x.shape()[2];
    [0, 1, 2].map(|part| x.matmul(&block.qkv.narrow(1, part * c, c)))
}

fn heads(own: &Tensor, [t, b, _, h, d]: Five) -> Tensor {
    own.reshape(&[t, b * h, d]).transpose(0, 1)
}

fn weighed(q: &Tensor, k: &Tensor, v: &Tensor, scale: f32) -> Tensor {
    q.bmm(&k.transpose(1, 2)).mul_scalar(scale).softmax(-1).bmm(v)
}

fn merged(x: &Tensor, block: &Block, y: &Tensor) -> Tensor {
    y.transpose(0, 1).reshape(x.shape()).matmul(&block.out)
}

fn finished(x: &Tensor, block: &Block, [q, k, v]: [Tensor; 3]) -> Tensor {
    merged(x, block, &weighed(&q, &k, &v, scale(x, block)))
}

/// The block as it was, with something done to queries, keys and values before the reshape.
fn with(x: &Tensor, block: &Block, pack: fn(&Tensor) -> Tensor) -> Tensor {
    let (c, qkv) = (x.shape()[2], x.matmul(&block.qkv));
    let parts = [0, 1, 2].map(|part| pack(&qkv.narrow(2, part * c, c)));
    finished(x, block, parts.map(|own| heads(&own, sizes(x, block))))
}
