//! What the leaves of a module tree hold: parameters, buffers, and whether training is on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Tensor;
use crate::error::misuse;
use crate::memory::Role;

/// A tensor that training changes. A clone is another handle on the same parameter, so a layer that
/// shares its weight with another one holds a clone of it, and so does the optimizer.
///
/// The tensor itself can be exchanged: moving a model to a device makes new tensors, and everybody
/// who holds the parameter sees them.
#[derive(Clone, Debug)]
pub struct Parameter(Arc<Mutex<Tensor>>);

impl Parameter {
    /// A parameter with these numbers, which asks for a gradient.
    ///
    /// # Panics
    /// As [`Tensor::requires_grad_`]: only a floating-point leaf can ask for one.
    #[track_caller]
    pub fn new(values: Tensor) -> Parameter {
        Parameter(Arc::new(Mutex::new(values.requires_grad_(true))))
    }

    /// The tensor: a handle, no copy.
    pub fn get(&self) -> Tensor {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another tensor in the place of this one: a leaf, which asks for a gradient if the old
    /// one did. The old gradient stays with the old tensor.
    ///
    /// # Panics
    /// If the shape is another one, or as [`Tensor::requires_grad_`].
    #[track_caller]
    pub fn set(&self, values: Tensor) {
        let old = self.get();
        if old.shape() != values.shape() {
            let message = "the parameter keeps its shape; make a new layer for another".to_string();
            misuse("set", &[&old.brief(), &values.brief()], message);
        }
        let values = values.detach().requires_grad_(old.requires_grad());
        // Also of one that is frozen, and so asks for no gradient.
        values.storage().set_role(Role::Parameter);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = values;
    }

    /// Whether the two are one parameter, and not two with equal numbers.
    pub fn is(&self, other: &Parameter) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A tensor that belongs to a module's state and that no optimizer changes: a running mean, a mask.
#[derive(Debug)]
pub struct Buffer {
    value: Mutex<Tensor>,
    persistent: bool,
}

impl Buffer {
    /// A buffer that a checkpoint contains.
    pub fn new(value: Tensor) -> Buffer {
        Buffer { value: Mutex::new(value), persistent: true }
    }

    /// A buffer that a checkpoint leaves out, since it can be made anew.
    pub fn non_persistent(value: Tensor) -> Buffer {
        Buffer { value: Mutex::new(value), persistent: false }
    }

    /// The tensor: a handle, no copy.
    pub fn get(&self) -> Tensor {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another tensor in its place.
    pub fn set(&self, value: Tensor) {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }

    /// Whether a checkpoint contains it.
    pub fn is_persistent(&self) -> bool {
        self.persistent
    }
}

/// Whether a layer behaves as in training (the default) or as in evaluation: dropout drops only in
/// training.
#[derive(Debug)]
pub struct Training(AtomicBool);

impl Training {
    /// Training is on.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }
}

impl Default for Training {
    fn default() -> Training {
        Training(AtomicBool::new(true))
    }
}
