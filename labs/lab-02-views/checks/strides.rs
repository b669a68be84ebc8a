//! 2.1: the strides of packed tensors, and the places of elements.

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Diagnosis, Idea};

use super::super::header::Header;
use super::Implementation;
use super::headers::{header, indices, packed, place, random};

/// 2.1
pub fn strides(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for shape in shapes(&mut rng) {
        of_shape(imp, check, &shape)?;
    }
    for shape in [&[2, 0, 3][..], &[0], &[0, 4], &[5, 0]] {
        of_nothing(imp, check, shape)?;
    }
    for rank in [2, 3, 4] {
        of_elements(imp, check, &random(&mut rng, rank))?;
    }
    // One row for all, no dimensions, a dimension of size 1 whose stride says nothing.
    for header in [
        header(&[4, 3], &[0, 1], 7),
        header(&[], &[], 11),
        header(&[3, 1, 2], &[2, 99, 1], 4),
        header(&[5], &[3], 0),
    ] {
        of_elements(imp, check, &header)?;
    }
    Ok(())
}

/// Shapes, ordinary ones first. No two sizes of one shape are equal.
fn shapes(rng: &mut Generator) -> Vec<Vec<usize>> {
    let mut size = |low: usize| low + rng.below(4);
    vec![
        vec![size(3), size(7)],
        vec![size(12), size(3), size(7)],
        vec![size(2), size(12), size(7), size(20)],
        vec![size(6)],
        vec![4, 1, size(6)],
        vec![1, size(3), 1, size(8), 1],
        vec![1],
        vec![],
        vec![32, 8_192, 32_000, 128],
    ]
}

fn of_shape(imp: &Implementation, check: &mut Check, shape: &[usize]) -> Result<(), Diagnosis> {
    let called = format!("contiguous_strides({shape:?})");
    let got = check.call(called.as_str(), || (imp.contiguous_strides)(shape))?;
    let want = packed(shape);
    let idea = |key, thought, value| Idea { key, thought, value };
    let without_ones = |stride: usize| {
        let strides = shape.iter().zip(&want);
        strides.map(|(&size, &own)| if size == 1 { stride } else { own }).collect()
    };
    let ideas = [
        idea("2.1-column-major", COLUMNS, (0..shape.len()).map(|d| product(&shape[..d])).collect()),
        idea("2.1-own-size", OWN, (0..shape.len()).map(|d| product(&shape[d..])).collect()),
        idea("2.1-backwards", BACKWARDS, want.iter().rev().copied().collect()),
        idea("2.1-next-size-only", NEXT, [shape.get(1..).unwrap_or(&[]), &[1]].concat()),
        idea("2.1-sizes", SIZES, shape.to_vec()),
        idea("2.1-bytes", BYTES, want.iter().map(|stride| 4 * stride).collect()),
        idea("2.1-size-one", ONE, without_ones(0)),
        idea("2.1-size-one", ONE, without_ones(1)),
    ];
    check.equal("strides", &called, &got, &want, &ideas)
}

fn product(sizes: &[usize]) -> usize {
    sizes.iter().product()
}

/// Without elements only the number of strides counts.
fn of_nothing(imp: &Implementation, check: &mut Check, shape: &[usize]) -> Result<(), Diagnosis> {
    let called = format!("contiguous_strides({shape:?})");
    let got = check.call(called.as_str(), || (imp.contiguous_strides)(shape))?;
    check.require(got.len() == shape.len(), || {
        Diagnosis::new(key::WRONG_VALUE)
            .called(called.as_str())
            .got(format!("{} strides", got.len()))
            .expected(format!("{}, one a dimension", shape.len()))
    })
}

fn of_elements(imp: &Implementation, check: &mut Check, header: &Header) -> Result<(), Diagnosis> {
    for index in indices(&header.shape) {
        let called = format!("position({header}; index {index:?})");
        let got = check.call(called.as_str(), || (imp.position)(header, &index))?;
        let along =
            |strides: &[usize]| index.iter().zip(strides).map(|(i, s)| i * s).sum::<usize>();
        let backwards: Vec<usize> = header.strides.iter().rev().copied().collect();
        let idea = |key, thought, value| Idea { key, thought, value };
        let ideas = [
            idea("2.1-offset-forgotten", OFFSET, along(&header.strides)),
            idea(
                "2.1-strides-of-the-shape",
                OF_SHAPE,
                header.offset + along(&packed(&header.shape)),
            ),
            idea("2.1-index-backwards", REVERSED, header.offset + along(&backwards)),
            idea("2.1-bytes", BYTES, 4 * place(header, &index)),
        ];
        check.equal("place", &called, &got, &place(header, &index), &ideas)?;
    }
    Ok(())
}

const COLUMNS: &str = "Those are the strides of columns packed one after the other, as Fortran \
    and MATLAB keep a matrix. Row by row, the last index moves first: the last stride is 1.";
const OWN: &str = "Each stride is too large by the size of its own dimension. One step along a \
    dimension passes over what lies behind it, not over the dimension itself.";
const BACKWARDS: &str = "The right numbers in the wrong order. The first dimension has the \
    longest step, the last one steps by 1.";
const NEXT: &str = "Each stride is the next size alone. That is right for a matrix. With three \
    dimensions, one step along the first passes over a whole matrix: all sizes behind it \
    multiply.";
const SIZES: &str = "Those are the sizes. A stride says how far the next element along a \
    dimension is, a size how many there are.";
const BYTES: &str = "That is counted in bytes. Strides, offsets and places are counted in \
    elements here and in PyTorch; NumPy's strides are in bytes.";
const ONE: &str = "A dimension of size 1 is counted like any other: PyTorch gives it the product \
    of the sizes behind it, though the number is never used.";
const OFFSET: &str = "You counted from the view's first element. The storage begins earlier, by \
    the offset: add it.";
const OF_SHAPE: &str = "That is where the element would lie if the tensor were packed. The \
    header's own strides say where it lies.";
const REVERSED: &str = "The first index was taken with the last stride. Index and stride belong \
    together by dimension.";
