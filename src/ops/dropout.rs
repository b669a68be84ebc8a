//! Dropout.

use crate::Tensor;
use crate::device::Draw;
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
        // Uniform numbers are multiples of 2⁻²⁴: so the threshold decides as p itself would.
        let what = Draw::Keep { threshold: (p * f64::from(1 << 24)).ceil() as u32 };
        let stays = Tensor::drawn(what, self.shape(), self.device(), generator);
        let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
        let zero = Tensor::full_on(&[], 0, self.dtype(), self.device());
        Tensor::where_cond(&stays, &self.mul_scalar(scale), &zero)
    }
}
