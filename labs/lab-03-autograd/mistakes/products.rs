//! Wrong backward passes: 3.1, 3.2 and 3.3.

use engine_room::Tensor;
use engine_room::autograd::Ctx;

use super::{Wrong, matmul, mul, reduce};

type Gradients = [Option<Tensor>; 2];

pub fn mistakes() -> Vec<Wrong> {
    vec![
        mul("3.1-swapped-factors", "each input times itself", mul_own),
        mul("3.1-dy-forgotten", "the local slope alone", mul_local),
        mul("3.1-rule-of-the-sum", "dy for both, as for a sum", mul_as_sum),
        mul("3.1-both-factors", "dy times the product", mul_product),
        mul("3.1-dy-replaced", "a . b for b", mul_forward),
        mul("3.1-summed", "summed to one number", mul_summed),
        mul("3.1-gradient-forgotten", "only the first input", mul_first),
        matmul("3.2-no-transpose", "without transposes", matmul_plain),
        matmul("3.2-order", "the factors in the other order", matmul_order),
        matmul("3.2-result-transposed", "dC transposed instead of B", matmul_result),
        matmul("3.2-reshaped", "reshaped instead of transposed", matmul_reshaped),
        matmul("3.2-outputs-swapped", "dB first", matmul_swapped),
        matmul("3.2-elementwise", "elementwise, as in 3.1", matmul_elementwise),
        reduce("3.3-mean", "the mean over the repetitions", reduce_mean),
        reduce("3.3-one-repetition", "the first row", reduce_first),
        reduce("3.3-aligned-left", "aligned at the first dimension", reduce_left),
        reduce("3.3-added-dimension-kept", "keepdim and no reshape", reduce_kept),
        reduce("3.3-stretched-dimension-dropped", "without keepdim", reduce_dropped),
        reduce("3.3-stretched-forgotten", "only the added dimensions", reduce_added),
        reduce("3.3-empty-list", "the added dimensions in one list", reduce_list),
        reduce("3.3-empty-list-reshape", "a list of all, and a reshape", |dy, shape| {
            dy.sum_dims(&repeated(dy, shape).0, true).reshape(shape)
        }),
        reduce("3.3-dimensions-move", "without keepdim, from the first one on", |dy, shape| {
            let sum = |dx: Tensor, dim| dx.sum_dims(&[dim], false);
            repeated(dy, shape).0.into_iter().fold(dy.clone(), sum).reshape(shape)
        }),
        reduce("3.3-index-of-added", "indexes shape before asking", |dy, shape| {
            let mut dx = dy.clone();
            for dim in 0..dy.shape().len() {
                if shape[dim - (dy.shape().len() - shape.len())] == 1 {
                    dx = dx.sum_dims(&[dim as isize], true);
                }
            }
            dx.reshape(shape)
        }),
        reduce("3.3-summed-all", "sum() of everything", |dy, _| dy.sum()),
    ]
}

fn both(ctx: &Ctx, f: impl Fn(&Tensor, &Tensor) -> [Tensor; 2]) -> Gradients {
    f(&ctx.saved(0), &ctx.saved(1)).map(Some)
}

fn mul_own(ctx: &Ctx, dy: &Tensor) -> Gradients {
    both(ctx, |a, b| [dy.mul(a), dy.mul(b)])
}

fn mul_local(ctx: &Ctx, _: &Tensor) -> Gradients {
    both(ctx, |a, b| [b.clone(), a.clone()])
}

fn mul_as_sum(_: &Ctx, dy: &Tensor) -> Gradients {
    [Some(dy.clone()), Some(dy.clone())]
}

fn mul_product(ctx: &Ctx, dy: &Tensor) -> Gradients {
    both(ctx, |a, b| [dy.mul(a).mul(b), dy.mul(a).mul(b)])
}

fn mul_forward(ctx: &Ctx, dy: &Tensor) -> Gradients {
    both(ctx, |a, b| [dy.mul(b), a.mul(b)])
}

fn mul_summed(ctx: &Ctx, dy: &Tensor) -> Gradients {
    both(ctx, |a, b| [dy.mul(b).sum(), dy.mul(a).sum()])
}

fn mul_first(ctx: &Ctx, dy: &Tensor) -> Gradients {
    [Some(dy.mul(&ctx.saved(1))), None]
}

fn matmul_plain(ctx: &Ctx, dc: &Tensor) -> Gradients {
    both(ctx, |a, b| [dc.matmul(b), a.matmul(dc)])
}

fn matmul_order(ctx: &Ctx, dc: &Tensor) -> Gradients {
    both(ctx, |a, b| [b.transpose(0, 1).matmul(dc), dc.matmul(&a.transpose(0, 1))])
}

fn matmul_result(ctx: &Ctx, dc: &Tensor) -> Gradients {
    let dct = dc.transpose(0, 1);
    both(ctx, |a, b| [b.matmul(&dct), dct.matmul(a)])
}

fn matmul_reshaped(ctx: &Ctx, dc: &Tensor) -> Gradients {
    let turned = |x: &Tensor| x.reshape(&[x.shape()[1], x.shape()[0]]);
    both(ctx, |a, b| [dc.matmul(&turned(b)), turned(a).matmul(dc)])
}

fn matmul_swapped(ctx: &Ctx, dc: &Tensor) -> Gradients {
    both(ctx, |a, b| [a.transpose(0, 1).matmul(dc), dc.matmul(&b.transpose(0, 1))])
}

fn matmul_elementwise(ctx: &Ctx, dc: &Tensor) -> Gradients {
    both(ctx, |a, b| [dc.mul(b), dc.mul(a)])
}

/// Which dimensions of dy hold repetitions, and how many were added in front.
fn repeated(dy: &Tensor, shape: &[usize]) -> (Vec<isize>, usize) {
    let added = dy.shape().len() - shape.len();
    let is_repeated = |&dim: &usize| dim < added || shape[dim - added] != dy.shape()[dim];
    let dims = (0..dy.shape().len()).filter(is_repeated);
    (dims.map(|dim| dim as isize).collect(), added)
}

fn reduce_mean(dy: &Tensor, shape: &[usize]) -> Tensor {
    match repeated(dy, shape).0 {
        dims if dims.is_empty() => dy.reshape(shape),
        dims => dy.mean_dims(&dims, true).reshape(shape),
    }
}

fn reduce_first(dy: &Tensor, shape: &[usize]) -> Tensor {
    let (dims, added) = repeated(dy, shape);
    let mut dx = dy.clone();
    for dim in dims {
        let mut size = dx.shape().to_vec();
        size[dim as usize] = 1;
        dx = dx.gather(dim, &Tensor::from_vec(vec![0i64; size.iter().product()], &size));
    }
    dx.reshape(&dx.shape()[added..])
}

fn reduce_left(dy: &Tensor, shape: &[usize]) -> Tensor {
    let mut dx = dy.clone();
    for dim in 0..dy.shape().len() {
        if shape.get(dim).is_none_or(|&size| size != dy.shape()[dim]) {
            dx = dx.sum_dims(&[dim as isize], true);
        }
    }
    dx.reshape(shape)
}

fn reduce_kept(dy: &Tensor, shape: &[usize]) -> Tensor {
    match repeated(dy, shape).0 {
        dims if dims.is_empty() => dy.clone(),
        dims => dy.sum_dims(&dims, true),
    }
}

fn reduce_dropped(dy: &Tensor, shape: &[usize]) -> Tensor {
    match repeated(dy, shape).0 {
        dims if dims.is_empty() => dy.clone(),
        dims => dy.sum_dims(&dims, false),
    }
}

fn reduce_list(dy: &Tensor, shape: &[usize]) -> Tensor {
    let added: Vec<isize> = (0..(dy.shape().len() - shape.len()) as isize).collect();
    dy.sum_dims(&added, false)
}

fn reduce_added(dy: &Tensor, shape: &[usize]) -> Tensor {
    let mut dx = dy.clone();
    while dx.shape().len() > shape.len() {
        dx = dx.sum_dims(&[0], false);
    }
    dx
}
