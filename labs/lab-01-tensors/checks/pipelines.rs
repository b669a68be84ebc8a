//! The pipelines of 1.6: stages that move tensors in every way, and what is seen of each of them.

use std::cell::RefCell;
use std::rc::Rc;

use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor};

use super::super::pipeline::Stage;

/// What a stage does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// From the host to the device.
    Upload,
    /// The same from pinned memory, without waiting.
    UploadPinned,
    /// A view with its dimensions exchanged.
    Transpose,
    /// A view of all rows but one.
    Crop,
    /// The first numbers go to the host to be printed.
    Log,
    /// A small constant goes to the device.
    Constant,
    /// Both.
    LogAndConstant,
    /// The first numbers go to the host, and a table to the device.
    LogAndTable,
    /// The whole tensor goes to the host, and a small constant to the device.
    SaveAndConstant,
    /// The whole tensor goes to the host, as into a checkpoint, and stays on the device as well.
    Save,
    /// A table larger than the tensor goes to the device and is the output.
    Table,
    /// The result goes to the host.
    Fetch,
    /// To the host, a clamp there, and back.
    Trip,
    /// The same through pinned memory.
    PinnedTrip,
    /// To the host and back in half precision.
    ShrinkingTrip,
    /// To the host and back with twice the rows.
    GrowingTrip,
}

/// What a stage was given and gave, in the order of the runs.
pub struct Run {
    /// Which stage.
    pub stage: usize,
    /// What names its input: place, shape, device.
    pub input: String,
    /// What names its output.
    pub output: String,
}

/// What the stages have noted.
pub type Log = Rc<RefCell<Vec<Run>>>;

/// Names a tensor: two with one name are the same.
pub fn name(x: &Tensor) -> String {
    format!("{} {:?} {:?} at {:#x}", x.device(), x.shape(), x.strides(), x.data_ptr())
}

/// Stages that do these moves and note it.
pub fn stages(moves: &[Move], device: Device, log: &Log) -> Vec<Stage> {
    let noted = |(stage, &what): (usize, &Move)| {
        let log = log.clone();
        let function = move |x: &Tensor| {
            let y = carried_out(what, x, device);
            log.borrow_mut().push(Run { stage, input: name(x), output: name(&y) });
            y
        };
        Stage::new(what.says(), function)
    };
    moves.iter().enumerate().map(noted).collect()
}

/// A random input on the host.
pub fn input(rng: &mut Generator) -> Tensor {
    Tensor::rand(&[40 + rng.below(20), 60 + rng.below(20)], rng)
}

impl Move {
    /// Whether the stage is a round trip.
    pub fn is_trip(self) -> bool {
        use Move::{GrowingTrip, PinnedTrip, ShrinkingTrip, Trip};
        matches!(self, Trip | PinnedTrip | ShrinkingTrip | GrowingTrip)
    }

    /// What the stage says it does: nobody names a round trip.
    fn says(self) -> &'static str {
        match self {
            Move::Upload | Move::UploadPinned => "upload",
            Move::Transpose => "transpose",
            Move::Crop => "crop",
            Move::Log | Move::LogAndConstant => "log",
            Move::Constant => "scale",
            Move::Save | Move::SaveAndConstant => "save",
            Move::Table | Move::LogAndTable => "look up",
            Move::Fetch => "fetch",
            Move::Trip | Move::PinnedTrip => "clamp",
            Move::ShrinkingTrip => "quantise",
            Move::GrowingTrip => "repeat",
        }
    }
}

fn carried_out(what: Move, x: &Tensor, device: Device) -> Tensor {
    match what {
        Move::Upload => return x.to(device),
        Move::UploadPinned => return x.pin_memory().to_non_blocking(device),
        Move::Fetch => return x.to(Device::Cpu),
        Move::Transpose => return x.transpose(0, 1),
        Move::Crop => return x.narrow(0, 1, x.shape()[0] - 1),
        _ if what.is_trip() => return round_trip(what, x, device),
        _ => {}
    }
    if matches!(what, Move::Log | Move::LogAndConstant | Move::LogAndTable) {
        // One by one, as `item()` in a loop does: slow, and still few bytes.
        for at in 0..5 {
            x.select(0, 0).select(0, at).to(Device::Cpu);
        }
    }
    if matches!(what, Move::Save | Move::SaveAndConstant) {
        x.to(Device::Cpu);
    }
    if matches!(what, Move::Constant | Move::LogAndConstant | Move::SaveAndConstant) {
        Tensor::ones(&[3]).to(device);
    }
    let table = matches!(what, Move::Table | Move::LogAndTable);
    if table { Tensor::ones(&[90, 100]).to(device) } else { x.clone() }
}

fn round_trip(what: Move, x: &Tensor, device: Device) -> Tensor {
    if what == Move::PinnedTrip {
        let here = x.to_non_blocking(Device::Cpu);
        device.synchronize().expect("a simulated device does not fail");
        return here.clamp(0.2, 0.5).pin_memory().to(device);
    }
    let here = x.to(Device::Cpu);
    let there = match what {
        Move::ShrinkingTrip => here.to(DType::BF16),
        Move::GrowingTrip => Tensor::cat(&[&here, &here], 0),
        _ => here.clamp(0.2, 0.5),
    };
    there.to(device)
}
