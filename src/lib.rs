//! The engine of the Engine Room: a small deep-learning framework that is written to be read.
//!
//! A [`Tensor`] is a [`Layout`] over a shared [`Storage`]. Every operation goes through one door,
//! [`autograd::apply`], which runs it and, when a gradient will be asked for, records a node of the
//! graph. Backends under `device` do the arithmetic, and [`memory`] counts every byte they hold.
//!
//! Where to start reading: `tensor/mod.rs`, then `autograd/op.rs`, then `ops/binary.rs`.

pub mod amp;
pub mod autograd;
pub mod data;
mod device;
mod display;
mod dtype;
mod error;
mod json;
mod layout;
pub mod memory;
pub mod nn;
mod ops;
pub mod optim;
pub mod profiler;
pub mod rng;
pub mod serialize;
mod shape;
mod storage;
mod tensor;

pub use autograd::{enable_grad, inference_mode, is_grad_enabled, no_grad, recompute};
pub use device::{Device, cuda, driver, sim};
pub use dtype::{DType, Element, Scalar, bf16, f16};
pub use error::{Error, Misuse, catch};
pub use layout::Layout;
pub use ops::{Attention, CrossEntropy, OPS, OpRow, Reduction, Sample, To, result_type};
pub use shape::{Dims, MAX_DIMS, Size};
pub use storage::Storage;
pub use tensor::Tensor;

/// What a GPU lets you choose that a tensor's methods choose by themselves.
pub mod gpu {
    pub use crate::device::MatmulKernel;
    pub use crate::ops::matmul_with;
}
