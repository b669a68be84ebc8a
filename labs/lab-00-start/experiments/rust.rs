//! Runs the functions of the page on Rust.

use engine_room::Tensor;
use engine_room_labs::{LabArgs, Output};

use crate::reading;

/// Prints what each of them returns.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(&format!("names()            {:?}", reading::names()));
    output.say(&format!("borrows()          {:?}", reading::borrows()));
    output.say(&format!("sizes(&[8, 1, 3])  {:?}", reading::sizes(&[8, 1, 3])));
    let weight = Tensor::from_vec(vec![3.0f32, -1.0], &[2]).requires_grad_(true);
    output.say(&format!("describe(&weight)  {}", reading::describe(&weight)));
    weight.mul(&weight).sum().backward();
    output.say(&format!("after backward()   {}", reading::describe(&weight)));
    Ok(())
}
