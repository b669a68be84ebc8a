//! A module that is recomputed in the backward pass.

use std::sync::Arc;

use crate::Tensor;
use crate::autograd::recompute;
use crate::nn::{Module, Parts};

/// A module that keeps only its input for the backward pass, and computes once more for the rest;
/// see [`recompute`]. Its parts have the names that they have without it, so that either form loads
/// what the other has saved.
pub struct Recomputed<M>(Arc<M>);

impl<M: Module + 'static> Recomputed<M> {
    /// The same module, recomputed.
    pub fn new(module: M) -> Recomputed<M> {
        Recomputed(Arc::new(module))
    }
}

impl<M: Module + 'static> Module for Recomputed<M> {
    fn parts(&self) -> Parts<'_> {
        self.0.parts()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        let module = self.0.clone();
        recompute(move |x| module.forward(&x[0]), &[x])
    }
}
