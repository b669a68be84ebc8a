//! The dropout layer.

use crate::Tensor;
use crate::error::misuse;
use crate::nn::{Module, Parts, Training};
use crate::rng::{self, Generator};

/// In training, sets each element to 0 with probability p and divides the others by 1 − p; in
/// evaluation, changes nothing. It draws from the thread's default generator: see
/// [`manual_seed`](rng::manual_seed).
pub struct Dropout {
    p: f64,
    training: Training,
}

impl Dropout {
    /// With this probability.
    ///
    /// # Panics
    /// If p is not between 0 and 1.
    #[track_caller]
    pub fn new(p: f64) -> Dropout {
        if !(0.0..=1.0).contains(&p) {
            let message = "is no probability: it must be from 0 to 1".to_string();
            misuse("Dropout::new", &[&format!("p = {p}")], message);
        }
        Dropout { p, training: Training::default() }
    }

    /// The probability that an element becomes 0 in training.
    pub fn p(&self) -> f64 {
        self.p
    }
}

impl Module for Dropout {
    fn parts(&self) -> Parts<'_> {
        Parts::new().training(&self.training)
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        // Not `rng::with_default`: inside a closure the caller's line would be lost.
        let mut generator = Generator::from_state(rng::get_state());
        let y = x.dropout(self.p, self.training.is_on(), &mut generator);
        rng::set_state(generator.state());
        y
    }
}
