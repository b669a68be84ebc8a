//! Layouts: views against naive copies, on random chains with a fixed seed. Fewer under Miri.

#[path = "engine/naive.rs"]
mod naive;
#[path = "engine/refused.rs"]
mod refused;
#[path = "engine/views.rs"]
mod views;

use std::collections::HashSet;
use std::sync::Arc;

use engine_room::rng::Generator;
use engine_room::{Layout, MAX_DIMS, Tensor};
use naive::{Naive, indices};
use refused::refused;

fn numbers(x: &Tensor) -> Vec<f64> {
    x.to_vec::<f32>().into_iter().map(f64::from).collect()
}

/// Where each element lies, by the definition of strides.
fn positions(layout: &Layout) -> Vec<usize> {
    let position = |index: &Vec<usize>| {
        let steps = index.iter().zip(layout.strides().iter());
        layout.offset() + steps.map(|(i, stride)| i * stride).sum::<usize>()
    };
    indices(layout.shape()).iter().map(position).collect()
}

/// Whether some strides put the elements of `shape` at these positions. Only one choice can: the
/// stride of a dimension is how far one step in it goes.
fn strides_exist(positions: &[usize], shape: &[usize]) -> bool {
    let Some(first) = positions.first() else { return true };
    let step = |dim: usize| shape[dim + 1..].iter().product::<usize>();
    let stride = |dim: usize| positions.get(step(dim)).map_or(0, |at| at - first);
    let strides: Vec<usize> =
        (0..shape.len()).map(|dim| if shape[dim] > 1 { stride(dim) } else { 0 }).collect();
    let lies =
        |index: &Vec<usize>| first + index.iter().zip(&strides).map(|(i, s)| i * s).sum::<usize>();
    indices(shape).iter().zip(positions).all(|(index, &at)| lies(index) == at)
}

/// A random shape with `numel` elements, with a size of 1 here and there.
fn random_shape(mut numel: usize, rng: &mut Generator) -> Vec<usize> {
    let mut shape = Vec::new();
    while numel > 1 && shape.len() < 4 {
        let divisors: Vec<usize> = (1..=numel).filter(|d| numel.is_multiple_of(*d)).collect();
        shape.push(divisors[rng.below(divisors.len())]);
        numel /= shape[shape.len() - 1];
    }
    if numel != 1 || rng.below(4) == 0 {
        shape.insert(rng.below(shape.len() + 1), numel);
    }
    shape
}

/// Stretches dimensions of size 1 (to 0 at times), or adds one.
fn random_expansion(shape: &[usize], rng: &mut Generator) -> Vec<usize> {
    let mut to: Vec<usize> = shape
        .iter()
        .map(|&size| if size == 1 { [1, 2, 3, 0][rng.below(20).min(3)] } else { size })
        .collect();
    if to.len() < 5 {
        to.insert(0, 1 + rng.below(2));
    }
    to
}

/// One random step on the tensor and on its reference.
fn step(x: &Tensor, naive: &Naive, rng: &mut Generator) -> (Tensor, Naive) {
    let rank = naive.shape.len();
    match rng.below(11) {
        0 | 1 if rank > 0 => reorder(x, naive, rng),
        2..=4 if rank > 0 => cut(x, naive, rng),
        5 if naive.data.len() <= 100 => {
            let shape = random_expansion(&naive.shape, rng);
            (x.expand(&shape), naive.expand(&shape))
        }
        6 if rank < 6 => {
            let at = rng.below(rank + 1);
            let mut shape = naive.shape.clone();
            shape.insert(at, 1);
            let back = at as isize - rank as isize - 1;
            assert_eq!(x.unsqueeze(back).shape(), shape);
            let y = x.unsqueeze(at as isize);
            assert_eq!(y.squeeze(at as isize).shape(), naive.shape);
            (y, Naive { shape, data: naive.data.clone() })
        }
        7 if rank > 1 => {
            let dims = &rng.permutation(rank)[..1 + rng.below(rank)];
            let signed: Vec<isize> = dims.iter().map(|&dim| dim as isize).collect();
            (x.flip(&signed), naive.flip(dims))
        }
        8 => (x.contiguous(), naive.clone()),
        _ => reshaped(x, naive, rng),
    }
}

fn reorder(x: &Tensor, naive: &Naive, rng: &mut Generator) -> (Tensor, Naive) {
    let rank = naive.shape.len();
    if rng.below(2) == 0 {
        let (a, b) = (rng.below(rank), rng.below(rank));
        let mut order: Vec<usize> = (0..rank).collect();
        order.swap(a, b);
        return (x.transpose(a as isize, b as isize - rank as isize), naive.permute(&order));
    }
    let order = rng.permutation(rank);
    let back = |&dim: &usize| dim as isize - (rank * (dim % 2)) as isize;
    (x.permute(&order.iter().map(back).collect::<Vec<_>>()), naive.permute(&order))
}

/// A part of one dimension, or windows over it.
fn cut(x: &Tensor, naive: &Naive, rng: &mut Generator) -> (Tensor, Naive) {
    let at = rng.below(naive.shape.len());
    let (dim, size) = (at as isize, naive.shape[at]);
    match rng.below(4) {
        0 if size > 0 && naive.shape.len() > 2 => {
            let place = rng.below(size);
            (x.select(dim, place as isize - size as isize), naive.select(at, place))
        }
        1 if size > 1 && naive.shape.len() < 5 => {
            let (length, step) = (1 + rng.below(size), 1 + rng.below(3));
            (x.unfold(dim, length, step), naive.unfold(at, length, step))
        }
        2 => {
            let start = rng.below(size + 1);
            let length = rng.below(size - start + 1);
            (x.narrow(dim, start, length), naive.slice(at, start, start + length, 1))
        }
        _ => {
            let (start, end, step) = (rng.below(size + 1), rng.below(size + 1), 1 + rng.below(3));
            let from_end = if end == size { isize::MAX } else { end as isize };
            let y = x.slice(dim, start as isize, from_end, step as isize);
            (y, naive.slice(at, start, end.max(start), step))
        }
    }
}

/// A reshape is a view exactly when strides for it exist.
fn reshaped(x: &Tensor, naive: &Naive, rng: &mut Generator) -> (Tensor, Naive) {
    let shape = random_shape(naive.data.len(), rng);
    let y = x.reshape(&shape);
    let view = Arc::ptr_eq(x.storage(), y.storage());
    let can = strides_exist(&positions(x.layout()), &shape);
    assert_eq!(view, can, "{:?} to {shape:?}", x.layout());
    assert_eq!(x.layout().view(&shape).is_some(), can);
    (y, Naive { shape, data: naive.data.clone() })
}

#[test]
fn chains_of_views_read_like_chains_of_copies() {
    for seed in 0..if cfg!(miri) { 2 } else { 400 } {
        let mut rng = Generator::new(seed);
        let start = [&[2, 3, 4][..], &[6, 4], &[12], &[1, 5, 1], &[], &[2, 0, 3]][rng.below(6)];
        let mut x = Tensor::rand(start, &mut rng);
        let mut naive = Naive { shape: start.to_vec(), data: numbers(&x) };
        for _ in 0..8 {
            (x, naive) = step(&x, &naive, &mut rng);
            assert_eq!(x.shape(), naive.shape, "seed {seed}");
            assert_eq!(numbers(&x), naive.data, "seed {seed}, {:?}", x.layout());
            let at = positions(x.layout());
            assert_eq!(x.layout().positions().collect::<Vec<_>>(), at, "seed {seed}");
            let packed = at.iter().zip(at.first().copied().unwrap_or(0)..).all(|(&a, b)| a == b);
            assert_eq!(x.is_contiguous(), packed, "seed {seed}, {:?}", x.layout());
            let different = at.iter().collect::<HashSet<_>>().len();
            assert_eq!(x.layout().shows_an_element_twice(), different < at.len(), "seed {seed}");
        }
    }
}

/// Miri, which interprets, gets the shapes of up to one size only.
const RANKS: usize = if cfg!(miri) { 1 } else { 3 };

/// Every pair of shapes of up to three sizes 0 to 3 against the rule, dimension by dimension.
#[test]
fn broadcasting_follows_the_rule() {
    let shapes: Vec<Vec<usize>> = (0..=RANKS).flat_map(|rank| indices(&vec![4; rank])).collect();
    for (a, b) in shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a, b))) {
        let size = |x: &[usize], back: usize| x.len().checked_sub(back).map_or(1, |at| x[at]);
        let rank = a.len().max(b.len());
        let want: Option<Vec<usize>> = (1..=rank)
            .rev()
            .map(|back| match (size(a, back), size(b, back)) {
                (x, 1) => Some(x),
                (x, y) => (x == y || x == 1).then_some(y),
            })
            .collect();
        let add = || Tensor::zeros(a).add(&Tensor::zeros(b));
        let Some(want) = want else {
            assert_eq!(refused(add).op, "add", "{a:?} and {b:?}");
            continue;
        };
        assert_eq!(add().shape(), want, "{a:?} and {b:?}");
    }
}

#[test]
fn strides_count_elements_and_a_size_of_1_asks_for_none() {
    let x = Tensor::zeros(&[2, 3, 4]);
    assert_eq!(x.strides(), [12, 4, 1]);
    assert_eq!(x.transpose(0, 2).strides(), [1, 4, 12]);
    assert_eq!(x.transpose(0, 2).shape(), [4, 3, 2]);
    assert_eq!(Tensor::zeros(&[3, 1]).expand(&[2, 3, 4]).strides(), [0, 1, 0]);
    assert!(Tensor::zeros(&[1, 5]).transpose(0, 1).is_contiguous());
    assert!(Tensor::zeros(&[1]).expand(&[1, 1]).is_contiguous());
    assert!(!Tensor::zeros(&[1]).expand(&[2]).is_contiguous());
    assert!(Tensor::zeros(&[0, 5]).transpose(0, 1).is_contiguous());
}

#[test]
fn eight_dimensions_are_the_most() {
    assert_eq!(Tensor::ones(&[1; MAX_DIMS]).sum_dims(&[-1], false).shape(), [1; MAX_DIMS - 1]);
    assert_eq!(Tensor::ones(&[2; MAX_DIMS]).transpose(0, 7).copy().sum().item(), 256.0);
}
