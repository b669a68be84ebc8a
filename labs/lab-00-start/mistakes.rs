//! Wrong answers that learners give. The checks must reject each with the diagnosis that names it.

use grading::Mistake;

use super::checks::{Implementation, implementation};
use super::format::Format;
use super::solution;
use crate::solution::weight_bytes;

type Wrong = Mistake<Implementation>;

/// All of them, by exercise.
pub fn mistakes() -> Vec<Wrong> {
    let parts = [other_units(), other_numbers(), of_any_format(), of_one_format()];
    parts.into_iter().flatten().collect()
}

fn unit(diagnosis: &'static str, name: &'static str, gib: fn(u64) -> f64) -> Wrong {
    let implementation = Implementation { gib, ..implementation!(solution) };
    Mistake { exercise: "0.1", name, diagnosis, implementation }
}

type Bytes = fn(u64, Format) -> u64;

fn bytes(diagnosis: &'static str, name: &'static str, weight_bytes: Bytes) -> Wrong {
    let implementation = Implementation { weight_bytes, ..implementation!(solution) };
    Mistake { exercise: "0.2", name, diagnosis, implementation }
}

fn other_units() -> Vec<Wrong> {
    vec![
        unit("0.1-decimal", "as it was handed out", |bytes| bytes as f64 / 1_000_000_000.0),
        unit("0.1-mixed", "1024 and two steps of 1000", |bytes| {
            bytes as f64 / 1024.0 / 1000.0 / 1000.0
        }),
        unit("0.1-one-step", "KiB", |bytes| bytes as f64 / 1024.0),
        unit("0.1-two-steps", "MiB", |bytes| bytes as f64 / 1_048_576.0),
        unit("0.1-four-steps", "TiB", |bytes| bytes as f64 / 1_099_511_627_776.0),
        unit("0.1-bits", "a byte as 8", |bytes| (8 * bytes) as f64 / 1_073_741_824.0),
    ]
}

fn other_numbers() -> Vec<Wrong> {
    vec![
        unit("0.1-whole-numbers", "divided before it was converted", |bytes| {
            (bytes / 1_073_741_824) as f64
        }),
        unit("0.1-rounded", "rounded to two digits", |bytes| {
            (bytes as f64 / 1_073_741_824.0 * 100.0).round() / 100.0
        }),
        unit("0.1-upside-down", "the other way up", |bytes| 1_073_741_824.0 / bytes as f64),
        unit("0.1-multiplied", "multiplied", |bytes| bytes as f64 * 1_073_741_824.0),
        unit("0.1-no-parentheses", "without parentheses", |bytes| {
            bytes as f64 / 1024.0 * 1024.0 * 1024.0
        }),
        unit("0.1-f32", "in single precision", |bytes| f64::from(bytes as f32 / 1_073_741_824.0)),
        unit("0.1-divisor", "two digits exchanged", |bytes| bytes as f64 / 1_073_741_842.0),
        unit("0.1-not-divided", "not divided", |bytes| bytes as f64),
    ]
}

fn of_any_format() -> Vec<Wrong> {
    vec![
        bytes("0.2-overflow", "a count of 32 bits", |parameters, format| {
            weight_bytes(u64::from(parameters as u32), format)
        }),
        bytes("0.2-f32", "in single precision", |parameters, format| {
            (parameters as f32 * [4.0, 2.0, 1.0, 0.5][format as usize]).ceil() as u64
        }),
        bytes("0.2-gib", "in GiB", |parameters, format| weight_bytes(parameters, format) >> 30),
        bytes("0.2-training", "what training holds", |parameters, _| 16 * parameters),
        bytes("0.2-bits", "bits", |parameters, format| {
            parameters * [32, 16, 8, 4][format as usize]
        }),
        bytes("0.2-count", "the number of weights", |parameters, _| parameters),
        bytes("0.2-panicked", "one less before rounding up", |parameters, format| match format {
            Format::Int4 => parameters.strict_sub(1) / 2 + 1,
            _ => weight_bytes(parameters, format),
        }),
    ]
}

fn of_one_format() -> Vec<Wrong> {
    let cases: [(&str, &str, Bytes); 11] = [
        ("0.2-python-float", "8 bytes for an f32", |n, f| with(n, f, Format::F32, 8 * n)),
        ("0.2-f32-halved", "2 bytes for an f32", |n, f| with(n, f, Format::F32, 2 * n)),
        ("0.2-bf16-as-f32", "one size for all formats", |n, _| 4 * n),
        ("0.2-bf16-mantissa", "1 byte for a bf16", |n, f| with(n, f, Format::BF16, n)),
        ("0.2-int8-as-f32", "4 bytes for an int8", |n, f| with(n, f, Format::Int8, 4 * n)),
        ("0.2-int4-whole-byte", "1 byte for an int4", |n, f| with(n, f, Format::Int4, n)),
        ("0.2-int4-comment", "halved in a comment", |n, f| with(n, f, Format::Int4, n + 1)),
        ("0.2-int4-nothing", "4 / 8 of a byte", |n, f| with(n, f, Format::Int4, 0)),
        ("0.2-int4-rounded-down", "half, rounded down", |n, f| with(n, f, Format::Int4, n / 2)),
        ("0.2-int4-always-one-more", "half, and one", |n, f| with(n, f, Format::Int4, n / 2 + 1)),
        ("0.2-int4-twice", "twice for half a byte", |n, f| with(n, f, Format::Int4, 2 * n)),
    ];
    cases.into_iter().map(|(diagnosis, name, f)| bytes(diagnosis, name, f)).collect()
}

/// A wrong value in one format, the right one in the others.
fn with(parameters: u64, format: Format, wrong: Format, value: u64) -> u64 {
    if format == wrong { value } else { weight_bytes(parameters, format) }
}
