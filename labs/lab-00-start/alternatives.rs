//! Right answers in other styles than the solution's. The checks must accept every one of them.

use grading::Alternative;

use super::checks::{Implementation, implementation};
use super::format::Format;
use super::solution;

/// At least two for each exercise.
pub fn alternatives() -> Vec<Alternative<Implementation>> {
    let of = implementation!(solution);
    let other = |exercise, name, implementation| Alternative { exercise, name, implementation };
    vec![
        other("0.1", "three divisions", Implementation { gib: three_divisions, ..of }),
        other("0.1", "a shifted one", Implementation { gib: shifted, ..of }),
        other("0.1", "times a power of two", Implementation { gib: times_a_power, ..of }),
        other("0.1", "whole part and rest", Implementation { gib: whole_and_rest, ..of }),
        other("0.2", "bits, then bytes", Implementation { weight_bytes: from_bits, ..of }),
        other("0.2", "if and else", Implementation { weight_bytes: with_if, ..of }),
        other("0.2", "in f64", Implementation { weight_bytes: in_f64, ..of }),
    ]
}

fn three_divisions(bytes: u64) -> f64 {
    let mut size = bytes as f64;
    for _ in 0..3 {
        size /= 1024.0;
    }
    size
}

fn shifted(bytes: u64) -> f64 {
    bytes as f64 / (1u64 << 30) as f64
}

fn times_a_power(bytes: u64) -> f64 {
    bytes as f64 * 2f64.powi(-30)
}

fn whole_and_rest(bytes: u64) -> f64 {
    let gib = 1024 * 1024 * 1024;
    (bytes / gib) as f64 + (bytes % gib) as f64 / gib as f64
}

fn from_bits(parameters: u64, format: Format) -> u64 {
    let bits = match format {
        Format::F32 => 32,
        Format::BF16 => 16,
        Format::Int8 => 8,
        Format::Int4 => 4,
    };
    (parameters * bits + 7) >> 3
}

fn with_if(parameters: u64, format: Format) -> u64 {
    if format == Format::Int4 {
        return parameters / 2 + parameters % 2;
    }
    if format == Format::Int8 {
        return parameters;
    }
    let halves = if format == Format::F32 { 2 } else { 1 };
    2 * parameters * halves
}

/// Exact, since an `f64` holds every integer below 2^53.
fn in_f64(parameters: u64, format: Format) -> u64 {
    let each = [4.0, 2.0, 1.0, 0.5][format as usize];
    (parameters as f64 * each).ceil() as u64
}
