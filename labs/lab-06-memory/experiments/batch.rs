//! What the graph of a language model keeps, by the batch and by the length of its texts.

use engine_room::Device;
use engine_room::memory::{Role, bytes_by_role, max_memory_allocated, reset_peak_memory_stats};
use engine_room::nn::GptConfig;
use engine_room::optim::Optimizer;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::experiments::language::{SMALL, Trainer};

const SIZES: [(usize, usize); 7] =
    [(1, 128), (2, 128), (4, 128), (8, 128), (16, 128), (4, 32), (4, 512)];

/// Prints a row a size.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    output.say(&format!(
        "A GPT with {} blocks of width {} and {} tokens, AdamW, its second step. Bytes:\n",
        SMALL.layers, SMALL.width, SMALL.vocab
    ));
    let mut table = Table::new()
        .column("batch", "texts", "")
        .column("time", "of tokens", "")
        .column("parameters", "parameters", "")
        .column("kept", "kept", "")
        .column("each", "kept a token", "")
        .column("peak", "peak", "");
    for (batch, time) in SIZES {
        let config = GptConfig { context: time, ..SMALL };
        let [parameters, kept, peak] = second_step(&config, batch, device, args.seed);
        let each = kept / (batch * time) as u64;
        table.row([
            Cell::Count(batch as u64),
            Cell::Count(time as u64),
            Cell::Bytes(parameters),
            Cell::Bytes(kept),
            Cell::Bytes(each),
            Cell::Bytes(peak),
        ]);
    }
    output.table("rows", &table);
    Ok(())
}

/// Bytes of the parameters, what the graph keeps after the forward pass, and the peak.
fn second_step(config: &GptConfig, batch: usize, device: Device, seed: u64) -> [u64; 3] {
    let of = |role: Role| bytes_by_role(device)[role as usize].1;
    let mut trainer = Trainer::new(config, |_| false, device, seed);
    trainer.iterate(batch, 1);
    trainer.optimizer.zero_grad(true);
    reset_peak_memory_stats(device);
    let (x, y) = trainer.texts(batch);
    let loss = trainer.loss(&x, &y);
    let kept = of(Role::Activation);
    loss.backward();
    [of(Role::Parameter), kept, max_memory_allocated(device)]
}
