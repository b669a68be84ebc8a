//! 4.1: whether thousands of numbers are uniform within the bound, and which thought gave them
//! otherwise.

use grading::Diagnosis;
use grading::diagnosis::key;

/// Numbers of a new layer.
pub struct Drawn<'a> {
    /// The call that made the layer.
    pub called: &'a str,
    /// Which numbers of it.
    pub what: &'a str,
    /// Of the layer.
    pub inputs: usize,
    /// Of the layer.
    pub outputs: usize,
    /// The numbers.
    pub values: &'a [f32],
}

/// The largest share of the numbers by which two distributions may differ at any place. By chance
/// 4,000 uniform numbers are 0.043 off once in a million times (Kolmogorov's distribution).
const TOLERANCE: f64 = 0.05;

/// What the numbers should be, or a typical other thing.
struct Distribution {
    key: &'static str,
    thought: &'static str,
    /// The share of the numbers below x.
    below: Box<dyn Fn(f64) -> f64>,
}

fn uniform(low: f64, high: f64) -> Box<dyn Fn(f64) -> f64> {
    Box::new(move |x| ((x - low) / (high - low)).clamp(0.0, 1.0))
}

/// Normal, by the logistic curve that is nowhere more than 0.01 off.
fn normal(std: f64) -> Box<dyn Fn(f64) -> f64> {
    Box::new(move |x| 1.0 / (1.0 + (-1.702 * x / std).exp()))
}

/// All numbers lie within the bound and are evenly spread.
pub fn judge(drawn: &Drawn) -> Result<(), Diagnosis> {
    let bound = 1.0 / (drawn.inputs as f64).sqrt();
    let mut sorted: Vec<f64> = drawn.values.iter().map(|&value| f64::from(value)).collect();
    sorted.sort_by(f64::total_cmp);
    let (least, largest) = (sorted[0], sorted[sorted.len() - 1]);
    let off = distance(&sorted, &*uniform(-bound, bound));
    let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let outside = least.is_nan() || largest.is_nan() || largest.max(-least) > bound * 1.000_001;
    let repeated = distinct * 10 < sorted.len() * 9;
    if !outside && !repeated && off <= TOLERANCE {
        return Ok(());
    }
    let (key, thought) = match () {
        () if distinct == 1 && least == 0.0 => ("4.1-zeros", ZEROS),
        () if repeated => ("4.1-repeated", REPEATED),
        () => reason(drawn, &sorted),
    };
    Err(Diagnosis::new(key)
        .called(drawn.called)
        .got(format!(
            "{} has {} numbers, {distinct} of them different, from {least:.5} to {largest:.5}; \
             the shares below some place differ by up to {off:.3}",
            drawn.what,
            sorted.len()
        ))
        .expected(format!("numbers from -{bound:.5} to {bound:.5}, uniform to within {TOLERANCE}"))
        .thought(thought))
}

/// Kolmogorov's distance between the numbers and a distribution.
fn distance(sorted: &[f64], below: &dyn Fn(f64) -> f64) -> f64 {
    let n = sorted.len() as f64;
    let one = |(at, &x): (usize, &f64)| {
        let share = below(x);
        (share - at as f64 / n).abs().max((share - (at + 1) as f64 / n).abs())
    };
    sorted.iter().enumerate().map(one).fold(0.0, f64::max)
}

/// The nearest of the distributions that people make, if it is near.
fn reason(drawn: &Drawn, sorted: &[f64]) -> (&'static str, &'static str) {
    let others = distributions(drawn.inputs as f64, drawn.outputs as f64);
    let near = others.into_iter().map(|other| (distance(sorted, &*other.below), other));
    let nearest = near.filter(|(off, _)| *off <= TOLERANCE).min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or((key::WRONG_VALUE, ""), |(_, other)| (other.key, other.thought))
}

fn distributions(inputs: f64, outputs: f64) -> Vec<Distribution> {
    let bound = 1.0 / inputs.sqrt();
    let one = |key, thought, below| Distribution { key, thought, below };
    let within = |key, thought, bound: f64| one(key, thought, uniform(-bound, bound));
    vec![
        within("4.1-bound-of-outputs", OUTPUTS, 1.0 / outputs.sqrt()),
        within("4.1-no-root", NO_ROOT, 1.0 / inputs),
        within("4.1-integer-root", INTEGER_ROOT, 1.0 / inputs.sqrt().floor()),
        within("4.1-kaiming-of-relu", RELU, (6.0 / inputs).sqrt()),
        within("4.1-a-is-five", FIVE, (6.0 / (26.0 * inputs)).sqrt()),
        one("4.1-one-sided", ONE_SIDED, uniform(0.0, bound)),
        one("4.1-one-sided", ONE_SIDED, uniform(0.0, 2.0 * bound)),
        one("4.1-one-sided", ONE_SIDED, uniform(0.0, 1.0)),
        one("4.1-normal", NORMAL, normal(bound)),
        one("4.1-normal", NORMAL, normal(bound / 3f64.sqrt())),
        one("4.1-normal", NORMAL, normal((2.0 / inputs).sqrt())),
    ]
}

const ZEROS: &str = "All numbers are 0. A weight of zeros gives every output the same gradient, \
    so they stay equal; and PyTorch draws the bias like the weight.";
const REPEATED: &str = "The same numbers come again and again: a row was drawn once and \
    repeated, or the generator was made anew for every row. Outputs that begin alike stay alike.";
const OUTPUTS: &str = "The bound comes from the number of outputs. One output adds up as many \
    products as there are inputs, so the inputs decide (fan_in): 1/sqrt(inputs), for the bias \
    too.";
const NO_ROOT: &str = "The bound is 1/inputs. A sum of n random products grows with the root of \
    n, so the bound is one over the root.";
const INTEGER_ROOT: &str = "The root was rounded down to a whole number: `isqrt` is the root of \
    an integer. Convert first, `(inputs as f64).sqrt()`.";
const RELU: &str = "That is the Kaiming bound with a = 0, sqrt(6/inputs), for a layer before a \
    relu. `nn.Linear` uses a = sqrt(5): 6 / ((1 + 5) inputs) under the root, which is 1/inputs.";
const FIVE: &str = "a was taken for 5. It is the root of 5: 6 / ((1 + a^2) inputs) with a^2 = 5 \
    is 1/inputs.";
const ONE_SIDED: &str = "No number is negative. Numbers from 0 to 1 have to be moved as well as \
    stretched, so that they lie evenly on both sides of 0.";
const NORMAL: &str = "Those are normal random numbers, and some lie far out. `nn.Linear` draws \
    uniform ones.";
