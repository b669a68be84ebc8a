//! The reader's functions as operations of the engine: what `--mine` trains with.

use engine_room::autograd::{Ctx, Op, apply};
use engine_room::{Tensor, no_grad};

use crate::exercise;
use crate::network::Network;

/// The network's forward pass with the reader's backward passes of 3.2 and 3.3.
pub fn forward(network: &Network, images: &Tensor) -> Tensor {
    let (last, hidden) = network.layers.split_last().expect("there is always an output layer");
    let linear = |h: &Tensor, (weight, bias): &(Tensor, Tensor)| {
        apply(AddBias(bias.shape().to_vec()), [&apply(MatMul, [h, weight]), bias])
    };
    let mut h = images.clone();
    for layer in hidden {
        h = linear(&h, layer).relu();
    }
    linear(&h, last)
}

/// Cross-entropy with the reader's two functions of 3.6.
pub fn cross_entropy(logits: &Tensor, targets: &Tensor) -> Tensor {
    apply(CrossEntropy, [logits, targets])
}

/// The gradient of each parameter by the reader's walk of 3.4, then one step of gradient descent.
pub fn step(network: &Network, loss: &Tensor, learning_rate: f32) {
    let root = loss.node().expect("the loss depends on the parameters");
    let gradients = no_grad(|| exercise::backward_walk(&root, Tensor::ones(loss.shape())));
    no_grad(|| {
        for parameter in network.parameters() {
            let id = parameter.node().expect("a parameter requires a gradient").id();
            if let Some(gradient) = gradients.get(&id) {
                parameter.add_(gradient, -learning_rate);
            }
        }
    });
}

struct MatMul;

impl Op<2> for MatMul {
    fn name(&self) -> &'static str {
        "my_matmul"
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save(a);
        ctx.save(b);
        a.matmul(b)
    }

    fn backward(&self, ctx: &Ctx, dc: &Tensor) -> [Option<Tensor>; 2] {
        exercise::matmul_backward(ctx, dc)
    }
}

/// Adds a bias of this shape to every row.
struct AddBias(Vec<usize>);

impl Op<2> for AddBias {
    fn name(&self) -> &'static str {
        "my_add"
    }

    fn forward(&self, _: &mut Ctx, [rows, bias]: [&Tensor; 2]) -> Tensor {
        rows.add(bias)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        [Some(dy.clone()), Some(exercise::reduce_broadcast(dy, &self.0))]
    }
}

struct CrossEntropy;

impl Op<2> for CrossEntropy {
    fn name(&self) -> &'static str {
        "my_cross_entropy"
    }

    fn forward(&self, ctx: &mut Ctx, [logits, targets]: [&Tensor; 2]) -> Tensor {
        exercise::cross_entropy_forward(ctx, logits, targets)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        [Some(exercise::cross_entropy_backward(ctx, dy)), None]
    }
}
