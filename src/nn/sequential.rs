//! Modules in a row.

use crate::Tensor;
use crate::nn::{Module, Parts};

/// Modules of any kinds, each of which is given what the one before it gave. Their names are their
/// places: `0.weight`, `2.weight`.
#[derive(Default)]
pub struct Sequential {
    layers: Vec<Box<dyn Module>>,
}

impl Sequential {
    /// Without a layer, which gives back what it is given.
    pub fn new() -> Sequential {
        Sequential::default()
    }

    /// The same with one more layer at the end.
    pub fn append(mut self, layer: impl Module + 'static) -> Sequential {
        self.layers.push(Box::new(layer));
        self
    }
}

impl Module for Sequential {
    fn parts(&self) -> Parts<'_> {
        let mut parts = Parts::new();
        for (i, layer) in self.layers.iter().enumerate() {
            parts = parts.module(&i.to_string(), layer);
        }
        parts
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        let mut y = x.clone();
        for (i, layer) in self.layers.iter().enumerate() {
            y = layer.call_nth("", i, &y);
        }
        y
    }
}
