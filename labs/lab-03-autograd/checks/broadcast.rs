//! 3.3: gradients of broadcast operands, for every way in which a shape can have been stretched.

use engine_room::Tensor;
use grading::{Check, Diagnosis, Idea};

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
            let got = check.call(called.as_str(), || (imp.reduce_broadcast)(&dy, shape))?;
            let want = reduced(&dy, shape);
            check.tensor("the gradient", &called, &got, &want, 1e-5, &ideas(&dy, shape, &want))?;
        }
    }
    Ok(())
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
        idea(
            "3.3-summed-all",
            "That is the sum over everything. Only the dimensions in which the operand was \
             repeated are summed; along the others each element has a gradient of its own.",
            Tensor::scalar(dy.to_vec::<f32>().iter().sum()),
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
