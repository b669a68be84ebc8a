//! What a launch consists of: the kernel, its threads, its parameters.

use super::DevicePtr;
use crate::device::Device;

/// Kernels that were loaded together. They stay as long as their device, so load a text once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Module {
    pub(crate) device: Device,
    pub(crate) id: usize,
}

/// A kernel to run: which one, by how many threads, with what.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// Where the kernel is.
    pub module: Module,
    /// Its name in the PTX.
    pub kernel: &'a str,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of shared memory of a block, beside those that the kernel declares.
    pub shared_bytes: u32,
    /// The parameters, in the order of the kernel.
    pub params: &'a Params,
}

/// The parameters of a kernel as the device reads them: one after the other, each at a multiple of
/// its size ("CUDA Driver API", `cuLaunchKernel`, `CU_LAUNCH_PARAM_BUFFER_POINTER`).
///
/// Nothing says what the kernel expects, so a wrong type or order goes unnoticed unless the bytes
/// do not add up: `Params::new().pointer(x).f32(2.0).i32(n)` is for `(float *x, float a, int n)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params(Vec<u8>);

impl Params {
    /// None yet.
    pub fn new() -> Params {
        Params::default()
    }

    /// And an address in the memory of the device.
    pub fn pointer(self, value: DevicePtr) -> Params {
        self.and(value.0.to_le_bytes())
    }

    /// And an `int`.
    pub fn i32(self, value: i32) -> Params {
        self.and(value.to_le_bytes())
    }

    /// And an `unsigned`.
    pub fn u32(self, value: u32) -> Params {
        self.and(value.to_le_bytes())
    }

    /// And a `long long`.
    pub fn i64(self, value: i64) -> Params {
        self.and(value.to_le_bytes())
    }

    /// And a `double`.
    pub fn f64(self, value: f64) -> Params {
        self.and(value.to_le_bytes())
    }

    /// And so much padding that the next one begins at a multiple of `bytes`, as a struct does
    /// whose largest member has that size.
    pub fn aligned(mut self, bytes: usize) -> Params {
        self.0.resize(self.0.len().next_multiple_of(bytes), 0);
        self
    }

    /// And a `float`.
    pub fn f32(self, value: f32) -> Params {
        self.and(value.to_le_bytes())
    }

    /// And a struct with these members, none of which has more than 4 bytes.
    pub fn struct_of(mut self, members: &Params) -> Params {
        self.0.extend(&members.0);
        self
    }

    fn and<const N: usize>(mut self, value: [u8; N]) -> Params {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend(value);
        self
    }

    /// The bytes, with padding between them.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
