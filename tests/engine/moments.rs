//! For the engine's tests: whether numbers are distributed as they should be.
//!
//! A mean of n numbers with standard deviation s is within 6 s / √n but once in 500 million draws,
//! and the seeds are fixed.

use engine_room::{DType, Tensor};

/// Smallest, largest, mean and standard deviation.
pub fn moments(x: &Tensor) -> [f64; 4] {
    let values: Vec<f64> = x.detach().to(DType::F64).to_vec();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [least, most, mean, variance.sqrt()]
}

/// A uniform distribution of ±bound has the standard deviation bound / √3.
#[track_caller]
pub fn expect_uniform(x: &Tensor, low: f64, high: f64) {
    let [least, most, mean, std] = moments(x);
    let (width, n) = (high - low, x.numel() as f64);
    let want = width / 12f64.sqrt();
    assert!(least >= low - 1e-6 && most < high + 1e-6, "{least} to {most} in {low} to {high}");
    assert!(least < low + 0.01 * width && most > high - 0.01 * width, "{least} to {most}");
    assert!((mean - (low + high) / 2.0).abs() < 6.0 * want / n.sqrt(), "mean {mean}");
    assert!((std / want - 1.0).abs() < 6.0 / n.sqrt(), "standard deviation {std}, not {want}");
}

#[track_caller]
pub fn expect_normal(x: &Tensor, want_mean: f64, want: f64) {
    let [_, _, mean, std] = moments(x);
    let n = x.numel() as f64;
    assert!((mean - want_mean).abs() < 6.0 * want / n.sqrt(), "mean {mean}, not {want_mean}");
    assert!((std / want - 1.0).abs() < 6.0 / n.sqrt(), "standard deviation {std}, not {want}");
    let values: Vec<f64> = x.detach().to(DType::F64).to_vec();
    let within = |k: f64| values.iter().filter(|x| (*x - want_mean).abs() < k * want).count();
    let share = within(1.0) as f64 / n;
    assert!((share - 0.6827).abs() < 6.0 * 0.4654 / n.sqrt(), "within one deviation: {share}");
}
