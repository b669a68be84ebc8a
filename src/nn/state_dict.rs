//! State dicts: tensors under names, in a fixed order. What is saved and loaded.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Tensor;
use crate::error::Error;

/// Tensors under names, in the order in which they were put in. A clone has the same tensors.
#[derive(Clone, Debug, Default)]
pub struct StateDict {
    entries: Vec<(String, Tensor)>,
    /// Where each name is in the list: a model can have many thousands.
    places: HashMap<String, usize>,
}

impl StateDict {
    /// Nothing yet.
    pub fn new() -> StateDict {
        StateDict::default()
    }

    /// Puts a tensor under a name, behind all others.
    ///
    /// # Errors
    /// If the name is taken. A list from name to value would keep the last one and lose the other.
    pub fn insert(&mut self, name: &str, x: Tensor) -> Result<(), Error> {
        if let Some(other) = self.get(name) {
            let (other, new) = (other.brief(), x.brief());
            let message = format!(
                "duplicate name {name:?} in a state dict: {other} has it, and {new} cannot get it \
                 too; rename one"
            );
            return Err(Error::Mismatch { message });
        }
        self.places.insert(name.to_string(), self.entries.len());
        self.entries.push((name.to_string(), x));
        Ok(())
    }

    /// The tensor of this name.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.places.get(name).map(|&place| &self.entries[place].1)
    }

    /// Names and tensors, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.entries.iter().map(|(name, x)| (name.as_str(), x))
    }

    /// The names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// How many tensors; one that has two names counts twice.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Whether two tensors show the very same elements in the same order, so that they are one tensor
/// under two names. A transposed view, or one of a part, is not.
pub(crate) fn are_tied(a: &Tensor, b: &Tensor) -> bool {
    let steps = |x: &Tensor| -> Vec<usize> {
        let dims = x.shape().iter().zip(x.strides());
        // The stride of a dimension of size 1 is never used.
        dims.filter(|(size, _)| **size != 1).map(|(_, step)| *step).collect()
    };
    let begin = |x: &Tensor| (Arc::as_ptr(x.storage()), x.storage_offset());
    begin(a) == begin(b) && a.shape() == b.shape() && steps(a) == steps(b)
}
