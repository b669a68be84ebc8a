//! Batch normalisation.
//!
//! Source: S. Ioffe and C. Szegedy, "Batch Normalization", 2015.

use crate::Tensor;
use crate::autograd::no_grad;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::misuse;
use crate::nn::{Buffer, Module, Parameter, Parts, Training};

/// (x − mean) / √(variance + ε) · weight + bias, channel by channel: `(N, C)`, or `(N, C, L)`, →
/// the same.
///
/// In training, mean and variance are those of the batch, and the running values move towards them;
/// in evaluation they are the running values. The batch is normalised by the mean of the squared
/// deviations, Σ (x − mean)² / n. The running variance estimates what further inputs will have, so
/// it moves towards Σ (x − mean)² / (n − 1).
pub struct BatchNorm1d {
    /// `(C)`, 1 at first.
    pub weight: Parameter,
    /// `(C)`, 0 at first.
    pub bias: Parameter,
    running_mean: Buffer,
    running_var: Buffer,
    num_batches_tracked: Buffer,
    /// How far the running values move towards those of a batch: 0.1 at first.
    pub momentum: f64,
    /// ε: 1e-5 at first.
    pub eps: f64,
    training: Training,
}

impl BatchNorm1d {
    /// For this number of channels.
    pub fn new(channels: usize) -> BatchNorm1d {
        BatchNorm1d {
            weight: Parameter::new(Tensor::ones(&[channels])),
            bias: Parameter::new(Tensor::zeros(&[channels])),
            running_mean: Buffer::new(Tensor::zeros(&[channels])),
            running_var: Buffer::new(Tensor::ones(&[channels])),
            num_batches_tracked: Buffer::new(Tensor::full_on(&[], 0, DType::I64, Device::Cpu)),
            momentum: 0.1,
            eps: 1e-5,
            training: Training::default(),
        }
    }

    /// Moves the running values towards those of a batch with n values in each channel.
    fn track(&self, mean: &Tensor, variance: &Tensor, n: usize) {
        let unbiased = variance.mul_scalar(n as f64 / (n - 1) as f64);
        for (buffer, now) in [(&self.running_mean, mean), (&self.running_var, &unbiased)] {
            let running = buffer.get();
            let now = now.reshape(running.shape());
            // In place, so that whoever holds the buffer's tensor sees it.
            running.copy_(
                &running.mul_scalar(1.0 - self.momentum).add(&now.mul_scalar(self.momentum)),
            );
        }
        let count = self.num_batches_tracked.get();
        count.copy_(&count.add_scalar(1));
    }
}

impl Module for BatchNorm1d {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
            .parameter("weight", &self.weight)
            .parameter("bias", &self.bias)
            .buffer("running_mean", &self.running_mean)
            .buffer("running_var", &self.running_var)
            .buffer("num_batches_tracked", &self.num_batches_tracked)
            .training(&self.training)
    }

    /// x: `(N, C)` or `(N, C, L)` → the same. In training it changes the running values.
    ///
    /// # Panics
    /// If the shape is another one, if x is not floating-point, or, in training, if a channel has
    /// one value only.
    fn forward(&self, x: &Tensor) -> Tensor {
        let weight = self.weight.get();
        let channels = weight.numel();
        let (over, of_channel): (&[isize], &[usize]) = match *x.shape() {
            [_, c] if c == channels => (&[0], &[1, channels]),
            [_, c, _] if c == channels => (&[0, 2], &[1, channels, 1]),
            _ => refuse(x, format!("the layer takes (N, {channels}) or (N, {channels}, L)")),
        };
        let n = x.numel() / channels.max(1);
        if self.training.is_on() && n < 2 {
            refuse(x, format!("{n} values for each channel have no variance; train on more"));
        }
        if !x.dtype().is_floating_point() {
            refuse(x, "needs floating-point numbers; convert them with to()".to_string());
        }
        // Sums over a batch are kept in `f32` at least.
        let wide = DType::promote(x.dtype(), DType::F32);
        let batch = x.to(wide);
        let spread = |x: Tensor| x.to(wide).reshape(of_channel);
        let (variance, mean) = match self.training.is_on() {
            true => batch.var_mean(over, true, 0),
            false => (spread(self.running_var.get()), spread(self.running_mean.get())),
        };
        if self.training.is_on() {
            no_grad(|| self.track(&mean, &variance, n));
        }
        let normal = batch.sub(&mean).mul(&variance.add_scalar(self.eps).rsqrt());
        normal.mul(&spread(weight)).add(&spread(self.bias.get())).to(x.dtype())
    }
}

#[track_caller]
fn refuse(x: &Tensor, message: String) -> ! {
    misuse("BatchNorm1d::forward", &[&x.brief()], message)
}
