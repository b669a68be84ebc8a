//! Losses of classifications. They are composed of other operations and have no backward pass of
//! their own.

use crate::Tensor;
use crate::dtype::DType;
use crate::ops::autocast::casting;
use crate::ops::loss::Reduction;
use crate::ops::{expect_floating, expect_one_device, refuse};

/// What [`cross_entropy_with`](Tensor::cross_entropy_with) may be told.
#[derive(Debug, Clone, Copy)]
pub struct CrossEntropy<'a> {
    /// A factor for each class; the mean is then weighted, too.
    pub weight: Option<&'a Tensor>,
    /// A target that stands for none: its loss is 0 and does not count in the mean.
    pub ignore_index: i64,
    /// What share of the target is spread evenly over all classes, from 0 to 1.
    pub label_smoothing: f64,
    /// What becomes of the losses.
    pub reduction: Reduction,
}

impl Default for CrossEntropy<'_> {
    fn default() -> Self {
        CrossEntropy {
            weight: None,
            ignore_index: -100,
            label_smoothing: 0.0,
            reduction: Reduction::Mean,
        }
    }
}

impl Tensor {
    /// The mean over a batch of −log softmax(x) at the target: `(B, C)`, targets `(B)` → `()`.
    ///
    /// Composed of `log_softmax`, `gather`, `mean` and `neg`; the graph keeps the log-softmax,
    /// `(B, C)`, and the targets. Targets of −100 are left out.
    ///
    /// # Panics
    /// If the shapes do not fit or a target is not one of the C classes.
    #[track_caller]
    pub fn cross_entropy(&self, targets: &Tensor) -> Tensor {
        self.cross_entropy_with(targets, CrossEntropy::default())
    }

    /// −log softmax(x) at the targets: logits `(C)`, `(B, C)` or `(B, C, T, ..)` and `i64` targets
    /// `()`, `(B)` or `(B, T, ..)`. Floating-point targets of the logits' shape are probabilities
    /// of the classes. The mean of no targets is NaN.
    ///
    /// # Panics
    /// If the shapes do not fit, a target is neither a class nor ignored, the weight does not have
    /// one number for each class, or the smoothing is not from 0 to 1.
    #[track_caller]
    pub fn cross_entropy_with(&self, targets: &Tensor, options: CrossEntropy) -> Tensor {
        if let Some(cast) = casting("cross_entropy", &[self]) {
            let weight = cast.of_some(options.weight);
            let options = CrossEntropy { weight: weight.as_ref(), ..options };
            return cast.of(self).cross_entropy_with(&cast.of(targets), options);
        }
        check("cross_entropy", self, targets, &options);
        let log_softmax = self.log_softmax(class_dim(self));
        if targets.dtype().is_floating_point() {
            of_probabilities(&log_softmax, targets, &options)
        } else if options.label_smoothing > 0.0 {
            smoothed(&log_softmax, targets, &options)
        } else {
            of_classes(&log_softmax, targets, &options)
        }
    }

    /// −x at the targets, where x is the logarithm of probabilities: what is left of
    /// [`cross_entropy_with`](Tensor::cross_entropy_with) after the log-softmax.
    ///
    /// # Panics
    /// As `cross_entropy_with`, and if the targets are no classes or a smoothing is asked for.
    #[track_caller]
    pub fn nll_loss(&self, targets: &Tensor, options: CrossEntropy) -> Tensor {
        if let Some(cast) = casting("nll_loss", &[self]) {
            let weight = cast.of_some(options.weight);
            let options = CrossEntropy { weight: weight.as_ref(), ..options };
            return cast.of(self).nll_loss(targets, options);
        }
        check("nll_loss", self, targets, &options);
        if targets.dtype() != DType::I64 || options.label_smoothing != 0.0 {
            let message = "needs i64 targets and no smoothing; cross_entropy_with has both";
            refuse("nll_loss", &[self, targets], message.to_string());
        }
        of_classes(self, targets, &options)
    }
}

/// The classes' dimension.
fn class_dim(logits: &Tensor) -> isize {
    isize::from(logits.shape().len() > 1)
}

#[track_caller]
fn check(op: &'static str, logits: &Tensor, targets: &Tensor, options: &CrossEntropy) {
    let operands: Vec<&Tensor> = [logits, targets].into_iter().chain(options.weight).collect();
    expect_one_device(op, &operands);
    expect_floating(op, &[logits]);
    let dim = class_dim(logits) as usize;
    let Some(&classes) = logits.shape().get(dim) else {
        refuse(op, &operands, "needs logits (B, C) and i64 targets (B)".to_string())
    };
    if options.weight.is_some_and(|w| w.shape() != [classes] || w.dtype() != logits.dtype()) {
        let message = format!("the weight must be {} [{classes}]", logits.dtype());
        refuse(op, &operands, message);
    }
    if !(0.0..=1.0).contains(&options.label_smoothing) {
        let message = format!("the smoothing {} is not from 0 to 1", options.label_smoothing);
        refuse(op, &operands, message);
    }
    if targets.dtype().is_floating_point() {
        if targets.shape() != logits.shape() {
            let message = "needs logits (B, C) and i64 targets (B), or probabilities (B, C)";
            refuse(op, &operands, message.to_string());
        }
        return;
    }
    let rest = [&logits.shape()[..dim], &logits.shape()[dim + 1..]].concat();
    if targets.dtype() != DType::I64 || targets.shape() != rest {
        let rows: usize = rest.iter().product();
        let message = format!(
            "needs logits (B, C) and i64 targets (B): {rows} rows of logits take targets of shape \
             {rest:?}"
        );
        refuse(op, &operands, message);
    }
    let wrong = |(_, target): &(usize, i64)| {
        *target != options.ignore_index && !(0..classes as i64).contains(target)
    };
    if let Some((row, target)) = targets.to_vec::<i64>().into_iter().enumerate().find(wrong) {
        let message = format!(
            "target {target} of row {row} is not one of 0..{classes}, nor {}, which is ignored",
            options.ignore_index
        );
        refuse(op, &operands, message);
    }
}

/// The targets with their class dimension, of size 1, and where they are ignored; `None` if
/// nowhere.
#[track_caller]
fn places(dim: isize, targets: &Tensor, ignore_index: i64) -> (Tensor, Option<Tensor>) {
    let targets = targets.unsqueeze(dim);
    let ignore = Tensor::full_on(&[], ignore_index, DType::I64, targets.device());
    let ignored = targets.eq(&ignore);
    match ignored.any().item_as::<bool>() {
        true => (targets.masked_fill(&ignored, 0), Some(ignored)),
        false => (targets, None),
    }
}

/// The weights with their only dimension in the place of the classes.
#[track_caller]
fn along_classes(weight: &Tensor, like: &Tensor) -> Tensor {
    let mut shape = vec![1; like.shape().len()];
    shape[class_dim(like) as usize] = weight.numel();
    weight.reshape(&shape)
}

/// The share of each target in the mean: its weight, and 0 if it is ignored; `None` if all are 1.
#[track_caller]
fn shares(
    x: &Tensor,
    index: &Tensor,
    ignored: Option<&Tensor>,
    weight: Option<&Tensor>,
) -> Option<Tensor> {
    let shares = match (weight, ignored) {
        (None, None) => return None,
        (Some(weight), _) => along_classes(weight, x).expand(x.shape()).gather(class_dim(x), index),
        (None, Some(_)) => Tensor::full_on(index.shape(), 1, x.dtype(), x.device()),
    };
    Some(ignored.map_or(shares.clone(), |ignored| shares.masked_fill(ignored, 0)))
}

/// −x at the targets.
#[track_caller]
fn of_classes(x: &Tensor, targets: &Tensor, options: &CrossEntropy) -> Tensor {
    let dim = class_dim(x);
    let (index, ignored) = places(dim, targets, options.ignore_index);
    let picked = x.gather(dim, &index);
    let shares = shares(x, &index, ignored.as_ref(), options.weight);
    let Some(shares) = shares else {
        return match options.reduction {
            Reduction::None => picked.squeeze(dim).neg(),
            reduction => reduction.of(&picked).neg(),
        };
    };
    let weighted = options.weight.map_or(picked.clone(), |_| picked.mul(&shares));
    // A choice, and no product: 0 times an infinite loss would be NaN.
    let losses = ignored.map_or(weighted.clone(), |ignored| weighted.masked_fill(&ignored, 0));
    match options.reduction {
        Reduction::None => losses.squeeze(dim).neg(),
        Reduction::Mean => losses.sum().div(&shares.sum()).neg(),
        Reduction::Sum => losses.sum().neg(),
    }
}

/// (1 − s) · the loss at the targets + s · the mean of the losses at all classes.
fn smoothed(x: &Tensor, targets: &Tensor, options: &CrossEntropy) -> Tensor {
    let (dim, classes) = (class_dim(x), x.shape()[class_dim(x) as usize]);
    let (index, ignored) = places(dim, targets, options.ignore_index);
    let weighted = options.weight.map_or(x.clone(), |weight| x.mul(&along_classes(weight, x)));
    let all = weighted.sum_dims(&[dim], true).neg();
    let all = ignored.as_ref().map_or(all.clone(), |ignored| all.masked_fill(ignored, 0));
    let all = match options.reduction {
        Reduction::None => all.squeeze(dim),
        Reduction::Sum => all.sum(),
        Reduction::Mean => match shares(x, &index, ignored.as_ref(), options.weight) {
            None => all.mean(),
            Some(shares) => all.sum().div(&shares.sum()),
        },
    };
    let smoothing = options.label_smoothing;
    let at_targets = of_classes(x, targets, options).mul_scalar(1.0 - smoothing);
    at_targets.add(&all.mul_scalar(smoothing / classes as f64))
}

/// −Σ t · x over the classes; the mean counts every row, whatever its weights.
#[track_caller]
fn of_probabilities(x: &Tensor, targets: &Tensor, options: &CrossEntropy) -> Tensor {
    let (dim, classes) = (class_dim(x), x.shape()[class_dim(x) as usize] as f64);
    let smoothing = options.label_smoothing;
    let targets = match smoothing > 0.0 {
        true => targets.mul_scalar(1.0 - smoothing).add_scalar(smoothing / classes),
        false => targets.clone(),
    };
    let products = x.mul(&targets);
    let products = match options.weight {
        Some(weight) => products.mul(&along_classes(weight, x)),
        None => products,
    };
    let losses = products.sum_dims(&[dim], false).neg();
    options.reduction.of(&losses)
}
