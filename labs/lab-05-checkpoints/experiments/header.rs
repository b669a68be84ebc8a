//! What stands at the beginning of a safetensors file.

use engine_room_labs::{LabArgs, Output};

/// Prints a file.
pub fn run(_args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say("soon\n");
    Ok(())
}
