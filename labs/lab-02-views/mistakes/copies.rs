//! Wrong copies: 2.5.

use super::super::cache::Memory;
use super::super::header::Header;
use super::super::solution;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    [orders(), numbers()].into_iter().flatten().collect()
}

fn gather(diagnosis: &'static str, name: &'static str, f: fn(&mut Memory, &Header)) -> Wrong {
    wrong("2.5", diagnosis, name, |table| table.gather = f)
}

fn orders() -> Vec<Wrong> {
    vec![
        gather("2.5-row-by-row", "row by row", |memory, from| by(memory, from, true)),
        gather("2.5-column-by-column", "column by column", |memory, from| by(memory, from, false)),
        gather("2.5-order-of-storage", "in the order of the storage", |memory, from| {
            by(memory, from, from.strides[0] > from.strides[1]);
        }),
        gather("2.5-long-side-inside", "the long side inside", |memory, from| {
            by(memory, from, from.shape[0] <= from.shape[1]);
        }),
        gather("2.5-too-many-lines", "every 64th column", |memory, from| {
            let (rows, columns) = (from.shape[0], from.shape[1]);
            for first in 0..64 {
                for j in (first..columns).step_by(64) {
                    (0..rows).for_each(|i| copy(memory, from, i, j));
                }
            }
        }),
    ]
}

fn numbers() -> Vec<Wrong> {
    vec![
        gather("2.5-strides-ignored", "one after the other", |memory, from| {
            let strides = vec![from.shape[1], 1];
            solution::gather(memory, &Header { strides, ..from.clone() });
        }),
        gather("2.5-offset-forgotten", "from the beginning", |memory, from| {
            solution::gather(memory, &Header { offset: 0, ..from.clone() });
        }),
        gather("2.5-transposed", "packs columns", |memory, from| {
            for i in 0..from.shape[0] {
                for j in 0..from.shape[1] {
                    memory.copy(solution::position(from, &[i, j]), j * from.shape[0] + i);
                }
            }
        }),
        gather("2.5-incomplete", "all columns but one", |memory, from| {
            for i in 0..from.shape[0] {
                for j in 1..from.shape[1] {
                    copy(memory, from, i, j);
                }
            }
        }),
        gather("2.5-another-memory", "a fresh memory for the used one", |memory, from| {
            by(memory, from, true);
            let packed = memory.target().to_vec();
            let mut fresh = Memory::new(packed.clone(), packed.len());
            (0..packed.len()).for_each(|place| fresh.copy(place, place));
            *memory = fresh;
        }),
        gather("2.5-copied-again", "both ways", |memory, from| {
            by(memory, from, true);
            by(memory, from, false);
        }),
        gather("2.5-out-of-bounds", "places in bytes", |memory, from| {
            for i in 0..from.shape[0] {
                for j in 0..from.shape[1] {
                    let place = 4 * solution::position(from, &[i, j]);
                    memory.copy(place, i * from.shape[1] + j);
                }
            }
        }),
    ]
}

fn copy(memory: &mut Memory, from: &Header, i: usize, j: usize) {
    memory.copy(solution::position(from, &[i, j]), i * from.shape[1] + j);
}

fn by(memory: &mut Memory, from: &Header, rows_outside: bool) {
    let (rows, columns) = (from.shape[0], from.shape[1]);
    if rows_outside {
        (0..rows).for_each(|i| (0..columns).for_each(|j| copy(memory, from, i, j)));
    } else {
        (0..columns).for_each(|j| (0..rows).for_each(|i| copy(memory, from, i, j)));
    }
}
