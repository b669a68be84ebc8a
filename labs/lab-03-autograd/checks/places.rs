//! Functions for 3.5, with a place and the gradient there: each catches one weakness of a check.
//! All of them are smooth everywhere, so that any sensible step around the place is a right one.

/// A function, a place, the gradient there, and what it means if that gradient is rejected.
pub struct Place {
    pub words: &'static str,
    pub f: fn(&[f64]) -> f64,
    pub x: Vec<f64>,
    pub gradient: Vec<f64>,
    pub rejected: Meaning,
}

/// A key and a thought.
pub type Meaning = (&'static str, &'static str);

fn place(
    words: &'static str,
    f: fn(&[f64]) -> f64,
    x: &[f64],
    gradient: &[f64],
    rejected: Meaning,
) -> Place {
    Place { words, f, x: x.to_vec(), gradient: gradient.to_vec(), rejected }
}

/// All of them; `scattered` are 40 numbers near 1.
pub fn places(scattered: Vec<f64>) -> Vec<Place> {
    let mut places = shapes();
    places.extend(scales());
    places.push(long(scattered));
    places
}

/// Functions that are straight, high, bent and flat.
fn shapes() -> Vec<Place> {
    vec![
        place(
            "3 x0 - 2 x1 + 0.5 x2",
            |x| 3.0 * x[0] - 2.0 * x[1] + 0.5 * x[2],
            &[1.5, -2.5, 0.7],
            &[3.0, -2.0, 0.5],
            ("3.5-slope", SLOPE),
        ),
        place(
            "exp(5 x0) + exp(-5 x1)",
            |x| (5.0 * x[0]).exp() + (-5.0 * x[1]).exp(),
            &[0.3, -0.2],
            &[5.0 * 1.5f64.exp(), -5.0 * 1f64.exp()],
            ("3.5-one-sided", ONE_SIDED),
        ),
        place("x0^2 x1", |x| x[0] * x[0] * x[1], &[3.0, 5.0], &[30.0, 9.0], ("3.5-slope", SLOPE)),
        place(
            "(x0 - 0.7)^2 x1 + x1",
            |x| (x[0] - 0.7) * (x[0] - 0.7) * x[1] + x[1],
            &[0.7, 3.1],
            &[0.0, 1.0],
            ("3.5-relative-only", RELATIVE),
        ),
        place(
            "3 x0 + x1^2",
            |x| 3.0 * x[0] + x[1] * x[1],
            &[0.0, 2.0],
            &[3.0, 4.0],
            ("3.5-step-zero", STEP_ZERO),
        ),
        place(
            "4 x0 - 3 x1 + x0 x1",
            |x| 4.0 * x[0] - 3.0 * x[1] + x[0] * x[1],
            &[1e-6, -2e-6],
            &[4.0 - 2e-6, -3.0 + 1e-6],
            ("3.5-slope", SLOPE),
        ),
    ]
}

/// Functions at which only a step that suits each number is right: not one for all of them, not
/// one that shrinks with them, and not one to a single side.
pub fn steps() -> Vec<Place> {
    vec![
        place(
            "10000 + 3 x0 - 2 x1",
            |x| 1e4 + 3.0 * x[0] - 2.0 * x[1],
            &[1e-6, -2e-6],
            &[3.0, -2.0],
            ("3.5-step-too-small", TOO_SMALL),
        ),
        place(
            "100 (x0 - 0.7)^2 x1 + x1",
            |x| 100.0 * (x[0] - 0.7) * (x[0] - 0.7) * x[1] + x[1],
            &[0.7, 3.1],
            &[0.0, 1.0],
            ("3.5-one-sided", ONE_SIDED),
        ),
        place(
            "0.01 x0 + exp(5 x1)",
            |x| 0.01 * x[0] + (5.0 * x[1]).exp(),
            &[1e9, 0.3],
            &[0.01, 5.0 * 1.5f64.exp()],
            ("3.5-step-too-large", TOO_LARGE),
        ),
    ]
}

/// Numbers, slopes and results of very different sizes.
fn scales() -> Vec<Place> {
    vec![
        place(
            "0.001 x0 x1",
            |x| 1e-3 * x[0] * x[1],
            &[1.7, 2.3],
            &[2.3e-3, 1.7e-3],
            ("3.5-slope", SLOPE),
        ),
        place(
            "(x0 + x1) x2",
            |x| (x[0] + x[1]) * x[2],
            &[-1e9, 2e9, 3.0],
            &[3.0, 3.0, 1e9],
            ("3.5-fixed-step", FIXED),
        ),
        place(
            "1e9 x0 x1",
            |x| 1e9 * x[0] * x[1],
            &[2.1, 3.3],
            &[3.3e9, 2.1e9],
            ("3.5-absolute-tolerance", ABSOLUTE),
        ),
        place(
            "x0 x1 x2 with x0 = 0.001",
            |x| x[0] * x[1] * x[2],
            &[1e-3, 2.0, 5.0],
            &[10.0, 5e-3, 2e-3],
            ("3.5-slope", SLOPE),
        ),
        place(
            "10000 + 3 x0 - 2 x1",
            |x| 1e4 + 3.0 * x[0] - 2.0 * x[1],
            &[1.5, -2.5],
            &[3.0, -2.0],
            ("3.5-step-too-small", TOO_SMALL),
        ),
    ]
}

/// So many elements that a little left over from each adds up.
fn long(scattered: Vec<f64>) -> Place {
    let product: f64 = scattered.iter().product();
    Place {
        words: "the product of 40 numbers",
        f: |x| x.iter().product(),
        gradient: scattered.iter().map(|x| product / x).collect(),
        x: scattered,
        rejected: ("3.5-slope", SLOPE),
    }
}

pub const SLOPE: &str = "A right gradient is rejected on a function as simple as this one. The \
    slope is rise over run: from x - step to x + step the run is 2 step, and only this one \
    element moves.";
pub const TOO_SMALL: &str = "f is stored with 16 digits, so its value is off by up to 1e-16 of \
    it. Divided by a tiny step, that rounding is all there is. A step around 1e-5 balances it \
    against the error of the formula.";
pub const ONE_SIDED: &str = "The function bends, and (f(x + step) - f(x)) / step is wrong by the \
    bend times half a step. Measured from both sides, the bend cancels and the error shrinks \
    with the square of the step.";
pub const TOO_LARGE: &str = "f was measured from both sides, and the step is too large: over such \
    a step f bends by more than the tolerance, and the straight line between both ends is not \
    the slope in the middle. That error grows with the square of the step. A step around 1e-5 \
    balances it against rounding.";
pub const RELATIVE: &str = "The gradient is 0 here, and what is measured differs from it by \
    rounding alone. A tolerance that is a share of two tiny numbers rejects that; two numbers \
    within 1e-7 count as equal.";
pub const STEP_ZERO: &str = "x0 is 0 here, and a step that is a share of it is 0 too: the slope \
    becomes 0 / 0. Let the step grow with the size of the number, and keep it from shrinking \
    with it.";
pub const FIXED: &str = "x is as large as a billion here, and neighbouring f64 numbers lie 1e-7 \
    apart: a fixed small step is rounded away in part. The step has to grow with the size of the \
    number.";
pub const ABSOLUTE: &str = "One absolute tolerance does not fit gradients of 3e9 and of 0.002. \
    Count as equal what differs by at most 1e-4 of the slope, or by at most 1e-7.";
