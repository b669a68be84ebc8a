//! Operations, and the one door through which they run.

use std::sync::Arc;

use crate::Tensor;
use crate::autograd::ctx::Ctx;
use crate::autograd::mode::{inside_an_operation, is_grad_enabled};
use crate::autograd::node::Node;
use crate::memory;
use crate::profiler::{self, Kind};

/// An operation on `N` tensors: both passes side by side.
///
/// The trait is open: a type of your own becomes an operation of the engine by implementing it.
pub trait Op<const N: usize>: Send + Sync + 'static {
    /// PyTorch's name for it, where it has one.
    fn name(&self) -> &'static str;

    /// Computes y, and saves with [`Ctx::save`] what the backward pass will ask for.
    fn forward(&self, ctx: &mut Ctx, inputs: [&Tensor; N]) -> Tensor;

    /// Given dy, the gradient of the loss with respect to y, returns the gradient with respect to
    /// each input. `None` where there is none, or where [`Ctx::needs`] says nobody asks for it.
    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; N];
}

/// Runs an operation and, if some input requires a gradient, records a node for it.
///
/// Operations inside `forward` are not recorded: the node stands for all of them. Nor does autocast
/// convert their operands; the same holds inside `backward`.
#[track_caller]
pub fn apply<const N: usize>(op: impl Op<N>, inputs: [&Tensor; N]) -> Tensor {
    let edges = if is_grad_enabled() { inputs.map(Tensor::node) } else { [const { None }; N] };
    let needs = edges.each_ref().map(Option::is_some);
    let recording = needs.contains(&true);
    let mut ctx = Ctx::new(op.name(), &needs);
    let (running, span) = (memory::running(op.name(), false), profiler::span(Kind::Op, op.name()));
    let y = inside_an_operation(|| op.forward(&mut ctx, inputs));
    span.operands(op.name(), &inputs, Some(&y));
    drop((span, running));
    // The node belongs to a tensor of its own: an operation that returns its input, or a tensor it
    // holds, must neither overwrite that one's node nor hand it on.
    let y = match inputs.iter().find(|x| Arc::ptr_eq(x.storage(), y.storage())) {
        Some(x) => y.as_view_of(x, is_grad_enabled()),
        None if y.has_other_handles() => y.detach(),
        None => y,
    };
    // An integer has no slope: a cast to one ends the graph.
    if recording && y.dtype().is_floating_point() {
        ctx.mark_results(&y);
        y.set_node(Some(Node::of_op(Box::new(Erased(op)), ctx, edges.to_vec(), &y)));
    }
    y
}

/// An operation whose number of inputs only its node remembers.
pub(super) trait AnyOp: Send + Sync {
    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> Vec<Option<Tensor>>;
}

pub(super) struct Erased<O, const N: usize>(pub(super) O);

impl<O: Op<N>, const N: usize> AnyOp for Erased<O, N> {
    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> Vec<Option<Tensor>> {
        self.0.backward(ctx, dy).into()
    }
}
