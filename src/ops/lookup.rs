//! Looking elements up by index tensors, and putting others in their places.
//!
//! All of it goes through one list of places: the index, counted in x's logical order, of each
//! element that is meant. `take` reads them and `put_` writes them.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply, apply_in_place};
use crate::dtype::DType;
use crate::layout::Layout;
use crate::ops::{expect_one_device, refuse};
use crate::shape::{Dims, broadcast};

impl Tensor {
    /// The elements at places counted in logical order, whatever x's shape; the result has the
    /// shape of the index. −1 is the last element.
    ///
    /// # Panics
    /// If the index is not `i64` or there is no such element.
    #[track_caller]
    pub fn take(&self, index: &Tensor) -> Tensor {
        let index = self.checked_places("take", index);
        apply(Take { from: *self.layout().shape() }, [self, &index])
    }

    /// The elements at places counted in logical order become those of `src`, or those are added;
    /// in place. −1 is the last element.
    ///
    /// # Panics
    /// As [`take`](Tensor::take) and [`copy_`](Tensor::copy_), and if the index and `src` differ in
    /// shape.
    #[track_caller]
    pub fn put_(&self, index: &Tensor, src: &Tensor, accumulate: bool) {
        if index.shape() != src.shape() {
            let message = "the index and the source must have one shape".to_string();
            refuse("put_", &[self, index, src], message);
        }
        let index = self.checked_places("put_", index);
        self.put_as("put_", &index, src, accumulate);
    }

    /// As [`put_`](Tensor::put_) on behalf of `op`, at places that exist.
    #[track_caller]
    fn put_as(&self, op: &'static str, places: &Tensor, src: &Tensor, accumulate: bool) {
        self.check_writable(op, &[self, src]);
        let by_index = op == "index_put_";
        apply_in_place(PutInPlace { by_index, accumulate }, [self, places, &src.to(self.dtype())]);
    }

    /// Python's `x[i, :, j]`: an index tensor for each dimension, `None` for all of it; dimensions
    /// at the end may be left out. A `bool` tensor takes the place of as many dimensions as it has
    /// and means the places where it is true.
    ///
    /// The index tensors broadcast, and their shape stands in the result where the indexed
    /// dimensions were; in front if those are not neighbours. Always a copy.
    ///
    /// # Panics
    /// If an index is out of range (−1 is the last one), or the indices do not fit x.
    #[track_caller]
    pub fn index(&self, indices: &[Option<&Tensor>]) -> Tensor {
        let places = self.places("index", indices);
        self.take(&places)
    }

    /// Python's `x[i, :, j] = values`, or `+=` with `accumulate`, in place; the values broadcast to
    /// what [`index`](Tensor::index) would give. Of equal indices, the last one wins.
    ///
    /// # Panics
    /// As [`index`](Tensor::index) and [`copy_`](Tensor::copy_).
    #[track_caller]
    pub fn index_put_(&self, indices: &[Option<&Tensor>], values: &Tensor, accumulate: bool) {
        let places = self.places("index_put_", indices);
        if broadcast(places.shape(), values.shape()).is_none_or(|to| &*to != places.shape()) {
            let message =
                format!("the values do not broadcast to {:?}, what is indexed", places.shape());
            refuse("index_put_", &[self, values], message);
        }
        self.put_as("index_put_", &places, &values.expand(places.shape()), accumulate);
    }

    /// Places without negative ones.
    #[track_caller]
    fn checked_places(&self, op: &'static str, index: &Tensor) -> Tensor {
        expect_one_device(op, &[self, index]);
        if index.dtype() != DType::I64 {
            refuse(op, &[self, index], "the index must be i64".to_string());
        }
        let size = self.numel() as i64;
        let places = index.to_vec::<i64>();
        if let Some(bad) = places.iter().find(|place| !(-size..size).contains(*place)) {
            let message = format!("there is no element {bad}: the tensor has {size}");
            refuse(op, &[self, index], message);
        }
        if places.iter().all(|place| *place >= 0) {
            return index.clone();
        }
        let from_front = places.into_iter().map(|place| place.rem_euclid(size));
        Tensor::from_vec(from_front.collect(), index.shape()).to(self.device())
    }

    /// The places that index tensors mean, in the shape of what they pick.
    #[track_caller]
    fn places(&self, op: &'static str, indices: &[Option<&Tensor>]) -> Tensor {
        let lists = self.lists(op, indices);
        let Some(picked) = common_shape(&lists) else {
            let shapes: Vec<&[usize]> = lists.iter().flatten().map(|list| list.shape()).collect();
            refuse(op, &[self], format!("indices of shapes {shapes:?} do not broadcast"))
        };
        let packed = Layout::contiguous(self.shape());
        let mut offsets = vec![0; picked.numel()];
        for (dim, list) in lists.iter().enumerate() {
            let Some(list) = list else { continue };
            let entries = list.expand(&picked).to_vec::<i64>();
            for (offset, entry) in offsets.iter_mut().zip(entries) {
                *offset += entry as usize * packed.strides()[dim];
            }
        }
        let is_indexed = |dim: usize| lists.get(dim).is_some_and(Option::is_some);
        let first = (0..lists.len()).find(|&dim| is_indexed(dim)).unwrap_or(0);
        let together = lists[first..].iter().skip_while(|list| list.is_some()).all(Option::is_none);
        let front = |dim: usize| together && dim < first;
        // All other dimensions stay: those before the indexed ones in front, if these are together.
        let (rest, _) = packed.split(is_indexed);
        let kept: Vec<usize> = (0..self.shape().len()).filter(|&dim| !is_indexed(dim)).collect();
        let (after, before) = rest.split(|at| front(kept[at]));
        let mut places = Vec::new();
        for start in before.positions() {
            for offset in &offsets {
                places.extend(after.positions().map(|at| (start + offset + at) as i64));
            }
        }
        let shape = [&before.shape()[..], &picked[..], &after.shape()[..]].concat();
        Tensor::from_vec(places, &shape).to(self.device())
    }

    /// For each dimension the list of its indices, counted from the front, in the host's memory;
    /// `None` for all.
    #[track_caller]
    fn lists(&self, op: &'static str, indices: &[Option<&Tensor>]) -> Vec<Option<Tensor>> {
        let mut lists = Vec::new();
        for index in indices {
            let dim = lists.len();
            match index {
                None => lists.push(None),
                Some(index) if index.dtype() == DType::Bool => {
                    let sizes = self.shape().get(dim..dim + index.shape().len());
                    if sizes != Some(index.shape()) || index.shape().is_empty() {
                        let message = format!(
                            "a mask must have the sizes of the dimensions from {dim} on that it \
                             stands for"
                        );
                        refuse(op, &[self, index], message);
                    }
                    lists.extend(true_places(index).into_iter().map(Some));
                }
                Some(index) => lists.push(Some(self.checked_list(op, dim, index))),
            }
        }
        if lists.len() > self.shape().len() {
            let message = format!("{} indices for {} dimensions", lists.len(), self.shape().len());
            refuse(op, &[self], message);
        }
        lists
    }

    #[track_caller]
    fn checked_list(&self, op: &'static str, dim: usize, index: &Tensor) -> Tensor {
        if !matches!(index.dtype(), DType::I64 | DType::I32) {
            let message = "an index is i64 or i32, or bool for a mask".to_string();
            refuse(op, &[self, index], message);
        }
        let size = self.shape().get(dim).copied().unwrap_or(0) as i64;
        let entries = index.to(DType::I64).to_vec::<i64>();
        if let Some(bad) = entries.iter().find(|entry| !(-size..size).contains(*entry)) {
            let message = format!("there is no element {bad}: dimension {dim} has {size}");
            refuse(op, &[self, index], message);
        }
        let from_front = entries.into_iter().map(|entry| entry.rem_euclid(size.max(1)));
        Tensor::from_vec(from_front.collect(), index.shape())
    }
}

fn common_shape(lists: &[Option<Tensor>]) -> Option<Dims> {
    lists.iter().flatten().try_fold(Dims::new(&[]), |shape, list| broadcast(&shape, list.shape()))
}

/// For each dimension of a mask, where along it the true elements are; in the host's memory.
fn true_places(mask: &Tensor) -> Vec<Tensor> {
    let packed = Layout::contiguous(mask.shape());
    let values = mask.to_vec::<bool>();
    let found: Vec<usize> = (0..values.len()).filter(|&at| values[at]).collect();
    let along = |dim: usize| {
        let (size, stride) = (packed.shape()[dim], packed.strides()[dim]);
        let list = found.iter().map(|at| (at / stride % size) as i64).collect();
        Tensor::from_vec(list, &[found.len()])
    };
    (0..mask.shape().len()).map(along).collect()
}

/// y = the elements of x at some places. Shapes: any, index: `(B, K)` → `(B, K)`.
/// Gradient: dx is dy added up where it was taken from. Saves the index.
struct Take {
    from: Dims,
}

impl Op<2> for Take {
    fn name(&self) -> &'static str {
        "take"
    }

    fn forward(&self, ctx: &mut Ctx, [x, index]: [&Tensor; 2]) -> Tensor {
        ctx.save(index);
        let y = x.device().backend().take(x.view_of(), index.view_of());
        Tensor::packed(y, index.shape())
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let dx = Tensor::full_on(&self.from, 0, dy.dtype(), dy.device());
        dx.put_(&ctx.saved(0), dy, true);
        [Some(dx), None]
    }
}

/// x = src at some places, or x += src there. Shapes: any, index and src: `(B, K)` → x's.
/// Gradient: dx = dy, but 0 where x was overwritten, and dy taken at the places for src.
/// Saves the index.
struct PutInPlace {
    /// Whether the places were given by index tensors.
    by_index: bool,
    accumulate: bool,
}

impl Op<3> for PutInPlace {
    fn name(&self) -> &'static str {
        match self.by_index {
            true => "index_put_",
            false => "put_",
        }
    }

    fn forward(&self, ctx: &mut Ctx, [x, index, src]: [&Tensor; 3]) -> Tensor {
        ctx.save(index);
        let backend = x.device().backend();
        let (x_view, index, src) = (x.view_of(), index.view_of(), src.view_of());
        backend.put_in_place(self.name(), x_view, index, src, self.accumulate);
        x.clone()
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 3] {
        let index = ctx.saved(0);
        let dsrc = ctx.needs(2).then(|| dy.take(&index));
        if self.accumulate {
            return [Some(dy.clone()), None, dsrc];
        }
        let dx = dy.copy();
        let zeros = Tensor::full_on(index.shape(), 0, dy.dtype(), dy.device());
        dx.put_(&index, &zeros, false);
        [Some(dx), None, dsrc]
    }
}
