//! The mutation score of lab 02: `cargo test -p engine-room-mutation --test mutation-02-views`.

#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../../labs/lab-02-views/attention.rs"]
mod attention;
#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../../labs/lab-02-views/cache.rs"]
mod cache;
#[path = "../../labs/lab-02-views/checks.rs"]
mod checks;
#[path = "../../labs/lab-02-views/header.rs"]
mod header;

engine_room_mutation::mutation_score!("02-views");
