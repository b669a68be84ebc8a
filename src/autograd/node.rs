//! Nodes of the graph: what one operation, or one leaf, leaves behind for the backward pass.
//!
//! A node holds edges to the nodes of its inputs, not the inputs: an input's memory lives on only
//! if it was saved. Ids count up as nodes are made, so an input's node is always older than the
//! node of what was computed from it; the walk in `backward.rs` relies on that.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Tensor;
use crate::autograd::ctx::Ctx;
use crate::autograd::mode::{is_grad_enabled, no_grad, set_autocast};
use crate::autograd::op::AnyOp;
use crate::dtype::DType;
use crate::error::misuse;
use crate::memory::{Role, count_hidden_copy, current_module, inside_module, running};
use crate::profiler;
use crate::shape::Dims;

/// A recorded operation, or the place where a leaf's gradient is collected.
pub struct Node {
    id: u64,
    name: &'static str,
    shape: Dims,
    dtype: DType,
    edges: Vec<Option<Arc<Node>>>,
    /// The part of a model that the operation was in; its backward pass is in it too.
    module: &'static str,
    /// The line that called the operation: in a profile its backward pass belongs there too.
    at: &'static Location<'static>,
    kind: Kind,
}

enum Kind {
    /// The context is gone once a backward pass has used it.
    Op {
        op: Box<dyn AnyOp>,
        ctx: Mutex<Option<Arc<Ctx>>>,
    },
    Leaf {
        grad: Mutex<Option<Tensor>>,
    },
}

impl Node {
    /// The node of the leaf `x`.
    #[track_caller]
    pub(crate) fn leaf(x: &Tensor) -> Arc<Node> {
        Node::new("leaf", x, Vec::new(), Kind::Leaf { grad: Mutex::new(None) })
    }

    /// The node of an operation whose result is `y`.
    #[track_caller]
    pub(super) fn of_op(
        op: Box<dyn AnyOp>,
        mut ctx: Ctx,
        edges: Vec<Option<Arc<Node>>>,
        y: &Tensor,
    ) -> Arc<Node> {
        ctx.hand_over();
        let name = ctx.op();
        Node::new(name, y, edges, Kind::Op { op, ctx: Mutex::new(Some(Arc::new(ctx))) })
    }

    #[track_caller]
    fn new(
        name: &'static str,
        of: &Tensor,
        edges: Vec<Option<Arc<Node>>>,
        kind: Kind,
    ) -> Arc<Node> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (shape, dtype, module) = (*of.layout().shape(), of.dtype(), current_module());
        // Outside the closure, which would lose the line.
        let at = profiler::line_now(Location::caller());
        Arc::new_cyclic(|node| {
            if let Kind::Op { ctx, .. } = &kind
                && let Some(ctx) = &*lock(ctx)
            {
                ctx.set_node(node.clone());
            }
            Node { id, name, shape, dtype, edges, module, at, kind }
        })
    }

    /// A number that grows as nodes are made.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The operation's name, or "leaf".
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The shape of what the operation computed, and so of the gradient that comes in.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The nodes of the inputs, in order; `None` for an input that requires no gradient.
    pub fn edges(&self) -> &[Option<Arc<Node>>] {
        &self.edges
    }

    /// Whether this is where a leaf's gradient is collected.
    pub fn is_leaf(&self) -> bool {
        matches!(self.kind, Kind::Leaf { .. })
    }

    /// The operation's backward pass: the gradients of its inputs, in the order of the edges.
    /// A leaf has none.
    ///
    /// # Panics
    /// If a gradient does not have the shape and the type of its input, if a saved tensor was
    /// changed since, or if the saved tensors are gone.
    pub fn backward(&self, dy: &Tensor) -> Vec<Option<Tensor>> {
        no_grad(|| self.gradients(dy))
    }

    /// As [`backward`](Node::backward), and recorded if operations are.
    pub(super) fn gradients(&self, dy: &Tensor) -> Vec<Option<Tensor>> {
        let Kind::Op { op, .. } = &self.kind else {
            return Vec::new();
        };
        let Some(ctx) = self.context() else {
            let message = "a backward pass has been through this node and freed what it saved; \
                           call backward_retain_graph the first time if you need a second";
            misuse(self.name, &[&dy.brief()], message.to_string())
        };
        let _off = set_autocast(None);
        let _running = running(self.name, true);
        let _module = inside_module(self.module);
        let _span = profiler::span_at(profiler::Kind::Backward, self.name, self.at);
        let gradients = op.backward(&ctx, dy);
        for (i, (edge, dx)) in self.edges.iter().zip(&gradients).enumerate() {
            if let (Some(edge), Some(dx)) = (edge, dx) {
                self.check_gradient(i, edge, dx);
            }
        }
        gradients
    }

    fn check_gradient(&self, i: usize, input: &Node, dx: &Tensor) {
        let what = if dx.shape() != input.shape() {
            format!("shape {:?} for input {i}, which has shape {:?}", dx.shape(), input.shape())
        } else if dx.dtype() != input.dtype {
            format!("type {} for input {i}, which has type {}", dx.dtype(), input.dtype)
        } else {
            return;
        };
        let message = format!(
            "its backward pass returned a gradient of {what}; a gradient has the shape and the \
             type of what it belongs to"
        );
        misuse(self.name, &[&dx.brief()], message);
    }

    /// Frees the saved tensors. An operation that saved none can run its backward pass again.
    pub fn release(&self) {
        if let Kind::Op { ctx, .. } = &self.kind {
            lock(ctx).take_if(|ctx| ctx.has_any_saved());
        }
    }

    /// The tensors that the operation has saved.
    pub fn saved_tensors(&self) -> Vec<Tensor> {
        self.context().map_or(Vec::new(), |ctx| ctx.tensors())
    }

    /// Bytes of the storages that this node keeps alive, each storage once.
    pub fn saved_bytes(&self) -> u64 {
        let mut storages = self.saved_tensors();
        storages.sort_by_key(|saved| Arc::as_ptr(saved.storage()));
        storages.dedup_by_key(|saved| Arc::as_ptr(saved.storage()));
        storages.iter().map(|saved| saved.storage().nbytes()).sum()
    }

    fn context(&self) -> Option<Arc<Ctx>> {
        match &self.kind {
            Kind::Op { ctx, .. } => lock(ctx).clone(),
            Kind::Leaf { .. } => None,
        }
    }

    /// The gradient collected so far, if this is a leaf.
    pub(crate) fn grad(&self) -> Option<Tensor> {
        match &self.kind {
            Kind::Leaf { grad } => lock(grad).clone(),
            Kind::Op { .. } => None,
        }
    }

    /// Replaces the gradient, if this is a leaf.
    pub(crate) fn set_grad(&self, gradient: Option<Tensor>) {
        if let Kind::Leaf { grad } = &self.kind {
            *lock(grad) = gradient;
        }
    }

    /// The first gradient is stored and later ones are added to it.
    pub(super) fn accumulate(&self, dx: Tensor) {
        let Kind::Leaf { grad } = &self.kind else {
            return;
        };
        // Locked until the sum is stored: another thread's addition would be lost in between.
        let mut grad = lock(grad);
        if let Some(sum) = grad.take() {
            *grad = Some(if is_grad_enabled() {
                sum.add(&dx)
            } else {
                // In place, as in PyTorch: no second gradient is made, and who holds the first
                // sees it.
                sum.add_(&dx, 1.0);
                sum
            });
            return;
        }
        // Stored as it is only if nobody else can see it: y = a + b hands one and the same tensor
        // to both sides, and clipping one gradient must not clip the other.
        let first = if Node::can_keep(&dx) {
            dx
        } else {
            let name = "accumulate_grad";
            let (_copying, _running) = (count_hidden_copy(name, dx.nbytes()), running(name, false));
            dx.copy()
        };
        first.storage().set_role(Role::Gradient);
        *grad = Some(first);
    }

    /// Whether a gradient may be kept as it is, and changed: nobody else can see it.
    pub fn can_keep(dx: &Tensor) -> bool {
        dx.is_sole_owner() && dx.is_contiguous()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees a chain of any length in a loop: left to itself, Rust would drop an edge inside the drop
/// of the node before it, one stack frame a node.
impl Drop for Node {
    fn drop(&mut self) {
        let mut orphans: Vec<Arc<Node>> = self.edges.drain(..).flatten().collect();
        // A saved tensor holds its own node. It goes while the edges above still hold that node.
        if let Kind::Op { ctx, .. } = &self.kind {
            lock(ctx).take();
        }
        while let Some(node) = orphans.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                orphans.extend(node.edges.drain(..).flatten());
            }
        }
    }
}
