//! Layouts: where in a storage the element with a given index lies.
//!
//! Element `[i, j]` of a tensor lies at `offset + i * strides[0] + j * strides[1]`, counted in
//! elements. Transposing, broadcasting and reshaping write new numbers here and move nothing.

mod rows;

pub use rows::{coalesced, inner_row, pieces, rows};

use std::ops::Range;

use crate::shape::Dims;

/// Shape, strides and offset of a tensor within its storage, all counted in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    shape: Dims,
    strides: Dims,
    offset: usize,
}

impl Layout {
    /// The layout of a fresh tensor: rows one after the other, the last dimension step by 1.
    #[track_caller]
    pub fn contiguous(shape: &[usize]) -> Layout {
        let shape = Dims::new(shape);
        Layout { shape, strides: row_major_strides(&shape), offset: 0 }
    }

    /// The layout with these strides, one for each size, that begins at `offset`. The caller has
    /// checked that the elements lie in the storage.
    pub fn strided(shape: Dims, strides: Dims, offset: usize) -> Layout {
        Layout { shape, strides, offset }
    }

    /// Size of each dimension.
    pub fn shape(&self) -> &Dims {
        &self.shape
    }

    /// Elements to step over in the storage for one step in each dimension.
    pub fn strides(&self) -> &Dims {
        &self.strides
    }

    /// Position of the first element in the storage.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether the elements lie in the storage in logical order with no gaps.
    ///
    /// The stride of a dimension of size 1 is never used, so it does not count.
    pub fn is_contiguous(&self) -> bool {
        let packed = row_major_strides(&self.shape);
        let mut dims = self.shape.iter().zip(self.strides.iter()).zip(packed.iter());
        self.shape.contains(&0) || dims.all(|((&size, stride), want)| size == 1 || stride == want)
    }

    /// The layout with two dimensions exchanged.
    pub fn transpose(&self, a: usize, b: usize) -> Layout {
        let mut order: Vec<usize> = (0..self.shape.len()).collect();
        order.swap(a, b);
        self.permute(&order)
    }

    /// The layout with its dimensions in another order; `order` names each of them once.
    pub fn permute(&self, order: &[usize]) -> Layout {
        let mut out = *self;
        for (dim, &from) in order.iter().enumerate() {
            out.shape[dim] = self.shape[from];
            out.strides[dim] = self.strides[from];
        }
        out
    }

    /// Elements `start`, `start + step`, … of a dimension, `len` of them. The caller has checked
    /// that they exist.
    pub fn slice(&self, dim: usize, start: usize, len: usize, step: usize) -> Layout {
        let mut out = *self;
        out.shape[dim] = len;
        // A stride that is never used stays: multiplied with any step, it could overflow.
        out.strides[dim] *= if len > 1 { step } else { 1 };
        // An empty slice may begin at the end, where no element is: it then stays where it was.
        out.offset += if len == 0 { 0 } else { start * self.strides[dim] };
        out
    }

    /// One element of a dimension, which is gone in the result.
    pub fn select(&self, dim: usize, index: usize) -> Layout {
        let offset = self.offset + index * self.strides[dim];
        Layout { shape: self.shape.without(dim), strides: self.strides.without(dim), offset }
    }

    /// Windows of `size` elements along a dimension, each `step` elements behind the one before.
    /// The dimension counts the windows, and a new last dimension the elements within one. Windows
    /// overlap where `step` is less than `size`: they share elements, and nothing is copied. The
    /// caller has checked that `size` is not larger than the dimension.
    #[track_caller]
    pub fn unfold(&self, dim: usize, size: usize, step: usize) -> Layout {
        let windows = (self.shape[dim] - size) / step + 1;
        let mut out = self.slice(dim, 0, windows, step);
        out.shape = out.shape.with(size);
        out.strides = out.strides.with(self.strides[dim]);
        out
    }

    /// The layout broadcast to `shape`: stretched and new dimensions get stride 0, so that every
    /// step in them reads the same element. `None` if `shape` is not a broadcast of this one, or
    /// too large for any tensor.
    pub fn expand(&self, shape: &[usize]) -> Option<Layout> {
        let added = shape.len().checked_sub(self.shape.len())?;
        let shape = Dims::try_new(shape)?;
        shape.checked_numel()?;
        let mut strides = shape;
        for dim in 0..shape.len() {
            strides[dim] = match dim.checked_sub(added) {
                None => 0,
                Some(own) if self.shape[own] == shape[dim] => self.strides[own],
                Some(own) if self.shape[own] == 1 => 0,
                Some(_) => return None,
            };
        }
        Some(Layout { shape, strides, offset: self.offset })
    }

    /// The same elements under another shape, without a copy; `None` if the strides do not allow
    /// it. The caller has checked that both shapes hold equally many elements.
    ///
    /// Dimensions that lie behind one another in memory merge into one run, and each run must
    /// split exactly into dimensions of the new shape. The rule is PyTorch's `Tensor.view`.
    pub fn view(&self, shape: &[usize]) -> Option<Layout> {
        let shape = Dims::try_new(shape)?;
        if shape.contains(&0) {
            return Some(Layout { shape, strides: row_major_strides(&shape), offset: self.offset });
        }
        let mut strides = shape;
        let mut dim = shape.len();
        for (size, stride) in self.runs_from_the_back() {
            let (mut left, mut step) = (size, stride);
            while dim > 0 && (left > 1 || shape[dim - 1] == 1) {
                dim -= 1;
                if left % shape[dim] != 0 {
                    return None;
                }
                strides[dim] = step;
                step *= shape[dim];
                left /= shape[dim];
            }
            if left != 1 {
                return None;
            }
        }
        Some(Layout { shape, strides, offset: self.offset })
    }

    /// Runs of memory with one step, last first, as (elements, stride). Neighbouring dimensions
    /// belong to one run if the outer one steps over exactly the inner ones.
    fn runs_from_the_back(&self) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = vec![(1, 1)];
        for (&size, &stride) in self.shape.iter().zip(self.strides.iter()).rev() {
            let last = runs.len() - 1;
            let (elements, step) = runs[last];
            if size == 1 {
                continue;
            } else if elements == 1 {
                runs[last] = (size, stride);
            } else if stride == elements * step {
                runs[last] = (elements * size, step);
            } else {
                runs.push((size, stride));
            }
        }
        runs
    }

    /// Whether two indices lead to one element, as in an expanded tensor or in windows that
    /// overlap. Such a tensor cannot be written: one place cannot hold several values.
    pub fn shows_an_element_twice(&self) -> bool {
        let mut dims: Vec<(usize, usize)> =
            self.strides.iter().copied().zip(self.shape.to_vec()).collect();
        dims.retain(|&(_, size)| size != 1);
        dims.sort_unstable();
        // If each step leads beyond all that the smaller steps can reach, no two places agree.
        let mut reach = 0;
        let mut apart = true;
        for (stride, size) in dims {
            apart &= stride > reach;
            reach += stride * size.saturating_sub(1);
        }
        if apart || self.shape.contains(&0) {
            return false;
        }
        let mut seen = vec![false; reach + 1];
        self.positions().any(|at| std::mem::replace(&mut seen[at - self.offset], true))
    }

    /// The highest position of any element of a layout that has some; `None` if that is too large
    /// for a number.
    fn last_position(&self) -> Option<usize> {
        let mut steps = self.shape.iter().zip(self.strides.iter());
        steps.try_fold(self.offset, |at, (size, stride)| {
            at.checked_add((size - 1).checked_mul(*stride)?)
        })
    }

    /// The positions from the first element to the last, of a layout that has some.
    pub fn stretch(&self) -> Range<usize> {
        let last = self.last_position().expect("its elements lie in memory");
        self.offset..last + 1
    }

    /// The layout of the same elements in a storage that begins `start` elements later.
    pub fn moved_back(&self, start: usize) -> Layout {
        Layout { offset: self.offset - start, ..*self }
    }

    /// This layout of a part of what `whole` shows, as it would be if `whole` lay packed at the
    /// front of a storage; `None` if no strides say so. The gradient of `whole` lies like that.
    pub fn within(&self, whole: &Layout) -> Option<Layout> {
        if self.shape.contains(&0) || (whole.is_contiguous() && whole.offset == 0) {
            return Some(*self);
        }
        if whole.shows_an_element_twice() {
            return None;
        }
        // Runs of memory and their steps, largest first, beside the steps of the same runs packed.
        let mut runs = Vec::new();
        let mut packed = 1;
        for (size, step) in whole.runs_from_the_back() {
            runs.push((step, packed, size));
            packed *= size;
        }
        runs.sort_unstable_by(|a, b| b.cmp(a));
        // How many steps of each run make a distance in memory, and their distance when packed.
        let mut used = vec![0; runs.len()];
        let mut along = |mut distance: usize, times: usize| {
            let mut out = 0;
            for (&(step, packed, _), used) in runs.iter().zip(&mut used) {
                out += distance / step * packed;
                *used += distance / step * times;
                distance %= step;
            }
            (distance == 0).then_some(out)
        };
        let mut out = *self;
        out.offset = along(self.offset.checked_sub(whole.offset)?, 1)?;
        for dim in 0..self.shape.len() {
            out.strides[dim] = along(self.strides[dim], self.shape[dim].saturating_sub(1))?;
        }
        // No step may carry from one run into the next: then the sum of steps is their place.
        runs.iter().zip(&used).all(|(&(_, _, size), &used)| used < size).then_some(out)
    }

    /// Whether some element of `other`, a layout of the same storage, lies at an element of this
    /// one, but not all of them at the same index.
    pub fn overlaps_in_part(&self, other: &Layout) -> bool {
        if self == other || self.shape.contains(&0) || other.shape.contains(&0) {
            return false;
        }
        let (Some(own_end), Some(other_end)) = (self.last_position(), other.last_position()) else {
            return true;
        };
        if own_end < other.offset || other_end < self.offset {
            return false;
        }
        let mut own = vec![false; own_end + 1];
        self.positions().for_each(|at| own[at] = true);
        let shared = other.positions().any(|at| own.get(at) == Some(&true));
        shared && !(self.shape == other.shape && self.positions().eq(other.positions()))
    }

    /// A matrix as a batch of one matrix.
    pub fn as_batch_of_one(&self) -> Layout {
        let (shape, strides) = (&self.shape, &self.strides);
        Layout {
            shape: Dims::new(&[1, shape[0], shape[1]]),
            strides: Dims::new(&[0, strides[0], strides[1]]),
            offset: self.offset,
        }
    }

    /// Splits the dimensions in two: those for which `take` is false, and those for which it is
    /// true. The offset stays with the first; an element lies at the sum of both positions.
    pub fn split(&self, take: impl Fn(usize) -> bool) -> (Layout, Layout) {
        let part = |taken: bool, offset: usize| {
            let dims = (0..self.shape.len()).filter(|&dim| take(dim) == taken);
            let (sizes, steps): (Vec<usize>, Vec<usize>) =
                dims.map(|dim| (self.shape[dim], self.strides[dim])).unzip();
            Layout { shape: Dims::new(&sizes), strides: Dims::new(&steps), offset }
        };
        (part(false, self.offset), part(true, 0))
    }

    /// This layout with stride 0 in every dimension that does not step.
    pub fn stepping(&self, steps: impl Fn(usize) -> bool) -> Layout {
        let mut out = *self;
        for dim in (0..self.shape.len()).filter(|&dim| !steps(dim)) {
            out.strides[dim] = 0;
        }
        out
    }

    /// This layout cut to the leading part `shape` of each dimension, and with stride 0 in `dim`.
    pub fn frozen(&self, dim: usize, shape: &Dims) -> Layout {
        Layout { shape: *shape, ..self.stepping(|other| other != dim) }
    }

    /// The position in the storage of every element, in logical order.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        let (len, step) = inner_row(self);
        rows([self]).flat_map(move |[start]| (0..len).map(move |i| start + i * step))
    }
}

/// Strides of a packed tensor: the last dimension steps by 1, each one before it by the number of
/// elements behind it.
fn row_major_strides(shape: &Dims) -> Dims {
    let mut strides = *shape;
    let mut step = 1;
    for dim in (0..shape.len()).rev() {
        strides[dim] = step;
        step *= shape[dim];
    }
    strides
}
