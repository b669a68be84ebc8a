//! The diagnosis of 7.6's loop: as it was handed out, or yours.

use engine_room::sim::Gpu;
use engine_room_labs::{LabArgs, Output};

use super::network::{seconds, simulated, wall_ns};
use crate::training::{Counters, PROFILED, Training, profiled};
use crate::{exercise, stub};

/// Prints counters and diagnosis.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = simulated(output, Gpu::T4)?;
    let train: fn(&Training) -> Vec<f32> = if args.mine { exercise::train } else { stub::train };
    let profile =
        profiled(&PROFILED, device, args.seed, train).map_err(|error| error.to_string())?;
    let counters = Counters::of(&profile, PROFILED.steps());
    let whose = if args.mine { "Your loop" } else { "The loop of 7.6 as it was handed out" };
    output.say(&format!("{whose}, {} steps on a T4. All times are modelled.\n", PROFILED.steps()));
    for (name, count) in [
        ("launches a step", counters.launches),
        ("bytes of copies, hidden or not", counters.packed),
        ("copies to the device", counters.sent),
        ("waits before the last launch", counters.waits),
        ("calls for memory, or to empty the cache", counters.driver),
    ] {
        output.say(&format!("{name:<40}{count:>10}"));
    }
    let wall = engine_room_labs::cell::seconds(seconds(wall_ns(&profile)));
    output.say(&format!("{:<40}{wall:>10}\n", "time"));
    output.say(profile.diagnosis().to_string().trim_end());
    Ok(())
}
