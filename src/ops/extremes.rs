//! The largest and the smallest elements, and where they are.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::{Reduce, View};
use crate::ops::reduce::Over;
use crate::ops::{expect_dim, refuse};
use crate::profiler;

impl Tensor {
    /// The largest of all elements. NaN if one is NaN. Equal maxima share the gradient.
    ///
    /// # Panics
    /// If there are no elements.
    #[track_caller]
    pub fn max(&self) -> Tensor {
        self.max_dims(&[], false)
    }

    /// The smallest of all elements, as [`max`](Tensor::max).
    ///
    /// # Panics
    /// If there are no elements.
    #[track_caller]
    pub fn min(&self) -> Tensor {
        self.min_dims(&[], false)
    }

    /// The maximum over `dims` (PyTorch's `amax`), which are read as in
    /// [`sum_dims`](Tensor::sum_dims). NaN if an element is NaN. Equal maxima share the gradient.
    ///
    /// # Panics
    /// If there is nothing to take the maximum of.
    #[track_caller]
    pub fn max_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        apply(Extreme::new("max", self, dims, keepdim, Reduce::Max), [self])
    }

    /// The minimum over `dims` (PyTorch's `amin`), as [`max_dims`](Tensor::max_dims).
    ///
    /// # Panics
    /// If there is nothing to take the minimum of.
    #[track_caller]
    pub fn min_dims(&self, dims: &[isize], keepdim: bool) -> Tensor {
        apply(Extreme::new("min", self, dims, keepdim, Reduce::Min), [self])
    }

    /// PyTorch's name for [`max_dims`](Tensor::max_dims).
    ///
    /// # Panics
    /// If there is nothing to take the maximum of.
    #[track_caller]
    pub fn amax(&self, dims: &[isize], keepdim: bool) -> Tensor {
        self.max_dims(dims, keepdim)
    }

    /// PyTorch's name for [`min_dims`](Tensor::min_dims).
    ///
    /// # Panics
    /// If there is nothing to take the minimum of.
    #[track_caller]
    pub fn amin(&self, dims: &[isize], keepdim: bool) -> Tensor {
        self.min_dims(dims, keepdim)
    }

    /// The largest element along `dim` and where it is (PyTorch's `max(dim)`): the first one of
    /// equals, the first NaN if there is one. That element alone gets the gradient.
    ///
    /// # Panics
    /// If the dimension does not exist or is empty.
    #[track_caller]
    pub fn max_along(&self, dim: isize, keepdim: bool) -> (Tensor, Tensor) {
        self.pick("max", dim, keepdim, self.place_of("max", Reduce::Max, dim))
    }

    /// The smallest element along `dim` and where it is (PyTorch's `min(dim)`), as
    /// [`max_along`](Tensor::max_along).
    ///
    /// # Panics
    /// If the dimension does not exist or is empty.
    #[track_caller]
    pub fn min_along(&self, dim: isize, keepdim: bool) -> (Tensor, Tensor) {
        self.pick("min", dim, keepdim, self.place_of("min", Reduce::Min, dim))
    }

    /// The index (`i64`) of the largest element along `dim`: the first one of equals, the first
    /// NaN if there is one. It has no gradient.
    ///
    /// # Panics
    /// If the dimension does not exist or is empty.
    #[track_caller]
    pub fn argmax(&self, dim: isize) -> Tensor {
        self.place_of("argmax", Reduce::Max, dim)
    }

    /// The index (`i64`) of the smallest element along `dim`, as [`argmax`](Tensor::argmax).
    ///
    /// # Panics
    /// If the dimension does not exist or is empty.
    #[track_caller]
    pub fn argmin(&self, dim: isize) -> Tensor {
        self.place_of("argmin", Reduce::Min, dim)
    }

    /// The place (`i64`) of the largest of all elements, counted in logical order (PyTorch's
    /// `argmax` without a dimension).
    ///
    /// # Panics
    /// If there are no elements.
    #[track_caller]
    pub fn argmax_all(&self) -> Tensor {
        self.detach().reshape(&[self.numel()]).place_of("argmax", Reduce::Max, 0)
    }

    /// The place (`i64`) of the smallest of all elements, as [`argmax_all`](Tensor::argmax_all).
    ///
    /// # Panics
    /// If there are no elements.
    #[track_caller]
    pub fn argmin_all(&self) -> Tensor {
        self.detach().reshape(&[self.numel()]).place_of("argmin", Reduce::Min, 0)
    }

    #[track_caller]
    fn place_of(&self, op: &'static str, f: Reduce, dim: isize) -> Tensor {
        let dim = expect_dim(op, self, dim);
        if self.shape().get(dim) == Some(&0) {
            refuse(op, &[self], "there are no elements along an empty dimension".to_string());
        }
        let mut order: Vec<usize> = (0..self.shape().len()).filter(|&other| other != dim).collect();
        let outer = order.len();
        order.extend((dim < self.shape().len()).then_some(dim));
        let rows = self.layout().permute(&order);
        let _span = profiler::unrecorded(op);
        let x = View { storage: self.storage(), layout: &rows };
        Tensor::packed(self.device().backend().arg_reduce(f, x), &rows.shape()[..outer])
    }

    /// The elements at one place of each row along `dim`, and those places.
    #[track_caller]
    fn pick(&self, op: &'static str, dim: isize, keep: bool, place: Tensor) -> (Tensor, Tensor) {
        let dim = expect_dim(op, self, dim) as isize;
        if self.shape().is_empty() {
            return (self.copy(), place);
        }
        let index = place.unsqueeze(dim);
        let values = self.gather(dim, &index);
        if keep { (values, index) } else { (values.squeeze(dim), place) }
    }
}

/// y = max x or min x over some dimensions. Shapes: `(B, T, C) → (B, C)` for T. Gradient: dy goes
/// to the extreme element, in equal parts to equal ones, as in PyTorch's `amax`. Saves x and y.
struct Extreme {
    over: Over,
    f: Reduce,
}

impl Extreme {
    #[track_caller]
    fn new(name: &'static str, x: &Tensor, dims: &[isize], keepdim: bool, f: Reduce) -> Extreme {
        let over = Over::new(name, x, dims, keepdim);
        if over.count() == 0 {
            refuse(name, &[x], format!("the {name}imum of no elements does not exist"));
        }
        Extreme { over, f }
    }
}

impl Op<1> for Extreme {
    fn name(&self) -> &'static str {
        match self.f {
            Reduce::Max => "max",
            _ => "min",
        }
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = self.over.reduce(self.f, x, x.dtype());
        ctx.save(x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let is_extreme = ctx.saved(0).eq(&self.over.repeat(&ctx.saved(1)));
        [Some(self.over.share(&is_extreme, dy))]
    }
}
