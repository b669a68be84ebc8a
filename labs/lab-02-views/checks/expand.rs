//! 2.3: broadcasts, and shapes that are none.

use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis, Idea};

use super::super::header::Header;
use super::Implementation;
use super::headers::{compare, header, packed, random};

/// 2.3
pub fn expand(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for (from, to) in broadcasts(&mut rng) {
        check.if_it_dies(Death::Panicked, "panicked", "");
        one(imp, check, &from, &to, Some(right(&from, &to)))?;
    }
    for (from, to) in refusals(&mut rng) {
        if to.len() < from.shape.len() {
            check.if_it_dies(Death::Panicked, "2.3-fewer-dimensions", FEWER);
        }
        one(imp, check, &from, &to, None)?;
    }
    Ok(())
}

/// A view of this shape with strides of its own.
fn view(rng: &mut Generator, shape: &[usize]) -> Header {
    let random = random(rng, 4);
    header(shape, &random.strides[..shape.len()], random.offset)
}

type Case = (Header, Vec<usize>);

fn broadcasts(rng: &mut Generator) -> Vec<Case> {
    let (n, m) = (3 + rng.below(4), 7 + rng.below(4));
    let mut case = |from: &[usize], to: &[usize]| (view(rng, from), to.to_vec());
    vec![
        case(&[n, 1], &[n, m]),
        case(&[1, m], &[n, m]),
        case(&[n], &[n, n]),
        case(&[768], &[4_096, 768]),
        case(&[n, 1], &[4, n, m]),
        case(&[2, 1, n, 1], &[2, m, n, 5]),
        case(&[n, m], &[n, m]),
        case(&[n, m], &[2, 5, n, m]),
        case(&[n, m], &[1, n, m]),
        case(&[], &[2, n]),
        case(&[], &[]),
        case(&[1], &[1]),
        case(&[1, n], &[0, n]),
        case(&[1], &[0]),
        case(&[0, 1], &[0, m]),
        case(&[n], &[0, n]),
        case(&[0, n], &[0, n]),
    ]
}

fn refusals(rng: &mut Generator) -> Vec<Case> {
    let n = 3 + rng.below(4);
    let mut case = |from: &[usize], to: &[usize]| (view(rng, from), to.to_vec());
    vec![
        case(&[n], &[n + 1]),
        case(&[n, 2], &[n, n]),
        case(&[2], &[4]),
        case(&[2, n], &[6, n]),
        case(&[2], &[2, n]),
        case(&[n, n + 1], &[n, n + 1, 2]),
        case(&[n], &[1]),
        case(&[n, 2], &[1, 2]),
        case(&[n], &[0]),
        case(&[0], &[n]),
        case(&[0, n], &[1, n]),
        case(&[2, n], &[n]),
        case(&[1, n], &[n]),
        case(&[n], &[]),
        case(&[1], &[]),
    ]
}

/// The strides of a broadcast: 0 in new and in stretched dimensions.
fn right(from: &Header, to: &[usize]) -> Header {
    let added = to.len() - from.shape.len();
    let own = |dim: usize| {
        let own = dim.checked_sub(added)?;
        (from.shape[own] == to[dim]).then_some(from.strides[own])
    };
    let strides: Vec<usize> = (0..to.len()).map(|dim| own(dim).unwrap_or(0)).collect();
    header(to, &strides, from.offset)
}

fn one(
    imp: &Implementation,
    check: &mut Check,
    from: &Header,
    to: &[usize],
    want: Option<Header>,
) -> Result<(), Diagnosis> {
    let called = format!("expand({from}; to {to:?})");
    let got = check.call(called.as_str(), || (imp.expand)(from, to))?;
    let ideas = match &want {
        Some(right) => misread(from, right),
        None => granted(from, to, &got),
    };
    compare(check, &called, &got, &want, &ideas)
}

/// Wrong answers where there is a right one.
fn misread(from: &Header, right: &Header) -> Vec<Idea<Option<Header>>> {
    let idea = |key, thought, value| Idea { key, thought, value };
    let with = |strides: Vec<usize>| Some(Header { strides, ..right.clone() });
    let added = right.shape.len() - from.shape.len();
    // Stretched dimensions keep their stride; new ones have 0, or one as if they were stored.
    let kept = [vec![0; added], from.strides.clone()].concat();
    let mut stored = kept.clone();
    stored[..added].copy_from_slice(&packed(&right.shape)[..added]);
    let mut larger = right.clone();
    let offset = larger.shape.len() - from.shape.len();
    for (size, &own) in larger.shape[offset..].iter_mut().zip(&from.shape) {
        *size = own.max(*size);
    }
    // From the front, as nobody's broadcasting does.
    let mut front = vec![0; right.shape.len()];
    let aligned = from.shape.iter().zip(&right.shape).zip(&from.strides);
    for (slot, ((own, to), stride)) in front.iter_mut().zip(aligned) {
        *slot = if own == to { *stride } else { 0 };
    }
    let empty = right.shape.contains(&0);
    let mut ideas = vec![
        idea("2.3-stride-kept", KEPT, with(kept)),
        idea("2.3-packed-strides", PACKED, with(packed(&right.shape))),
        idea("2.3-new-dimension-steps", NEW, with(stored)),
        idea("2.3-offset-lost", LOST, Some(Header { offset: 0, ..right.clone() })),
        idea("2.3-all-zero", ZEROS, with(vec![0; right.shape.len()])),
        idea("2.3-aligned-in-front", FRONT, with(front)),
    ];
    if empty {
        ideas.insert(0, idea("2.3-larger-size", LARGER, Some(larger)));
        ideas.insert(0, idea("2.3-larger-size", LARGER, None));
    } else if from.shape.is_empty() || from.shape == right.shape {
        ideas.insert(0, idea("2.3-nothing-to-stretch", NOTHING, None));
    } else if added > 0 {
        ideas.insert(0, idea("2.3-no-new-dimensions", ADDED, None));
    }
    ideas
}

/// The thought behind an answer where there should be none.
fn granted(from: &Header, to: &[usize], got: &Option<Header>) -> Vec<Idea<Option<Header>>> {
    let idea = |key, thought| vec![Idea { key, thought, value: got.clone() }];
    if to.len() < from.shape.len() {
        return idea("2.3-fewer-dimensions", FEWER);
    }
    let behind = &to[to.len() - from.shape.len()..];
    let mut pairs = from.shape.iter().zip(behind).filter(|(own, to)| own != to && **own != 1);
    match pairs.next() {
        Some((0, _)) | Some((_, 0)) => idea("2.3-nothing-fits-all", EMPTY),
        Some((_, 1)) => idea("2.3-shrinks", SHRINKS),
        _ if to.len() > from.shape.len() && to.starts_with(&from.shape) => {
            idea("2.3-aligned-in-front", FRONT)
        }
        Some((own, to)) if to % own == 0 => idea("2.3-whole-times", TIMES),
        _ => idea("2.3-any-size-stretches", ANY),
    }
}

const KEPT: &str = "A stretched dimension kept its stride. One step along it leads to the next \
    element in memory, which belongs to something else; it has to lead to the same element \
    again.";
const PACKED: &str = "Those are the strides of a packed tensor of the large shape. Its elements \
    have not been written down: the storage holds each of them once.";
const NEW: &str = "A new dimension in front got a stride. There is one copy of the elements, and \
    each step along the new dimension starts it again: stride 0.";
const LOST: &str = "The offset is gone. The first element is the same one as before.";
const ZEROS: &str = "All strides are 0, so every index leads to the first element. Dimensions \
    that are not stretched keep their strides.";
const FRONT: &str = "The shapes were aligned at their first sizes. Broadcasting aligns them at \
    their last ones: new dimensions come in front.";
const LARGER: &str = "A dimension of size 1 may be stretched to 0: the result has no elements. \
    The larger of the two sizes, or a test for a size that grows, gets this case wrong.";
const NOTHING: &str = "It was refused. A tensor without dimensions, and one that has the shape \
    already, are broadcasts too: nothing has to be stretched.";
const ADDED: &str = "It was refused. New dimensions may be added in front, with stride 0.";
const FEWER: &str = "The new shape has fewer dimensions. `expand` adds and stretches, and never \
    drops one, not even one of size 1: the answer is None.";
const EMPTY: &str = "A size of 0 fits only 0 and 1. Elements do not come from nowhere, and a \
    dimension of several elements cannot be stretched to none.";
const SHRINKS: &str = "A dimension was shrunk to size 1. Broadcasting goes one way: the header's \
    sizes of 1 are stretched, the asked for sizes of 1 stretch nothing.";
const TIMES: &str = "The size fits several times into the one asked for. Repeating a block of \
    elements would need a dimension more; a stride repeats one element only. PyTorch's `repeat` \
    copies.";
const ANY: &str = "A dimension of several elements was changed. Only size 1 can be stretched: of \
    several elements none is the one to repeat.";
