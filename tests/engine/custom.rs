//! For the engine's tests: operations that are not the engine's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine_room::autograd::{Ctx, Op, apply};
use engine_room::{Tensor, is_grad_enabled};

/// y = a + b that counts its backward passes.
pub struct Counted(pub Arc<AtomicUsize>);

impl Op<2> for Counted {
    fn name(&self) -> &'static str {
        "counted"
    }

    fn forward(&self, _: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        assert!(!is_grad_enabled(), "nothing inside an operation is recorded");
        a.add(b)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        assert!(!is_grad_enabled(), "nothing inside an operation is recorded");
        self.0.fetch_add(1, Ordering::Relaxed);
        [Some(dy.clone()), Some(dy.clone())]
    }
}

/// Returns a tensor as it is, the input or one of its own, and turns the gradient's sign.
pub struct Flip(pub Option<Tensor>);

impl Op<1> for Flip {
    fn name(&self) -> &'static str {
        "flip"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        self.0.as_ref().unwrap_or(x).clone()
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.neg())]
    }
}

/// y = x, with a mistake of its author's that the engine finds when it is run.
#[derive(Clone, Copy)]
pub enum Careless {
    /// Asks for a tensor that it has not saved.
    Unsaved,
    /// Returns a gradient of another shape.
    Shape,
}

impl Op<1> for Careless {
    fn name(&self) -> &'static str {
        "careless"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save_if(false, x);
        x.copy()
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        match self {
            Careless::Unsaved => [Some(ctx.saved(0))],
            Careless::Shape => [Some(dy.sum())],
        }
    }
}

pub fn flip(x: &Tensor) -> Tensor {
    apply(Flip(None), [x])
}
