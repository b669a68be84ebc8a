//! A file that does not fit its model, and what the loader says about it.

use engine_room::nn::{Mlp, Module, StateDict};
use engine_room::rng::Generator;
use engine_room_labs::{LabArgs, Output};

use crate::experiments::wrapped;

/// Prints both reports.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let mut generator = Generator::new(args.seed);
    let saved = renamed(&Mlp::new(&[64, 128, 128, 10], &mut generator).state_dict())?;
    let model = Mlp::new(&[64, 128, 96, 10], &mut generator);
    output.say("The file is from a network whose last layer was called `head`. In the model that");
    output.say("loads it the layer is called `layers.2`, and the one before is narrower.");
    for strict in [true, false] {
        output.say(&format!("\nload_state_dict(state, strict = {strict}):"));
        match model.load_state_dict(&saved, strict) {
            Err(error) => {
                let text = format!("error: {error}");
                for line in text.lines() {
                    let bare = line.trim_start();
                    output.say(&wrapped(bare, &line[..line.len() - bare.len()]));
                }
            }
            Ok(keys) => return Err(format!("it fits: {keys:?}")),
        }
    }
    Ok(())
}

/// The same tensors, the last layer under another name.
fn renamed(state: &StateDict) -> Result<StateDict, String> {
    let mut saved = StateDict::new();
    for (name, x) in state.iter() {
        let name = name.replace("layers.2.", "head.");
        saved.insert(&name, x.clone()).map_err(|error| error.to_string())?;
    }
    Ok(saved)
}
