//! The same forward pass recorded, in `no_grad` and in `inference_mode`: bytes and time.

use engine_room::autograd::Graph;
use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::{Device, Tensor, inference_mode, no_grad};
use engine_room_labs::{Cell, LabArgs, Output, Table, median_seconds};

use crate::experiments::network_and_batch;
use crate::network::{Network, Sizes};

/// Deep and narrow, so that what is kept outweighs what one layer needs while it runs.
const SIZES: Sizes = Sizes { batch: 256, inputs: 64, width: 128, depth: 8, classes: 10 };

/// Small enough that a call costs more than its arithmetic.
const TINY: Sizes = Sizes { batch: 1, inputs: 4, width: 4, depth: 8, classes: 2 };

type Run = fn(&Network, &Tensor) -> Tensor;

const MODES: [(&str, Run); 3] = [
    ("recorded", |network, images| network.forward(images)),
    ("no_grad", |network, images| no_grad(|| network.forward(images))),
    ("inference_mode", |network, images| inference_mode(|| network.forward(images))),
];

/// Prints one row a mode.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    for (name, Sizes { batch, inputs, width, depth, classes }) in [("one", SIZES), ("tiny", TINY)] {
        output.say(&format!(
            "{name} pass: batch {batch}, {inputs} inputs, {depth} hidden layers of {width}, \
             {classes} classes"
        ));
    }
    output.say("");
    let mut table = Table::new()
        .column("mode", "mode", "")
        .column("kept", "kept", "bytes")
        .column("peak", "peak", "bytes")
        .column("seconds", "one pass", "")
        .column("tiny_seconds", "a tiny pass", "");
    let device = output.device()?;
    let on_device = |sizes| {
        let (network, images, _) = network_and_batch(sizes, args.seed);
        (network.to(device), images.to(device))
    };
    let ((network, images), (tiny, tiny_images)) = (on_device(&SIZES), on_device(&TINY));
    for (name, forward) in MODES {
        let kept = Graph::of(&forward(&network, &images)).activation_bytes();
        let peak = peak_bytes(device, || forward(&network, &images));
        let seconds = median_seconds(21, || drop(forward(&network, &images)));
        let tiny_seconds = median_seconds(201, || drop(forward(&tiny, &tiny_images)));
        table.row([
            name.into(),
            Cell::Bytes(kept),
            Cell::Bytes(peak),
            Cell::Seconds(seconds),
            Cell::Seconds(tiny_seconds),
        ]);
    }
    output.table("rows", &table);
    Ok(())
}

/// How far above the bytes live at its start `f` goes.
fn peak_bytes(device: Device, f: impl FnOnce() -> Tensor) -> u64 {
    let start = memory_allocated(device);
    reset_peak_memory_stats(device);
    let _result = f();
    max_memory_allocated(device) - start
}
