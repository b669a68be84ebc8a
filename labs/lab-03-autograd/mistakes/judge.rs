//! Wrong gradient checks: 3.5. Each is a right one with one thing turned.

use super::{Function, Wrong, check};

pub fn mistakes() -> Vec<Wrong> {
    vec![
        check("3.5-one-sided", "from one side, with a step of 1e-3", one_sided),
        check("3.5-step-too-large", "from both sides, with a step of 1e-2", |f, x, g| {
            verdict(f, x, g, |x| 1e-2 * x.abs().max(1.0), close)
        }),
        check("3.5-step-too-small", "a step of 1e-12", |f, x, g| {
            verdict(f, x, g, |_| 1e-12, close)
        }),
        check("3.5-fixed-step", "a step of 1e-5 for any x", |f, x, g| {
            verdict(f, x, g, |_| 1e-5, close)
        }),
        check("3.5-step-zero", "a step that is a share of x", |f, x, g| {
            verdict(f, x, g, |x| 1e-5 * x.abs(), close)
        }),
        check("3.5-step-zero-accepted", "a share of x, and NaN passes", |f, x, g| {
            verdict(f, x, g, |x| 1e-6 * x.abs(), not_far)
        }),
        check("3.5-slope", "divided by one step", |f, x, g| {
            verdict(f, x, g, step, |slope, claim| close(2.0 * slope, claim))
        }),
        check("3.5-absolute-tolerance", "one absolute tolerance", |f, x, g| {
            verdict(f, x, g, step, |slope, claim| (slope - claim).abs() <= 1e-4)
        }),
        check("3.5-relative-only", "one relative tolerance", |f, x, g| {
            verdict(f, x, g, step, |slope, claim| (slope - claim).abs() <= 1e-4 * slope.abs())
        }),
        check("3.5-too-tolerant", "a tolerance of 5%", |f, x, g| {
            verdict(f, x, g, step, |slope, claim| close(slope, claim) || near(slope, claim))
        }),
        check("3.5-nan-accepted", "asks whether the difference is too large", |f, x, g| {
            verdict(f, x, g, step, not_far)
        }),
        check("3.5-infinity-accepted", "a tolerance that is a share of the claim", |f, x, g| {
            verdict(f, x, g, step, |slope, claim| {
                (slope - claim).abs() <= f64::max(1e-4 * claim.abs(), 1e-7)
            })
        }),
        check("3.5-sign-ignored", "compares magnitudes", |f, x, g| {
            verdict(f, x, g, step, |slope, claim| close(slope.abs(), claim.abs()))
        }),
        check("3.5-not-moved-back", "moves elements and leaves them there", not_moved_back),
        check("3.5-all-moved", "moves all elements at once", all_moved),
        check("3.5-some-unchecked", "leaves out the last element", |f, x, g| {
            verdict(f, x, &g[..g.len().saturating_sub(1)], step, close)
        }),
    ]
}

fn step(x: f64) -> f64 {
    1e-5 * x.abs().max(1.0)
}

fn close(slope: f64, claim: f64) -> bool {
    (slope - claim).abs() <= f64::max(1e-4 * slope.abs(), 1e-7)
}

/// As `close`, asked the other way round.
fn not_far(slope: f64, claim: f64) -> bool {
    let too_large = (slope - claim).abs() > f64::max(1e-4 * slope.abs(), 1e-7);
    !too_large
}

fn near(slope: f64, claim: f64) -> bool {
    (slope - claim).abs() <= 0.05 * slope.abs()
}

/// Central differences of the elements that `gradient` has.
fn verdict(
    f: Function,
    x: &[f64],
    gradient: &[f64],
    step: fn(f64) -> f64,
    right: fn(f64, f64) -> bool,
) -> Option<usize> {
    (0..gradient.len()).find(|&i| {
        let step = step(x[i]);
        let mut moved = x.to_vec();
        moved[i] = x[i] + step;
        let above = f(&moved);
        moved[i] = x[i] - step;
        !right((above - f(&moved)) / (2.0 * step), gradient[i])
    })
}

fn one_sided(f: Function, x: &[f64], gradient: &[f64]) -> Option<usize> {
    (0..x.len()).find(|&i| {
        let step = 1e-3 * x[i].abs().max(1.0);
        let mut moved = x.to_vec();
        moved[i] += step;
        !close((f(&moved) - f(x)) / step, gradient[i])
    })
}

fn not_moved_back(f: Function, x: &[f64], gradient: &[f64]) -> Option<usize> {
    let mut moved = x.to_vec();
    (0..x.len()).find(|&i| {
        let step = step(x[i]);
        moved[i] += step;
        let above = f(&moved);
        moved[i] -= 2.0 * step;
        !close((above - f(&moved)) / (2.0 * step), gradient[i])
    })
}

fn all_moved(f: Function, x: &[f64], gradient: &[f64]) -> Option<usize> {
    let moved = |side: f64| x.iter().map(|&x| x + side * step(x)).collect::<Vec<f64>>();
    let rise = f(&moved(1.0)) - f(&moved(-1.0));
    (0..x.len()).find(|&i| !close(rise / (2.0 * step(x[i])), gradient[i]))
}
