//! The frame of 6.5: a module that keeps its input only, and computes the rest again. The two
//! functions that say how are the learner's.

use std::sync::{Arc, Mutex, PoisonError};

use engine_room::autograd::{Ctx, Op, apply};
use engine_room::nn::{Module, Parts};
use engine_room::rng::GeneratorState;
use engine_room::{Tensor, enable_grad};

/// All that lives from the first run to the second.
#[derive(Clone)]
pub struct Kept {
    /// The input.
    pub input: Tensor,
    /// Where the generator of this thread was when the first run began.
    pub random: GeneratorState,
}

/// Computes the output, and what is kept.
pub type FirstRun = fn(&dyn Module, &Tensor) -> (Tensor, Kept);
/// Computes the gradient of the input from that of the output.
pub type SecondRun = fn(&dyn Module, &Kept, &Tensor) -> Tensor;

/// A block that runs twice.
pub struct Again {
    block: Arc<dyn Module>,
    first_run: FirstRun,
    second_run: SecondRun,
}

impl Again {
    /// The same block, run by these functions.
    pub fn new(block: Arc<dyn Module>, first_run: FirstRun, second_run: SecondRun) -> Again {
        Again { block, first_run, second_run }
    }
}

impl Module for Again {
    fn parts(&self) -> Parts<'_> {
        self.block.parts()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        let (y, Kept { input, random }) = (self.first_run)(self.block.as_ref(), x);
        // What a graph of y would hold goes with it.
        let computed = Mutex::new(Some((y.detach(), input)));
        drop(y);
        let (block, second_run) = (self.block.clone(), self.second_run);
        let op = OneBlock { block, second_run, random, computed };
        // The input may ask for no gradient where the block's parameters do: images are such an
        // input. A node is recorded only if some input asks for one, so a second one does.
        apply(op, [x, &Tensor::zeros(&[0]).requires_grad_(true)])
    }
}

/// y = block(x). Shapes: the block's. Gradient: the block runs again, recorded, and a backward pass
/// goes through what was recorded; that also leaves the gradients at the parameters of the block.
/// Saves what is kept of x.
struct OneBlock {
    block: Arc<dyn Module>,
    second_run: SecondRun,
    random: GeneratorState,
    /// y and what is kept of x: computed already, and taken by the forward pass.
    computed: Mutex<Option<(Tensor, Tensor)>>,
}

impl Op<2> for OneBlock {
    fn name(&self) -> &'static str {
        "again"
    }

    fn forward(&self, ctx: &mut Ctx, _: [&Tensor; 2]) -> Tensor {
        let mut computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
        let (y, input) = computed.take().expect("an operation runs forwards once");
        ctx.save(&input);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let kept = Kept { input: ctx.saved(0), random: self.random };
        let block = self.block.as_ref();
        let dx = enable_grad(|| (self.second_run)(block, &kept, dy));
        [ctx.needs(0).then_some(dx), None]
    }
}
