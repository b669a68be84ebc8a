//! What 6.6 is about: what the layers of a model cost, and which of them run again.

/// What one layer costs in a training step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// Bytes of its input, which is the output of the layer before it.
    pub input: u64,
    /// Bytes of all else that it keeps for its backward pass.
    pub kept: u64,
    /// Operations of its forward pass.
    pub flops: u64,
}

/// What becomes of what a layer keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It lives from the forward pass to the backward pass of the layer.
    Keep,
    /// It is computed again: with this layer a segment begins, which runs again as one piece.
    Begin,
    /// It is computed again, in the segment of the layer before.
    Continue,
}

/// What a plan costs: one mode for each layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The most bytes that inputs and what is kept take up at one moment.
    pub peak: u64,
    /// Operations of all forward passes that run a second time.
    pub extra_flops: u64,
}
