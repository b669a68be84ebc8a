//! What the points at which f was asked say about a gradient check: 3.5.

use super::places::{Meaning, ONE_SIDED, Place, STEP_ZERO, TOO_LARGE, TOO_SMALL};

/// One call of the learner's function: what it returned and the points at which it asked for f.
pub struct Judged {
    pub called: String,
    pub found: Option<usize>,
    pub points: Vec<Vec<f64>>,
}

impl Judged {
    /// Why the right claim for this element was rejected, if the points tell.
    pub fn of_rejection(&self, place: &Place, element: usize) -> Option<Meaning> {
        self.moved(&place.x).or_else(|| self.measured(place, element))
    }

    /// Whether f was asked at x itself, and nowhere else along an element that is 0.
    pub fn stood_still(&self, x: &[f64], element: usize) -> bool {
        x.get(element) == Some(&0.0)
            && self.points.iter().any(|point| point == x)
            && self.points.iter().all(|point| point[element] == 0.0)
    }

    /// How far from x, along any element, f was asked.
    pub fn longest(&self, x: &[f64]) -> f64 {
        let steps = self.points.iter().flat_map(|point| point.iter().zip(x).map(|(a, b)| a - b));
        steps.fold(0.0, |longest: f64, step| longest.max(step.abs()))
    }

    /// Whether elements were moved together, or moved and not moved back, or hardly moved at all.
    fn moved(&self, x: &[f64]) -> Option<Meaning> {
        let moved =
            |point: &Vec<f64>| point.iter().zip(x).filter(|(moved, start)| moved != start).count();
        let counts: Vec<usize> = self.points.iter().map(moved).filter(|&count| count > 0).collect();
        match counts[..] {
            [first, ..] if first > 1 => Some(("3.5-all-moved", ALL_MOVED)),
            _ if counts.iter().any(|&count| count > 1) => Some(("3.5-not-moved-back", NOT_BACK)),
            [_, ..] if self.longest(x) < 1e-9 => Some(("3.5-step-too-small", TOO_SMALL)),
            _ => None,
        }
    }

    /// Measures again with the learner's step: whether one side alone is to blame, or the step.
    fn measured(&self, place: &Place, element: usize) -> Option<Meaning> {
        let start = *place.x.get(element)?;
        if self.stood_still(&place.x, element) {
            return Some(("3.5-step-zero", STEP_ZERO));
        }
        let steps = self.points.iter().map(|point| point[element] - start);
        let steps: Vec<f64> = steps.filter(|step| *step != 0.0).collect();
        let longest = steps.iter().fold(0.0, |a: f64, b| if b.abs() > a.abs() { *b } else { a });
        let at = |step: f64| {
            let mut moved = place.x.clone();
            moved[element] += step;
            (place.f)(&moved)
        };
        let truth = place.gradient[element];
        let is_off = |slope: f64| (slope - truth).abs() > f64::max(1e-4 * truth.abs(), 1e-7);
        let of_one_side = (at(longest) - at(0.0)) / longest;
        let of_both = (at(longest) - at(-longest)) / (2.0 * longest);
        // Below that share of the number, rounding is what makes a slope wrong, and not the bend.
        let share = longest.abs() / start.abs().max(1.0);
        let same_side = steps.iter().all(|step| step.signum() == longest.signum());
        match same_side {
            true if share > 1e-8 && is_off(of_one_side) => Some(("3.5-one-sided", ONE_SIDED)),
            false if share > 1e-4 && is_off(of_both) => Some(("3.5-step-too-large", TOO_LARGE)),
            _ => None,
        }
    }
}

const ALL_MOVED: &str = "f was asked with several elements moved at once. That measures the sum \
    of their slopes, not the slope of one. Move one element and leave all others where they are.";
const NOT_BACK: &str = "An element was moved and not moved back, so the later slopes were \
    measured at another place. Take a fresh copy of x for each element, or put the element back.";
