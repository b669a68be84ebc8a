//! Where a tensor stands in the graph: its node, its gradient, and whose numbers it shows.
//!
//! A recorded change in place gives a tensor a new node. If a view was changed, the tensor behind
//! it gets the new node, and each of its views takes it over the next time it is asked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::autograd::{self, Keep, Node};
use crate::error::misuse;
use crate::layout::Layout;
use crate::memory::Role;
use crate::tensor::{Inner, Tensor};

/// The node of a tensor, and how often a change in place has replaced it.
#[derive(Default)]
pub(super) struct History {
    /// The node that made this tensor, or the node that collects its gradient if it is a leaf.
    node: Option<Arc<Node>>,
    generation: u64,
}

/// What a view knows about the tensor behind it.
#[derive(Clone)]
pub(super) struct ViewOf {
    /// Not a view itself: a view of a view is a view of what is behind that.
    base: Tensor,
    /// Whether operations were recorded when the view was made.
    recorded: bool,
}

impl Tensor {
    /// The node that made this tensor, or that collects its gradient if it is a leaf that asks for
    /// one; `None` for a tensor outside the graph.
    pub fn node(&self) -> Option<Arc<Node>> {
        self.any_node().filter(|_| !self.0.frozen.load(Ordering::Relaxed))
    }

    /// The node, also of a leaf that asks for a gradient no longer.
    fn any_node(&self) -> Option<Arc<Node>> {
        let Some(view) = &self.0.view else {
            return self.history().node.clone();
        };
        let base = {
            let history = view.base.history();
            (history.node.clone(), history.generation)
        };
        let mut own = self.history();
        if own.generation < base.1 {
            own.generation = base.1;
            own.node = base.0.map(|node| autograd::node_of_view(node, &view.base, self));
        }
        own.node.clone()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.0.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_node(&self, node: Option<Arc<Node>>) {
        self.history().node = node;
    }

    /// Replaces the node after a change in place; views of this tensor will follow.
    pub(crate) fn rebase(&self, node: Arc<Node>) {
        let mut history = self.history();
        history.node = Some(node);
        history.generation += 1;
        // A leaf that asked for no gradient is none any more.
        self.0.frozen.store(false, Ordering::Relaxed);
    }

    /// The tensor behind a view; the tensor itself if it is none.
    pub(crate) fn base(&self) -> &Tensor {
        self.0.view.as_ref().map_or(self, |view| &view.base)
    }

    /// Whether this is a view that was made while nothing was recorded.
    pub(crate) fn is_unrecorded_view(&self) -> bool {
        self.0.view.as_ref().is_some_and(|view| !view.recorded)
    }

    /// This tensor, known from now on as a view of `x`, whose storage it has.
    pub(crate) fn as_view_of(&self, x: &Tensor, recorded: bool) -> Tensor {
        let base = x.base().clone();
        let generation = base.history().generation;
        let recorded = recorded && !x.is_unrecorded_view();
        let (storage, layout) = (self.0.storage.clone(), self.0.layout);
        let view = Tensor::new(
            storage,
            layout,
            Some(ViewOf { base, recorded }),
            self.0.inference || x.0.inference,
        );
        view.history().generation = generation;
        view
    }

    /// A view by its layout alone, known as a view of this tensor.
    pub(crate) fn part(&self, layout: Layout) -> Tensor {
        let recorded = autograd::is_grad_enabled();
        let part = self.with_layout(layout).as_view_of(self, recorded);
        if recorded && let Some(node) = self.node() {
            part.set_node(Some(autograd::node_of_view(node, self, &part)));
        }
        part
    }

    /// The tensor as it is now: what a graph saves. A later change in place gives the tensor
    /// another node, but not this one; else the new node could hold itself through what it saved.
    pub(crate) fn snapshot(&self) -> Tensor {
        let history = History { node: self.any_node(), generation: 0 };
        Tensor(Arc::new(Inner {
            storage: self.0.storage.clone(),
            layout: self.0.layout,
            history: Mutex::new(history),
            view: None,
            frozen: AtomicBool::new(self.0.frozen.load(Ordering::Relaxed)),
            inference: self.0.inference,
        }))
    }

    /// Whether operations on this tensor are recorded.
    pub fn requires_grad(&self) -> bool {
        self.node().is_some()
    }

    /// Whether nothing recorded made this tensor: what you create is a leaf, what you compute from
    /// a leaf that requires a gradient is not.
    pub fn is_leaf(&self) -> bool {
        self.node().is_none_or(|node| node.is_leaf())
    }

    /// Asks for a gradient of this leaf, or no longer, and returns the tensor. Its bytes count as
    /// a parameter's from then on. A frozen leaf keeps its gradient and its place in the graphs
    /// that hold it already.
    ///
    /// # Panics
    /// If the elements are integers, if the tensor is not a leaf, or if it was made in inference
    /// mode.
    #[track_caller]
    pub fn requires_grad_(self, requires_grad: bool) -> Tensor {
        let fault = if !self.dtype().is_floating_point() {
            Some("only floating-point tensors can require a gradient; convert it first")
        } else if !self.is_leaf() {
            Some("only a leaf can change this; `detach` makes one of a computed tensor")
        } else if self.is_inference() {
            Some("the tensor was made in inference mode and can never enter a graph; copy it")
        } else {
            None
        };
        if let Some(message) = fault {
            misuse("requires_grad_", &[&self.brief()], message.to_string());
        }
        self.0.frozen.store(!requires_grad, Ordering::Relaxed);
        if requires_grad && !self.requires_grad() {
            self.set_node(Some(Node::leaf(&self)));
            // What a graph keeps stays an activation, also if a gradient of it is wanted.
            if self.0.storage.role() == Role::Other {
                self.0.storage.set_role(Role::Parameter);
            }
        }
        self
    }

    /// The gradient that `backward` has left at this leaf.
    pub fn grad(&self) -> Option<Tensor> {
        self.any_node()?.grad()
    }

    /// Drops the gradient and its memory (PyTorch's `zero_grad(set_to_none=True)`).
    pub fn zero_grad(&self) {
        if let Some(node) = self.any_node() {
            node.set_grad(None);
        }
    }

    /// The same storage, version counter included, outside the graph.
    pub fn detach(&self) -> Tensor {
        self.with_layout(self.0.layout)
    }

    /// Computes the gradient of this one number with respect to every leaf that asked for one.
    ///
    /// # Panics
    /// If the tensor has more than one element, requires no gradient, or has been through
    /// `backward` already.
    #[track_caller]
    pub fn backward(&self) {
        autograd::backward(self, None, Keep::Nothing);
    }

    /// As [`backward`](Tensor::backward) with the gradient `dy` of this tensor given.
    #[track_caller]
    pub fn backward_with(&self, dy: &Tensor) {
        autograd::backward(self, Some(dy), Keep::Nothing);
    }

    /// As [`backward`](Tensor::backward), and records the gradients, so that they have gradients in
    /// turn (PyTorch's `create_graph=True`).
    #[track_caller]
    pub fn backward_create_graph(&self) {
        autograd::backward(self, None, Keep::GraphOfGradients);
    }

    /// As [`backward`](Tensor::backward), but the graph keeps its saved tensors, so that it can be
    /// walked again (PyTorch's `retain_graph=True`).
    #[track_caller]
    pub fn backward_retain_graph(&self) {
        autograd::backward(self, None, Keep::Graph);
    }
}
