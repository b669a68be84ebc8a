//! 1.2: the nearest bf16 number by its definition, for every upper half and the lower halves that
//! matter.

use engine_room::f16;
use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Diagnosis};

use super::Implementation;

/// A wrong thought, and the bits that it gives for the bits of an f32.
type Thought = (&'static str, &'static str, fn(u32) -> u16);

/// 1.2
pub fn bf16(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for (inputs, thoughts) in groups(&mut rng) {
        for bits in inputs {
            one(imp, check, bits, thoughts)?;
        }
    }
    for bits in nans(&mut rng) {
        nan(imp, check, bits)?;
    }
    every_upper_half(imp, check)
}

/// Inputs, easy ones first, each group with what a wrong answer to it shows.
fn groups(rng: &mut Generator) -> Vec<(Vec<u32>, &'static [Thought])> {
    let mut upper = |odd: u32| -> Vec<u32> {
        // Exponents around that of 1.0, both signs.
        let some = (0..6).map(|_| {
            let (sign, rest) = ((rng.below(2) as u32) << 15, 0x3e00 + rng.below(0x380) as u32);
            (sign | rest & !1 | odd) << 16
        });
        some.collect()
    };
    let (even, odd, mixed) = (upper(0), upper(1), [upper(0), upper(1)].concat());
    let with = |upper: &[u32], lower: u32| upper.iter().map(|u| u | lower).collect::<Vec<u32>>();
    let infinite = vec![0x7f80_0000, 0xff80_0000];
    vec![
        (with(&mixed, 0), EXACT),
        (vec![0, 0x8000_0000], EXACT),
        (with(&mixed, 0x1234), BELOW),
        ([with(&mixed, 0xdcba), with(&mixed, 0x8001)].concat(), ABOVE),
        (with(&mixed, 0x7fff), BELOW),
        (with(&even, 0x8000), TIES),
        (with(&odd, 0x8000), ODD_TIES),
        (vec![0x3fff_ffff, 0x3f7f_c000, 0xbfff_8000], &[]),
        (vec![0x7f7f_7fff, 0xff7f_0000], BELOW),
        (vec![0x7f7f_ffff, 0xff7f_8000, 0x7f7f_8001], BEYOND),
        (infinite, INFINITE),
        (vec![0x0001_0000, 0x8000_8001, 0x0040_1234, 0x007f_ffff, 0x0000_8000, 1], TINY),
    ]
}

fn one(
    imp: &Implementation,
    check: &mut Check,
    bits: u32,
    thoughts: &[Thought],
) -> Result<(), Diagnosis> {
    let (called, got) = asked(imp, check, bits)?;
    judged(&called, bits, got, thoughts)
}

fn asked(imp: &Implementation, check: &mut Check, bits: u32) -> Result<(String, u16), Diagnosis> {
    let x = f32::from_bits(bits);
    let called = format!("f32_to_bf16({x:e}), the bits {bits:#010x}");
    let got = check.call(called.as_str(), || (imp.f32_to_bf16)(x)).map_err(of_a_panic)?;
    Ok((called, got))
}

fn of_a_panic(panic: Diagnosis) -> Diagnosis {
    if panic.key == key::PANICKED && panic.got.contains("overflow") {
        return Diagnosis { key: "1.2-sum-overflows".to_owned(), ..panic }.thought(OVERFLOWS);
    }
    panic
}

fn judged(called: &str, bits: u32, got: u16, thoughts: &[Thought]) -> Result<(), Diagnosis> {
    let want = nearest(bits);
    if got == want {
        return Ok(());
    }
    let thought = thoughts.iter().chain(ALWAYS).find(|(.., f)| f(bits) == got);
    let (key, thought) =
        thought.map_or((key::WRONG_VALUE, ""), |&(key, thought, _)| (key, thought));
    Err(Diagnosis::new(key).called(called).got(shown(got)).expected(shown(want)).thought(thought))
}

fn shown(bits: u16) -> String {
    format!("{bits:#06x}, the number {:e}", f32::from_bits(u32::from(bits) << 16))
}

/// The definition: of the two neighbours the nearer one, and of two equally near the even one. The
/// one beyond the largest number stands at 2¹²⁸ and is called infinity (IEEE 754, 4.3.1).
fn nearest(bits: u32) -> u16 {
    let upper = (bits >> 16) as u16;
    let size = |bits: u32| match f32::from_bits(bits & 0x7fff_ffff) {
        x if x.is_infinite() => 128f64.exp2(),
        x => f64::from(x),
    };
    let (x, below) = (size(bits), size(u32::from(upper) << 16));
    if x == below {
        return upper;
    }
    let above = size((u32::from(upper) + 1) << 16);
    let up = x - below > above - x || (x - below == above - x && upper % 2 == 1);
    upper + u16::from(up)
}

/// NaNs of many kinds: all bits in the lower half, all bits set, a lower half that would round up.
fn nans(rng: &mut Generator) -> Vec<u32> {
    let mut nans = vec![0x7fc0_0000, 0x7f80_0001, 0xff80_7fff, 0x7f80_8000, 0x7fff_ffff];
    nans.extend([0x7fff_8000, 0xffff_ffff, 0xffff_8001]);
    nans.extend((0..20).map(|_| 0x7f80_0001 + rng.below(0x7f_ffff) as u32));
    nans
}

fn nan(imp: &Implementation, check: &mut Check, bits: u32) -> Result<(), Diagnosis> {
    let (called, got) = asked(imp, check, bits)?;
    let (size, sign_only) = (got & 0x7fff, got & 0x7fff == 0);
    if size > 0x7f80 {
        return Ok(());
    }
    let (key, thought) = match size {
        0x7f80 => ("1.2-nan-becomes-infinity", NAN_INFINITE),
        _ if sign_only => ("1.2-nan-becomes-zero", NAN_ZERO),
        _ => (key::WRONG_VALUE, ""),
    };
    Err(Diagnosis::new(key)
        .called(called)
        .got(shown(got))
        .expected("a NaN: all bits of the exponent set, and at least one of the mantissa")
        .thought(thought))
}

/// All 65,536 upper halves, in one call: nothing that the groups have left out may be wrong.
fn every_upper_half(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let lower = [1, 0x7fff, 0x8000, 0xffff];
    let number = |bits: &u32| !f32::from_bits(*bits).is_nan();
    let upper = 0..=u32::from(u16::MAX);
    let all = upper.flat_map(|upper| lower.map(|lower| upper << 16 | lower)).filter(number);
    let all: Vec<u32> = all.collect();
    let run = || all.iter().map(|&bits| (imp.f32_to_bf16)(f32::from_bits(bits))).collect();
    let got: Vec<u16> = check.call("f32_to_bf16 of every upper half", run).map_err(of_a_panic)?;
    all.iter().zip(got).try_for_each(|(&bits, got)| {
        let called = format!("f32_to_bf16({:e}), the bits {bits:#010x}", f32::from_bits(bits));
        judged(&called, bits, got, &[])
    })
}

const ALWAYS: &[Thought] = &[
    ("1.2-lower-half", LOWER, |bits| bits as u16),
    ("1.2-ieee-half", HALF, |bits| f16::from_f32(f32::from_bits(bits)).to_bits()),
    ("1.2-sign-lost", SIGN, |bits| nearest(bits) & 0x7fff),
    ("1.2-carry-lost", CARRY_LOST, |bits| nearest(bits) & 0x7f | (bits >> 16) as u16 & 0xff80),
];
const EXACT: &[Thought] = &[("1.2-always-up", UP, |bits| (bits >> 16) as u16 + 1)];
const BELOW: &[Thought] = &[("1.2-always-up", UP, |bits| (bits >> 16) as u16 + 1)];
const ABOVE: &[Thought] = &[("1.2-truncated", TRUNCATED, |bits| (bits >> 16) as u16)];
const TIES: &[Thought] = &[("1.2-ties-up", TIES_UP, |bits| (bits >> 16) as u16 + 1)];
const ODD_TIES: &[Thought] = &[("1.2-ties-down", TIES_DOWN, |bits| (bits >> 16) as u16)];
const BEYOND: &[Thought] =
    &[("1.2-saturates", SATURATES, |bits| (bits >> 16) as u16 & 0x8000 | 0x7f7f)];
const INFINITE: &[Thought] = &[
    ("1.2-infinity-becomes-nan", INFINITE_NAN, |bits| (bits >> 16) as u16 | 0x0040),
    ("1.2-saturates", SATURATES, |bits| (bits >> 16) as u16 & 0x8000 | 0x7f7f),
];
const TINY: &[Thought] =
    &[("1.2-subnormals-flushed", FLUSHED, |bits| (bits >> 16) as u16 & 0x8000)];

const UP: &str = "The lower half is less than half a step, or nothing at all, and the answer \
    went up. Only a lower half above 0x8000 is nearer to the next number.";
const TRUNCATED: &str = "The lower half has been cut off. That is rounding towards zero: every \
    number shrinks a little, and sums of them drift. Above 0x8000 the next number is nearer.";
const TIES_UP: &str = "The lower half is exactly 0x8000, so both neighbours are equally near, \
    and the kept half is even already. Rounding all such numbers up (adding 0x8000 and cutting \
    off) drifts upwards; to the even one, half of them go up and half go down.";
const TIES_DOWN: &str = "The lower half is exactly 0x8000, so both neighbours are equally near, \
    and the kept half is odd. The even neighbour is the one above.";
const CARRY_LOST: &str = "Rounding up carried out of the mantissa, and the exponent did not \
    grow. Add one to the 16 bits as a whole: the number after the largest mantissa is the next \
    power of two.";
const SATURATES: &str = "That is the largest bf16 number. IEEE 754 rounds what lies half a step \
    or more beyond it to infinity, and infinity stays infinity: a loss that overflows has to \
    show.";
const INFINITE_NAN: &str = "Infinity has become NaN. Both have all bits of the exponent set; \
    only a NaN has a bit in its mantissa. `x.is_nan()` tells them apart.";
const FLUSHED: &str = "The smallest numbers have become zero. bf16 has the exponent of f32 and \
    its subnormal numbers too; rounding their bits needs no case of its own.";
const LOWER: &str = "Those are the lower 16 bits. Sign, exponent and the first bits of the \
    mantissa are in the upper half, `bits >> 16`.";
const HALF: &str = "Those are the bits of fp16, which has 5 bits of exponent and 10 of mantissa. \
    bf16 keeps the 8 bits of exponent that f32 has.";
const SIGN: &str = "The sign is lost. It is the highest bit of both formats.";
const OVERFLOWS: &str = "The sum does not fit into 32 bits. The bits of a NaN may all be set, \
    and adding to them runs over. NaN has to leave before anything is added.";
const NAN_INFINITE: &str = "The NaN has become infinity. Its mantissa had bits only in the half \
    that is cut off, and without them the same exponent means infinity. Set a bit in the upper \
    half.";
const NAN_ZERO: &str = "The NaN has become zero. Rounding its bits up carried through the \
    exponent into the sign, and all that was left is 0 or -0: a broken run that looks healthy. \
    NaN has to leave before the rounding.";
