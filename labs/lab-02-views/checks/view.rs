//! 2.4: strides under another shape, by their definition: they lead to the same places.

use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis, Idea};

use super::super::header::Header;
use super::Implementation;
use super::headers::{compare, header, packed, places};
use super::shapes::{GROUPS, any};

/// A header and the shape to see it under.
pub type Case = (Header, Vec<usize>);

/// Cases that go wrong for one reason.
pub struct Group {
    /// The cases.
    pub cases: fn(&mut Generator) -> Vec<Case>,
    /// Key and thought of a refusal, or of a panic, where there are strides.
    pub refused: (&'static str, &'static str),
    /// Key and thought of strides that are wrong, or should not be there.
    pub granted: (&'static str, &'static str),
}

/// 2.4
pub fn view(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for group in GROUPS {
        for case in (group.cases)(&mut rng) {
            one(imp, check, &case, group)?;
        }
    }
    let unnamed = ("wrong-value", "");
    let group = Group { cases: |_| Vec::new(), refused: unnamed, granted: unnamed };
    for _ in 0..600 {
        one(imp, check, &any(&mut rng), &group)?;
    }
    Ok(())
}

fn one(
    imp: &Implementation,
    check: &mut Check,
    (from, shape): &Case,
    group: &Group,
) -> Result<(), Diagnosis> {
    let called = format!("view_strides({from}; as {shape:?})");
    let want = right(from, shape);
    let (key, thought) = if want.is_some() { group.refused } else { group.granted };
    check.if_it_dies(Death::Panicked, if key == "wrong-value" { "panicked" } else { key }, thought);
    let got = check.call(called.as_str(), || (imp.view_strides)(from, shape))?;
    let seen = |strides: Vec<usize>| header(shape, &strides, from.offset);
    let (got, want) = (got.map(seen), want.map(seen));
    let idea = |(key, thought), value| Idea { key, thought, value };
    let mut ideas = vec![idea(group.refused, None)];
    if count(shape) == count(&from.shape) && steps(from) {
        ideas.push(idea(("2.4-strides-ignored", IGNORED), Some(seen(packed(shape)))));
    }
    ideas.push(idea(group.granted, got.clone()));
    compare(check, &called, &got, &want, &ideas)
}

fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Whether every dimension steps: else the row-major strides say little about what was thought.
fn steps(from: &Header) -> bool {
    from.shape.iter().zip(&from.strides).all(|(&size, &stride)| size > 1 && stride > 0)
}

/// The definition: from the first place, one step along each dimension; all other places must be
/// sums of such steps.
fn right(from: &Header, shape: &[usize]) -> Option<Vec<usize>> {
    let places = places(from);
    if count(shape) != places.len() {
        return None;
    }
    let behind = packed(shape);
    let step = |dim: usize| match shape[dim] > 1 && !places.is_empty() {
        true => places[behind[dim]].checked_sub(places[0]),
        false => Some(0),
    };
    let strides: Vec<usize> = (0..shape.len()).map(step).collect::<Option<_>>()?;
    let reached = super::headers::places(&header(shape, &strides, from.offset));
    (reached == places).then_some(strides)
}

const IGNORED: &str = "Those are the strides of a packed tensor of the new shape, and the \
    header's elements do not lie packed. Read through them, the numbers come in the order of \
    memory, and not in the order of the view: the typical silent bug of a reshape after a \
    transpose.";
