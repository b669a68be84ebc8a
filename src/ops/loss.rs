//! Losses. They are composed of other operations and have no backward pass of their own.

use crate::Tensor;
use crate::dtype::DType;
use crate::ops::{expect_floating, refuse};

impl Tensor {
    /// The mean over a batch of −log softmax(x) at the target: `(B, C)`, targets `(B)` → `()`.
    ///
    /// Composed of `log_softmax`, `gather`, `mean` and `neg`; the graph keeps the log-softmax,
    /// `(B, C)`, and the targets.
    ///
    /// # Panics
    /// If the shapes do not fit or a target is not one of the C classes.
    #[track_caller]
    pub fn cross_entropy(&self, targets: &Tensor) -> Tensor {
        expect_floating("cross_entropy", &[self]);
        let (&[batch, classes], &[labels], DType::I64) =
            (self.shape(), targets.shape(), targets.dtype())
        else {
            let message = "needs logits (B, C) and i64 targets (B)".to_string();
            refuse("cross_entropy", &[self, targets], message)
        };
        if batch != labels {
            let message = format!("{batch} rows of logits against {labels} targets");
            refuse("cross_entropy", &[self, targets], message);
        }
        let wrong = |(_, target): &(usize, i64)| !(0..classes as i64).contains(target);
        if let Some((row, target)) = targets.to_vec::<i64>().into_iter().enumerate().find(wrong) {
            let message = format!("target {target} of row {row} is not one of 0..{classes}");
            refuse("cross_entropy", &[self, targets], message);
        }
        let picked = self.log_softmax(1).gather(1, &targets.reshape(&[batch, 1]));
        picked.mean().neg()
    }
}
