//! 3.6: the learner's two functions run as one operation of the engine, and its memory is counted.

use std::sync::{Arc, Mutex, PoisonError};

use engine_room::Tensor;
use engine_room::autograd::{Ctx, Graph, Op, apply};
use grading::diagnosis::key;
use grading::{Check, Diagnosis, Idea};

use super::Implementation;
use super::inputs::Lie::{Packed, Transposed};
use super::inputs::{Lie, laid};

/// Cross-entropy with the learner's passes. The gradient is kept for the check, so that a wrong
/// shape is the check's to explain.
struct Fused {
    imp: Implementation,
    returned: Arc<Mutex<Option<Tensor>>>,
}

impl Op<2> for Fused {
    fn name(&self) -> &'static str {
        "cross_entropy"
    }

    fn forward(&self, ctx: &mut Ctx, [logits, targets]: [&Tensor; 2]) -> Tensor {
        (self.imp.cross_entropy_forward)(ctx, logits, targets)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let gradient = (self.imp.cross_entropy_backward)(ctx, dy);
        *self.returned.lock().unwrap_or_else(PoisonError::into_inner) = Some(gradient);
        [None, None]
    }
}

/// A batch of logits and targets, in `f64`.
struct Batch {
    words: String,
    size: [usize; 2],
    logits: Vec<f64>,
    targets: Vec<i64>,
    lie: Lie,
}

/// 3.6
pub fn loss(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for (batch, classes, scale, dy, lie) in [
        (3, 3, 1.0, 1.0, Packed),
        (4, 5, 1.0, 1.0, Packed),
        (4, 5, 2.0, -0.7, Transposed),
        (1, 3, 1.0, 3.0, Packed),
        (2, 1, 1.0, 1.0, Packed),
        (7, 2, 3.0, 0.5, Transposed),
        (5, 10, 1.0, 2.0, Packed),
        (3, 4, 1000.0, 1.0, Packed),
        (4, 3, 1000.0, -2.0, Transposed),
    ] {
        let logits = (0..batch * classes).map(|_| {
            let x = if scale > 100.0 { [-1.0, 1.0][rng.below(2)] } else { rng.normal() };
            f64::from(x * scale)
        });
        let mut logits: Vec<f64> = logits.collect();
        let targets: Vec<i64> = (0..batch).map(|_| rng.below(classes) as i64).collect();
        if scale > 100.0 {
            // The first target is out of reach for an exponential, whatever the seed.
            let target = targets[0] as usize;
            logits[target] = -1000.0;
            logits[(target + 1) % classes] = 1000.0;
            // Another row lies so far below it that only its own maximum helps.
            logits[classes..2 * classes].fill(-1000.0);
        }
        let large = if scale > 100.0 { " of +-1000" } else { "" };
        let view = if lie == Transposed { ", a view" } else { "" };
        let words = format!("logits [{batch}, {classes}]{large}{view}");
        let batch = Batch { words, size: [batch, classes], logits, targets, lie };
        batch.judge(imp, check, dy)?;
    }
    Ok(())
}

impl Batch {
    fn judge(&self, imp: &Implementation, check: &mut Check, dy: f32) -> Result<(), Diagnosis> {
        let leaf = laid(self.floats(&self.logits), &self.size, self.lie).requires_grad_(true);
        // What a layer computes and nobody else holds: saving it costs its bytes.
        let logits = leaf.transpose(0, 1).mul_scalar(1.0).transpose(0, 1);
        let logits = if self.lie == Packed { leaf.mul_scalar(1.0) } else { logits };
        let targets = Tensor::from_vec(self.targets.clone(), &[self.size[0]]);
        let before = logits.to_vec::<f32>();
        let returned = Arc::default();
        let op = Fused { imp: *imp, returned: Arc::clone(&returned) };
        let called = format!("cross_entropy_forward({}, targets {:?})", self.words, self.targets);
        let loss =
            check.call(called.as_str(), || apply(op, [&logits, &targets])).map_err(of_the_index)?;
        self.finite(check, "the loss", &called, &loss)?;
        let want = Tensor::scalar(self.loss(&self.logits) as f32);
        check.tensor("the loss", &called, &loss, &want, 2e-5, &self.loss_ideas())?;
        check.require(logits.to_vec::<f32>() == before, || {
            Diagnosis::new("3.6-logits-changed")
                .called(called.as_str())
                .got("logits that have other numbers than before the call")
                .expected("the caller's logits as they were")
                .thought(
                    "The logits belong to the caller, who may go on using them. Change a copy.",
                )
        })?;
        self.judge_saved(check, &called, &loss)?;
        let called = format!("cross_entropy_backward(dy {dy}) after {}", self.words);
        let dy_tensor = Tensor::scalar(dy);
        check.call(called.as_str(), || loss.backward_with(&dy_tensor)).map_err(of_the_index)?;
        let got = returned.lock().unwrap_or_else(PoisonError::into_inner).take();
        let got = got.unwrap_or_else(|| Tensor::zeros(&[]));
        self.finite(check, "the gradient", &called, &got)?;
        let want = self.tensor(&self.gradient(f64::from(dy)));
        let ideas = self.gradient_ideas(f64::from(dy));
        check.tensor("the gradient", &called, &got, &want, 1e-5, &ideas)
    }

    /// The bytes that the operation alone keeps alive.
    fn judge_saved(&self, check: &Check, called: &str, loss: &Tensor) -> Result<(), Diagnosis> {
        let [batch, classes] = self.size;
        let most = (4 * batch * classes + 8 * batch) as u64;
        let bytes = Graph::of(loss).activation_bytes();
        check.require(bytes <= most, || {
            Diagnosis::new("3.6-saves-too-much")
                .called(called)
                .got(format!("{bytes} bytes kept alive by what was saved"))
                .expected(format!("at most 4 . {batch} . {classes} + 8 . {batch} = {most} bytes"))
                .thought(
                    "One tensor of the logits' shape is enough, with the targets. What can be \
                     computed again from it, such as the softmax from its logarithm, need not be \
                     saved as well.",
                )
        })
    }

    fn finite(&self, check: &Check, what: &str, called: &str, x: &Tensor) -> Result<(), Diagnosis> {
        let values = x.to_vec::<f32>();
        let first = values.iter().find(|value| !value.is_finite());
        check.require(first.is_none(), || {
            Diagnosis::new("3.6-overflow")
                .called(called)
                .got(format!("{what} holds {}", first.unwrap_or(&0.0)))
                .expected("finite numbers for finite logits")
                .thought(
                    "exp(89) is infinite in f32 and exp(-104) is 0, whose logarithm is -infinity. \
                     The logarithm of the softmax is z - max - ln(sum exp(z - max)), and \
                     `log_softmax` computes it so.",
                )
        })
    }

    fn floats(&self, values: &[f64]) -> Vec<f32> {
        values.iter().map(|&x| x as f32).collect()
    }

    fn tensor(&self, values: &[f64]) -> Tensor {
        Tensor::from_vec(self.floats(values), &self.size)
    }

    /// The loss of such logits by its definition.
    fn loss(&self, logits: &[f64]) -> f64 {
        let probabilities = softmax(logits, self.size);
        let picked = self.targets.iter().enumerate().map(|(row, &target)| {
            let (z, p) = (&logits[row * self.size[1]..], &probabilities[row * self.size[1]..]);
            // Where the probability is too small for its logarithm, the largest logit is all.
            let largest = z[..self.size[1]].iter().fold(f64::MIN, |a, &b| a.max(b));
            let at = z[target as usize] - largest;
            let top = z[..self.size[1]].iter().zip(p).find(|(z, _)| **z == largest);
            -(at + top.map_or(0.0, |(_, p)| p.ln()))
        });
        picked.sum::<f64>() / self.size[0] as f64
    }

    /// dy times the gradient, by central differences of the definition; by the formula where logits
    /// are so far apart that a difference sees nothing.
    fn gradient(&self, dy: f64) -> Vec<f64> {
        if self.logits.iter().any(|z| z.abs() > 100.0) {
            return self.by_formula(dy);
        }
        let slope = |i: usize| {
            let moved = |by: f64| {
                let mut logits = self.logits.clone();
                logits[i] += by;
                self.loss(&logits)
            };
            dy * (moved(1e-5) - moved(-1e-5)) / 2e-5
        };
        (0..self.logits.len()).map(slope).collect()
    }

    /// dy (softmax - one_hot) / B
    fn by_formula(&self, dy: f64) -> Vec<f64> {
        let [batch, classes] = self.size;
        let mut gradient = softmax(&self.logits, self.size);
        for (row, &target) in self.targets.iter().enumerate() {
            gradient[row * classes + target as usize] -= 1.0;
        }
        gradient.iter().map(|g| dy * g / batch as f64).collect()
    }

    /// 1 at the target of each row.
    fn one_hot(&self) -> Vec<f64> {
        let classes = self.size[1];
        let is_target = |i: usize| self.targets[i / classes] as usize == i % classes;
        (0..self.logits.len()).map(|i| f64::from(is_target(i))).collect()
    }

    fn loss_ideas(&self) -> Vec<Idea<Tensor>> {
        let idea =
            |key, thought, value: f64| Idea { key, thought, value: Tensor::scalar(value as f32) };
        let (mean, batch) = (self.loss(&self.logits), self.size[0] as f64);
        let mut columns = 0.0;
        let across = softmax_of_columns(&self.logits, self.size);
        for (row, &target) in self.targets.iter().enumerate() {
            columns -= across[row * self.size[1] + target as usize].ln() / batch;
        }
        vec![
            idea("3.6-sum-not-mean", SUM, mean * batch),
            idea("3.6-sign-of-the-loss", SIGN, -mean),
            idea("3.6-mean-over-all", OVER_ALL, mean / self.size[1] as f64),
            idea("3.6-wrong-dimension", DIMENSION, columns),
        ]
    }

    fn gradient_ideas(&self, dy: f64) -> Vec<Idea<Tensor>> {
        let idea =
            |key, thought, values: Vec<f64>| Idea { key, thought, value: self.tensor(&values) };
        let scaled = |gradient: Vec<f64>, by: f64| gradient.iter().map(|g| g * by).collect();
        let [batch, classes] = self.size.map(|n| n as f64);
        let hot = self.one_hot();
        let without = |part: f64, hot: f64| dy * part / batch - hot;
        let probabilities = softmax(&self.logits, self.size);
        let combined = |parts: &[f64], hot_by: f64| {
            parts.iter().zip(&hot).map(|(part, hot)| without(*part, hot * hot_by)).collect()
        };
        let logs: Vec<f64> = probabilities.iter().map(|p| p.ln()).collect();
        let twice: Vec<f64> = probabilities.iter().map(|p| p.exp()).collect();
        vec![
            idea("3.6-exp-forgotten", EXP, combined(&logs, dy / batch)),
            idea("3.6-exp-of-probabilities", EXP_TWICE, combined(&twice, dy / batch)),
            idea("3.6-target-not-scaled", NOT_SCALED, combined(&probabilities, 1.0)),
            idea("3.6-divided-by-all", DIVIDED, scaled(self.by_formula(dy), 1.0 / classes)),
            idea("3.6-batch-forgotten", BATCH, scaled(self.by_formula(dy), batch)),
            idea("3.6-dy-forgotten", DY, self.by_formula(1.0)),
            idea("3.6-sign-of-the-gradient", UPHILL, self.by_formula(-dy)),
            idea(
                "3.6-target-forgotten",
                TARGET,
                scaled(softmax(&self.logits, self.size), dy / batch),
            ),
        ]
    }
}

/// A panic of the engine about the index of a gather or scatter_add, with its reason.
fn of_the_index(panic: Diagnosis) -> Diagnosis {
    if panic.key == key::PANICKED && panic.got.contains("the index must have as many dimensions") {
        Diagnosis { key: "3.6-index-shape".to_owned(), ..panic }.thought(INDEX)
    } else {
        panic
    }
}

/// The softmax of each row, row by row.
fn softmax(logits: &[f64], [_, classes]: [usize; 2]) -> Vec<f64> {
    let row = |row: &[f64]| {
        let largest = row.iter().fold(f64::MIN, |a, &b| a.max(b));
        let sum: f64 = row.iter().map(|z| (z - largest).exp()).sum();
        row.iter().map(|z| (z - largest).exp() / sum).collect::<Vec<f64>>()
    };
    logits.chunks(classes).flat_map(row).collect()
}

/// The softmax over the batch instead of the classes, laid out as the logits.
fn softmax_of_columns(logits: &[f64], [batch, classes]: [usize; 2]) -> Vec<f64> {
    let column = |at: usize| (0..batch).map(move |row| logits[row * classes + at]);
    let sums: Vec<f64> = (0..classes).map(|at| column(at).map(f64::exp).sum()).collect();
    logits.iter().enumerate().map(|(i, z)| z.exp() / sums[i % classes]).collect()
}

const SUM: &str = "That is the sum over the rows. The loss is their mean, so that it does not \
    grow with the batch.";
const SIGN: &str = "That is the mean logarithm without the minus. A probability below 1 has a \
    negative logarithm; the loss is its opposite, and 0 only if the target has probability 1.";
const OVER_ALL: &str = "That is divided by B . C. Each row contributes one number, that of its \
    target, so the mean is over the B rows.";
const DIMENSION: &str = "That is the softmax over the batch. The classes of one row compete with \
    each other: dimension 1 of (B, C).";
const BATCH: &str = "That is B times the gradient. The loss is the mean over the rows, so each \
    row counts with 1 / B.";
const DY: &str = "That is the gradient for dy = 1. What comes in is dy, the gradient of the \
    loss, and everything that goes out is multiplied by it.";
const UPHILL: &str = "That is the gradient with the opposite sign: one_hot - softmax. More score \
    for the target lowers the loss, so the target's element is negative: softmax - one_hot.";
const TARGET: &str = "That is the softmax alone. The loss also contains - z[target] directly, \
    which subtracts 1 from the gradient at the target of each row.";
const EXP: &str = "That is what comes if the log-probabilities are used as probabilities. The \
    gradient is softmax - one_hot, and what log_softmax gives is the logarithm of the softmax: \
    take exp() of it first.";
const EXP_TWICE: &str = "That is exp() of the probabilities. exp() belongs to \
    log-probabilities; if the softmax itself was saved, it is ready for use.";
const NOT_SCALED: &str = "The 1 at the target was subtracted after the softmax had been scaled. \
    The whole difference softmax - one_hot is multiplied by dy and divided by B.";
const DIVIDED: &str = "That is divided by B . C. The loss is the mean over the B rows, each of \
    which contributes one number, so the divisor is B.";
const INDEX: &str = "The index needs as many dimensions as the tensor that it points into. The \
    targets have shape (B): reshaped to [B, 1] they are a column that picks one class of each \
    row.";
