//! Losses that compare numbers with numbers. They are composed of other operations and have no
//! backward pass of their own.

use crate::Tensor;
use crate::ops::autocast::casting;
use crate::ops::{expect_floating, refuse};

/// What becomes of the losses of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduction {
    /// They stay as they are.
    None,
    /// Their mean.
    #[default]
    Mean,
    /// Their sum.
    Sum,
}

impl Reduction {
    #[track_caller]
    pub(super) fn of(self, losses: &Tensor) -> Tensor {
        match self {
            Reduction::None => losses.clone(),
            Reduction::Mean => losses.mean(),
            Reduction::Sum => losses.sum(),
        }
    }
}

impl Tensor {
    /// (x − target)². Unlike in PyTorch nothing is broadcast: (B, 1) against (B) would compare each
    /// with each other one.
    ///
    /// # Panics
    /// If the shapes differ, or one operand is not floating-point.
    #[track_caller]
    pub fn mse_loss(&self, targets: &Tensor, reduction: Reduction) -> Tensor {
        if let Some(cast) = casting("mse_loss", &[self, targets]) {
            return cast.of(self).mse_loss(&cast.of(targets), reduction);
        }
        expect_alike("mse_loss", self, targets);
        let difference = self.sub(targets);
        reduction.of(&difference.mul(&difference))
    }

    /// |x − target|.
    ///
    /// # Panics
    /// As [`mse_loss`](Tensor::mse_loss).
    #[track_caller]
    pub fn l1_loss(&self, targets: &Tensor, reduction: Reduction) -> Tensor {
        if let Some(cast) = casting("l1_loss", &[self, targets]) {
            return cast.of(self).l1_loss(&cast.of(targets), reduction);
        }
        expect_alike("l1_loss", self, targets);
        reduction.of(&self.sub(targets).abs())
    }

    /// With d = |x − target|: d² / 2 up to d = delta, and the tangent there, delta · (d − delta /
    /// 2), beyond it.
    ///
    /// # Panics
    /// As [`mse_loss`](Tensor::mse_loss), and if delta is not positive.
    #[track_caller]
    pub fn huber_loss(&self, targets: &Tensor, delta: f64, reduction: Reduction) -> Tensor {
        if let Some(cast) = casting("huber_loss", &[self, targets]) {
            return cast.of(self).huber_loss(&cast.of(targets), delta, reduction);
        }
        expect_alike("huber_loss", self, targets);
        if delta.is_nan() || delta <= 0.0 {
            refuse("huber_loss", &[self, targets], format!("delta = {delta} is not positive"));
        }
        reduction.of(&huber(&self.sub(targets).abs(), delta))
    }

    /// [`huber_loss`](Tensor::huber_loss) divided by its delta, here beta: the slope beyond is 1.
    /// With beta = 0 it is [`l1_loss`](Tensor::l1_loss).
    ///
    /// # Panics
    /// As [`mse_loss`](Tensor::mse_loss), and if beta is negative.
    #[track_caller]
    pub fn smooth_l1_loss(&self, targets: &Tensor, beta: f64, reduction: Reduction) -> Tensor {
        if let Some(cast) = casting("smooth_l1_loss", &[self, targets]) {
            return cast.of(self).smooth_l1_loss(&cast.of(targets), beta, reduction);
        }
        expect_alike("smooth_l1_loss", self, targets);
        if beta.is_nan() || beta < 0.0 {
            refuse("smooth_l1_loss", &[self, targets], format!("beta = {beta} is negative"));
        }
        let distance = self.sub(targets).abs();
        let losses = if beta == 0.0 { distance } else { huber(&distance, beta).div_scalar(beta) };
        reduction.of(&losses)
    }

    /// −t · ln σ(x) · pos_weight − (1 − t) · ln(1 − σ(x)) for logits x and targets t from 0 to 1
    /// (PyTorch's `binary_cross_entropy_with_logits`). The logarithms come from `logsigmoid`, which
    /// neither overflows nor loses a small number beside 1.
    ///
    /// # Panics
    /// As [`mse_loss`](Tensor::mse_loss), and if `pos_weight` does not broadcast to x.
    #[track_caller]
    pub fn bce_with_logits(
        &self,
        targets: &Tensor,
        pos_weight: Option<&Tensor>,
        reduction: Reduction,
    ) -> Tensor {
        if let Some(cast) = casting("bce_with_logits", &[self, targets]) {
            return cast.of(self).bce_with_logits(
                &cast.of(targets),
                cast.of_some(pos_weight).as_ref(),
                reduction,
            );
        }
        expect_alike("bce_with_logits", self, targets);
        let (positive, negative) = (self.logsigmoid(), targets.neg().add_scalar(1).mul(self));
        let Some(weight) = pos_weight else { return reduction.of(&negative.sub(&positive)) };
        let weight = weight.add_scalar(-1).mul(targets).add_scalar(1);
        reduction.of(&negative.sub(&weight.mul(&positive)))
    }
}

/// c · (d − c / 2) with c = min(d, delta). In this form no branch is computed that is not taken: an
/// infinite d would make its gradient NaN.
#[track_caller]
fn huber(distance: &Tensor, delta: f64) -> Tensor {
    let capped = distance.clamp(0.0, delta);
    capped.mul(&distance.sub(&capped.mul_scalar(0.5)))
}

#[track_caller]
fn expect_alike(op: &'static str, x: &Tensor, targets: &Tensor) {
    expect_floating(op, &[x, targets]);
    if x.shape() != targets.shape() {
        let message = "needs two tensors of one shape; nothing is broadcast here".to_string();
        refuse(op, &[x, targets], message);
    }
}
