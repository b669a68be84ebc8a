//! The mutation score of lab 04: `cargo test -p engine-room-mutation --test mutation-04-modules`.

#[path = "../../labs/lab-04-modules/checks.rs"]
mod checks;
#[path = "../../labs/lab-04-modules/module_tree.rs"]
mod module_tree;
#[path = "../../labs/lab-04-modules/recipe.rs"]
mod recipe;
#[path = "../../labs/lab-04-modules/state.rs"]
mod state;
#[path = "../../labs/lab-04-modules/training.rs"]
mod training;

engine_room_mutation::mutation_score!("04-modules");
