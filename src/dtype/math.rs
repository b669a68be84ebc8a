//! Exponentials, logarithms and their kin in `f32`, each within 2 units in the last place.
//!
//! The functions of the C library take one number at a time and differ between systems. These have
//! no branches and no calls, so the compiler puts eight of them into one vector, and they give the
//! same bits everywhere. Each brings its argument into a short interval and evaluates a polynomial
//! there; the coefficients are minimax fits (Remez) of our own. How to: J.-M. Muller, "Elementary
//! Functions", 3rd edition, chapters 3 and 11.

// The coefficients are given to as many digits as the fit had; the compiler rounds them.
#![expect(clippy::excessive_precision, reason = "coefficients of fits")]

use std::f32::consts::{LN_2, LOG2_E};

/// 1.5 · 2²³: a number near it has no fraction bits, so adding it rounds to an integer, the even
/// one of two, and leaves that integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// ln 2 in two parts; multiplied with a small integer the first is exact.
const LN2_HIGH: f32 = 0.693_359_375;
const LN2_LOW: f32 = -2.121_944_4e-4;

/// x as n · ln 2 + r with |r| ≤ ln 2 / 2: n as an integer, and r.
#[inline(always)]
fn split(x: f32) -> (i32, f32) {
    let rounded = x.mul_add(LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    (rounded.to_bits().wrapping_sub(ROUND.to_bits()) as i32, r)
}

/// 2ⁿ for −126 ≤ n ≤ 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

/// eʳ − 1 for |r| ≤ ln 2 / 2.
#[inline(always)]
fn small_expm1(r: f32) -> f32 {
    let p = 1.990_758_8e-4f32;
    let p = p.mul_add(r, 1.393_365_2e-3);
    let p = p.mul_add(r, 8.333_286_3e-3);
    let p = p.mul_add(r, 4.166_646_7e-2);
    let p = p.mul_add(r, 1.666_666_7e-1);
    let p = p.mul_add(r, 0.5);
    (p * r).mul_add(r, r)
}

/// eˣ: infinite from 88.73 on, 0 from −103.98 down.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Where the result is certain; the comparisons let NaN through.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let (n, r) = split(x);
    // In two steps: 2¹²⁸ and 2⁻¹⁵⁰ are no normal numbers.
    let half = n >> 1;
    (small_expm1(r) + 1.0) * power_of_two(half) * power_of_two(n - half)
}

/// eˣ − 1, exact for small x, where eˣ has lost it; of −0 it is −0.
#[inline(always)]
pub fn expm1(x: f32) -> f32 {
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -20.0 { -20.0 } else { x };
    let (n, r) = split(x);
    let half = power_of_two(n - 1);
    let y = 2.0 * half.mul_add(small_expm1(r), half - 0.5);
    if n == 0 { small_expm1(r).copysign(x) } else { y }
}

/// ln x: −∞ at 0, NaN below.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    // Subnormal numbers have no leading 1 bit; times 2²³ they do.
    let small = x < f32::MIN_POSITIVE;
    let bits = if small { x * 8_388_608.0 } else { x }.to_bits();
    // x = m · 2ⁿ with m from √½ to √2: the bits of √½ are 0x3f3504f3.
    let n = bits.wrapping_sub(0x3f35_04f3) as i32 >> 23;
    let m = f32::from_bits(bits.wrapping_sub((n as u32) << 23)) - 1.0;
    let n = (n - if small { 23 } else { 0 }) as f32;
    let p = 6.915_546_2e-2f32;
    let p = p.mul_add(m, -1.178_986_6e-1);
    let p = p.mul_add(m, 1.187_292_4e-1);
    let p = p.mul_add(m, -1.238_433_5e-1);
    let p = p.mul_add(m, 1.421_866_4e-1);
    let p = p.mul_add(m, -1.666_925_3e-1);
    let p = p.mul_add(m, 2.000_222_7e-1);
    let p = p.mul_add(m, -2.499_998_7e-1);
    let p = p.mul_add(m, 3.333_331_0e-1);
    let square = m * m;
    let tail = n.mul_add(LN2_LOW, (p * m).mul_add(square, -0.5 * square));
    let y = n.mul_add(LN2_HIGH, m + tail);
    let y = if x == f32::INFINITY { x } else { y };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f32::NAN }
}

/// ln(1 + x), exact for small x, where 1 + x has lost it; of −0 it is −0.
#[inline(always)]
pub fn log1p(x: f32) -> f32 {
    let sum = 1.0 + x;
    let lost = (x - (sum - 1.0)) / sum;
    let y = ln(sum) + lost;
    // Where the sum is 0, infinite or NaN, nothing was lost.
    if sum > 0.0 && sum < f32::INFINITY { y.copysign(x) } else { ln(sum) }
}

/// tanh x.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let z = x * x;
    let p = -5.717_045_6e-3f32;
    let p = p.mul_add(z, 2.065_058_8e-2);
    let p = p.mul_add(z, -5.374_349_7e-2);
    let p = p.mul_add(z, 1.333_149_1e-1);
    let p = p.mul_add(z, -3.333_328_4e-1);
    // Of -0 it is -0, which the sum loses.
    let near = (p * z).mul_add(x, x).copysign(x);
    let far = (1.0 - 2.0 / (exp(2.0 * size) + 1.0)).copysign(x);
    if size < 0.625 { near } else { far }
}

/// 1 / (1 + e⁻ˣ). Below −88.7, where e⁻ˣ is infinite, it is 0 and not the subnormal that it should.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// ln(1 − erf t) for t from 0.9 to 4, where the result is small and its logarithm smooth.
#[inline(always)]
fn ln_erfc(t: f32) -> f32 {
    let q = -1.076_318_7e-5f32;
    let q = q.mul_add(t, 3.180_598_1e-4);
    let q = q.mul_add(t, -3.622_919_1e-3);
    let q = q.mul_add(t, 2.372_018_6e-2);
    let q = q.mul_add(t, -1.061_876_1e-1);
    let q = q.mul_add(t, -6.351_814_9e-1);
    let q = q.mul_add(t, -1.286_409_6e-1);
    q.mul_add(t, -t)
}

/// The error function, 2/√π · ∫₀ˣ e^(−t²) dt.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let size = x.abs();
    let s = x * x;
    let p = -6.013_395_6e-4f32;
    let p = p.mul_add(s, 4.998_001_3e-3);
    let p = p.mul_add(s, -2.677_023_2e-2);
    let p = p.mul_add(s, 1.128_192_7e-1);
    let p = p.mul_add(s, -3.761_250_7e-1);
    let p = p.mul_add(s, 1.283_791_5e-1);
    let near = p.mul_add(x, x);
    let t = if size > 4.0 { 4.0 } else { size };
    let far = (1.0 - exp(ln_erfc(t))).copysign(x);
    if size < 0.921_875 { near } else { far }
}

/// Logarithm to base 2, whose product with 1 / ln 2 is formed in two parts.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    (f64::from(ln(x)) * std::f64::consts::LOG2_E) as f32
}

/// sin and cos, from one reduction of the argument. It is done in `f64`, which holds x − n · π/2
/// for |x| up to 2³⁰; beyond that the caller asks the C library.
#[inline(always)]
fn quarter_turns(x: f32) -> (i32, f32) {
    const ROUND_64: f64 = 6_755_399_441_055_744.0;
    const HALF_PI: f64 = std::f64::consts::FRAC_PI_2;
    const HALF_PI_LOW: f64 = 6.123_233_995_736_766e-17;
    let x = f64::from(x);
    let rounded = x.mul_add(std::f64::consts::FRAC_2_PI, ROUND_64);
    let n = rounded - ROUND_64;
    let r = n.mul_add(-HALF_PI_LOW, n.mul_add(-HALF_PI, x));
    (rounded.to_bits() as i32, r as f32)
}

#[inline(always)]
fn small_sin(r: f32) -> f32 {
    let z = r * r;
    let p = 2.718_274_6e-6f32;
    let p = p.mul_add(z, -1.983_933e-4);
    let p = p.mul_add(z, 8.333_329_1e-3);
    let p = p.mul_add(z, -1.666_666_7e-1);
    (p * z).mul_add(r, r).copysign(r)
}

#[inline(always)]
fn small_cos(r: f32) -> f32 {
    let z = r * r;
    let p = 2.443_809_2e-5f32;
    let p = p.mul_add(z, -1.388_736_4e-3);
    let p = p.mul_add(z, 4.166_664_6e-2);
    (p * z).mul_add(z, z.mul_add(-0.5, 1.0))
}

/// The value after `turns` quarter turns: sin, cos, −sin, −cos.
#[inline(always)]
fn turned(turns: i32, r: f32) -> f32 {
    let y = if turns & 1 == 0 { small_sin(r) } else { small_cos(r) };
    if turns & 2 == 0 { y } else { -y }
}

/// Above this many radians the reduction in `f64` is no longer exact.
const FAR: f32 = 1_073_741_824.0;

/// sin x, x in radians.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    if x.abs() > FAR {
        return x.sin();
    }
    let (n, r) = quarter_turns(x);
    turned(n, r)
}

/// cos x, x in radians.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    if x.abs() > FAR {
        return x.cos();
    }
    let (n, r) = quarter_turns(x);
    turned(n + 1, r)
}

/// 2ˣ.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    let x = if x > 129.0 { 129.0 } else { x };
    let x = if x < -151.0 { -151.0 } else { x };
    let rounded = x + ROUND;
    let r = (x - (rounded - ROUND)) * LN_2;
    let n = rounded.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let half = n >> 1;
    (small_expm1(r) + 1.0) * power_of_two(half) * power_of_two(n - half)
}
