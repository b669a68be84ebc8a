//! The mutation score of lab 01: `cargo test -p engine-room-mutation --test mutation-01-tensors`.

#[path = "../../labs/lab-01-tensors/checks.rs"]
mod checks;
#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../../labs/lab-01-tensors/formats.rs"]
mod formats;
#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../../labs/lab-01-tensors/pipeline.rs"]
mod pipeline;
#[path = "../../labs/lab-01-tensors/training.rs"]
mod training;

engine_room_mutation::mutation_score!("01-tensors");
