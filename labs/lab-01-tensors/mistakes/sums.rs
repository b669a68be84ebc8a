//! Wrong sums: 1.3.

use engine_room::{bf16, f16};

use super::super::solution;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    vec![
        sum("1.3-total-in-f16", "a running total in fp16", |values| {
            values.iter().fold(f16::ZERO, |sum, value| added(sum, *value))
        }),
        sum("1.3-total-in-f32", "a running total in f32", |values| {
            f16::from_f32(values.iter().map(|value| value.to_f32()).sum())
        }),
        sum("1.3-total-in-bf16", "a running total in bf16", |values| {
            let mut sum = bf16::ZERO;
            for value in values {
                sum = bf16::from_f32(sum.to_f32() + value.to_f32());
            }
            f16::from_f32(sum.to_f32())
        }),
        sum("1.3-partial-overflows", "halves, summed up in fp16", halves),
        sum("1.3-rounded-on-the-way", "pieces of 64, each rounded to bf16", |values| {
            let rounded = |piece: &[f16]| {
                let sum: f32 = piece.iter().map(|value| value.to_f32()).sum();
                bf16::from_f32(sum).to_f64()
            };
            f16::from_f64(values.chunks(64).map(rounded).sum())
        }),
        sum("1.3-saturates", "65,504 for infinity", |values| {
            let sum = solution::sum_f16(values).to_f32();
            f16::from_f32(sum.clamp(-65_504.0, 65_504.0))
        }),
        sum("1.3-rest-left-out", "whole pieces only", |values| {
            let pieces = values.chunks_exact(256);
            f16::from_f64(pieces.flatten().map(|value| value.to_f64()).sum())
        }),
        sum("1.3-mean", "the mean", |values| {
            let sum: f64 = values.iter().map(|value| value.to_f64()).sum();
            f16::from_f64(sum / values.len() as f64)
        }),
        sum("1.3-first-left-out", "begins with the second", |values| {
            solution::sum_f16(values.get(1..).unwrap_or_default())
        }),
    ]
}

fn sum(diagnosis: &'static str, name: &'static str, f: fn(&[f16]) -> f16) -> Wrong {
    wrong("1.3", diagnosis, name, |table| table.sum_f16 = f)
}

fn added(a: f16, b: f16) -> f16 {
    f16::from_f32(a.to_f32() + b.to_f32())
}

fn halves(values: &[f16]) -> f16 {
    match values {
        [] => f16::ZERO,
        [value] => *value,
        _ => {
            let (left, right) = values.split_at(values.len() / 2);
            added(halves(left), halves(right))
        }
    }
}
