//! Wrong answers to whether a reshape can be a view: 2.4.

use super::super::header::Header;
use super::super::solution::{contiguous_strides, view_strides};
use super::{Wrong, wrong};

/// What is left out of the rule, or done wrongly.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    NoMerge,
    NoRemainder,
    NoStep,
    NoSkip,
    Pairs,
    NoNewOnes,
}

pub fn mistakes() -> Vec<Wrong> {
    [common(), rare()].into_iter().flatten().collect()
}

fn view(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&Header, &[usize]) -> Option<Vec<usize>>,
) -> Wrong {
    wrong("2.4", diagnosis, name, |table| table.view_strides = f)
}

fn common() -> Vec<Wrong> {
    vec![
        view("2.4-packed-refused", "splits and never merges", |header, shape| {
            checked(header, shape, Flaw::NoMerge)
        }),
        view("2.4-strides-ignored", "packed strides for everything", |header, shape| {
            let count = |shape: &[usize]| shape.iter().product::<usize>();
            (count(shape) == count(&header.shape)).then(|| contiguous_strides(shape))
        }),
        view("2.4-contiguous-only", "asks is_contiguous", |header, shape| {
            let strides = view_strides(header, &header.shape)?;
            let packed = contiguous_strides(&header.shape);
            let mut dims = header.shape.iter().zip(strides.iter().zip(&packed));
            let fits = dims.all(|(&size, (own, packed))| size == 1 || own == packed);
            if fits || header.shape.contains(&0) { view_strides(header, shape) } else { None }
        }),
        view("2.4-wrong-steps", "each run steps by 1", |header, shape| {
            let mut strides = view_strides(header, shape)?;
            let least = strides.iter().zip(shape).filter(|(_, size)| **size > 1).map(|(s, _)| *s);
            let least = least.min().unwrap_or(1).max(1);
            strides.iter_mut().for_each(|stride| *stride /= least);
            let packed = header.strides.iter().zip(&header.shape).any(|(&s, &n)| s == 1 && n > 1);
            if packed && header.offset == 0 {
                strides[0] += 1
            }
            Some(strides)
        }),
        view("2.4-crosses-a-gap", "divides without a remainder", |header, shape| {
            checked(header, shape, Flaw::NoRemainder)
        }),
        view("2.4-step-forgotten", "the inner size alone", |header, shape| {
            checked(header, shape, Flaw::NoStep)
        }),
    ]
}

fn rare() -> Vec<Wrong> {
    vec![
        view("2.4-size-one-in-the-way", "size 1 like any other", |header, shape| {
            checked(header, shape, Flaw::NoSkip)
        }),
        view("2.4-size-one-bridges", "neighbours in pairs", |header, shape| {
            checked(header, shape, Flaw::Pairs)
        }),
        view("2.4-new-size-one", "all new sizes must be used", |header, shape| {
            checked(header, shape, Flaw::NoNewOnes)
        }),
        view("2.4-stride-zero", "refuses stride 0", |header, shape| {
            let mut dims = header.shape.iter().zip(&header.strides);
            match dims.any(|(&size, &stride)| size > 1 && stride == 0) {
                true => None,
                false => view_strides(header, shape),
            }
        }),
        view("2.4-count", "as many elements as there are", |header, shape| {
            let count = |shape: &[usize]| shape.iter().product::<usize>();
            match count(shape) == count(&header.shape) {
                true => view_strides(header, shape),
                false => Some(contiguous_strides(shape)),
            }
        }),
        view("2.4-empty", "None without elements", |header, shape| {
            if shape.contains(&0) { None } else { view_strides(header, shape) }
        }),
    ]
}

fn checked(header: &Header, shape: &[usize], flaw: Flaw) -> Option<Vec<usize>> {
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    if count(shape) != count(&header.shape) || shape.contains(&0) {
        return view_strides(header, shape);
    }
    let mut strides = vec![1; shape.len()];
    let mut next = shape.len();
    for (mut size, mut stride) in runs(header, flaw) {
        while size > 1 {
            next -= 1;
            if size % shape[next] != 0 && flaw != Flaw::NoRemainder {
                return None;
            }
            strides[next] = stride;
            stride *= shape[next];
            size /= shape[next];
        }
    }
    (next == 0 || flaw != Flaw::NoNewOnes).then_some(strides)
}

/// Runs of memory, last first: elements and step.
fn runs(header: &Header, flaw: Flaw) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut last = 1;
    for (&size, &stride) in header.shape.iter().zip(&header.strides).rev() {
        if size == 1 && flaw != Flaw::NoSkip && flaw != Flaw::Pairs {
            continue;
        }
        match runs.last_mut() {
            Some((run, step)) if joins((*run, *step), (size, stride), last, flaw) => {
                *step = if *run == 1 { stride } else { *step };
                *run *= size;
            }
            _ => runs.push((size, stride)),
        }
        last = size;
    }
    runs
}

fn joins(run: (usize, usize), dim: (usize, usize), last: usize, flaw: Flaw) -> bool {
    match flaw {
        Flaw::NoMerge => false,
        Flaw::NoStep => dim.1 == run.0,
        Flaw::Pairs => dim.0 == 1 || last == 1 || dim.1 == run.0 * run.1,
        _ => dim.1 == run.0 * run.1,
    }
}
