//! 1.3: sums that are computed exactly, in whole numbers of 2⁻²⁴, of which every fp16 number is a
//! multiple.

use engine_room::rng::Generator;
use engine_room::{bf16, f16};
use grading::diagnosis::key;
use grading::{Check, Diagnosis};

use super::Implementation;
use super::models::{Answered, Model, judge};

/// A list, and what it is about.
struct Case {
    words: &'static str,
    values: Vec<f16>,
}

/// 1.3
pub fn sum(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut answers = Vec::new();
    for Case { words, values } in cases(&mut rng) {
        let called = match values.len() {
            0..=10 => format!("sum_f16(values {values:?}), {words}"),
            n => format!("sum_f16({n} values, the first one {}), {words}", values[0]),
        };
        let got = check.call(called.as_str(), || (imp.sum_f16)(&values))?;
        let exact = exact(&values);
        let want = if is_right(got, exact) { got } else { f16::from_f64(exact) };
        answers.push(Answered { called, question: values, got, want });
    }
    judge(check, &answers, MODELS).map_err(|unknown| {
        let wrong = answers.iter().find(|answer| answer.got != answer.want);
        match wrong.filter(|_| unknown.key == key::WRONG_VALUE).map(reason) {
            Some((key, thought)) => Diagnosis { key: key.to_owned(), ..unknown }.thought(thought),
            None => unknown,
        }
    })
}

fn cases(rng: &mut Generator) -> Vec<Case> {
    let case = |words, values| Case { words, values };
    let mut uniform = |n: usize, low: f32, high: f32| -> Vec<f16> {
        (0..n).map(|_| f16::from_f32(low + (high - low) * rng.uniform())).collect()
    };
    let mut cases = vec![case("three losses", uniform(3, 1.0, 9.0))];
    let (up, down) = (uniform(4_000, 64.0, 127.0), uniform(4_000, -127.0, -64.0));
    cases.push(case("4,000 positive numbers, then 4,000 negative ones", [up, down].concat()));
    let (down, up) = (uniform(2_500, -250.0, -128.0), uniform(2_503, 128.0, 250.0));
    cases.push(case("2,500 negative numbers, then 2,503 positive ones", [down, up].concat()));
    cases.push(case("ten gradients of either sign", uniform(10, -1.0, 2.0)));
    cases.push(case("100,000 losses around 0.1", uniform(100_000, 0.08, 0.13)));
    for n in [1, 2, 255, 256, 257, 1_000, 1_023, 1_024, 1_025, 4_097, 30_011] {
        // The last ones are large: whoever leaves a rest out is far off.
        cases.push(case("losses, the last ones large", {
            let few = 7.min(n);
            [uniform(n - few, 0.01, 0.02), uniform(few, 90.0, 190.0)].concat()
        }));
    }
    cases.push(case("3,000 losses around 40, more than fp16 holds", uniform(3_000, 30.0, 50.0)));
    cases
        .push(case("3,000 numbers around -40, more than fp16 holds", uniform(3_000, -50.0, -30.0)));
    let n = 1_000_000 + rng.below(200_000);
    cases.push(case("a million times the same loss", vec![drifting(rng, n); n]));
    cases.push(case("no numbers", Vec::new()));
    cases
}

/// A number that drifts away in f32, if it is added so often: each sum is rounded the same way.
fn drifting(rng: &mut Generator, n: usize) -> f16 {
    let candidates = std::iter::repeat_with(|| f16::from_f32(0.028 + 0.004 * rng.uniform()));
    let drifts = |value: &f16| {
        // In f32, near the end of the sum, an addition adds this much instead of the value.
        let (total, value) = (0.75 * n as f32 * value.to_f32(), value.to_f32());
        let added = (total + value) - total;
        (added / value - 1.0).abs() > 0.02
    };
    candidates.take(1_000).find(drifts).unwrap_or(f16::from_f32(0.03))
}

/// Every fp16 number is a multiple of 2⁻²⁴, and so is every sum; 2 million of them fit into an i64.
fn exact(values: &[f16]) -> f64 {
    let unit = 24f64.exp2();
    let whole: i64 = values.iter().map(|value| (value.to_f64() * unit) as i64).sum();
    whole as f64 / unit
}

/// The distance between fp16 numbers around x: 10 bits below its leading one, at least 2⁻²⁴.
fn step(x: f64) -> f64 {
    (x.abs().max((-14f64).exp2()).log2().floor() - 10.0).exp2()
}

fn is_right(got: f16, exact: f64) -> bool {
    if exact.abs() > 65_536.0 {
        return got.to_f64() == f64::INFINITY.copysign(exact);
    }
    (got.to_f64() - exact).abs() <= step(exact)
}

/// Which thought gives a sum like this, if no running total does.
fn reason(wrong: &Answered<Vec<f16>, f16>) -> (&'static str, &'static str) {
    let (values, got) = (&wrong.question, wrong.got);
    let sum = exact(values);
    let rest = |size: &usize| {
        let kept = values.len() / size * size;
        kept < values.len() && is_right(got, exact(&values[..kept]))
    };
    let all: f64 = values.iter().map(|value| value.to_f64().abs()).sum();
    match () {
        () if got.to_f32().abs() == 65_504.0 => ("1.3-saturates", SATURATES),
        () if is_right(got, exact(&values[values.len().min(1)..])) => ("1.3-first-left-out", FIRST),
        () if SIZES.iter().any(rest) => ("1.3-rest-left-out", REST),
        () if !got.is_finite() => ("1.3-partial-overflows", PARTIAL),
        () if (got.to_f64() - sum).abs() < 0.02 * all => ("1.3-rounded-on-the-way", ROUNDED),
        () => (key::WRONG_VALUE, ""),
    }
}

/// The sizes of pieces that people choose.
const SIZES: [usize; 14] = [2, 4, 8, 16, 32, 64, 100, 128, 256, 512, 1_000, 1_024, 2_048, 4_096];

const fn model(
    key: &'static str,
    thought: &'static str,
    answer: fn(&Vec<f16>) -> f16,
) -> Model<Vec<f16>, f16> {
    Model { key, thought, answer }
}

const MODELS: &[Model<Vec<f16>, f16>] = &[
    model("1.3-total-in-f16", TOTAL, |values| in_f16(values.iter())),
    model("1.3-total-in-f16", TOTAL, |values| in_f16(values.iter().rev())),
    model("1.3-total-in-f32", SINGLE, |values| {
        f16::from_f32(values.iter().map(|value| value.to_f32()).sum())
    }),
    model("1.3-total-in-bf16", BRAIN, |values| {
        let added = |sum: bf16, value: &f16| bf16::from_f32(sum.to_f32() + value.to_f32());
        f16::from_f32(values.iter().fold(bf16::ZERO, added).to_f32())
    }),
    model("1.3-mean", MEAN, |values| f16::from_f64(exact(values) / values.len() as f64)),
];

/// The running total in fp16.
fn in_f16<'a>(values: impl Iterator<Item = &'a f16>) -> f16 {
    values.fold(f16::ZERO, |sum, value| f16::from_f32(sum.to_f32() + value.to_f32()))
}

const TOTAL: &str = "That is what a running total in fp16 gives. At 2,048 the numbers of fp16 \
    lie 2 apart, and adding 0.9 changes nothing; beyond 65,504 there is only infinity. Let the \
    total have more bits than the numbers, and round once, at the end.";
const SINGLE: &str = "That is what one running total in f32 gives. Its 24 bits are used up when \
    a million numbers have gone in: each addition is rounded, here always the same way. Add up \
    pieces of a thousand numbers and then the pieces, or use a total with more bits.";
const BRAIN: &str = "That is a running total in bf16. It has 8 bits of precision, so the total \
    stops growing even earlier than in fp16: ones stop at 256.";
const MEAN: &str = "That is the mean. The sum is asked for.";
const SATURATES: &str = "The sum lies beyond the largest number, and the answer is infinity: \
    whoever reads 65,504 takes it for a measurement. `f16::from_f64` does that by itself.";
const FIRST: &str = "That is the sum without the first number.";
const REST: &str = "The last numbers are missing. The length of the list is no multiple of the \
    size of a piece, and the rest of it counts too: `chunks` gives it, `chunks_exact` does not.";
const PARTIAL: &str = "A partial sum was rounded to fp16 and left its range, while the sum \
    itself may well lie within. Keep partial sums in more bits, and round once, at the end.";
const ROUNDED: &str = "Something was rounded to 16 bits on the way: a partial sum, or a running \
    total. Each rounding may be off by half a step. Convert numbers before they are added, and \
    round once, at the end.";
