//! One training step: what is alive when, for what, and who held it at the peak.

use engine_room::Device;
use engine_room::memory::{Role, Snapshot, memory_snapshot, record_memory_history};
use engine_room::optim::Optimizer;
use engine_room_labs::{Cell, LabArgs, Output, Table, memory_line};

use crate::experiments::language::{SMALL, Trainer};
use crate::experiments::mine;

const BATCH: usize = 4;
/// More than a step has.
const ENTRIES: usize = 100_000;
const SHOWN: [(Role, &str); 5] = [
    (Role::Parameter, "parameters"),
    (Role::Gradient, "gradients"),
    (Role::Optimizer, "optimizer"),
    (Role::Activation, "activations"),
    (Role::Other, "other"),
];

/// A recorded step.
pub struct Recorded {
    pub history: Snapshot,
    /// How many entries the history had after the forward pass, and after the backward pass.
    pub after: [usize; 2],
}

/// Records the second step of a training: the first one makes the optimizer's state.
pub fn record(device: Device, seed: u64) -> Recorded {
    let mut trainer = Trainer::new(&SMALL, |_| false, device, seed);
    trainer.iterate(BATCH, 1);
    trainer.optimizer.zero_grad(true);
    record_memory_history(device, ENTRIES);
    let so_far = || memory_snapshot(device).trace.len();
    let (x, y) = trainer.texts(BATCH);
    let loss = trainer.loss(&x, &y);
    let forward = so_far();
    loss.backward();
    let backward = so_far();
    drop((x, y, loss));
    trainer.optimizer.step();
    let history = memory_snapshot(device);
    record_memory_history(device, 0);
    Recorded { history, after: [forward, backward] }
}

/// The model and the batch in words.
pub fn say(output: &mut Output) {
    output.say(&format!(
        "The second step of a GPT: {} blocks, width {}, {} tokens, {BATCH} texts of {}, AdamW.\n",
        SMALL.layers, SMALL.width, SMALL.vocab, SMALL.context
    ));
}

/// Where the time line is highest.
pub fn highest(history: &Snapshot) -> usize {
    let line = history.time_line();
    let total = |i: usize| line[i].iter().sum::<u64>();
    // The first of equal ones.
    (0..line.len()).rev().max_by_key(|&i| total(i)).unwrap_or(0)
}

/// Prints a row a moment.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    let Recorded { history, after: [forward, backward] } = record(device, args.seed);
    say(output);
    let line = history.time_line();
    let at_peak = line[highest(&history)];
    let most_of = |role: usize| line.iter().map(|at| at[role]).max().unwrap_or(0);
    let mut table = Table::new().column("moment", "bytes", "");
    for (_, name) in SHOWN {
        table = table.column(name, name, "");
    }
    table = table.column("sum", "sum", "");
    let mut moments = vec![
        ("before it", line[0]),
        ("after the forward pass", line[forward]),
        ("at the peak", at_peak),
        ("after backward()", line[backward]),
        ("after step()", line[line.len() - 1]),
        ("the most of each role", std::array::from_fn(most_of)),
    ];
    if args.mine {
        moments.insert(3, ("at the peak, yours", mine::peak(&history).by_role));
    }
    for (moment, bytes) in moments {
        let cells = SHOWN.map(|(role, _)| Cell::Bytes(bytes[role as usize]));
        let sum = Cell::Bytes(bytes.iter().sum());
        table.row([moment.into()].into_iter().chain(cells).chain([sum]));
    }
    output.table("rows", &table);
    output.prediction("6.a", at_peak.iter().sum::<u64>() as f64, "bytes");
    output.figure(&memory_line::svg("One training step", &history)?)
}
