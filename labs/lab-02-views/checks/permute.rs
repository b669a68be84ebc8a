//! 2.2: headers after a permute and after a narrow.

use engine_room::rng::Generator;
use grading::{Check, Diagnosis, Idea};

use super::super::header::Header;
use super::Implementation;
use super::headers::{compare, header, packed, random};

/// 2.2
pub fn permute(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for order in [&[1, 2, 0][..], &[0, 2, 3, 1], &[2, 0, 1], &[1, 0], &[3, 0, 2, 1], &[0], &[]] {
        permuted(imp, check, &random(&mut rng, order.len()), order)?;
    }
    permuted(imp, check, &header(&[1, 5, 4], &[99, 4, 1], 6), &[1, 2, 0])?;
    permuted(imp, check, &header(&[3, 5, 4], &[0, 4, 1], 6), &[2, 0, 1])?;
    for rank in [2, 3, 4, 1] {
        for dim in 0..rank {
            let from = random(&mut rng, rank);
            let (start, len) = stretch(&mut rng, from.shape[dim]);
            narrowed(imp, check, &from, dim, start, len)?;
        }
    }
    let from = random(&mut rng, 3);
    narrowed(imp, check, &from, 1, 0, from.shape[1])?;
    narrowed(imp, check, &from, 2, from.shape[2] - 1, 1)?;
    narrowed(imp, check, &from, 0, from.shape[0], 0)?;
    narrowed(imp, check, &header(&[6, 4], &[0, 1], 9), 0, 2, 3)
}

/// A start that is not 0 and a length that is none of the other numbers, where the size allows.
fn stretch(rng: &mut Generator, size: usize) -> (usize, usize) {
    let start = 1 + rng.below((size - 1).min(2));
    (start, 1 + rng.below(size - start))
}

fn idea(key: &'static str, thought: &'static str, value: Header) -> Idea<Option<Header>> {
    Idea { key, thought, value: Some(value) }
}

fn permuted(
    imp: &Implementation,
    check: &mut Check,
    from: &Header,
    order: &[usize],
) -> Result<(), Diagnosis> {
    let moved = |values: &[usize]| order.iter().map(|&dim| values[dim]).collect::<Vec<usize>>();
    let back = |values: &[usize]| {
        let mut out = values.to_vec();
        order.iter().zip(values).for_each(|(&dim, &value)| out[dim] = value);
        out
    };
    let (shape, strides) = (moved(&from.shape), moved(&from.strides));
    let want = header(&shape, &strides, from.offset);
    let ideas = [
        idea(
            "2.2-order-inverted",
            INVERTED,
            header(&back(&from.shape), &back(&from.strides), from.offset),
        ),
        idea("2.2-strides-stay", STAY, Header { strides: from.strides.clone(), ..want.clone() }),
        idea("2.2-packed-strides", PACKED, Header { strides: packed(&shape), ..want.clone() }),
        idea("2.2-shape-stays", SHAPE, Header { shape: from.shape.clone(), ..want.clone() }),
        idea("2.2-offset-lost", LOST, Header { offset: 0, ..want.clone() }),
    ];
    let called = format!("permute({from}; order {order:?})");
    let got = check.call(called.as_str(), || (imp.permute)(from, order))?;
    compare(check, &called, &Some(got), &Some(want), &ideas)
}

fn narrowed(
    imp: &Implementation,
    check: &mut Check,
    from: &Header,
    dim: usize,
    start: usize,
    len: usize,
) -> Result<(), Diagnosis> {
    let mut shape = from.shape.clone();
    shape[dim] = len;
    let want = header(&shape, &from.strides, from.offset + start * from.strides[dim]);
    let at = |offset: usize| Header { offset, ..want.clone() };
    let sized = |size: usize| {
        let mut wrong = want.clone();
        wrong.shape[dim] = size;
        wrong
    };
    let ideas = [
        idea("2.2-offset-replaced", REPLACED, at(start * from.strides[dim])),
        idea("2.2-offset-in-steps", STEPS, at(from.offset + start)),
        idea("2.2-offset-stays", STAYS, at(from.offset)),
        idea("2.2-packed-strides", PACKED, Header { strides: packed(&shape), ..want.clone() }),
        idea("2.2-size-stays", SIZE, sized(from.shape[dim])),
        idea("2.2-length-is-an-end", END, sized(len.saturating_sub(start))),
        idea("2.2-rest-kept", REST, sized(from.shape[dim] - start)),
    ];
    let called = format!("narrow({from}; dim {dim}, start {start}, len {len})");
    let got = check.call(called.as_str(), || (imp.narrow)(from, dim, start, len))?;
    compare(check, &called, &Some(got), &Some(want), &ideas)
}

const INVERTED: &str = "The order was read the other way round: as where each old dimension \
    goes. It says where each new one comes from: `order[0]` is the old dimension that is now \
    first.";
const STAY: &str = "The sizes moved and the strides stayed. The result has the right shape and \
    reads the wrong elements. A dimension takes its stride along.";
const PACKED: &str = "Those are the strides of a packed tensor of the new shape. Nothing has \
    moved, so the elements lie as they did: the strides have to come from the header.";
const SHAPE: &str = "The strides moved and the sizes stayed. A dimension takes its size along.";
const LOST: &str = "The offset is gone. The first element is the same one as before.";
const REPLACED: &str = "The new offset forgets the old one. This view may already begin in the \
    middle of its storage, and the offset counts from the beginning of that.";
const STEPS: &str = "The offset grew by the number of steps. It is counted in elements, and each \
    step along this dimension passes over as many as its stride says.";
const STAYS: &str = "The offset did not move, so the result shows the first elements along the \
    dimension and not those from `start` on.";
const SIZE: &str = "The size did not change: the result reaches beyond the elements asked for.";
const END: &str = "`len` was taken for the place where the elements end. It says how many there \
    are, as in PyTorch's `narrow`.";
const REST: &str = "All elements from `start` to the end were kept. `len` says how many to keep.";
