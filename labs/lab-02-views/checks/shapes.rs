//! The cases of 2.4, ordered by what makes them go wrong, and any number of random ones.

use engine_room::rng::Generator;

use super::headers::{header, packed};
use super::view::{Case, Group};

fn case(shape: &[usize], strides: &[usize], to: &[usize]) -> Case {
    (header(shape, strides, 0), to.to_vec())
}

fn of_packed(shape: &[usize], to: &[usize]) -> Case {
    case(shape, &packed(shape), to)
}

/// What makes a case go wrong, from the common to the rare.
pub const GROUPS: &[Group] = &[
    Group {
        cases: |rng| {
            let n = 5 + rng.below(5);
            vec![
                of_packed(&[4, n], &[4 * n]),
                of_packed(&[6 * n], &[2, n, 3]),
                of_packed(&[4, 6 * n], &[2, 2, 3, 2 * n]),
                (header(&[n, 2, 6], &[12, 6, 1], 24), vec![2 * n, 3, 2]),
                of_packed(&[4, 6], &[3, 8]),
            ]
        },
        refused: ("2.4-packed-refused", PACKED),
        granted: ("2.4-wrong-steps", STEPS),
    },
    Group {
        cases: |rng| {
            let n = 5 + rng.below(4);
            vec![
                // A transpose, rows of a wider matrix, split heads: the dimensions stay apart.
                case(&[n, 6], &[1, n], &[n, 6]),
                case(&[n, 6], &[1, n], &[n, 2, 3]),
                case(&[6, n], &[1, 6], &[3, 2, n]),
                case(&[n, 12], &[30, 1], &[n, 3, 4]),
                case(&[6, n], &[30, 1], &[2, 3, n]),
                case(&[n, 2, 12], &[72, 36, 1], &[n, 2, 3, 4]),
            ]
        },
        refused: ("2.4-contiguous-only", CONTIGUOUS),
        granted: ("2.4-wrong-steps", STEPS),
    },
    Group {
        cases: |rng| {
            let n = 5 + rng.below(4);
            vec![
                case(&[3, 4], &[1, 3], &[12]),
                case(&[4, 6], &[12, 1], &[24]),
                case(&[4, 6], &[12, 1], &[3, 8]),
                case(&[4, 6], &[12, 1], &[2, 12]),
                case(&[4, 6], &[12, 1], &[8, 3, 1]),
                case(&[n, 2, 4], &[24, 12, 1], &[n, 8]),
                case(&[2, n, 3, 4], &[12 * n, 4, 4 * n, 1], &[2, n, 12]),
                case(&[n, 6], &[1, n], &[6, n]),
            ]
        },
        refused: ("2.4-contiguous-only", CONTIGUOUS),
        granted: ("2.4-crosses-a-gap", GAP),
    },
    Group {
        cases: |rng| {
            let n = 3 + rng.below(4);
            vec![
                case(&[n, 4], &[8, 2], &[4 * n]),
                // Batch and time merge, heads stay behind a gap.
                case(&[2, n, 4], &[12 * n, 12, 1], &[2 * n, 4]),
                case(&[2, n, 4], &[12 * n, 12, 3], &[n, 8]),
                case(&[6, 4], &[20, 5], &[3, 2, 2, 2]),
                case(&[n, 4], &[4, 2], &[4 * n]),
            ]
        },
        refused: ("2.4-step-forgotten", STEP),
        granted: ("2.4-step-forgotten", STEP),
    },
    Group {
        cases: |rng| {
            let any = 50 + rng.below(40);
            vec![
                case(&[4, 1, 6], &[6, any, 1], &[24]),
                case(&[1, 4, 6], &[any, 6, 1], &[2, 12]),
                case(&[4, 6, 1], &[6, 1, any], &[24]),
                case(&[1], &[any], &[]),
                case(&[4, 1, 6], &[any, 6, 1], &[24]),
                case(&[4, 6, 1], &[any, 1, 1], &[24]),
            ]
        },
        refused: ("2.4-size-one-in-the-way", ONE),
        granted: ("2.4-size-one-bridges", BRIDGE),
    },
    Group {
        cases: |_| {
            vec![
                of_packed(&[4, 6], &[1, 4, 1, 6, 1]),
                of_packed(&[4, 6], &[24, 1]),
                of_packed(&[5], &[1, 5]),
                of_packed(&[], &[1, 1]),
                of_packed(&[], &[]),
                case(&[4, 6], &[12, 1], &[4, 1, 1, 6]),
            ]
        },
        refused: ("2.4-new-size-one", NEW),
        granted: ("2.4-new-size-one", NEW),
    },
    Group {
        cases: |rng| {
            let n = 3 + rng.below(4);
            vec![
                case(&[n, 4], &[0, 0], &[4 * n]),
                case(&[n, 4], &[0, 1], &[n, 2, 2]),
                case(&[2, n, 4], &[0, 4, 1], &[2, 4 * n]),
                case(&[n, 4], &[0, 1], &[4 * n]),
                case(&[n, 4], &[1, 0], &[4 * n]),
                case(&[2, n, 4], &[0, 0, 1], &[2 * n, 4]),
            ]
        },
        refused: ("2.4-stride-zero", ZERO),
        granted: ("2.4-stride-zero", ZERO),
    },
    Group {
        cases: |_| {
            vec![
                of_packed(&[4, 6], &[4, 5]),
                of_packed(&[4, 6], &[4, 6, 2]),
                of_packed(&[4, 6], &[]),
                of_packed(&[], &[2]),
                of_packed(&[4, 6], &[12]),
                of_packed(&[2, 0], &[5]),
                of_packed(&[6], &[0]),
            ]
        },
        refused: ("2.4-count", COUNT),
        granted: ("2.4-count", COUNT),
    },
    Group {
        cases: |_| {
            vec![
                case(&[2, 0, 3], &[5, 9, 1], &[3, 0]),
                case(&[0], &[1], &[0, 7]),
                case(&[3, 0], &[1, 3], &[0]),
                case(&[0, 4], &[2, 8], &[4, 2, 0]),
            ]
        },
        refused: ("2.4-empty", EMPTY),
        granted: ("2.4-empty", EMPTY),
    },
];

/// A view of any strides, and a shape with as many elements: what the groups do not have.
pub fn any(rng: &mut Generator) -> Case {
    let sizes = [1, 2, 2, 3, 4, 6];
    let rank = 1 + rng.below(4);
    let mut shape: Vec<usize> = (0..rank).map(|_| sizes[rng.below(sizes.len())]).collect();
    let mut strides = packed(&shape);
    match rng.below(5) {
        0 => {}
        1 => strides.iter_mut().for_each(|stride| *stride *= 2),
        2 => strides[rng.below(rank)] = 0,
        3 => strides[0] += 4,
        _ => {
            let (a, b) = (rng.below(rank), rng.below(rank));
            shape.swap(a, b);
            strides.swap(a, b);
        }
    }
    let numel: usize = shape.iter().product();
    (header(&shape, &strides, rng.below(9)), factors(rng, numel))
}

/// Sizes whose product is `numel`, in any order, with a 1 among them now and then.
fn factors(rng: &mut Generator, numel: usize) -> Vec<usize> {
    let (mut left, mut sizes) = (numel, Vec::new());
    while left > 1 {
        let divisors: Vec<usize> = (2..=left).filter(|size| left % size == 0).collect();
        let size = divisors[rng.below(divisors.len())];
        left /= size;
        sizes.push(size);
    }
    if rng.below(3) == 0 {
        sizes.insert(rng.below(sizes.len() + 1), 1);
    }
    sizes
}

const PACKED: &str = "The elements lie packed, and any shape with as many elements is a view \
    then. Look at the case that was refused. Two dimensions merge if the outer stride is \
    the inner size times the inner stride.";
const STEPS: &str = "There are strides, and these lead to other elements. Inside a run of memory \
    the last new size steps as the run does, and each one before it by the sizes behind it times \
    that.";
const CONTIGUOUS: &str = "It was refused, and nothing has to move. The elements need not lie \
    packed: only dimensions that are merged must follow one another. Splitting one, or leaving \
    it as it is, is always possible.";
const GAP: &str = "No strides lead to these elements. A new dimension reaches over the end of a \
    run of memory: the next element lies elsewhere than one step further. Each run must split \
    exactly into new sizes.";
const STEP: &str = "Two dimensions merge if the outer stride equals the inner size times the \
    inner stride. Where elements lie 2 apart, a row of 4 is left after 8 places, not after 4.";
const ONE: &str = "A dimension of size 1 stood in the way. Nobody ever takes a step along it, so \
    its stride says nothing. Skip it, and compare its neighbours.";
const BRIDGE: &str = "The stride of a dimension of size 1 was believed. It says nothing about \
    where the next element lies. Skip it, and compare its neighbours.";
const NEW: &str = "Sizes of 1 in the new shape need no element of their own: they can stand \
    anywhere, also where all elements are used up, and take any stride.";
const ZERO: &str = "A stride of 0 follows the same rule: two dimensions merge if the outer \
    stride equals the inner size times the inner stride. So 0 merges with 0, and with nothing \
    else.";
const COUNT: &str = "The shapes hold different numbers of elements: the answer is None. The \
    product of no sizes is 1.";
const EMPTY: &str = "There are no elements, so no step is ever taken: any strides are right, and \
    None is not. Dividing by a size of 0, or waiting for a run to end, does not work here.";
