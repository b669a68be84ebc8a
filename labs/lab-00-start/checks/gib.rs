//! 0.1: bytes in GiB, and by what else a learner may have divided.

use grading::{Check, Diagnosis};

use super::Implementation;

const GIB: f64 = 1_073_741_824.0;

/// 0.1
pub fn gib(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    // The odd first number gives every known mistake a value of its own.
    let mut sizes = vec![13_476_831_233, 85_899_345_920, 1_073_741_824, 512, 0, 1];
    sizes.extend((0..8).map(|i| (rng.below(1 << 28) as u64 + 1) << (2 * i)));
    for bytes in sizes {
        let called = format!("gib({bytes})");
        let got = check.call(called.as_str(), || (imp.gib)(bytes))?;
        let want = bytes as f64 / GIB;
        // Every division by a power of two is exact; the rest is room for other orders of steps.
        check.require((got - want).abs() <= 1e-12 * want, || {
            let (key, thought) = reason(bytes, got);
            let got = format!("{got} GiB");
            Diagnosis::new(key)
                .called(called)
                .got(got)
                .expected(format!("{want} GiB"))
                .thought(thought)
        })?;
    }
    Ok(())
}

/// The mistake that gives this value.
fn reason(bytes: u64, got: f64) -> (&'static str, String) {
    let (exact, share) = (bytes as f64, bytes as f64 / GIB);
    let is = |value: f64| (got - value).abs() <= 1e-12 * value.abs();
    let rounded = |digits: i32| is((share * 10f64.powi(digits)).round() / 10f64.powi(digits));
    let known = [
        (is(exact / 1e9), "0.1-decimal", DECIMAL),
        (is(exact / 1024e6) || is(exact / (1e3 * 1024.0 * 1024.0)), "0.1-mixed", MIXED),
        (is(exact / 1024.0), "0.1-one-step", ONE_STEP),
        (is(exact / (1024.0 * 1024.0)), "0.1-two-steps", TWO_STEPS),
        (is(exact / 1024f64.powi(4)), "0.1-four-steps", FOUR_STEPS),
        (is(share * 8.0), "0.1-bits", BITS),
        (is((bytes >> 30) as f64), "0.1-whole-numbers", WHOLE),
        ((0..5).any(rounded), "0.1-rounded", ROUNDED),
        (is(GIB / exact), "0.1-upside-down", UPSIDE_DOWN),
        (is(exact * GIB), "0.1-multiplied", MULTIPLIED),
        (is(exact * 1024.0), "0.1-no-parentheses", PARENTHESES),
        (is(f64::from(bytes as f32) / GIB), "0.1-f32", SINGLE),
        (is(exact), "0.1-not-divided", NOT_DIVIDED),
    ];
    match known.into_iter().find(|(found, ..)| *found && bytes > 0) {
        Some((_, key, thought)) => (key, thought.to_string()),
        // A divisor below 1 would be printed as 0 or 1, and names nobody's mistake.
        None if got > 0.0 && got < exact => ("0.1-divisor", divisor(exact / got)),
        None => ("wrong-value", String::new()),
    }
}

fn divisor(divisor: f64) -> String {
    format!(
        "That is what comes if the bytes are divided by {divisor:.0}. 1 GiB is \
         1024 x 1024 x 1024 = 1073741824 bytes."
    )
}

const DECIMAL: &str = "That is gigabytes: divided by 1000 three times, as a disk or a data sheet \
    counts. A GiB has 1024 x 1024 x 1024 bytes, 7.4% more, and that is how drivers and PyTorch's \
    out-of-memory message count.";
const MIXED: &str = "That mixes both ways of counting: 1000 in one step and 1024 in another. All \
    three steps are 1024.";
const ONE_STEP: &str = "That is KiB, one step of 1024. A GiB is three steps.";
const TWO_STEPS: &str = "That is MiB, two steps of 1024. A GiB is three steps.";
const FOUR_STEPS: &str = "That is TiB, four steps of 1024. A GiB is three steps.";
const BITS: &str = "That is gibibits: a byte was counted as 8. The b of a network's Gb/s is a bit; \
    memory is counted in bytes throughout.";
const WHOLE: &str = "The fraction is gone. In Rust a division of two integers is an integer, as \
    // is in Python. Convert first, `bytes as f64`, and then divide.";
const ROUNDED: &str = "That is the right number, rounded. Round where you print; a function that \
    others calculate with returns what it has.";
const UPSIDE_DOWN: &str = "That is the other way up: how many times these bytes fit into a GiB.";
const MULTIPLIED: &str = "That is multiplied by a GiB. The larger the unit, the fewer of them: \
    divide.";
const PARENTHESES: &str = "Only the first 1024 divides, the two after it multiply: they stand \
    outside of the division. Put parentheses around 1024.0 * 1024.0 * 1024.0.";
const SINGLE: &str = "The bytes went through an f32, which has 24 bits of precision: from \
    16777216 on it skips integers. An f64 is exact up to 2^53.";
const NOT_DIVIDED: &str = "That is the bytes themselves. Divide them by the bytes of one GiB.";
