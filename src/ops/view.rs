//! Views, which move no number, and the copies that are made when a view will not do.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::memory::count_hidden_copy;
use crate::ops::{expect_dim, refuse};
use crate::shape::{Dims, Size, given_sizes};

impl Tensor {
    /// The tensor with two dimensions exchanged: a view.
    #[track_caller]
    pub fn transpose(&self, a: isize, b: isize) -> Tensor {
        let (a, b) = (expect_dim("transpose", self, a), expect_dim("transpose", self, b));
        if self.shape().is_empty() { self.clone() } else { apply(Transpose(a, b), [self]) }
    }

    /// The tensor with its dimensions in another order: a view. `order` names each of them once.
    ///
    /// # Panics
    /// If it does not.
    #[track_caller]
    pub fn permute(&self, order: &[isize]) -> Tensor {
        let mut from = Vec::new();
        // A loop: the caller's line would be lost in a closure.
        for &dim in order {
            from.push(expect_dim("permute", self, dim));
        }
        let rank = self.shape().len();
        if from.len() != rank || (0..rank).any(|dim| !from.contains(&dim)) {
            let message = format!("{order:?} does not name each of the {rank} dimensions once");
            refuse("permute", &[self], message);
        }
        apply(Permute(from), [self])
    }

    /// The tensor without dimension `dim` if that has size 1; else the tensor itself. A view.
    #[track_caller]
    pub fn squeeze(&self, dim: isize) -> Tensor {
        let dim = expect_dim("squeeze", self, dim);
        if self.shape().get(dim) == Some(&1) { self.select(dim as isize, 0) } else { self.clone() }
    }

    /// The tensor with a new dimension of size 1 in front of `dim`; −1 puts it last. A view.
    #[track_caller]
    pub fn unsqueeze(&self, dim: isize) -> Tensor {
        let rank = self.shape().len() as isize;
        if !(-rank - 1..=rank).contains(&dim) {
            let message =
                format!("there is no place {dim}; valid ones are {} to {rank}", -rank - 1);
            refuse("unsqueeze", &[self], message);
        }
        let at = if dim < 0 { dim + rank + 1 } else { dim } as usize;
        let mut shape = self.shape().to_vec();
        shape.insert(at, 1);
        self.reshape(&shape)
    }

    /// The same elements in logical order under another shape, never by a copy. One size may be −1:
    /// it follows from the number of elements.
    ///
    /// # Panics
    /// If the number of elements differs, or if the strides do not allow a view.
    #[track_caller]
    pub fn view<S: Size>(&self, shape: &[S]) -> Tensor {
        let to = self.filled_in("view", &given_sizes("view", shape));
        if self.layout().view(&to).is_none() {
            let message = format!(
                "no strides show the elements as {to:?} where they lie, with strides {:?}; \
                 reshape makes a copy where it has to",
                self.strides()
            );
            refuse("view", &[self], message);
        }
        apply(Reshape { from: *self.layout().shape(), to }, [self])
    }

    /// The same elements in logical order under another shape: a view if the strides allow one,
    /// else a copy, without saying so. One size may be −1: it follows from the number of elements.
    ///
    /// # Panics
    /// If the number of elements differs, or if −1 could be any size.
    #[track_caller]
    pub fn reshape<S: Size>(&self, shape: &[S]) -> Tensor {
        let to = self.filled_in("reshape", &given_sizes("reshape", shape));
        apply(Reshape { from: *self.layout().shape(), to }, [self])
    }

    /// A shape for all elements, with the size that was left open.
    #[track_caller]
    fn filled_in(&self, op: &'static str, sizes: &[Option<usize>]) -> Dims {
        let known: Vec<usize> = sizes.iter().map(|size| size.unwrap_or(1)).collect();
        let mut to = Dims::new(&known);
        let (have, rest) = (self.numel(), to.numel());
        let open: Vec<usize> = (0..sizes.len()).filter(|&dim| sizes[dim].is_none()).collect();
        match open[..] {
            [] => {}
            [dim] if rest > 0 => to[dim] = have / rest,
            [_] => {
                let message = "-1 could be any size here, since another one is 0; write it out";
                refuse(op, &[self], message.to_string())
            }
            _ => refuse(op, &[self], "only one size can be left open with -1".to_string()),
        }
        if have != to.numel() {
            let message = match open[..] {
                [] => format!("{have} elements do not fit the shape {to:?}, which has {rest}"),
                _ => format!("{have} elements cannot be split into groups of {rest}"),
            };
            refuse(op, &[self], message);
        }
        to
    }

    /// The tensor repeated to `shape` with stride 0: a view. Dimensions of size 1 stretch, and new
    /// ones may be added in front. −1 leaves a dimension as it is.
    ///
    /// # Panics
    /// If another dimension would have to change.
    #[track_caller]
    pub fn expand<S: Size>(&self, shape: &[S]) -> Tensor {
        let sizes = given_sizes("expand", shape);
        let added = sizes.len().saturating_sub(self.shape().len());
        if sizes[..added].contains(&None) {
            let message = "-1 keeps a size, and a new dimension in front has none yet";
            refuse("expand", &[self], message.to_string());
        }
        let own = |dim: usize| self.shape().get(dim.wrapping_sub(added)).copied().unwrap_or(1);
        let sizes: Vec<usize> =
            sizes.iter().enumerate().map(|(dim, size)| size.unwrap_or(own(dim))).collect();
        // Too many dimensions or elements are refused here, in words of their own.
        let to = Dims::new(&sizes);
        to.numel();
        if self.layout().expand(&to).is_none() {
            let message = format!(
                "cannot be expanded to {to:?}: only dimensions of size 1 stretch, and new ones \
                 come in front"
            );
            refuse("expand", &[self], message);
        }
        apply(Expand { from: *self.layout().shape(), to }, [self])
    }

    /// The tensor itself if its elements lie in logical order without gaps, else a copy in which
    /// they do; `memory::hidden_copies` counts it.
    #[track_caller]
    pub fn contiguous(&self) -> Tensor {
        self.contiguous_for("contiguous")
    }

    /// As [`contiguous`](Tensor::contiguous); a copy counts as a hidden one of `op`.
    #[track_caller]
    pub(crate) fn contiguous_for(&self, op: &'static str) -> Tensor {
        if self.is_contiguous() {
            return self.clone();
        }
        let _copying = count_hidden_copy(op, self.nbytes());
        self.copy()
    }

    /// The tensor with the named dimensions backwards: always a copy, unlike in NumPy, since a
    /// stride cannot be negative.
    ///
    /// # Panics
    /// If a dimension does not exist or is named twice.
    #[track_caller]
    pub fn flip(&self, dims: &[isize]) -> Tensor {
        let mut over = vec![false; self.shape().len()];
        // A loop: the caller's line would be lost in a closure.
        for &dim in dims {
            let dim = expect_dim("flip", self, dim);
            // A tensor without dimensions may be turned around its only, imaginary one.
            if let Some(seen) = over.get_mut(dim)
                && std::mem::replace(seen, true)
            {
                refuse("flip", &[self], format!("dimension {dim} is named twice"));
            }
        }
        apply(Flip(over), [self])
    }

    /// The elements copied into a storage of their own (PyTorch's `clone`, which in Rust makes a
    /// second handle).
    #[track_caller]
    pub fn copy(&self) -> Tensor {
        apply(Copy, [self])
    }
}

/// y = x with dimensions a and b exchanged. Shapes: `(.., A, .., B, ..) → (.., B, .., A, ..)`.
/// Gradient: dx = dy with the same two exchanged. Saves nothing.
struct Transpose(usize, usize);

impl Op<1> for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        x.with_layout(x.layout().transpose(self.0, self.1))
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.transpose(self.0 as isize, self.1 as isize))]
    }
}

/// y = x with its dimensions in another order. Shapes: `(A, B, C) → (C, A, B)` for `[2, 0, 1]`.
/// Gradient: dx = dy in the order that leads back. Saves nothing.
struct Permute(Vec<usize>);

impl Op<1> for Permute {
    fn name(&self) -> &'static str {
        "permute"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        x.with_layout(x.layout().permute(&self.0))
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let back = |dim: usize| self.0.iter().position(|&from| from == dim);
        let back: Vec<isize> = (0..self.0.len()).filter_map(back).map(|at| at as isize).collect();
        [Some(dy.permute(&back))]
    }
}

/// y = x under another shape. Shapes: any → any with as many elements.
/// Gradient: dx = dy under x's shape. Saves nothing.
struct Reshape {
    from: Dims,
    to: Dims,
}

impl Op<1> for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        match x.layout().view(&self.to) {
            Some(layout) => x.with_layout(layout),
            None => x.contiguous_for("reshape").reshape(&self.to),
        }
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.reshape(&self.from))]
    }
}

/// y = x repeated. Shapes: `(B, 1) → (A, B, C)`. Gradient: every repetition used the one element,
/// so dx is the sum of dy over the stretched and the added dimensions. Saves nothing.
struct Expand {
    from: Dims,
    to: Dims,
}

impl Op<1> for Expand {
    fn name(&self) -> &'static str {
        "expand"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let layout = x.layout().expand(&self.to).expect("the public method has checked it");
        x.with_layout(layout)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let added = self.to.len() - self.from.len();
        let repeated = |&dim: &usize| dim < added || self.from[dim - added] != self.to[dim];
        let dims: Vec<isize> =
            (0..self.to.len()).filter(repeated).map(|dim| dim as isize).collect();
        let dx = if dims.is_empty() { dy.clone() } else { dy.sum_dims(&dims, true) };
        [Some(dx.reshape(&self.from))]
    }
}

/// y = x in a storage of its own. Shapes: any → the same. Gradient: dx = dy. Saves nothing.
struct Copy;

impl Op<1> for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        Tensor::packed(x.device().backend().copy(x.view_of(), x.dtype()), x.shape())
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.clone())]
    }
}

/// y = x with some dimensions backwards. Shapes: any → the same.
/// Gradient: dx = dy with the same ones backwards. Saves nothing.
struct Flip(Vec<bool>);

impl Op<1> for Flip {
    fn name(&self) -> &'static str {
        "flip"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        Tensor::packed(x.device().backend().flip(x.view_of(), &self.0), x.shape())
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let dims = (0..self.0.len()).filter(|&dim| self.0[dim]).map(|dim| dim as isize);
        [Some(dy.flip(&dims.collect::<Vec<_>>()))]
    }
}
