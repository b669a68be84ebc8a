//! Wrong headers: 2.1, 2.2 and 2.3.

use super::super::header::Header;
use super::super::solution::{self, contiguous_strides};
use super::{Wrong, wrong};

pub fn strides() -> Vec<Wrong> {
    let of_shape = |diagnosis, name, f: fn(&[usize]) -> Vec<usize>| {
        wrong("2.1", diagnosis, name, |table| table.contiguous_strides = f)
    };
    let place = |diagnosis, name, f: fn(&Header, &[usize]) -> usize| {
        wrong("2.1", diagnosis, name, |table| table.position = f)
    };
    vec![
        of_shape("2.1-column-major", "the first index moves first", |shape| {
            (0..shape.len()).map(|dim| shape[..dim].iter().product()).collect()
        }),
        of_shape("2.1-own-size", "the own size counted too", |shape| {
            (0..shape.len()).map(|dim| shape[dim..].iter().product()).collect()
        }),
        of_shape("2.1-backwards", "pushed and not turned around", |shape| {
            contiguous_strides(shape).into_iter().rev().collect()
        }),
        of_shape("2.1-next-size-only", "the next size alone", |shape| {
            (0..shape.len()).map(|dim| shape.get(dim + 1).copied().unwrap_or(1)).collect()
        }),
        of_shape("2.1-sizes", "sizes for strides", <[usize]>::to_vec),
        of_shape("2.1-bytes", "bytes", |shape| {
            contiguous_strides(shape).iter().map(|stride| 4 * stride).collect()
        }),
        of_shape("2.1-size-one", "size 1 gets stride 0", |shape| {
            let strides = contiguous_strides(shape);
            strides.iter().zip(shape).map(|(&s, &n)| if n == 1 { 0 } else { s }).collect()
        }),
        place("2.1-offset-forgotten", "from the first element on", |header, index| {
            solution::position(header, index) - header.offset
        }),
        place("2.1-strides-of-the-shape", "as if it were packed", |header, index| {
            let strides = contiguous_strides(&header.shape);
            solution::position(&Header { strides, ..header.clone() }, index)
        }),
        place("2.1-index-backwards", "the last index first", |header, index| {
            let steps = index.iter().rev().zip(&header.strides).map(|(i, stride)| i * stride);
            header.offset + steps.sum::<usize>()
        }),
    ]
}

pub fn permutes() -> Vec<Wrong> {
    [orders(), parts()].into_iter().flatten().collect()
}

fn orders() -> Vec<Wrong> {
    let order = |diagnosis, name, f: fn(&Header, &[usize]) -> Header| {
        wrong("2.2", diagnosis, name, |table| table.permute = f)
    };
    vec![
        order("2.2-order-inverted", "where each one goes", |header, order| {
            let mut result = header.clone();
            for (from, &to) in order.iter().enumerate() {
                result.shape[to] = header.shape[from];
                result.strides[to] = header.strides[from];
            }
            result
        }),
        order("2.2-strides-stay", "sizes only", |header, order| {
            let Header { shape, .. } = solution::permute(header, order);
            Header { shape, ..header.clone() }
        }),
        order("2.2-packed-strides", "strides of the new shape", |header, order| {
            let result = solution::permute(header, order);
            Header { strides: contiguous_strides(&result.shape), ..result }
        }),
        order("2.2-shape-stays", "strides only", |header, order| {
            let Header { strides, .. } = solution::permute(header, order);
            Header { strides, ..header.clone() }
        }),
        order("2.2-offset-lost", "from the beginning of the storage", |header, order| Header {
            offset: 0,
            ..solution::permute(header, order)
        }),
    ]
}

fn parts() -> Vec<Wrong> {
    let part = |diagnosis, name, f: fn(&Header, usize, usize, usize) -> Header| {
        wrong("2.2", diagnosis, name, |table| table.narrow = f)
    };
    vec![
        part("2.2-offset-replaced", "the old offset gone", |header, dim, start, len| {
            let offset = start * header.strides[dim];
            Header { offset, ..solution::narrow(header, dim, start, len) }
        }),
        part("2.2-offset-in-steps", "an offset in steps", |header, dim, start, len| {
            let offset = header.offset + start;
            Header { offset, ..solution::narrow(header, dim, start, len) }
        }),
        part("2.2-offset-stays", "the size only", |header, dim, _, len| {
            solution::narrow(header, dim, 0, len)
        }),
        part("2.2-size-stays", "the offset only", |header, dim, start, _| {
            solution::narrow(header, dim, start, header.shape[dim])
        }),
        part("2.2-length-is-an-end", "an end for a length", |header, dim, start, len| {
            solution::narrow(header, dim, start, len.saturating_sub(start))
        }),
        part("2.2-rest-kept", "all from the start on", |header, dim, start, _| {
            solution::narrow(header, dim, start, header.shape[dim] - start)
        }),
    ]
}

pub fn expands() -> Vec<Wrong> {
    [broadcasts(), refused(), granted()].into_iter().flatten().collect()
}

fn expand(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&Header, &[usize]) -> Option<Header>,
) -> Wrong {
    wrong("2.3", diagnosis, name, |table| table.expand = f)
}

fn broadcasts() -> Vec<Wrong> {
    vec![
        expand("2.3-stride-kept", "stretched without stride 0", |header, shape| {
            let mut result = solution::expand(header, shape)?;
            let added = shape.len() - header.shape.len();
            result.strides[added..].copy_from_slice(&header.strides);
            Some(result)
        }),
        expand("2.3-packed-strides", "strides of the large shape", |header, shape| {
            let strides = contiguous_strides(shape);
            Some(Header { strides, ..solution::expand(header, shape)? })
        }),
        expand("2.3-new-dimension-steps", "new dimensions step", |header, shape| {
            let mut result = solution::expand(header, shape)?;
            let added = shape.len() - header.shape.len();
            result.strides[..added].copy_from_slice(&contiguous_strides(shape)[..added]);
            Some(result)
        }),
        expand("2.3-offset-lost", "from the beginning of the storage", |header, shape| {
            Some(Header { offset: 0, ..solution::expand(header, shape)? })
        }),
        expand("2.3-all-zero", "stride 0 everywhere", |header, shape| {
            let strides = vec![0; shape.len()];
            Some(Header { strides, ..solution::expand(header, shape)? })
        }),
        expand("2.3-aligned-in-front", "from the first size on", |header, shape| {
            let mut full = header.clone();
            full.shape.resize(shape.len().max(full.shape.len()), 1);
            full.strides.resize(full.shape.len(), 0);
            solution::expand(&full, shape)
        }),
        expand("2.3-larger-size", "the larger size", |header, shape| {
            let own = |dim: usize| {
                let added = shape.len() - header.shape.len();
                dim.checked_sub(added).map_or(0, |dim| header.shape[dim])
            };
            let result = solution::expand(header, shape)?;
            let sizes = shape.iter().enumerate().map(|(dim, &size)| size.max(own(dim)));
            Some(Header { shape: sizes.collect(), ..result })
        }),
    ]
}

fn refused() -> Vec<Wrong> {
    vec![
        expand("2.3-nothing-to-stretch", "refuses what fits already", |header, shape| {
            if header.shape == shape { None } else { solution::expand(header, shape) }
        }),
        expand(
            "2.3-no-new-dimensions",
            "as many dimensions as before",
            |header, shape| match header.shape.len() == shape.len() {
                true => solution::expand(header, shape),
                false => None,
            },
        ),
    ]
}

fn granted() -> Vec<Wrong> {
    vec![
        expand("2.3-fewer-dimensions", "drops what is too much", |header, shape| {
            let surplus = header.shape.len().saturating_sub(shape.len());
            let strides = header.strides[surplus..].to_vec();
            let shape_left = header.shape[surplus..].to_vec();
            solution::expand(&Header { shape: shape_left, strides, offset: header.offset }, shape)
        }),
        expand("2.3-nothing-fits-all", "0 for anything", |header, shape| {
            let free = |&dim: &usize| shape.get(dim) == Some(&0);
            let empty = header.shape.len() == shape.len() && (0..shape.len()).any(|d| free(&d));
            match empty {
                true => Some(Header { shape: shape.to_vec(), ..header.clone() }),
                false => solution::expand(header, shape),
            }
        }),
        expand("2.3-shrinks", "a 1 on either side", |header, shape| {
            let mut cut = header.clone();
            let added = shape.len().checked_sub(cut.shape.len())?;
            for (own, &size) in cut.shape.iter_mut().zip(&shape[added..]) {
                *own = if size == 1 { 1 } else { *own };
            }
            solution::expand(&cut, shape)
        }),
        expand("2.3-whole-times", "any multiple", |header, shape| {
            stretched(header, shape, |own, size| own > 0 && size > own && size % own == 0)
        }),
        expand("2.3-any-size-stretches", "any smaller size", |header, shape| {
            stretched(header, shape, |own, size| own > 0 && size > own)
        }),
    ]
}

/// Stretches where `also` says so, and where it is right.
fn stretched(header: &Header, shape: &[usize], also: fn(usize, usize) -> bool) -> Option<Header> {
    let mut cut = header.clone();
    let added = shape.len().checked_sub(cut.shape.len())?;
    for (own, &size) in cut.shape.iter_mut().zip(&shape[added..]) {
        *own = if also(*own, size) { 1 } else { *own };
    }
    solution::expand(&cut, shape)
}
