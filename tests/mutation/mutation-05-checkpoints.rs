//! The mutation score of lab 05:
//! `cargo test -p engine-room-mutation --test mutation-05-checkpoints`.

#[path = "../../labs/lab-05-checkpoints/checks.rs"]
mod checks;
#[path = "../../labs/lab-05-checkpoints/header.rs"]
mod header;
#[path = "../../labs/lab-05-checkpoints/json.rs"]
mod json;
#[path = "../../labs/lab-05-checkpoints/loading.rs"]
mod loading;
#[path = "../../labs/lab-05-checkpoints/reshard.rs"]
mod reshard;
#[path = "../../labs/lab-05-checkpoints/shards.rs"]
mod shards;
#[path = "../../labs/lab-05-checkpoints/training_run.rs"]
mod training_run;
#[path = "../../labs/lab-05-checkpoints/tree.rs"]
mod tree;

engine_room_mutation::mutation_score!("05-checkpoints");
