//! The context of one recorded operation: which gradients will be asked for, and what is saved.

use std::sync::{Arc, OnceLock, Weak};

use crate::Tensor;
use crate::autograd::mode::is_grad_enabled;
use crate::autograd::node::Node;
use crate::autograd::recompute::{Kept, keep};
use crate::error::misuse;
use crate::memory::Role;

/// What an operation's forward pass hands to its backward pass.
pub struct Ctx {
    op: &'static str,
    needs: Vec<bool>,
    saved: Vec<Option<Saved>>,
    /// The node that holds this context; known once it is made.
    node: OnceLock<Weak<Node>>,
}

/// A saved tensor.
struct Saved {
    kept: Kept,
    /// Whether it is the operation's result. Then it is kept without its node, which would hold
    /// itself, and gets it back when a gradient of a gradient is recorded.
    is_result: bool,
}

impl Ctx {
    /// A context for an operation whose inputs need a gradient where `needs` is true. If none
    /// does, nothing is recorded and [`save`](Ctx::save) keeps nothing.
    pub(super) fn new(op: &'static str, needs: &[bool]) -> Ctx {
        // Nothing recorded, nothing allocated.
        let needs = if needs.contains(&true) { needs.to_vec() } else { Vec::new() };
        Ctx { op, needs, saved: Vec::new(), node: OnceLock::new() }
    }

    /// The name of the operation.
    pub(super) fn op(&self) -> &'static str {
        self.op
    }

    /// Whether a gradient with respect to input `i` will be asked for.
    pub fn needs(&self, i: usize) -> bool {
        self.needs.get(i).is_some_and(|&needs| needs)
    }

    /// Keeps a tensor for the backward pass, in the next slot. No number is copied: the graph
    /// holds the storage, and whoever changes it in place will be found out.
    ///
    /// # Panics
    /// If the tensor was made in inference mode.
    pub fn save(&mut self, tensor: &Tensor) {
        self.save_if(true, tensor);
    }

    /// As [`save`](Ctx::save) if `needed`; else the slot stays empty.
    ///
    /// # Panics
    /// If the tensor was made in inference mode.
    pub fn save_if(&mut self, needed: bool, tensor: &Tensor) {
        if self.needs.is_empty() {
            return;
        }
        if !needed {
            self.saved.push(None);
            return;
        }
        if tensor.is_inference() {
            let message = "inference tensors cannot be saved for backward; make a copy of it \
                           outside inference mode, or use no_grad instead";
            misuse(self.op, &[&tensor.brief()], message.to_string());
        }
        if tensor.storage().role() == Role::Other {
            tensor.storage().set_role(Role::Activation);
        }
        let kept = Kept::Tensor(tensor.snapshot(), tensor.storage().version());
        self.saved.push(Some(Saved { kept, is_result: false }));
    }

    /// The tensor in slot `i`, in the order of the calls of [`save`](Ctx::save).
    ///
    /// # Panics
    /// If nothing was kept there, or if the numbers were changed in place since.
    pub fn saved(&self, i: usize) -> Tensor {
        let Some(Some(Saved { kept, is_result })) = self.saved.get(i) else {
            let message = format!("nothing was saved in slot {i}; `save` it in the forward pass");
            misuse(self.op, &[], message)
        };
        let (tensor, version) = kept.get();
        let now = tensor.storage().version();
        if now != version {
            let message = format!(
                "the tensor that {} saved in slot {i} for its backward pass was changed in place \
                 since, last by {}: it is at version {now}, saved at version {version}; change a \
                 copy instead",
                self.op,
                tensor.storage().last_writer()
            );
            misuse(self.op, &[&tensor.brief()], message);
        }
        match self.node.get().and_then(Weak::upgrade) {
            Some(node) if *is_result && is_grad_enabled() => {
                let result = tensor.detach();
                result.set_node(Some(node));
                result
            }
            _ => tensor,
        }
    }

    /// Whether a tensor was kept in slot `i`.
    pub fn has_saved(&self, i: usize) -> bool {
        self.saved.get(i).is_some_and(Option::is_some)
    }

    /// Finds out which saved tensors are the operation's result `y`.
    pub(super) fn mark_results(&mut self, y: &Tensor) {
        for saved in self.saved.iter_mut().flatten() {
            let Kept::Tensor(tensor, _) = &saved.kept else { continue };
            let same = Arc::ptr_eq(tensor.storage(), y.storage());
            saved.is_result = same && tensor.layout() == y.layout() && tensor.node().is_none();
        }
    }

    /// Leaves it to the region that is recomputed, if one runs, to keep the saved tensors.
    pub(super) fn hand_over(&mut self) {
        for saved in self.saved.iter_mut().flatten() {
            if let Kept::Tensor(tensor, version) = &saved.kept {
                saved.kept = keep(tensor.clone(), *version);
            }
        }
    }

    /// Says which node holds this context.
    pub(super) fn set_node(&self, node: Weak<Node>) {
        self.node.get_or_init(|| node);
    }

    /// Whether any tensor was kept.
    pub(super) fn has_any_saved(&self) -> bool {
        self.saved.iter().any(Option::is_some)
    }

    /// The tensors that are kept alive; where they are to be computed again, what from.
    pub(super) fn tensors(&self) -> Vec<Tensor> {
        self.saved.iter().flatten().flat_map(|saved| saved.kept.tensors()).collect()
    }
}
