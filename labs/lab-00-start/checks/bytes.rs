//! 0.2: the bytes of weights, for counts that no program prints, and the wrong ways to count them.

use grading::{Check, Death, Diagnosis, Idea};

use super::Implementation;
use crate::format::Format;

/// 0.2
pub fn bytes(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    // About as many as a "7B" model has: too many for 32 bits, and once odd, once even.
    let mut large = || 5_000_000_001 + 2 * rng.below(2_000_000_000) as u64;
    for parameters in [large(), large() + 1, 0, 1, 2, 7] {
        for format in Format::ALL {
            let called = format!("weight_bytes({parameters}, Format::{format:?})");
            check.if_it_dies(Death::Panicked, "0.2-panicked", PANICKED);
            let got = check.call(called.as_str(), || (imp.weight_bytes)(parameters, format))?;
            let want = right(parameters, format);
            check.equal("bytes", &called, &got, &want, &ideas(parameters, format))?;
        }
    }
    Ok(())
}

fn right(parameters: u64, format: Format) -> u64 {
    (parameters * bits(format)).div_ceil(8)
}

fn bits(format: Format) -> u64 {
    match format {
        Format::F32 => 32,
        Format::BF16 => 16,
        Format::Int8 => 8,
        Format::Int4 => 4,
    }
}

/// What typical mistakes compute. Small counts make some of them equal; the large ones come first.
fn ideas(parameters: u64, format: Format) -> Vec<Idea<u64>> {
    let idea = |key, thought, value| Idea { key, thought, value };
    let cut = right(parameters % (1 << 32), format);
    let right = right(parameters, format);
    let mut ideas = vec![
        idea("0.2-overflow", OVERFLOW, cut),
        idea("0.2-overflow", OVERFLOW, right % (1 << 32)),
        idea("0.2-f32", SINGLE, (parameters as f32 * bits(format) as f32 / 8.0) as u64),
        idea("0.2-gib", UNIT, right >> 30),
        idea("0.2-gib", UNIT, right / 1_000_000_000),
        idea("0.2-training", TRAINING, 16 * parameters),
        idea("0.2-bits", BITS, parameters * bits(format)),
    ];
    ideas.extend(match format {
        Format::F32 => vec![
            idea("0.2-python-float", PYTHON, 8 * parameters),
            idea("0.2-count", COUNT, parameters),
            idea("0.2-f32-halved", HALVED, 2 * parameters),
        ],
        Format::BF16 => vec![
            idea("0.2-bf16-as-f32", AS_F32, 4 * parameters),
            idea("0.2-bf16-mantissa", MANTISSA, parameters),
        ],
        Format::Int8 => vec![
            idea("0.2-int8-as-f32", INT8, 4 * parameters),
            idea("0.2-int8-as-f32", INT8, 2 * parameters),
        ],
        Format::Int4 => vec![
            idea("0.2-int4-whole-byte", WHOLE_BYTE, parameters),
            idea("0.2-int4-comment", COMMENT, parameters + 1),
            idea("0.2-int4-nothing", NOTHING, 0),
            idea("0.2-int4-rounded-down", DOWN, parameters / 2),
            idea("0.2-int4-always-one-more", ONE_MORE, parameters / 2 + 1),
            idea("0.2-int4-twice", TWICE, 2 * parameters),
        ],
    });
    ideas
}

const OVERFLOW: &str = "The count went through 32 bits, which end at 4294967295. A model of this \
    size has more weights than that: stay in u64.";
const SINGLE: &str = "The count went through an f32, which has 24 bits of precision and cannot \
    hold this number. Integers stay exact in u64.";
const UNIT: &str = "That is in units of a billion bytes or of a GiB. The answer is in bytes.";
const TRAINING: &str = "That is 16 bytes a parameter, what training with AdamW holds: weights, \
    gradients and two averages. The question is the weights alone.";
const BITS: &str = "That is bits. The number in a format's name counts bits, and a byte has 8.";
const PYTHON: &str = "That is 8 bytes a weight, which is a Python float, or an f64 here. An f32 \
    has 32 bits, 4 bytes.";
const COUNT: &str = "That is the number of weights. In this format each of them has 4 bytes.";
const HALVED: &str = "That is 2 bytes a weight, which is a half type's. An f32 has 32 bits, 4 \
    bytes.";
const AS_F32: &str = "That is 4 bytes a weight, which is an f32's. A bf16 is the upper half of an \
    f32: 16 bits, 2 bytes.";
const MANTISSA: &str = "That is 1 byte a weight. A bf16 has 8 bits of precision; with sign and \
    exponent it has 16 bits, 2 bytes.";
const INT8: &str = "That is the size of a floating-point weight. An 8-bit integer takes 1 byte.";
const WHOLE_BYTE: &str = "That is a byte for each weight, which is what int8 takes. Two 4-bit \
    weights share a byte. (If you wrote // for a division: in Rust it begins a comment. Write /.)";
const COMMENT: &str = "That is the number of weights and one more. In Rust // begins a comment, so \
    nothing was divided: write /.";
const NOTHING: &str = "The bytes of one weight came out as 0: 4 / 8 is 0 in integers. Multiply \
    first and divide then, and round up.";
const DOWN: &str = "That is rounded down: with an odd number of weights the last one has lost its \
    place. It needs a byte too, half of which stays empty. Dividing integers drops the fraction.";
const ONE_MORE: &str = "That has a byte too many where the number of weights is even: they fill \
    their bytes exactly. Round up, as (parameters + 1) / 2 or parameters.div_ceil(2) do.";
const TWICE: &str = "That is 2 bytes a weight. It is the other way round: 2 weights a byte.";
const PANICKED: &str = "A sum or a product that does not fit its type stops the program in this \
    build. The counts need 64 bits: keep them in u64, and let no count become negative.";
