//! What recomputation costs in time, and what it saves.

use engine_room::Device;
use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::nn::GptConfig;
use engine_room_labs::{Cell, LabArgs, Output, Table, shortest_seconds};

use crate::experiments::language::{SMALL, Trainer};

const BATCH: usize = 8;
const ROUNDS: usize = 3;
const CONFIG: GptConfig = GptConfig { layers: 8, ..SMALL };

/// Whether a block runs again, by its number.
type Again = fn(usize) -> bool;

/// Prints a row for each choice of blocks.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    output.measured();
    output.say(&format!(
        "A GPT with {} blocks of width {}, AdamW, {BATCH} texts of {} tokens. A whole step:\n",
        CONFIG.layers, CONFIG.width, CONFIG.context
    ));
    let mut table = Table::new()
        .column("blocks", "recomputed", "")
        .column("peak", "peak", "bytes")
        .column("seconds", "a step", "")
        .column("ratio", "of plain", "");
    let choices: [(&str, Again); 3] =
        [("no block", |_| false), ("every second block", |i| i % 2 == 1), ("all blocks", |_| true)];
    let peaks = choices.map(|(_, again)| peak(device, again, args.seed));
    let mut trainers = choices.map(|(_, again)| Trainer::new(&CONFIG, again, device, args.seed));
    let seconds = shortest(&mut trainers);
    for (i, (name, _)) in choices.into_iter().enumerate() {
        let ratio = seconds[i] / seconds[0];
        let peak = Cell::Bytes(peaks[i]);
        table.row([name.into(), peak, Cell::Seconds(seconds[i]), Cell::Ratio(ratio)]);
    }
    output.table("rows", &table);
    Ok(())
}

/// The peak of the second step.
fn peak(device: Device, again: Again, seed: u64) -> u64 {
    let before = memory_allocated(device);
    let mut trainer = Trainer::new(&CONFIG, again, device, seed);
    trainer.iterate(BATCH, 1);
    reset_peak_memory_stats(device);
    trainer.iterate(BATCH, 1);
    max_memory_allocated(device) - before
}

/// The shortest step of each, in seconds. They take turns, so that whatever else the machine does
/// hits all of them.
fn shortest(trainers: &mut [Trainer; 3]) -> [f64; 3] {
    let mut shortest = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        for (trainer, shortest) in trainers.iter_mut().zip(&mut shortest) {
            let seconds = shortest_seconds(1, || trainer.iterate(BATCH, 1));
            *shortest = shortest.min(seconds);
        }
    }
    shortest
}
