//! 2.5: a packed copy, number by number, and the cache lines that it fetches.

use std::collections::BTreeSet;

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Death, Diagnosis};

use super::super::cache::{Fetched, LINE, Memory};
use super::super::header::Header;
use super::Implementation;
use super::headers::{header, places};

/// A matrix, in words, and its header.
type Matrix = (&'static str, Header);

/// A matrix, what its copy has fetched, and how much it may.
struct Copied {
    called: String,
    from: Header,
    got: Fetched,
    must: Fetched,
}

/// 2.5
pub fn gather(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for (words, from) in small(&mut rng) {
        copied(imp, check, words, &from)?;
    }
    let mut all = Vec::new();
    for (words, from) in large(&mut rng) {
        all.push(copied(imp, check, words, &from)?);
    }
    fetched(check, &all)
}

fn small(rng: &mut Generator) -> Vec<Matrix> {
    let (n, m, offset) = (3 + rng.below(3), 7 + rng.below(4), 5 + rng.below(20));
    vec![
        ("a packed matrix", header(&[n, m], &[m, 1], 0)),
        ("its transpose", header(&[m, n], &[1, m], 0)),
        ("a part of a matrix", header(&[n, m], &[m + 4, 1], offset)),
        ("the transpose of a part", header(&[m, n], &[1, m + 4], offset)),
        ("every other number", header(&[m, n], &[2 * n + 1, 2], offset)),
        ("one row", header(&[1, m], &[99, 3], offset)),
        ("one column", header(&[m, 1], &[3, 99], offset)),
        ("one row for all", header(&[n, m], &[0, 1], offset)),
        ("one column for all", header(&[m, n], &[1, 0], offset)),
        ("no rows", header(&[0, m], &[m, 1], 0)),
        ("no columns", header(&[n, 0], &[1, 1], 0)),
    ]
}

/// One side is at most 40 long. A head is `d` wide, and there are `t` tokens.
fn large(rng: &mut Generator) -> Vec<Matrix> {
    let (d, t) = (33 + rng.below(8), 250 + rng.below(80));
    let (wide, offset) = (3 * d + 16 + rng.below(9), 7 + rng.below(30));
    vec![
        ("the keys of a head, packed", header(&[t, d], &[d, 1], 0)),
        ("the same, transposed", header(&[d, t], &[1, d], 0)),
        ("the keys within a row of several heads", header(&[t, d], &[wide, 1], offset)),
        ("the same, transposed", header(&[d, t], &[1, wide], offset)),
        ("keys that were stored transposed", header(&[t, d], &[1, t + 3], offset)),
        ("the same, transposed", header(&[d, t], &[t + 3, 1], offset)),
        ("a bias for every token", header(&[t, d], &[0, 1], offset)),
        ("a number a token, for every column", header(&[t, d], &[1, 0], offset)),
        ("the same, transposed", header(&[d, t], &[0, 1], offset)),
        ("a square", header(&[39, 40], &[1, 45], offset)),
    ]
}

/// Numbers first: what lies where, and how often it was copied.
fn copied(
    imp: &Implementation,
    check: &mut Check,
    words: &str,
    from: &Header,
) -> Result<Copied, Diagnosis> {
    let called = format!("gather(memory, {from}), {words}");
    let places = places(from);
    let storage = places.iter().max().map_or(1, |last| last + 2);
    // Each number of the storage says where it lies.
    let mut memory = Memory::new((0..storage).map(|place| place as f32).collect(), places.len());
    check.if_it_dies(Death::Panicked, "2.5-out-of-bounds", BOUNDS);
    let packed = memory.target().as_ptr();
    check.call(called.as_str(), || (imp.gather)(&mut memory, from))?;
    check.require(memory.target().as_ptr() == packed, || {
        Diagnosis::new("2.5-another-memory")
            .called(called.as_str())
            .got("a Memory that the function has made itself")
            .expected("the one that was given, with all that it has fetched")
            .thought(ANOTHER)
    })?;
    numbers(check, &called, from, &places, memory.target())?;
    let count = places.len() as u64;
    check.require(memory.copies() == count, || {
        Diagnosis::new("2.5-copied-again")
            .called(called.as_str())
            .got(format!("{} calls of memory.copy", memory.copies()))
            .expected(format!("{count}, one for each number"))
            .thought(AGAIN)
    })?;
    let lines = |places: &mut dyn Iterator<Item = usize>| {
        places.map(|place| place / LINE).collect::<BTreeSet<usize>>().len() as u64
    };
    let must = Fetched {
        source: lines(&mut places.iter().copied()),
        target: lines(&mut (0..places.len())),
    };
    Ok(Copied { called, from: from.clone(), got: memory.fetched(), must })
}

fn numbers(
    check: &Check,
    called: &str,
    from: &Header,
    places: &[usize],
    target: &[f32],
) -> Result<(), Diagnosis> {
    let fits = |(got, want): (&f32, &usize)| *got == *want as f32;
    let Some(first) = target.iter().zip(places).position(|pair| !fits(pair)) else {
        return Ok(());
    };
    let (rows, columns) = (from.shape[0], from.shape[1]);
    let of = |header: &Header| super::headers::places(header);
    let turned = header(&[columns, rows], &[from.strides[1], from.strides[0]], from.offset);
    let ideas = [
        ("2.5-strides-ignored", IGNORED, of(&header(&from.shape, &[columns, 1], from.offset))),
        ("2.5-strides-ignored", IGNORED, of(&header(&from.shape, &[columns, 1], 0))),
        ("2.5-offset-forgotten", OFFSET, of(&Header { offset: 0, ..from.clone() })),
        ("2.5-transposed", TRANSPOSED, of(&turned)),
    ];
    let known = ideas.iter().find(|(.., places)| target.iter().zip(places).all(fits));
    let missing = target.iter().any(|number| number.is_nan());
    let (key, thought) = match known {
        Some((key, thought, _)) => (*key, *thought),
        None if missing => ("2.5-incomplete", MISSING),
        None => (key::WRONG_VALUE, ""),
    };
    check.require(false, || {
        let (got, want) = (target[first], places[first]);
        let got = if got.is_nan() { "nothing".into() } else { format!("number {got}") };
        Diagnosis::new(key)
            .called(format!("{called}\nevery number of the storage is its place there"))
            .got(format!("{got} at place {first} of the packed memory"))
            .expected(format!("number {want}"))
            .thought(thought)
    })
}

/// An order to go through a matrix: its key, its thought, and whether the rows are the outer loop.
type Order = (&'static str, &'static str, fn(&Header) -> bool);

const ORDERS: &[Order] = &[
    ("2.5-row-by-row", ROWS, |_| true),
    ("2.5-column-by-column", COLUMNS, |_| false),
    ("2.5-order-of-storage", STORAGE, |from| from.strides[0] >= from.strides[1]),
    ("2.5-long-side-inside", LONG, |from| from.shape[0] < from.shape[1]),
];

/// Then the lines. The order that fetched as many for every matrix is what was thought.
fn fetched(check: &Check, all: &[Copied]) -> Result<(), Diagnosis> {
    let sum = |fetched: Fetched| fetched.source + fetched.target;
    let over = all.iter().find(|copied| sum(copied.got) > 3 * sum(copied.must));
    let Some(Copied { called, got, must, .. }) = over else { return Ok(()) };
    let known = ORDERS.iter().find(|(.., rows_outside)| {
        all.iter().all(|copied| in_order(&copied.from, rows_outside(&copied.from)) == copied.got)
    });
    let (key, thought) =
        known.map_or(("2.5-too-many-lines", LINES), |(key, thought, _)| (*key, *thought));
    check.require(false, || {
        let Fetched { source, target } = got;
        let most = 3 * sum(*must);
        Diagnosis::new(key)
            .called(called.as_str())
            .got(format!("{source} lines of the storage and {target} of the packed memory"))
            .expected(format!(
                "at most {most} together; {} and {} hold numbers of the matrix",
                must.source, must.target
            ))
            .thought(thought)
    })
}

/// What a plain pair of loops fetches.
fn in_order(from: &Header, rows_outside: bool) -> Fetched {
    let (rows, columns) = (from.shape[0], from.shape[1]);
    let last = places(from).into_iter().max().unwrap_or(0);
    let mut memory = Memory::new(vec![0.0; last + 1], rows * columns);
    let (outer, inner) = if rows_outside { (rows, columns) } else { (columns, rows) };
    for a in 0..outer {
        for b in 0..inner {
            let (i, j) = if rows_outside { (a, b) } else { (b, a) };
            memory.copy(super::headers::place(from, &[i, j]), i * columns + j);
        }
    }
    memory.fetched()
}

const BOUNDS: &str = "A place does not exist. The place in the storage is the offset plus each \
    index times its stride; the place in the packed memory is row times columns plus column.";
const ANOTHER: &str = "The memory was exchanged for a fresh one, which has counted nothing of what \
    it took to fill the first.";
const IGNORED: &str = "The numbers came in the order of the storage, as if it held the matrix \
    row by row. The header's strides say where element [i, j] lies.";
const OFFSET: &str = "The view was read from the beginning of the storage. It begins at its \
    offset.";
const TRANSPOSED: &str = "The packed memory holds the matrix column by column. Element [i, j] \
    belongs at place i times the number of columns plus j, in whatever order you go.";
const MISSING: &str = "Not every number was copied. Whatever the order, every pair of row and \
    column has its turn once.";
const AGAIN: &str = "The numbers are right, and some were copied more than once.";
const ROWS: &str = "That is row by row. Where the rows are long and the storage runs down the \
    columns, the inner loop jumps to a new line of the storage with every step. There are more \
    steps in a row than the cache has lines, so the next row finds none of them left: each line \
    is fetched 16 times, for one number at a time.";
const COLUMNS: &str = "That is column by column. The inner loop jumps to a new line of the \
    packed memory with every step, and in a tall matrix there are more steps than the cache has \
    lines: each line is fetched 16 times, for one number at a time.";
const STORAGE: &str = "That is the order of the storage, which reads each line once. But where \
    the storage runs down long columns, the packed memory jumps to a new line with every step, \
    and none is left when the next column comes. Reading in order is half of the work.";
const LONG: &str = "The inner loop runs along the longer side. One of storage and packed memory \
    jumps with each of its steps, over more lines than the cache holds, and fetches them all \
    again in the next round. Along the shorter side they fit.";
const LINES: &str = "The numbers are right and too many lines were fetched. A line pays if all \
    its 16 numbers are used before it has to make room. Which loop jumps from line to line, and \
    over how many before it comes back?";
