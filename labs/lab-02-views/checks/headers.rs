//! What the checks of 2.1 to 2.4 share: random headers, where their elements lie, comparisons.

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Diagnosis, Idea};

use super::super::header::Header;

/// A header from its parts.
pub fn header(shape: &[usize], strides: &[usize], offset: usize) -> Header {
    Header { shape: shape.to_vec(), strides: strides.to_vec(), offset }
}

/// Strides by their definition: the product of the sizes behind.
pub fn packed(shape: &[usize]) -> Vec<usize> {
    (1..=shape.len()).map(|behind| shape[behind..].iter().product()).collect()
}

/// A view of so many dimensions: all sizes differ, no stride is that of a packed tensor, the
/// offset is not 0.
pub fn random(rng: &mut Generator, rank: usize) -> Header {
    let sizes = [2, 3, 4, 5, 7];
    let shape: Vec<usize> =
        rng.permutation(sizes.len())[..rank].iter().map(|&i| sizes[i]).collect();
    // The storage is larger in each dimension, and its dimensions stand in another order.
    let mut step = 2 + rng.below(3);
    let mut strides = vec![0; rank];
    for dim in rng.permutation(rank) {
        strides[dim] = step;
        step *= shape[dim] + 1 + rng.below(3);
    }
    header(&shape, &strides, 50 + rng.below(50))
}

/// Every index of a shape, in logical order.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in shape {
        let longer = |index: &Vec<usize>| {
            let index = index.clone();
            (0..size).map(move |i| [&index[..], &[i]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The place of the element with this index, by the definition of a stride.
pub fn place(header: &Header, index: &[usize]) -> usize {
    header.offset + index.iter().zip(&header.strides).map(|(i, stride)| i * stride).sum::<usize>()
}

/// The place of every element, in logical order.
pub fn places(header: &Header) -> Vec<usize> {
    let mut places = vec![header.offset];
    for (&size, &stride) in header.shape.iter().zip(&header.strides) {
        places = places.iter().flat_map(|at| (0..size).map(move |i| at + i * stride)).collect();
    }
    places
}

/// Whether two headers show the same elements: strides that are never used do not count.
pub fn fits(got: &Header, want: &Header) -> bool {
    let empty = want.shape.contains(&0);
    let mut dims = want.shape.iter().zip(got.strides.iter().zip(&want.strides));
    got.shape == want.shape
        && got.strides.len() == want.strides.len()
        && (empty || got.offset == want.offset)
        && dims.all(|(&size, (got, want))| empty || size == 1 || got == want)
}

/// Compares two headers, or a refusal with a header.
pub fn compare(
    check: &Check,
    called: &str,
    got: &Option<Header>,
    want: &Option<Header>,
    ideas: &[Idea<Option<Header>>],
) -> Result<(), Diagnosis> {
    let same = |a: &Option<Header>, b: &Option<Header>| match (a, b) {
        (Some(a), Some(b)) => fits(a, b),
        _ => a.is_none() && b.is_none(),
    };
    let shown = |header: &Option<Header>| header.as_ref().map_or("None".into(), Header::to_string);
    check.require(same(got, want), || {
        let known = ideas.iter().find(|idea| same(got, &idea.value) && !same(want, &idea.value));
        let (key, thought) = known.map_or((key::WRONG_VALUE, ""), |idea| (idea.key, idea.thought));
        Diagnosis::new(key).called(called).got(shown(got)).expected(shown(want)).thought(thought)
    })
}
