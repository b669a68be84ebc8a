//! A training on a GPU of 64 MiB: where it dies, and three changes that make it fit.

use std::thread;

use engine_room::memory::{
    Action, max_memory_allocated, max_memory_reserved, memory_snapshot, record_memory_history,
};
use engine_room::nn::GptConfig;
use engine_room::{Device, Error, catch, no_grad};
use engine_room_labs::{Cell, LabArgs, Output, Progress, Table};

use crate::experiments::gpu::{MIB, small};
use crate::experiments::language::Trainer;
use crate::experiments::pieces::wrapped;

const CAPACITY: u64 = 64 * MIB;
const BATCH: usize = 8;
const HELD_OUT: usize = 4;
/// More than an iteration has.
const ENTRIES: usize = 1 << 20;
const CONFIG: GptConfig = GptConfig {
    vocab: 2048,
    context: 128,
    width: 32,
    layers: 8,
    heads: 2,
    dropout: 0.0,
    tied: true,
};

/// The training with some changes.
struct Variant {
    name: &'static str,
    /// Whether nothing is recorded while the held-out loss is computed.
    no_grad: bool,
    /// Whether the blocks are recomputed.
    recompute: bool,
    /// In how many parts the batch goes through.
    parts: usize,
}

/// One change upon the other, and the last without the one before.
const VARIANTS: [Variant; 5] = [
    Variant { name: "as it was written", no_grad: false, recompute: false, parts: 1 },
    Variant { name: "+ no_grad for the validation", no_grad: true, recompute: false, parts: 1 },
    Variant { name: "+ recompute the blocks", no_grad: true, recompute: true, parts: 1 },
    Variant { name: "+ the batch in two halves", no_grad: true, recompute: true, parts: 2 },
    Variant { name: "- recompute the blocks", no_grad: true, recompute: false, parts: 2 },
];

/// What came of a training's first iteration.
#[derive(Clone)]
struct Outcome {
    result: Result<(), Error>,
    /// The peaks of allocated and of reserved bytes, until it ended or died.
    peaks: [u64; 2],
    /// The operation that asked in vain.
    refused: Option<String>,
}

/// Prints the first report, a row a change, and where each died.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let GptConfig { layers, width, vocab, context, .. } = CONFIG;
    output.say(&format!(
        "A GPT: {layers} blocks, width {width}, {vocab} tokens. An iteration is the loss of \
         {HELD_OUT} held-out texts, which\ngoes into a list, and a step of AdamW on {BATCH} texts \
         of {context} tokens.\n"
    ));
    let mut changes = Table::new()
        .column("change", "change", "")
        .column("peak", "peak", "bytes")
        .column("reserved", "reserved", "bytes")
        .column("result", "on 64 MiB", "");
    let mut deaths = String::new();
    let outcomes = train_all(args, output)?;
    for (number, (variant, (outcome, whole))) in VARIANTS.iter().zip(outcomes).enumerate() {
        let change = variant.name;
        let fits = outcome.result.is_ok();
        if let (Err(error), Some(op)) = (&outcome.result, &outcome.refused) {
            let report = error.to_string();
            match number {
                0 => output
                    .say(&format!("On 64 MiB the engine says, in {op}:\n\n{}", wrapped(&report))),
                _ => deaths += &format!("\n{change}, in {op}:\n\n{}", wrapped(figures(&report))),
            }
        }
        let peaks = whole.peaks.map(Cell::Bytes);
        let result = if fits { "goes through" } else { "dies" };
        changes.row([change.into()].into_iter().chain(peaks).chain([result.into()]));
    }
    output.say(
        "What the first iteration needs, measured on a large GPU where it dies on this one:\n",
    );
    output.table("rows", &changes);
    output.say("The first half of what the engine says after the first and the second change:");
    output.say(deaths.trim_end());
    Ok(())
}

/// Every training on a GPU of 64 MiB of its own and, where it dies there, on a large one. Each has
/// a thread: with a core for each, all of them take as long as the longest.
fn train_all(args: &LabArgs, output: &mut Output) -> Result<Vec<(Outcome, Outcome)>, String> {
    let gpus: Vec<usize> = (0..VARIANTS.len()).map(|number| 20 + 2 * number).collect();
    for &gpu in &gpus {
        small(output, gpu, CAPACITY)?;
    }
    // A training is a step of the bar when it begins and one when it ends.
    let progress = Progress::new(args, "trainings", 2 * VARIANTS.len() as u64);
    let both = |gpu, variant: &Variant| {
        progress.step(variant.name);
        let outcome = train(Device::Sim(gpu), variant, args.seed);
        let whole = match outcome.result {
            Ok(()) => outcome.clone(),
            Err(_) => train(Device::Sim(gpu + 1), variant, args.seed),
        };
        progress.step(variant.name);
        (outcome, whole)
    };
    Ok(thread::scope(|scope| {
        let start = |(gpu, variant)| scope.spawn(move || both(gpu, variant));
        let threads: Vec<_> = gpus.into_iter().zip(&VARIANTS).map(start).collect();
        threads.into_iter().map(|it| it.join().expect("errors are caught in it")).collect()
    }))
}

/// What a report says before it names the holders.
fn figures(report: &str) -> &str {
    report.split_once("; the largest holders").map_or(report, |(figures, _)| figures)
}

/// The first iteration of a training.
fn train(gpu: Device, variant: &Variant, seed: u64) -> Outcome {
    record_memory_history(gpu, ENTRIES);
    let result = catch(|| {
        let mut trainer = Trainer::new(&CONFIG, |_| variant.recompute, gpu, seed);
        let (x, y) = trainer.texts(HELD_OUT);
        let loss = || trainer.loss(&x, &y);
        let _losses = [if variant.no_grad { no_grad(loss) } else { loss() }];
        trainer.iterate(BATCH, variant.parts);
    });
    let trace = memory_snapshot(gpu).trace;
    let oom = trace.iter().find(|entry| entry.action == Action::Oom);
    Outcome {
        result,
        peaks: [max_memory_allocated(gpu), max_memory_reserved(gpu)],
        refused: oom.map(|entry| entry.label.op.to_string()),
    }
}
