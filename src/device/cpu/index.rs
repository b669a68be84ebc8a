//! Kernels that go by an index tensor: gather, take and index_select, and the additions that are
//! their transposes.

use crate::device::View;
use crate::device::cpu::walk::map;
use crate::device::cpu::{elements, operand};
use crate::dtype::{Arithmetic, Element};
use crate::layout::Layout;
use crate::memory::room;
use crate::storage::Storage;

/// `y[i, j] = x[index[i, j], j]` for `dim` 0, and so on.
pub fn gather<T: Element>(x: View, dim: usize, index: View) -> Storage {
    let buffer = x.storage.read("gather");
    let values = elements::<T>(&buffer);
    let index_buffer = index.storage.read("gather");
    let positions = indexed_positions(x.layout, dim, elements(&index_buffer), index.layout);
    let mut out = room(index.layout.shape().numel());
    out.extend(positions.map(|position| values[position]));
    Storage::new(out)
}

/// A copy of x with `y[index[i, j], j] += src[i, j]` for `dim` 0, and so on.
pub fn scatter_add<T: Element>(x: View, dim: usize, index: View, src: View) -> Storage {
    let packed = Layout::contiguous(x.layout.shape());
    let buffer = x.storage.read("scatter_add");
    let mut out = map((elements::<T>(&buffer), x.layout), T::to_compute);
    let index_buffer = index.storage.read("scatter_add");
    let src_buffer = src.storage.read("scatter_add");
    let added = elements::<T>(&src_buffer);
    let targets = indexed_positions(&packed, dim, elements(&index_buffer), index.layout);
    for (target, source) in targets.zip(src.layout.positions()) {
        out[target] = out[target].add(added[source].to_compute());
    }
    // Rounded once, after all that falls on one place has been added up.
    Storage::new(out.into_iter().map(T::of_compute).collect::<Vec<T>>())
}

/// `(V, ..), (K) → (K, ..)`: slices of the first dimension.
pub fn index_select<T: Element>(x: View, index: View) -> Storage {
    let (buffer, index_buffer) = (x.storage.read(SELECT), index.storage.read(SELECT));
    let (values, indices) = (elements::<T>(&buffer), elements::<i64>(&index_buffer));
    let (slice, step) = slices(x.layout);
    let len = slice.shape().numel();
    let mut out: Vec<T> = room(index.layout.shape().numel() * len);
    for at in index.layout.positions().filter(|_| len > 0) {
        let values = &values[x.layout.offset() + indices[at] as usize * step..];
        match slice.is_contiguous() {
            true => out.extend_from_slice(&values[..len]),
            false => out.extend(slice.positions().map(|position| values[position])),
        }
    }
    Storage::new(out)
}

/// A copy of x, `(V, ..)`, with slices of src, `(K, ..)`, added where the index says, in its order.
pub fn index_add<T: Element>(x: View, index: View, src: View) -> Storage {
    let (x_buffer, src_buffer) = (x.storage.read(ADD), src.storage.read(ADD));
    let index_buffer = index.storage.read(ADD);
    let (values, indices) = (elements::<T>(&src_buffer), elements::<i64>(&index_buffer));
    let mut out = map(operand::<T>(&x_buffer, x), T::to_compute);
    let (slice, step) = slices(src.layout);
    let len = slice.shape().numel();
    for (i, at) in index.layout.positions().enumerate().filter(|_| len > 0) {
        let values = &values[src.layout.offset() + i * step..];
        let sums = out[indices[at] as usize * len..][..len].iter_mut();
        match slice.is_contiguous() {
            true => sums.zip(values).for_each(|(sum, x)| *sum = sum.add(x.to_compute())),
            false => sums
                .zip(slice.positions())
                .for_each(|(sum, position)| *sum = sum.add(values[position].to_compute())),
        }
    }
    // Rounded once, after all that falls on one place has been added up.
    Storage::new(out.into_iter().map(T::of_compute).collect::<Vec<T>>())
}

const SELECT: &str = "index_select";
const ADD: &str = "index_add";

/// The layout of one slice of the first dimension, from its own first element on, and the step from
/// one slice to the next.
fn slices(layout: &Layout) -> (Layout, usize) {
    (layout.select(0, 0).moved_back(layout.offset()), layout.strides()[0])
}

/// `y[i]` is the element of x at place `index[i]`, counted in logical order.
pub fn take<T: Element>(x: View, index: View) -> Storage {
    let (buffer, index_buffer) = (x.storage.read("take"), index.storage.read("take"));
    let (values, indices) =
        (elements::<T>(&buffer), (elements::<i64>(&index_buffer), index.layout));
    if x.layout.is_contiguous() {
        let first = x.layout.offset();
        return Storage::new(map(indices, |place| values[first + place as usize]));
    }
    let places: Vec<usize> = x.layout.positions().collect();
    Storage::new(map(indices, |place| values[places[place as usize]]))
}

/// For each element of the index, in logical order: the position in `x` of the element at the
/// same place, except that its place in `dim` is the index.
fn indexed_positions<'a>(
    x: &Layout,
    dim: usize,
    index: &'a [i64],
    index_layout: &'a Layout,
) -> impl Iterator<Item = usize> + 'a {
    let step = x.strides()[dim];
    // Walk x under the index's shape with a step of 0 in `dim`: there the index decides.
    let others = x.frozen(dim, index_layout.shape());
    let pairs = others.positions().collect::<Vec<_>>().into_iter().zip(index_layout.positions());
    pairs.map(move |(base, at)| base + index[at] as usize * step)
}
