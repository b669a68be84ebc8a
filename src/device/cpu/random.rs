//! Random numbers.

use crate::device::Draw;
use crate::rng::{Generator, GeneratorState};
use crate::storage::Storage;

/// What is drawn from a stream, from where it is.
pub fn draw(what: Draw, numel: usize, from: GeneratorState) -> Storage {
    let mut generator = Generator::from_state(from);
    match what {
        Draw::Uniform => {
            Storage::new((0..numel).map(|_| generator.uniform()).collect::<Vec<f32>>())
        }
        Draw::Keep { threshold } => {
            let stays = (0..numel).map(|_| generator.next_u32() >> 8 >= threshold);
            Storage::new(stays.collect::<Vec<bool>>())
        }
    }
}
