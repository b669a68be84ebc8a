//! The mutation score of lab 06: `cargo test -p engine-room-mutation --test mutation-06-memory`.

#[path = "../../labs/lab-06-memory/again.rs"]
mod again;
#[path = "../../labs/lab-06-memory/blocks.rs"]
mod blocks;
#[path = "../../labs/lab-06-memory/checks.rs"]
mod checks;
#[path = "../../labs/lab-06-memory/events.rs"]
mod events;
#[path = "../../labs/lab-06-memory/layers.rs"]
mod layers;
#[path = "../../labs/lab-06-memory/step.rs"]
mod step;
#[path = "../../labs/lab-06-memory/table.rs"]
mod table;

engine_room_mutation::mutation_score!("06-memory");
