//! Making tensors from values, constants and random numbers.

use std::sync::Arc;

use crate::Tensor;
use crate::device::{Device, Draw};
use crate::dtype::{DType, Element, Scalar};
use crate::error::misuse;
use crate::layout::Layout;
use crate::memory::filled;
use crate::profiler;
use crate::rng::Generator;
use crate::storage::Storage;

impl Tensor {
    /// A tensor of shape `shape` with `values` in row-major order.
    ///
    /// # Panics
    /// If there are not exactly as many values as the shape has elements.
    #[track_caller]
    pub fn from_vec<T: Element>(values: Vec<T>, shape: &[usize]) -> Tensor {
        let layout = Layout::contiguous(shape);
        if values.len() != layout.shape().numel() {
            let (have, need) = (values.len(), layout.shape().numel());
            let what = format!("{have} values");
            let message = format!("the shape {shape:?} has {need} elements; pass exactly as many");
            misuse("from_vec", &[&what], message);
        }
        Tensor::over(Arc::new(Storage::new(values)), layout)
    }

    /// An `f32` tensor filled with `value`.
    #[track_caller]
    pub fn full(shape: &[usize], value: f32) -> Tensor {
        let numel = Layout::contiguous(shape).shape().numel();
        Tensor::from_vec(filled(value, numel), shape)
    }

    /// A tensor of any type on any device, filled with `value`.
    ///
    /// # Panics
    /// If the value is too large for the type.
    #[track_caller]
    pub fn full_on(
        shape: &[usize],
        value: impl Into<Scalar>,
        dtype: DType,
        device: Device,
    ) -> Tensor {
        let (numel, value) = (Layout::contiguous(shape).shape().numel(), value.into());
        if !value.fits(dtype) {
            let message = format!("{value} does not fit into {dtype}; choose a larger type");
            misuse("full_on", &[&dtype], message);
        }
        let _span = profiler::unrecorded("full");
        Tensor::packed(device.backend().fill(device, dtype, numel, value), shape)
    }

    /// A tensor of the same shape and type, and on the same device, filled with zeros.
    #[track_caller]
    pub fn zeros_like(&self) -> Tensor {
        Tensor::full_on(self.shape(), 0, self.dtype(), self.device())
    }

    /// An `f32` tensor of zeros.
    #[track_caller]
    pub fn zeros(shape: &[usize]) -> Tensor {
        Tensor::full(shape, 0.0)
    }

    /// An `f32` tensor of ones.
    #[track_caller]
    pub fn ones(shape: &[usize]) -> Tensor {
        Tensor::full(shape, 1.0)
    }

    /// One `f32`, with no dimensions.
    pub fn scalar(value: f32) -> Tensor {
        Tensor::full(&[], value)
    }

    /// 0, 1, … n − 1 as `f32`.
    #[track_caller]
    pub fn arange(n: usize) -> Tensor {
        Tensor::arange_on(n, DType::F32, Device::Cpu)
    }

    /// 0, 1, … n − 1 of any type on any device, cast from `i64`.
    #[track_caller]
    pub fn arange_on(n: usize, dtype: DType, device: Device) -> Tensor {
        let _span = profiler::unrecorded("arange");
        Tensor::packed(device.backend().arange(device, dtype, n), &[n])
    }

    /// Uniform random `f32` numbers in [0, 1).
    #[track_caller]
    pub fn rand(shape: &[usize], generator: &mut Generator) -> Tensor {
        Tensor::rand_on(shape, Device::Cpu, generator)
    }

    /// As [`rand`](Tensor::rand), made on any device: the same numbers, and the generator is left
    /// where it would be.
    #[track_caller]
    pub fn rand_on(shape: &[usize], device: Device, generator: &mut Generator) -> Tensor {
        Tensor::drawn(Draw::Uniform, shape, device, generator)
    }

    /// What is made of a random number each, on the device itself.
    #[track_caller]
    pub(crate) fn drawn(
        what: Draw,
        shape: &[usize],
        device: Device,
        generator: &mut Generator,
    ) -> Tensor {
        let numel = Layout::contiguous(shape).shape().numel();
        let _span = profiler::unrecorded("rand");
        let storage = device.backend().draw(device, what, numel, generator.state());
        generator.skip(numel as u64);
        Tensor::packed(storage, shape)
    }

    /// Random integers (`i64`) from `low` to `high` − 1, each equally likely.
    ///
    /// # Panics
    /// If there are none, or more than 2³².
    #[track_caller]
    pub fn randint(low: i64, high: i64, shape: &[usize], generator: &mut Generator) -> Tensor {
        let count = high.checked_sub(low).filter(|count| (1..=1 << 32).contains(count));
        let Some(count) = count else {
            let what = format!("{low} to {high}");
            let message = "needs from 1 to 2^32 integers to choose from; `high` is not one of them";
            misuse("randint", &[&what], message.to_string())
        };
        let numel = Layout::contiguous(shape).shape().numel();
        let mut draw = || low + generator.below(count as usize) as i64;
        Tensor::from_vec((0..numel).map(|_| draw()).collect(), shape)
    }

    /// The integers (`i64`) 0 to n − 1 in random order.
    pub fn randperm(n: usize, generator: &mut Generator) -> Tensor {
        let order = generator.permutation(n).into_iter().map(|i| i as i64);
        Tensor::from_vec(order.collect(), &[n])
    }

    /// Normal random `f32` numbers with mean 0 and variance 1.
    #[track_caller]
    pub fn randn(shape: &[usize], generator: &mut Generator) -> Tensor {
        let numel = Layout::contiguous(shape).shape().numel();
        Tensor::from_vec((0..numel).map(|_| generator.normal()).collect(), shape)
    }
}
