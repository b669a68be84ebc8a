//! The experiments of lab 03, one file each, and what they share.

pub mod check;
pub mod digits;
pub mod growth;
pub mod loss;
pub mod mine;
pub mod modes;
pub mod saved;
pub mod trace;

use engine_room::Tensor;
use engine_room::rng::Generator;

use crate::network::{Network, Sizes};

/// A network, a batch of random images and random labels for it.
pub fn network_and_batch(sizes: &Sizes, seed: u64) -> (Network, Tensor, Tensor) {
    let mut generator = Generator::new(seed);
    let network = Network::new(sizes, &mut generator);
    let images = Tensor::rand(&[sizes.batch, sizes.inputs], &mut generator);
    let labels = (0..sizes.batch).map(|_| generator.below(sizes.classes) as i64).collect();
    (network, images, Tensor::from_vec(labels, &[sizes.batch]))
}
