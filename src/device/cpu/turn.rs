//! Copies of transposed matrices, tile by tile.
//!
//! Along a row of a transposed matrix each step leads to another line of memory, of which only one
//! element is wanted; by the time that the next row comes to its neighbour the line is gone from
//! the cache. A tile of 16 by 16 uses each line that it reads, and each that it writes, completely.

use std::mem::MaybeUninit;

use crate::device::cpu::parallel::share;
use crate::device::cpu::walk::Operand;
use crate::layout::Layout;
use crate::memory::room;

/// Rows and columns of a tile: 16 elements of 4 bytes are a line of 64.
const TILE: usize = 16;

/// Whether the elements of the last dimension lie apart and those of the one before side by side.
pub fn is_turned(layout: &Layout) -> bool {
    let (shape, strides) = (layout.shape(), layout.strides());
    matches!(
        (&shape[..], &strides[..]),
        ([.., rows, columns], [.., 1, step]) if *step > 1 && *rows >= TILE && *columns >= TILE
    )
}

/// The elements of a layout that [`is_turned`], in logical order.
pub fn map_turned<T: Copy + Sync + Send>((x, layout): Operand<T>) -> Vec<T> {
    let rank = layout.shape().len();
    let (height, width) = (layout.shape()[rank - 2], layout.shape()[rank - 1]);
    let step = layout.strides()[rank - 1];
    // Where each matrix begins.
    let (matrices, _) = layout.split(|dim| dim + 2 >= rank);
    let starts: Vec<usize> = matrices.positions().collect();
    let numel = layout.shape().numel();
    let mut out = room(numel);
    let space = &mut out.spare_capacity_mut()[..numel];
    // Bands of rows of one matrix are the pieces of work.
    let bands = space.chunks_mut(height * width).zip(&starts).flat_map(|(matrix, &start)| {
        let bands = matrix.chunks_mut(TILE * width).enumerate();
        bands.map(move |(band, out)| (start + band * TILE, out))
    });
    share(bands, numel, |(start, out)| {
        let rows = out.len() / width;
        for column in (0..width).step_by(TILE) {
            let columns = (width - column).min(TILE);
            let (x, out) = (&x[start + column * step..], &mut out[column..]);
            Tile { x, step, rows, columns, out, width }.turn();
        }
    });
    // SAFETY: `room` made space for `numel` elements, the bands are all of it, and the tiles of a
    // band have filled it.
    unsafe { out.set_len(numel) };
    out
}

/// One tile: read column by column into a small square, written row by row.
struct Tile<'a, T> {
    x: &'a [T],
    step: usize,
    rows: usize,
    columns: usize,
    out: &'a mut [MaybeUninit<T>],
    width: usize,
}

impl<T: Copy> Tile<'_, T> {
    fn turn(self) {
        let mut tile = [[MaybeUninit::<T>::uninit(); TILE]; TILE];
        for column in 0..self.columns {
            let lying = &self.x[column * self.step..column * self.step + self.rows];
            for (row, &x) in tile.iter_mut().zip(lying) {
                row[column].write(x);
            }
        }
        for (row, filled) in tile.iter().enumerate().take(self.rows) {
            let at = row * self.width;
            self.out[at..at + self.columns].copy_from_slice(&filled[..self.columns]);
        }
    }
}
