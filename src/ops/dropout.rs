//! Dropout.

use crate::Tensor;
use crate::ops::{expect_floating, refuse};
use crate::rng::Generator;

impl Tensor {
    /// In training, each element is 0 with probability p and else x / (1 − p), so that its expected
    /// value stays x; otherwise x itself.
    ///
    /// Composed of `mul_scalar` and `where`; the graph keeps which elements stayed, as `bool`.
    ///
    /// # Panics
    /// If p is not between 0 and 1, or x is not floating-point.
    #[track_caller]
    pub fn dropout(&self, p: f64, train: bool, generator: &mut Generator) -> Tensor {
        expect_floating("dropout", &[self]);
        if !(0.0..=1.0).contains(&p) {
            refuse("dropout", &[self], format!("p = {p} is no probability: from 0 to 1"));
        }
        if !train || p == 0.0 {
            return self.clone();
        }
        let stays = (0..self.numel()).map(|_| f64::from(generator.uniform()) >= p).collect();
        let stays = Tensor::from_vec::<bool>(stays, self.shape()).to(self.device());
        let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
        let zero = Tensor::full_on(&[], 0, self.dtype(), self.device());
        Tensor::where_cond(&stays, &self.mul_scalar(scale), &zero)
    }
}
