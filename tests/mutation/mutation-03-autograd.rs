//! The mutation score of lab 03: `cargo test -p engine-room-mutation --test mutation-03-autograd`.

#[path = "../../labs/lab-03-autograd/checks.rs"]
mod checks;
#[allow(dead_code, reason = "training it is the lab's business")]
#[path = "../../labs/lab-03-autograd/network.rs"]
mod network;

engine_room_mutation::mutation_score!("03-autograd");
