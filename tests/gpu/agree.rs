//! What a GPU computes against what the CPU does.
//!
//! The GPU is a simulated one. With `ENGINE_ROOM_GPU=cuda` it is a real one.
#![allow(dead_code, reason = "each test needs some of it")]

use engine_room::memory::{Settings, set_allocator_settings};
use engine_room::{DType, Device, Tensor};

/// The GPU that is tried. The simulated one gives each tensor memory of its own: a kernel that
/// runs past the end of a tensor is found, and does not land in the next one.
pub fn gpu() -> Device {
    match std::env::var("ENGINE_ROOM_GPU").as_deref() {
        Ok("cuda") => Device::cuda(0).unwrap_or_else(|error| panic!("{error}")),
        _ => without_cache(0),
    }
}

/// A simulated GPU whose tensors do not lie side by side.
pub fn without_cache(n: usize) -> Device {
    let gpu = Device::Sim(n);
    set_allocator_settings(gpu, Settings { caching: false, ..Settings::default() });
    gpu
}

/// The numbers of a tensor, wherever it lies.
pub fn numbers(x: &Tensor) -> Vec<f64> {
    x.detach().to(Device::Cpu).to(DType::F64).to_vec()
}

/// The first place where two results differ by more than `tolerance` times the largest number of
/// the right one, or 1 if that is larger. Equal infinities and two NaNs agree.
pub fn difference(got: &Tensor, want: &Tensor, tolerance: f64) -> Option<String> {
    if (got.shape(), got.dtype()) != (want.shape(), want.dtype()) {
        return Some(format!("{} instead of {}", got.brief(), want.brief()));
    }
    let (got, want) = (numbers(got), numbers(want));
    let finite = want.iter().filter(|x| x.is_finite());
    let scale = finite.fold(1.0f64, |most, x| most.max(x.abs()));
    let agree =
        |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * scale;
    let at = (0..want.len()).find(|&i| !agree(got[i], want[i]))?;
    Some(format!("element {at} is {} instead of {}", got[at], want[at]))
}

/// What a function gives on the GPU and on the CPU.
#[track_caller]
pub fn on_both(
    what: &str,
    inputs: &[Tensor],
    call: impl Fn(&[Tensor]) -> Tensor,
) -> (Tensor, Tensor) {
    let there: Vec<Tensor> = inputs.iter().map(|x| x.to(gpu())).collect();
    let (got, want) = (call(&there), call(inputs));
    assert_eq!(got.device(), gpu(), "{what}: the result is not on the GPU");
    (got, want)
}

/// The shapes and types of inputs.
pub fn briefs(inputs: &[Tensor]) -> String {
    let briefs: Vec<String> = inputs.iter().map(Tensor::brief).collect();
    briefs.join(", ")
}

/// Calls a function on the CPU and on the GPU and compares the results; 0 asks for equal numbers.
///
/// # Panics
/// If they disagree, with `what` was called.
#[track_caller]
pub fn agree(what: &str, inputs: &[Tensor], tolerance: f64, call: impl Fn(&[Tensor]) -> Tensor) {
    let (got, want) = on_both(what, inputs, call);
    if let Some(difference) = difference(&got, &want, tolerance) {
        panic!("{what} of {}: {difference}", briefs(inputs));
    }
}
