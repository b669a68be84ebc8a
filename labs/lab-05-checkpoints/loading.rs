//! What 5.3 loads: the tensors of a file, the places of a model, and what can be complained of.

/// A tensor of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub shape: Vec<usize>,
    /// The device that it was on when it was saved: `cuda:1`.
    pub device: String,
    /// Its elements, in order.
    pub values: Vec<f32>,
}

/// A parameter or buffer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub shape: Vec<usize>,
    /// Its elements, in order.
    pub values: Vec<f32>,
}

/// Where the tensors of a file go: PyTorch's `map_location`.
#[derive(Debug, Clone, PartialEq)]
pub enum MapLocation {
    /// Each to the device that it was saved from.
    Saved,
    /// All to this device.
    Device(String),
    /// From the first device of a pair to the second; from a device without a pair, to itself.
    Table(Vec<(String, String)>),
}

/// Where a tensor of the file went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Its name.
    pub name: String,
    /// Its device.
    pub device: String,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Complaint {
    /// The model has it, the file does not.
    Missing(String),
    /// The file has it, the model does not.
    Unexpected(String),
    /// The shapes differ.
    Mismatch {
        /// Whose.
        name: String,
        /// The shape in the model.
        model: Vec<usize>,
        /// The shape in the file.
        file: Vec<usize>,
    },
    /// A tensor of the file would go to a device that is not there.
    NoDevice {
        /// Which tensor.
        name: String,
        /// The device.
        device: String,
    },
}
