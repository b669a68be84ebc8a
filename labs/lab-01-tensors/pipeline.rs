//! Two programs that move tensors more often than they have to.

use engine_room::{Device, Tensor};

/// Sends tensors to a device, one call for each: what everybody writes first.
pub fn send_one_by_one(tensors: &[Tensor], device: Device) -> Vec<Tensor> {
    tensors.iter().map(|tensor| tensor.to(device)).collect()
}

/// One stage of a pipeline: a tensor goes in, a tensor comes out.
pub struct Stage {
    /// What it says it does.
    pub name: &'static str,
    function: Box<dyn Fn(&Tensor) -> Tensor>,
}

impl Stage {
    /// A stage that calls `function`.
    pub fn new(name: &'static str, function: impl Fn(&Tensor) -> Tensor + 'static) -> Stage {
        Stage { name, function: Box::new(function) }
    }

    /// Runs the stage.
    pub fn run(&self, input: &Tensor) -> Tensor {
        (self.function)(input)
    }
}
