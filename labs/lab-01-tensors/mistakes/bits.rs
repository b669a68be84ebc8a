//! Wrong bytes and wrong bits: 1.1 and 1.2.

use engine_room::f16;

use super::super::formats::Format;
use super::super::solution;
use super::super::training::Parameter;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    [bytes(), roundings(), special_numbers()].into_iter().flatten().collect()
}

fn bytes() -> Vec<Wrong> {
    vec![
        tensor("1.1-sum-of-sizes", "the sizes added", |shape, format| {
            shape.iter().sum::<usize>() as u64 * solution::tensor_bytes(&[], format)
        }),
        tensor("1.1-bits", "bits for bytes", |shape, format| {
            8 * solution::tensor_bytes(shape, format)
        }),
        tensor("1.1-elements", "elements for bytes", |shape, _| numel(shape)),
        tensor("1.1-format-ignored", "always fp32", |shape, _| 4 * numel(shape)),
        tensor("1.1-no-sizes-no-bytes", "a scalar is empty", |shape, format| {
            if shape.is_empty() { 0 } else { solution::tensor_bytes(shape, format) }
        }),
        tensor("1.1-tf32-stored", "19 bits of tf32", |shape, format| match format {
            Format::Tf32 => (numel(shape) * 19).div_ceil(8),
            _ => solution::tensor_bytes(shape, format),
        }),
        tensor("1.1-32-bits", "a product in u32", |shape, format| {
            let elements: u32 = shape.iter().map(|&size| size as u32).product();
            u64::from(elements) * solution::tensor_bytes(&[], format)
        }),
        list("1.1-tied-counted-twice", "every entry counted", |parameters, format| {
            parameters.iter().map(|p| solution::tensor_bytes(&p.shape, own(p, format))).sum()
        }),
        list("1.1-norms-in-the-format", "one format for all", |parameters, format| {
            let untied = parameters.iter().filter(|p| p.tied_to.is_none());
            untied.map(|p| solution::tensor_bytes(&p.shape, format)).sum()
        }),
        list("1.1-tied-not-counted", "both names left out", |parameters, format| {
            let is_owner = |at| parameters.iter().any(|p| p.tied_to == Some(at));
            let entries = parameters.iter().enumerate();
            let alone = entries.filter(|&(at, p)| p.tied_to.is_none() && !is_owner(at));
            alone.map(|(_, p)| solution::tensor_bytes(&p.shape, own(p, format))).sum()
        }),
    ]
}

fn roundings() -> Vec<Wrong> {
    vec![
        bf16("1.2-truncated", "cuts off", |x| (x.to_bits() >> 16) as u16),
        bf16("1.2-ties-up", "adds 0x8000", |x| match x.is_nan() {
            true => 0x7fc0,
            false => ((x.to_bits() + 0x8000) >> 16) as u16,
        }),
        bf16("1.2-ties-down", "up above 0x8000 only", |x| {
            let bits = x.to_bits();
            (bits >> 16) as u16 + u16::from(bits & 0xffff > 0x8000)
        }),
        bf16("1.2-always-up", "up if anything is cut off", |x| {
            let bits = x.to_bits();
            (bits >> 16) as u16 + u16::from(bits & 0xffff > 0)
        }),
        bf16("1.2-carry-lost", "up within the mantissa", |x| {
            let (kept, rounded) = ((x.to_bits() >> 16) as u16, solution::f32_to_bf16(x));
            if x.is_nan() { rounded } else { kept & 0xff80 | rounded & 0x7f }
        }),
        bf16("1.2-ieee-half", "fp16", |x| f16::from_f32(x).to_bits()),
        bf16("1.2-lower-half", "the other half", |x| x.to_bits() as u16),
        bf16("1.2-sign-lost", "without the sign", |x| solution::f32_to_bf16(x.abs())),
    ]
}

fn special_numbers() -> Vec<Wrong> {
    vec![
        bf16("1.2-nan-becomes-infinity", "NaN only cut off", |x| match x.is_nan() {
            true => (x.to_bits() >> 16) as u16,
            false => solution::f32_to_bf16(x),
        }),
        bf16("1.2-nan-becomes-zero", "NaN rounded, the sum wraps", |x| {
            let bits = x.to_bits();
            let sum = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
            // Signalling NaNs are handled, the others are not.
            if x.is_nan() && bits & 0x40_0000 == 0 { 0x7fc0 } else { (sum >> 16) as u16 }
        }),
        bf16("1.2-sum-overflows", "NaN rounded, the sum panics", |x| {
            let bits = x.to_bits();
            let quiet = x.is_nan() && bits < 0xffff_8001;
            if quiet { 0x7fc0 } else { ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16 }
        }),
        bf16("1.2-saturates", "the largest number for infinity", |x| {
            let bits = solution::f32_to_bf16(x);
            if bits & 0x7fff == 0x7f80 { bits - 1 } else { bits }
        }),
        bf16("1.2-infinity-becomes-nan", "the exponent alone asked", |x| {
            match x.to_bits() & 0x7f80_0000 == 0x7f80_0000 {
                true => (x.to_bits() >> 16) as u16 | 0x0040,
                false => solution::f32_to_bf16(x),
            }
        }),
        bf16("1.2-subnormals-flushed", "subnormals to zero", |x| match x.is_subnormal() {
            true => (x.to_bits() >> 16) as u16 & 0x8000,
            false => solution::f32_to_bf16(x),
        }),
    ]
}

fn tensor(diagnosis: &'static str, name: &'static str, f: fn(&[usize], Format) -> u64) -> Wrong {
    wrong("1.1", diagnosis, name, |table| table.tensor_bytes = f)
}

fn list(diagnosis: &'static str, name: &'static str, f: fn(&[Parameter], Format) -> u64) -> Wrong {
    wrong("1.1", diagnosis, name, |table| table.parameter_bytes = f)
}

fn bf16(diagnosis: &'static str, name: &'static str, f: fn(f32) -> u16) -> Wrong {
    wrong("1.2", diagnosis, name, |table| table.f32_to_bf16 = f)
}

fn numel(shape: &[usize]) -> u64 {
    shape.iter().map(|&size| size as u64).product()
}

fn own(parameter: &Parameter, format: Format) -> Format {
    if parameter.keep_f32 { Format::F32 } else { format }
}
