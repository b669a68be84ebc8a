//! The loss of the lab's network, and the way its formula asks to be written.

use engine_room::Tensor;
use engine_room_labs::LabArgs;

use crate::experiments::mine;
use crate::network::Network;

/// Cross-entropy as a first reading of its formula gives it: exponentials, their sum, a quotient,
/// a logarithm. Each of them leaves something in the graph, and an exponential of 89 is infinite.
pub fn by_hand(logits: &Tensor, targets: &Tensor) -> Tensor {
    let powers = logits.exp();
    let probabilities = powers.div(&powers.sum_dims(&[1], true));
    let column = targets.reshape(&[targets.numel(), 1]);
    probabilities.log().gather(1, &column).mean().neg()
}

/// The loss of a batch on the engine's operations, or with `--mine` on the reader's.
pub fn of(args: &LabArgs, network: &Network, images: &Tensor, labels: &Tensor) -> Tensor {
    match args.mine {
        true => mine::cross_entropy(&mine::forward(network, images), labels),
        false => network.forward(images).cross_entropy(labels),
    }
}
