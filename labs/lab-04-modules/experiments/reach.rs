//! From which batch on autocast holds fewer bytes: activations are halved, weights get a copy.

use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::experiments::training::{AUTOCAST, F32, SIZES, held};

const BATCHES: [usize; 6] = [1, 16, 64, 256, 1024, 4096];

/// Prints a row a batch.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    output.say(&format!(
        "An MLP of {SIZES:?}, AdamW, in its second iteration. Bytes kept for the backward pass, \
         and the\npeak, for a batch of so many images:\n"
    ));
    let mut table = Table::new()
        .column("batch", "batch", "images")
        .column("kept_f32", "kept, f32", "")
        .column("kept_autocast", "kept, autocast", "")
        .column("peak_f32", "peak, f32", "")
        .column("peak_autocast", "peak, autocast", "bytes");
    for batch in BATCHES {
        let [full, cast] = [F32, AUTOCAST].map(|recipe| held(device, &recipe, batch, args.seed));
        let bytes = [full.kept, cast.kept, full.peak, cast.peak].map(Cell::Bytes);
        table.row([Cell::Count(batch as u64)].into_iter().chain(bytes));
    }
    output.table("rows", &table);
    Ok(())
}
