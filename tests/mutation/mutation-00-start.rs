//! The mutation score of lab 00: `cargo test -p engine-room-mutation --test mutation-00-start`.

#[path = "../../labs/lab-00-start/checks.rs"]
mod checks;
#[path = "../../labs/lab-00-start/format.rs"]
mod format;

engine_room_mutation::mutation_score!("00-start");
