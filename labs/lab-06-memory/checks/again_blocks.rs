//! 6.5: blocks that say how they were run, and a plain run to compare with.

use std::sync::{Arc, Mutex, PoisonError};

use engine_room::nn::{
    Dropout, Gelu, LayerNorm, Linear, Module, Parts, Sequential, Tanh, TransformerBlock,
};
use engine_room::rng::{Generator, GeneratorState, get_state, set_state};
use engine_room::{Tensor, is_grad_enabled};

/// For each run of a block whether it was recorded.
#[derive(Clone, Default)]
pub struct Runs(Arc<Mutex<Vec<bool>>>);

impl Runs {
    /// Everything since the last time this was asked.
    pub fn take(&self) -> Vec<bool> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A block that writes down its runs.
pub struct Watched {
    block: Box<dyn Module>,
    runs: Runs,
}

impl Module for Watched {
    fn parts(&self) -> Parts<'_> {
        self.block.parts()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        self.runs.0.lock().unwrap_or_else(PoisonError::into_inner).push(is_grad_enabled());
        self.block.forward(x)
    }
}

/// A block to test with.
pub struct Sample {
    /// What it is, for people.
    pub name: &'static str,
    /// The block.
    pub block: Arc<dyn Module>,
    /// What it writes down.
    pub runs: Runs,
    /// The shape of its input, and of its output.
    pub shape: Vec<usize>,
}

/// Blocks without random numbers first.
pub fn samples(rng: &mut Generator) -> Vec<Sample> {
    let rows = 3 + rng.below(4);
    let linear = |inputs, outputs, rng: &mut Generator| Linear::new(inputs, outputs, true, rng);
    let one = Sequential::new().append(linear(5, 5, rng)).append(Tanh);
    let mlp = Sequential::new().append(LayerNorm::new(&[6])).append(linear(6, 24, rng));
    let mlp = mlp.append(Gelu).append(linear(24, 6, rng));
    let dropped = Sequential::new().append(Dropout::new(0.3)).append(linear(7, 7, rng));
    let dropped = dropped.append(Tanh).append(Dropout::new(0.5));
    let transformer = TransformerBlock::new(8, 2, true, 0.2, rng);
    let boxed: [(&'static str, Box<dyn Module>, Vec<usize>); 4] = [
        ("a linear layer and a tanh", Box::new(one), vec![rows, 5]),
        ("an mlp behind a layer norm", Box::new(mlp), vec![2, rows, 6]),
        ("a linear layer between two dropouts", Box::new(dropped), vec![rows + 9, 7]),
        ("a transformer block with dropout", Box::new(transformer), vec![2, rows, 8]),
    ];
    let sample = |(name, block, shape)| {
        let runs = Runs::default();
        Sample { name, block: Arc::new(Watched { block, runs: runs.clone() }), runs, shape }
    };
    boxed.into_iter().map(sample).collect()
}

/// The bits of all numbers: two runs are to be equal, not close.
pub fn bits(x: &Tensor) -> Vec<u32> {
    x.to_vec::<f32>().into_iter().map(f32::to_bits).collect()
}

/// The gradients of a module's parameters.
pub fn gradients(module: &dyn Module) -> Vec<Option<Vec<f32>>> {
    let gradient = |parameter: engine_room::nn::Parameter| parameter.get().grad();
    module.parameters().into_iter().map(|it| gradient(it).map(|it| it.to_vec())).collect()
}

/// A recorded run and its backward pass.
pub struct Plain {
    /// The gradient of the input.
    pub dx: Tensor,
    /// Those of the parameters, without what was there before.
    pub gradients: Vec<Option<Vec<f32>>>,
}

/// Runs a block recorded, from a random state, and through its backward pass. The generator and
/// the gradients are then as before.
pub fn plain(block: &dyn Module, x: &Tensor, dy: &Tensor, from: GeneratorState) -> Plain {
    let before = get_state();
    let there: Vec<Option<Tensor>> =
        block.parameters().iter().map(|it| it.get().grad().map(|it| it.copy())).collect();
    block.zero_grad(true);
    set_state(from);
    let leaf = x.detach().requires_grad_(true);
    let y = block.forward(&leaf);
    set_state(before);
    y.backward_with(dy);
    let found = gradients(block);
    block.zero_grad(true);
    for (parameter, gradient) in block.parameters().iter().zip(there) {
        if let Some(gradient) = gradient {
            // The sum of gradient times parameter has just this gradient.
            parameter.get().mul(&gradient).sum().backward();
        }
    }
    Plain { dx: leaf.grad().expect("every block depends on its input"), gradients: found }
}
