//! Changes in place: an operation that overwrites its first input is recorded by giving that tensor
//! a new node.
//!
//! If the tensor is a view, it is the tensor behind it that changed, and with it all its other
//! views. So that one gets the node, and each view finds its own place behind it when it is asked.

use std::fmt;
use std::sync::Arc;

use crate::Tensor;
use crate::autograd::ctx::Ctx;
use crate::autograd::mode::{inside_an_operation, is_grad_enabled};
use crate::autograd::node::Node;
use crate::autograd::op::{AnyOp, Erased, Op};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::misuse;
use crate::layout::Layout;
use crate::memory;
use crate::profiler::{self, Kind};
use crate::shape::Dims;

/// Runs an operation whose forward pass changes its first input and returns it, and records it as
/// [`apply`](crate::autograd::apply) does. Its backward pass gets the gradient of the changed
/// tensor and returns that of the tensor before.
///
/// # Panics
/// If recording is on and the change could not be recorded: of a leaf that requires a gradient, of
/// a view of one, or of a view that was made while nothing was recorded.
#[track_caller]
pub fn apply_in_place<const N: usize>(op: impl Op<N>, inputs: [&Tensor; N]) {
    let x = inputs[0];
    let (name, base) = (op.name(), x.base());
    let involved = base.requires_grad() || inputs.iter().any(|input| input.requires_grad());
    let recording = is_grad_enabled() && involved;
    if recording {
        check_recordable(name, &inputs);
    }
    let mut edges = if recording { inputs.map(Tensor::node) } else { [const { None }; N] };
    if recording {
        edges[0] = base.node();
    }
    let needs = edges.each_ref().map(Option::is_some);
    let mut ctx = Ctx::new(name, &needs);
    let (running, span) = (memory::running(name, false), profiler::span(Kind::Op, name));
    inside_an_operation(|| op.forward(&mut ctx, inputs));
    span.operands(name, &inputs, None);
    drop((span, running));
    if !recording {
        return;
    }
    let op: Box<dyn AnyOp> = match x.layout() == base.layout() {
        true => Box::new(Erased(op)),
        false => Box::new(Within { op: Erased(op), view: part_of(base, x) }),
    };
    base.rebase(Node::of_op(op, ctx, edges.to_vec(), base));
}

#[track_caller]
fn check_recordable(op: &'static str, inputs: &[&Tensor]) {
    let (x, base) = (inputs[0], inputs[0].base());
    let message = if base.is_leaf() && base.requires_grad() {
        "a leaf that requires a gradient, or a view of one, cannot be changed in place while \
         operations are recorded: its gradient would belong to numbers that are gone; wrap the \
         update in no_grad, or change a copy"
    } else if x.is_unrecorded_view() {
        "this view was made while nothing was recorded, so a recorded change of it could not \
         reach the tensor behind it; make the view where operations are recorded, or change it \
         in no_grad"
    } else if x.layout().within(base.layout()).is_none() {
        "the tensor behind this view lies scattered in its storage, and no strides say where the \
         view is in it; copy() the tensor before making the view"
    } else {
        return;
    };
    let briefs: Vec<String> = inputs.iter().map(|input| input.brief()).collect();
    let briefs: Vec<&dyn fmt::Display> = briefs.iter().map(|brief| brief as _).collect();
    misuse(op, &briefs, message.to_string())
}

/// Where a view of `base` lies in a gradient of `base`, which is packed.
fn part_of(base: &Tensor, view: &Tensor) -> Layout {
    let Some(part) = view.layout().within(base.layout()) else {
        let message = "what is behind this view was changed in place, and no strides say where \
                       the view is in it; make the view anew";
        misuse("as_strided", &[&view.brief()], message.to_string())
    };
    part
}

/// A change of a part: the gradient of the whole passes outside the part as it is, and inside
/// through the operation.
struct Within<O> {
    op: O,
    view: Layout,
}

impl<O: AnyOp> AnyOp for Within<O> {
    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> Vec<Option<Tensor>> {
        let dx = dy.copy();
        let part = dx.part(self.view);
        let mut gradients = self.op.backward(ctx, &part.copy());
        match &gradients[0] {
            Some(inside) => part.copy_(inside),
            None => part.zero_(),
        }
        gradients[0] = Some(dx);
        gradients
    }
}

/// The node of a view of `base` whose history has changed: it shows a part of what `node` made.
pub(crate) fn node_of_view(node: Arc<Node>, base: &Tensor, view: &Tensor) -> Arc<Node> {
    let (shape, dtype, device) = (*base.layout().shape(), base.dtype(), base.device());
    let op = Part { shape, dtype, device, view: part_of(base, view) };
    let ctx = Ctx::new("as_strided", &[true]);
    Node::of_op(Box::new(op), ctx, vec![Some(node)], view)
}

/// dx += dy at the places that a layout shows, of which some may be the same.
pub(crate) fn add_at(dx: &Tensor, places: Layout, dy: &Tensor) {
    if !places.shows_an_element_twice() {
        return dx.part(places).add_(dy, 1);
    }
    let places = places.positions().map(|at| at as i64).collect();
    let places = Tensor::from_vec(places, dy.shape()).to(dx.device());
    dx.put_(&places, dy, true);
}

/// A view by its layout alone: the gradient of the whole is 0 where the view shows nothing, and
/// the sum of dy where it does.
struct Part {
    shape: Dims,
    dtype: DType,
    device: Device,
    view: Layout,
}

impl AnyOp for Part {
    fn backward(&self, _: &Ctx, dy: &Tensor) -> Vec<Option<Tensor>> {
        let dx = Tensor::full_on(&self.shape, 0, self.dtype, self.device);
        add_at(&dx, self.view, dy);
        vec![Some(dx)]
    }
}
