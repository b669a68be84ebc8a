//! Windows: views that show a part of a tensor, or parts of it that overlap.
//!
//! One operation serves them all. What differs is the layout; the gradient is always the same: each
//! element of dy is added at the place that the window showed.

use crate::Tensor;
use crate::autograd::{Ctx, Op, add_at, apply};
use crate::layout::Layout;
use crate::ops::{expect_dim, refuse};
use crate::shape::{Dims, MAX_DIMS};

impl Tensor {
    /// Elements `start` to `start + len − 1` of a dimension: a view.
    ///
    /// # Panics
    /// If they do not all exist. `start` may be the end if `len` is 0.
    #[track_caller]
    pub fn narrow(&self, dim: isize, start: usize, len: usize) -> Tensor {
        let dim = self.expect_real_dim("narrow", dim);
        let size = self.shape()[dim];
        if start.checked_add(len).is_none_or(|end| end > size) {
            let message =
                format!("{len} elements from {start} on do not exist: dimension {dim} has {size}");
            refuse("narrow", &[self], message);
        }
        self.window(Cut::Slice { dim, start, len, step: 1 })
    }

    /// Python's `x[start:end:step]` along a dimension: a view. Negative positions count from the
    /// end, and positions beyond either end stop there.
    ///
    /// # Panics
    /// If `step` is not positive: strides cannot go backwards, which is why `flip` copies.
    #[track_caller]
    pub fn slice(&self, dim: isize, start: isize, end: isize, step: isize) -> Tensor {
        let dim = self.expect_real_dim("slice", dim);
        if step < 1 {
            refuse("slice", &[self], format!("the step must be positive, not {step}"));
        }
        let size = self.shape()[dim] as isize;
        let clamp = |at: isize| (if at < 0 { at + size } else { at }).clamp(0, size);
        let (start, end) = (clamp(start), clamp(end));
        let (len, step) = ((end - start).max(0) as usize, step as usize);
        let cut = Cut::Slice { dim, start: start as usize, len: len.div_ceil(step), step };
        self.window(cut)
    }

    /// Element `index` of a dimension, which is gone in the result: a view. −1 is the last one.
    ///
    /// # Panics
    /// If there is no such element.
    #[track_caller]
    pub fn select(&self, dim: isize, index: isize) -> Tensor {
        let dim = self.expect_real_dim("select", dim);
        let size = self.shape()[dim] as isize;
        if !(-size..size).contains(&index) {
            let message = format!("there is no element {index}: dimension {dim} has {size}");
            refuse("select", &[self], message);
        }
        let index = if index < 0 { index + size } else { index } as usize;
        self.window(Cut::Select { dim, index })
    }

    /// All windows of `size` elements along a dimension, `step` apart: a view in which windows that
    /// overlap share their elements. Shapes: `(B, T) → (B, (T − size) / step + 1, size)` for T.
    ///
    /// # Panics
    /// If `size` is larger than the dimension, if `step` is 0, or if x has 8 dimensions already.
    #[track_caller]
    pub fn unfold(&self, dim: isize, size: usize, step: usize) -> Tensor {
        let dim = self.expect_real_dim("unfold", dim);
        if size > self.shape()[dim] || step == 0 {
            let message = format!(
                "windows of {size}, {step} apart, do not fit: dimension {dim} has {} elements, and \
                 the step is at least 1",
                self.shape()[dim]
            );
            refuse("unfold", &[self], message);
        }
        if self.shape().len() == MAX_DIMS {
            let message = format!("there is no room for a dimension more: {MAX_DIMS} are the most");
            refuse("unfold", &[self], message);
        }
        self.window(Cut::Unfold { dim, size, step })
    }

    #[track_caller]
    fn window(&self, cut: Cut) -> Tensor {
        apply(Window { cut, from: *self.layout().shape() }, [self])
    }

    /// A dimension that is there: a number without dimensions cannot be cut.
    #[track_caller]
    fn expect_real_dim(&self, op: &'static str, dim: isize) -> usize {
        if self.shape().is_empty() {
            refuse(op, &[self], "a tensor without dimensions has no parts".to_string());
        }
        expect_dim(op, self, dim)
    }
}

/// Which elements a window shows.
enum Cut {
    Slice { dim: usize, start: usize, len: usize, step: usize },
    Select { dim: usize, index: usize },
    Unfold { dim: usize, size: usize, step: usize },
}

impl Cut {
    fn of(&self, x: &Layout) -> Layout {
        match *self {
            Cut::Slice { dim, start, len, step } => x.slice(dim, start, len, step),
            Cut::Select { dim, index } => x.select(dim, index),
            Cut::Unfold { dim, size, step } => x.unfold(dim, size, step),
        }
    }
}

/// y = the part of x that a layout shows. Shapes: as the public methods say.
/// Gradient: dx is 0 where nothing was shown, and the sum of dy where it was. Saves nothing.
struct Window {
    cut: Cut,
    from: Dims,
}

impl Op<1> for Window {
    fn name(&self) -> &'static str {
        match self.cut {
            Cut::Slice { .. } => "slice",
            Cut::Select { .. } => "select",
            Cut::Unfold { .. } => "unfold",
        }
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        x.with_layout(self.cut.of(x.layout()))
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let dx = Tensor::full_on(&self.from, 0, dy.dtype(), dy.device());
        add_at(&dx, self.cut.of(dx.layout()), dy);
        [Some(dx)]
    }
}
