//! What recomputation costs in time, and what it saves.

use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::nn::GptConfig;
use engine_room_labs::{Cell, LabArgs, Output, Table, shortest_seconds};

use crate::experiments::language::{SMALL, Trainer};

const BATCH: usize = 8;
const REPEATS: usize = 9;
const CONFIG: GptConfig = GptConfig { layers: 8, ..SMALL };

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
    let mut plain = None;
    let choices: [(&str, fn(usize) -> bool); 3] =
        [("no block", |_| false), ("every second block", |i| i % 2 == 1), ("all blocks", |_| true)];
    for (name, again) in choices {
        let before = memory_allocated(device);
        let mut trainer = Trainer::new(&CONFIG, again, device, args.seed);
        trainer.iterate(BATCH, 1);
        reset_peak_memory_stats(device);
        let seconds = shortest_seconds(REPEATS, || trainer.iterate(BATCH, 1));
        let peak = max_memory_allocated(device) - before;
        let ratio = seconds / *plain.get_or_insert(seconds);
        table.row([name.into(), Cell::Bytes(peak), Cell::Seconds(seconds), Cell::Ratio(ratio)]);
    }
    output.table("rows", &table);
    Ok(())
}
