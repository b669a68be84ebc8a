//! 3.3: gradients of broadcast operands, for every way in which a shape can have been stretched.

use engine_room::Tensor;
use grading::diagnosis::key;
use grading::{Check, Diagnosis, Idea, with_inputs};

use super::Implementation;
use super::inputs::Lie::{Packed, Transposed};
use super::inputs::random;

/// The shape of dy, and the operand's. The first two are square, so that a wrong alignment runs.
const CASES: &[(&[usize], &[usize])] = &[
    (&[3, 3], &[3]),
    (&[3, 3], &[3, 1]),
    (&[4, 3], &[3]),
    (&[4, 3], &[4, 1]),
    (&[4, 3], &[1, 3]),
    (&[4, 3], &[1, 1]),
    (&[4, 3], &[1]),
    (&[4, 3], &[]),
    (&[4, 3], &[4, 3]),
    (&[2, 3, 4], &[4]),
    (&[2, 3, 4], &[3, 1]),
    (&[2, 3, 4], &[3, 4]),
    (&[2, 3, 4], &[1, 3, 1]),
    (&[2, 3, 4], &[2, 1, 4]),
    (&[2, 3, 4], &[2, 3, 1]),
    (&[2, 1, 4, 3], &[1, 4, 1]),
    (&[5], &[1]),
    (&[2, 3, 2, 1, 2], &[3, 1, 1, 2]),
    (&[2, 0], &[1, 0]),
    (&[5], &[]),
    (&[1, 3], &[3]),
    (&[1, 3], &[1, 3]),
    (&[1, 1], &[]),
    (&[], &[]),
    (&[0, 3], &[3]),
    (&[0, 3], &[1, 3]),
    (&[2, 0], &[2, 1]),
    (&[2, 0], &[0]),
];

/// 3.3
pub fn reduce(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for lie in [Packed, Transposed] {
        for &(from, shape) in CASES {
            let dy = random(&mut rng, from, lie);
            let view = if dy.is_contiguous() { "" } else { ", a view" };
            let called = format!("reduce_broadcast(dy {from:?}{view}, shape {shape:?})");
            let called = with_inputs(&called, &[("dy", &dy)]);
            let want = reduced(&dy, shape);
            let got = check
                .call(called.as_str(), || (imp.reduce_broadcast)(&dy, shape))
                .map_err(of_a_panic)?;
            check.tensor("the gradient", &called, &got, &want, 1e-5, &ideas(&dy, shape, &want))?;
        }
    }
    Ok(())
}

/// Panics of the engine, and of an index, that have a typical reason.
fn of_a_panic(panic: Diagnosis) -> Diagnosis {
    let reasons = [
        ("reshape(", " 1 elements do not fit", "3.3-empty-list-reshape", EMPTY_RESHAPE),
        ("sum(", "there is no dimension", "3.3-dimensions-move", MOVE),
        ("attempt to subtract", "overflow", "3.3-index-of-added", ADDED),
    ];
    let fits = |(a, b, ..): &(&str, &str, _, _)| panic.got.contains(a) && panic.got.contains(b);
    match reasons.into_iter().find(fits) {
        Some((_, _, key, thought)) if panic.key == key::PANICKED => {
            Diagnosis { key: key.to_owned(), ..panic }.thought(thought)
        }
        _ => panic,
    }
}

/// Every element of dy added to the one element of the operand that it repeats.
fn reduced(dy: &Tensor, shape: &[usize]) -> Tensor {
    collected(dy, shape, dy.shape().len() - shape.len(), |sum, x| *sum += x)
}

/// Walks dy with an index, and joins each element into the operand's, where the operand's
/// dimensions are aligned with those of dy from `first` on.
fn collected(
    dy: &Tensor,
    shape: &[usize],
    first: usize,
    mut join: impl FnMut(&mut f64, f64),
) -> Tensor {
    let mut out = vec![0.0; shape.iter().product()];
    for (at, x) in dy.to_vec::<f32>().into_iter().enumerate() {
        let mut rest = at;
        let mut index = vec![0; dy.shape().len()];
        for (i, size) in index.iter_mut().zip(dy.shape()).rev() {
            *i = rest % size;
            rest /= size;
        }
        let aligned = index[first..].iter().zip(shape);
        let place = aligned.fold(0, |place, (&i, &size)| place * size + i % size);
        join(&mut out[place], f64::from(x));
    }
    Tensor::from_vec(out.into_iter().map(|x| x as f32).collect(), shape)
}

fn ideas(dy: &Tensor, shape: &[usize], want: &Tensor) -> Vec<Idea<Tensor>> {
    let idea = |key, thought, value| Idea { key, thought, value };
    let added = dy.shape().len() - shape.len();
    let repetitions = dy.numel() as f64 / want.numel().max(1) as f64;
    let scaled = want.to_vec::<f32>().into_iter().map(|x| (f64::from(x) / repetitions) as f32);
    let with_ones: Vec<usize> = vec![1; added].into_iter().chain(shape.iter().copied()).collect();
    let without: Vec<usize> =
        (0..shape.len()).filter(|&d| shape[d] == dy.shape()[added + d]).map(|d| shape[d]).collect();
    let only_added = collected(dy, &dy.shape()[added..], added, |sum, x| *sum += x);
    let total = Tensor::scalar(dy.to_vec::<f32>().iter().sum());
    let mut ideas = vec![
        idea(
            "3.3-mean",
            "That is the mean over the repetitions. Each repetition is one way in which the number \
             acts on the loss, and ways add up: the gradient is the sum.",
            Tensor::from_vec(scaled.collect(), shape),
        ),
        idea(
            "3.3-one-repetition",
            "That is dy of one repetition alone. Every repetition used the number, and each of \
             them contributes to its gradient.",
            first_repetition(dy, shape, added),
        ),
        idea("3.3-added-dimension-kept", KEPT, want.reshape(&with_ones)),
        idea("3.3-stretched-dimension-dropped", DROPPED, want.reshape(&without)),
        idea("3.3-stretched-forgotten", STRETCHED, only_added),
        idea("3.3-empty-list", EMPTY, total.reshape(&vec![1; shape.len().max(1)])),
        idea("3.3-empty-list", EMPTY, total.reshape(&vec![1; dy.shape().len().max(1)])),
        idea(
            if added == 0 { "3.3-empty-list" } else { "3.3-summed-all" },
            if added == 0 { EMPTY } else { ALL },
            total,
        ),
    ];
    let fits_left = shape.iter().zip(dy.shape()).all(|(&want, &have)| want == have || want == 1);
    if fits_left {
        let left = collected(dy, shape, 0, |sum, x| *sum += x);
        ideas.push(idea("3.3-aligned-left", LEFT, left));
    }
    ideas
}

fn first_repetition(dy: &Tensor, shape: &[usize], added: usize) -> Tensor {
    // A place is taken once: what was joined first stays. Zero stands for "nothing yet", and no
    // random number is exactly zero.
    collected(dy, shape, added, |first, x| {
        if *first == 0.0 {
            *first = x;
        }
    })
}

const KEPT: &str = "The numbers are right and the shape is not. The dimensions that broadcasting \
    has added in front are not in the operand's shape; they have to go.";
const DROPPED: &str = "The numbers are right and the shape is not. A dimension of size 1 that \
    was stretched is summed and stays, with size 1: the operand has it.";
const STRETCHED: &str = "Only the dimensions added in front have been summed. A dimension in \
    which the operand has size 1 and dy more was repeated as well, and has to be summed too.";
const LEFT: &str = "That is the sum with the shapes aligned at their first dimension. \
    Broadcasting aligns them at the last one: an operand of shape [3] is a row, not a column.";
const ALL: &str = "That is the sum over everything. Only the dimensions in which the operand was \
    repeated are summed; along the others each element has a gradient of its own.";
const EMPTY: &str = "That is the sum over everything. An empty list of dimensions means all of \
    them: sum_dims(&[], ..) sums the whole tensor, as in PyTorch. Where nothing was repeated, \
    leave the sum out.";
const EMPTY_RESHAPE: &str = "One element is left, so everything was summed. An empty list of \
    dimensions means all of them: sum_dims(&[], ..) sums the whole tensor, as in PyTorch. Where \
    nothing was repeated, leave the sum out.";
const MOVE: &str = "A sum without keepdim takes its dimension away, and the later ones move one \
    place to the front: what was dimension 1 is dimension 0 then. Keep the dimensions (keepdim \
    true) and reshape in the end, or begin with the last one.";
const ADDED: &str = "Dimension `dim` of dy belongs to dimension `dim - added` of the operand, with \
    `added` as the difference of the lengths. For the dimensions added in front there is none; ask \
    for `dim < added` first.";
