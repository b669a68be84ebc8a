//! Wrong losses and wrong bytes: 3.6 and 3.7.

use engine_room::Tensor;
use engine_room::autograd::Ctx;

use super::{Sizes, Wrong, backward, bytes, forward, wrong};
use crate::solution::saved_bytes;

pub fn mistakes() -> Vec<Wrong> {
    let parts = [of_the_loss(), of_the_gradient(), bytes_too_many(), bytes_missing()];
    parts.into_iter().flatten().collect()
}

fn of_the_loss() -> Vec<Wrong> {
    vec![
        forward("3.6-overflow", "the logarithm of a softmax", |ctx, logits, targets| {
            finish(ctx, &logits.softmax(1).log(), targets)
        }),
        forward("3.6-saves-too-much", "saves a one-hot matrix too", |ctx, logits, targets| {
            let loss = finish(ctx, &logits.log_softmax(1), targets);
            ctx.save(&one_hot(logits, targets));
            loss
        }),
        forward("3.6-index-shape", "targets as the index, not reshaped", |ctx, logits, targets| {
            let logs = logits.log_softmax(1);
            ctx.save(&logs);
            ctx.save(targets);
            logs.gather(1, targets).mean().neg()
        }),
        forward("3.6-sum-not-mean", "the sum over the batch", |ctx, logits, targets| {
            let loss = finish(ctx, &logits.log_softmax(1), targets);
            loss.mul_scalar(targets.numel() as f32)
        }),
        forward("3.6-mean-over-all", "the mean over batch and classes", |ctx, logits, targets| {
            let logs = logits.log_softmax(1);
            finish(ctx, &logs, targets);
            logs.mul(&one_hot(logits, targets)).mean().neg()
        }),
        forward("3.6-wrong-dimension", "softmax over the batch", |ctx, logits, targets| {
            finish(ctx, &logits.log_softmax(0), targets)
        }),
        forward("3.6-sign-of-the-loss", "without the minus", |ctx, logits, targets| {
            finish(ctx, &logits.log_softmax(1), targets).neg()
        }),
    ]
}

fn of_the_gradient() -> Vec<Wrong> {
    vec![
        backward("3.6-batch-forgotten", "not divided by the batch", |ctx, dy| {
            difference(ctx).mul(dy)
        }),
        backward("3.6-dy-forgotten", "without dy", |ctx, _| {
            difference(ctx).mul_scalar(1.0 / ctx.saved(1).numel() as f32)
        }),
        backward("3.6-exp-forgotten", "log-probabilities as probabilities", |ctx, dy| {
            let (logs, targets) = (ctx.saved(0), ctx.saved(1));
            let difference = logs.sub(&one_hot(&logs, &targets));
            difference.mul(dy).mul_scalar(1.0 / targets.numel() as f32)
        }),
        backward("3.6-target-not-scaled", "the one-hot added last", |ctx, dy| {
            let (logs, targets) = (ctx.saved(0), ctx.saved(1));
            let scaled = logs.exp().mul(dy).mul_scalar(1.0 / targets.numel() as f32);
            scaled.sub(&one_hot(&logs, &targets))
        }),
        backward("3.6-divided-by-all", "divided by all elements", |ctx, dy| {
            difference(ctx).mul(dy).mul_scalar(1.0 / ctx.saved(0).numel() as f32)
        }),
        wrong("3.6", "3.6-exp-of-probabilities", "exp() of a saved softmax", |table| {
            table.cross_entropy_forward = |ctx, logits, targets| {
                ctx.save(&logits.softmax(1));
                ctx.save(targets);
                let column = targets.reshape(&[targets.numel(), 1]);
                logits.log_softmax(1).gather(1, &column).mean().neg()
            };
        }),
        backward("3.6-target-forgotten", "softmax without the one-hot", |ctx, dy| {
            ctx.saved(0).exp().mul(dy).mul_scalar(1.0 / ctx.saved(1).numel() as f32)
        }),
        backward("3.6-sign-of-the-gradient", "one-hot minus softmax", |ctx, dy| {
            difference(ctx).mul(dy).mul_scalar(-1.0 / ctx.saved(1).numel() as f32)
        }),
    ]
}

/// The solution's forward pass from the logarithms on.
fn finish(ctx: &mut Ctx, logs: &Tensor, targets: &Tensor) -> Tensor {
    ctx.save(logs);
    ctx.save(targets);
    logs.gather(1, &targets.reshape(&[targets.numel(), 1])).mean().neg()
}

/// softmax - one_hot
fn difference(ctx: &Ctx) -> Tensor {
    let logs = ctx.saved(0);
    logs.exp().sub(&one_hot(&logs, &ctx.saved(1)))
}

fn one_hot(logits: &Tensor, targets: &Tensor) -> Tensor {
    let column = targets.reshape(&[targets.numel(), 1]);
    Tensor::zeros(logits.shape()).scatter_add(1, &column, &Tensor::ones(column.shape()))
}

fn bytes_too_many() -> Vec<Wrong> {
    vec![
        bytes("3.7-parameters-counted", "parameters too", |sizes, off| {
            let layers = sizes.depth * sizes.width * (sizes.width + 1);
            let first = if sizes.depth == 0 { sizes.classes } else { sizes.width };
            let hidden = layers.saturating_sub(sizes.width * (sizes.width + 1));
            let ends = (sizes.inputs + 1) * first;
            let last = if sizes.depth == 0 { 0 } else { (sizes.width + 1) * sizes.classes };
            kept(sizes, off, |right| right + 4 * (hidden + ends + last) as u64)
        }),
        bytes("3.7-weights-counted", "the weights that nodes hold", |sizes, off| {
            let output = if sizes.depth == 0 { 0 } else { sizes.width * sizes.classes };
            let hidden = sizes.depth.saturating_sub(1) * sizes.width * sizes.width;
            kept(sizes, off, |right| right + 4 * (hidden + output) as u64)
        }),
        bytes("3.7-every-result", "every result along the way", |sizes, off| {
            let more = 2 * sizes.depth * sizes.width + 2 * sizes.classes;
            kept(sizes, off, |right| right + (4 * sizes.batch * more) as u64)
        }),
        bytes("3.7-two-holders", "relu and product each", |sizes, off| {
            let hidden = sizes.batch * sizes.depth * sizes.width;
            kept(sizes, off, |right| right + 4 * hidden as u64)
        }),
        bytes("3.7-two-reasons", "what goes into the relu too, no targets", |sizes, off| {
            let hidden = 4 * sizes.batch * sizes.depth * sizes.width;
            kept(sizes, off, |right| right + hidden as u64 - 8 * sizes.batch as u64)
        }),
        bytes("3.7-no-grad-ignored", "the same inside no_grad", |sizes, _| {
            saved_bytes(sizes, false)
        }),
    ]
}

fn bytes_missing() -> Vec<Wrong> {
    vec![
        bytes("3.7-layer-forgotten", "one hidden layer less", |sizes, off| {
            saved_bytes(&Sizes { depth: sizes.depth.saturating_sub(1), ..*sizes }, off)
        }),
        bytes("3.7-one-target", "one target for the batch", |sizes, off| {
            kept(sizes, off, |right| right - 8 * (sizes.batch as u64 - 1))
        }),
        bytes("3.7-inputs-forgotten", "without the images", |sizes, off| {
            kept(sizes, off, |right| right - (4 * sizes.batch * sizes.inputs) as u64)
        }),
        bytes("3.7-targets-of-four-bytes", "targets of 4 bytes", |sizes, off| {
            kept(sizes, off, |right| right - (4 * sizes.batch) as u64)
        }),
        bytes("3.7-targets-forgotten", "without the targets", |sizes, off| {
            kept(sizes, off, |right| right - (8 * sizes.batch) as u64)
        }),
        bytes("3.7-numbers-not-bytes", "numbers instead of bytes", |sizes, off| {
            let row = sizes.inputs + sizes.depth * sizes.width + sizes.classes + 1;
            kept(sizes, off, |_| (sizes.batch * row) as u64)
        }),
    ]
}

/// A wrong number while recording is on, and none inside `no_grad`.
fn kept(sizes: &Sizes, off: bool, change: impl FnOnce(u64) -> u64) -> u64 {
    if off { 0 } else { change(saved_bytes(sizes, false)) }
}
