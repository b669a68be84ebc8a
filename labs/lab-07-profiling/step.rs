//! What 7.7 predicts: a training step of a stack of layers, kernel by kernel.

/// An optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// SGD without momentum: it keeps nothing.
    Sgd,
    /// SGD with momentum: one number for each weight.
    SgdMomentum,
    /// AdamW: two numbers for each weight.
    AdamW,
}

/// A stack of linear layers with biases, and a relu between each two of them: an `Mlp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// `[784, 256, 10]`: two layers, from 784 numbers to 256 to 10.
    pub sizes: Vec<u64>,
    /// The rows of `x`, from 1 to 256.
    pub batch: u64,
    /// Whether `x` requires a gradient, since another stack stands before this one.
    pub x_requires_grad: bool,
    pub rule: Rule,
}

/// What the kernels of a part of the step do, all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    pub launches: u64,
    /// Floating-point operations of the matrix products.
    pub flops: u64,
    /// Bytes between the GPU and its memory, if each kernel moves nothing twice.
    pub bytes: u64,
}

/// Who is done later in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The host, with launching.
    Host,
    /// The GPU, with computing.
    Device,
}

/// Where the time of a step will go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    pub forward: Work,
    pub backward: Work,
    pub optimizer: Work,
    /// What the launches take the host.
    pub host_ns: u64,
    /// What the kernels take the GPU at least.
    pub device_ns: f64,
    pub limit: Limit,
}
