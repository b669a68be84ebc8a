//! As `agree.rs`, but each number by itself: the largest of a result must not hide a small one.

use super::agree::{briefs, numbers, on_both};
use engine_room::{DType, Tensor};

/// How far two numbers may be apart: a share of the right one, or so much if that is more.
#[derive(Clone, Copy)]
pub struct Within {
    pub share: f64,
    pub least: f64,
}

/// Equal, but for the sign and the bits of a NaN. The signs of zeros count, as they do not below:
/// there the CPU's polynomials lose some.
pub const EQUAL: Within = Within { share: 0.0, least: 0.0 };

fn same(a: f64, b: f64, within: Within) -> bool {
    if a == 0.0 && b == 0.0 && within.share == 0.0 {
        return a.is_sign_negative() == b.is_sign_negative();
    }
    a == b
        || (a.is_nan() && b.is_nan())
        || (a - b).abs() <= (within.share * b.abs()).max(within.least)
}

/// Calls a function on the CPU and on the GPU and compares the results.
///
/// # Panics
/// If they disagree, with `what` was called and what stands at that place of each input.
#[track_caller]
pub fn closely(what: &str, inputs: &[Tensor], within: Within, call: impl Fn(&[Tensor]) -> Tensor) {
    let (got, want) = on_both(what, inputs, call);
    assert_eq!((got.shape(), got.dtype()), (want.shape(), want.dtype()), "{what}");
    // An i64 need not fit into an f64.
    if want.dtype() == DType::I64 {
        assert_eq!(got.to_vec::<i64>(), want.to_vec::<i64>(), "{what}");
        return;
    }
    let (got, want) = (numbers(&got), numbers(&want));
    if let Some(i) = (0..want.len()).find(|&i| !same(got[i], want[i], within)) {
        let at: Vec<f64> = inputs.iter().filter_map(|x| numbers(x).get(i).copied()).collect();
        let (got, want) = (got[i], want[i]);
        panic!("{what} of {}: {got:e} and not {want:e} at {i}, {at:?}", briefs(inputs));
    }
}
