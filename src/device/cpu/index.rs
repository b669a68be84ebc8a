//! Kernels that go by an index tensor: gather and take, and gather's transpose scatter_add.

use crate::device::View;
use crate::device::cpu::elements;
use crate::device::cpu::walk::map;
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
