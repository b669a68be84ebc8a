//! The mutation score of lab 07: `cargo test -p engine-room-mutation --test mutation-07-profiling`.

#[path = "../../labs/lab-07-profiling/averages.rs"]
mod averages;
#[path = "../../labs/lab-07-profiling/checks.rs"]
mod checks;
#[path = "../../labs/lab-07-profiling/kernel.rs"]
mod kernel;
#[path = "../../labs/lab-07-profiling/spans.rs"]
mod spans;
#[path = "../../labs/lab-07-profiling/step.rs"]
mod step;
#[path = "../../labs/lab-07-profiling/timing.rs"]
mod timing;
#[path = "../../labs/lab-07-profiling/trace.rs"]
mod trace;
#[path = "../../labs/lab-07-profiling/training.rs"]
mod training;

engine_room_mutation::mutation_score!("07-profiling");
