//! What an operation does, by formula: bytes and floating-point operations.

use std::sync::Arc;

use crate::Tensor;
use crate::device::Device;
use crate::profiler::event::Kind;
use crate::profiler::recording::{Span, is_on, span, with_innermost};

/// Counts bytes that were allocated (or freed, if negative) under what runs on this thread.
pub(crate) fn allocated(device: Device, bytes: i64) {
    if is_on() {
        with_innermost(|wanted, event| match device {
            _ if !wanted.memory => {}
            Device::Cpu => event.allocated += bytes,
            _ => event.device_allocated += bytes,
        });
    }
}

/// A span for an operation that is not recorded for a backward pass, and so does not come through
/// `apply`; none if it is a part of another one.
#[track_caller]
pub(crate) fn unrecorded(name: &'static str) -> Option<Span> {
    if !is_on() {
        return None;
    }
    let mut is_part = false;
    with_innermost(|_, event| is_part = matches!(event.kind, Kind::Op | Kind::Backward));
    if is_part { None } else { Some(span(Kind::Op, name)) }
}

/// A span for a copy that nobody asked for; what is computed until its end makes it.
#[track_caller]
pub(crate) fn hidden_copy(bytes: u64) -> Span {
    let span = span(Kind::Op, "contiguous");
    span.with(|_, event| event.hidden_copy = bytes);
    span
}

impl Span {
    /// What the operation `op` was given, and what it made; in place if nothing new.
    pub(crate) fn operands<const N: usize>(
        &self,
        op: &str,
        inputs: &[&Tensor; N],
        result: Option<&Tensor>,
    ) {
        self.with(|wanted, event| {
            if wanted.shapes {
                event.shapes = inputs.iter().map(|x| x.shape().to_vec()).collect();
            }
            if wanted.flops {
                let y = result.unwrap_or(inputs[0]);
                event.bytes = bytes(op, inputs, result);
                event.flops = flops(op, inputs, y);
            }
        });
    }
}

/// Bytes that an operation reads and writes at least. A view moves none. What picks elements out
/// reads those it picks, not the whole that it picks from.
fn bytes(op: &str, inputs: &[&Tensor], result: Option<&Tensor>) -> u64 {
    let read: u64 = inputs.iter().map(|x| x.nbytes()).sum();
    match (op, result) {
        (_, Some(y)) if inputs.iter().any(|x| Arc::ptr_eq(x.storage(), y.storage())) => 0,
        ("gather" | "index_select" | "take", Some(y)) => read - inputs[0].nbytes() + 2 * y.nbytes(),
        (_, y) => read + y.unwrap_or(inputs[0]).nbytes(),
    }
}

/// Floating-point operations of a forward pass, an addition being one. Of products, additions and
/// multiplications PyTorch counts them too (`computeFlops` in `torch/csrc/profiler/util.cpp`); of
/// differences, quotients and attention it does not. The rest is 0.
fn flops(op: &str, inputs: &[&Tensor], y: &Tensor) -> u64 {
    let numel = y.numel() as u64;
    let last = |x: &Tensor| x.shape().last().map_or(1, |&n| n as u64);
    match op {
        "bmm" | "matmul" | "linear" => 2 * numel * last(inputs[0]),
        "add" | "add_scalar" | "mul" | "mul_scalar" | "sub" | "div" | "div_scalar" => numel,
        // q kT, and its product with v.
        "scaled_dot_product_attention" if inputs.len() >= 3 => {
            let (q, k) = (inputs[0], inputs[1]);
            let keys = k.shape()[k.shape().len() - 2] as u64;
            2 * keys * (q.numel() as u64 + numel)
        }
        _ => 0,
    }
}
