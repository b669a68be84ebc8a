//! Operations that change a tensor's numbers where they are. Every view of the storage sees it, and
//! its version goes up.
//!
//! The other operand is broadcast to the target and converted to its type; the target never changes
//! its shape or type. Recorded changes are for `autograd::apply_in_place`.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply_in_place, is_grad_enabled, is_inference_mode};
use crate::dtype::{DType, Scalar};
use crate::ops::choose::expect_mask;
use crate::ops::{expect_fits, expect_one_device, refuse, result_type};
use crate::shape::broadcast;

impl Tensor {
    /// x += alpha · other, in place.
    ///
    /// # Panics
    /// If the sum cannot be broadcast or converted to what x is; if x shows an element twice, or
    /// overlaps the other operand in part; if x is an inference tensor outside inference mode, or
    /// [cannot be recorded](crate::autograd::apply_in_place).
    #[track_caller]
    pub fn add_(&self, other: &Tensor, alpha: impl Into<Scalar>) {
        let alpha = alpha.into();
        let other = self.operand("add_", other);
        let common = result_type(&[self, &other]);
        if matches!(alpha, Scalar::Float(_)) && !common.is_floating_point() {
            let message = format!("a factor of {alpha} would turn the sum into another type");
            refuse("add_", &[self, &other], message);
        }
        apply_in_place(AddInPlace { alpha, common }, [self, &other.to(common)]);
    }

    /// x = x · other, in place.
    ///
    /// # Panics
    /// As [`add_`](Tensor::add_).
    #[track_caller]
    pub fn mul_(&self, other: &Tensor) {
        let other = self.operand("mul_", other);
        let common = result_type(&[self, &other]);
        // Copied here and not in the forward pass, where the copy would have no history.
        let before = (is_grad_enabled() && other.requires_grad()).then(|| self.copy());
        apply_in_place(MulInPlace { common, before }, [self, &other.to(common)]);
    }

    /// x = 0 everywhere, in place.
    ///
    /// # Panics
    /// As [`fill_`](Tensor::fill_).
    #[track_caller]
    pub fn zero_(&self) {
        self.check_writable("zero_", &[self]);
        apply_in_place(FillInPlace { zero: true, value: 0.into() }, [self]);
    }

    /// x = value everywhere, in place. The value is converted to x's type.
    ///
    /// # Panics
    /// If the value is too large for x's type; if x shows an element twice, is an inference tensor
    /// outside inference mode, or [cannot be recorded](crate::autograd::apply_in_place).
    #[track_caller]
    pub fn fill_(&self, value: impl Into<Scalar>) {
        let value = value.into();
        expect_fits("fill_", self, value);
        self.check_writable("fill_", &[self]);
        apply_in_place(FillInPlace { zero: false, value }, [self]);
    }

    /// x = other, in place, converted to x's type whatever it is. This is how a slice is assigned:
    /// `x.slice(0, 1, 3, 1).copy_(&y)`.
    ///
    /// # Panics
    /// As [`add_`](Tensor::add_), but for the conversion.
    #[track_caller]
    pub fn copy_(&self, other: &Tensor) {
        self.check_writable("copy_", &[self, other]);
        let other = self.fitted("copy_", other);
        apply_in_place(CopyInPlace, [self, &other.to(self.dtype())]);
    }

    /// x = value where the mask holds, in place; the mask is broadcast to x.
    ///
    /// # Panics
    /// As [`fill_`](Tensor::fill_), and if the mask is not `bool`.
    #[track_caller]
    pub fn masked_fill_(&self, mask: &Tensor, value: impl Into<Scalar>) {
        let value = value.into();
        expect_mask("masked_fill_", mask, &[self, mask]);
        expect_fits("masked_fill_", self, value);
        self.check_writable("masked_fill_", &[self, mask]);
        let mask = self.fitted("masked_fill_", mask);
        apply_in_place(MaskedFillInPlace(value), [self, &mask]);
    }

    /// The other operand of an arithmetic change in place, under the shape of the target.
    #[track_caller]
    fn operand(&self, op: &'static str, other: &Tensor) -> Tensor {
        self.check_writable(op, &[self, other]);
        let (own, common) = (self.dtype(), result_type(&[self, other]));
        // Within the floating-point types a result may be rounded back; a fraction must not be
        // cut off, nor a count become true.
        let fits = common == own
            || (common.is_floating_point() && own.is_floating_point())
            || !(common.is_floating_point() || own == DType::Bool);
        if !fits {
            let message = format!(
                "the result is {common}, which {own} cannot hold; convert the target, or the \
                 operand, with to()"
            );
            refuse(op, &[self, other], message);
        }
        self.fitted(op, other)
    }

    #[track_caller]
    fn fitted(&self, op: &'static str, other: &Tensor) -> Tensor {
        if broadcast(self.shape(), other.shape()).is_none_or(|shape| &*shape != self.shape()) {
            let message = "a change in place keeps the target's shape, and the other operand does \
                           not broadcast to it";
            refuse(op, &[self, other], message.to_string());
        }
        if other.shape() == self.shape() { other.clone() } else { other.expand(self.shape()) }
    }

    #[track_caller]
    pub(super) fn check_writable(&self, op: &'static str, operands: &[&Tensor]) {
        expect_one_device(op, operands);
        if self.is_inference() && !is_inference_mode() {
            let message = "an inference tensor can be changed only in inference mode; copy() it";
            refuse(op, &[self], message.to_string());
        }
        if self.layout().shows_an_element_twice() {
            let message = "an expanded tensor, or one in overlapping windows, shows one element in \
                           several places, which cannot take several values; copy() it first";
            refuse(op, &[self], message.to_string());
        }
        for other in operands {
            let shared = std::sync::Arc::ptr_eq(self.storage(), other.storage());
            if shared && self.layout().overlaps_in_part(other.layout()) {
                let message = "the two show some of the same elements in different places, so the \
                               result would depend on the order of the writes; copy() the other \
                               operand first";
                refuse(op, operands, message.to_string());
            }
        }
    }
}

/// x = y in x's type, on behalf of `op`, not recorded.
fn assign(op: &'static str, x: &Tensor, y: &Tensor) {
    let y = y.to(x.dtype());
    x.device().backend().copy_in_place(op, x.view_of(), y.view_of());
}

/// x += α · y. Shapes: two of one shape → the same. Gradient: dx = dy, and α · dy for y.
/// Saves nothing.
struct AddInPlace {
    alpha: Scalar,
    /// What the sum is computed in; it is rounded to x's type once.
    common: DType,
}

impl Op<2> for AddInPlace {
    fn name(&self) -> &'static str {
        "add_"
    }

    fn forward(&self, _: &mut Ctx, [x, y]: [&Tensor; 2]) -> Tensor {
        match self.common == x.dtype() {
            true => x.device().backend().add_in_place(x.view_of(), y.view_of(), self.alpha),
            false => assign("add_", x, &x.to(self.common).add(&y.mul_scalar(self.alpha))),
        }
        x.clone()
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let dother = dy.to(self.common);
        let whole = self.alpha.to_f64() == 1.0;
        [Some(dy.clone()), Some(if whole { dother } else { dother.mul_scalar(self.alpha) })]
    }
}

/// x = x · y. Shapes: two of one shape → the same. Gradient: dx = dy · y, and dy · x for y.
/// Saves y, and a copy of x as it was if y needs a gradient.
struct MulInPlace {
    /// What the product is computed in; it is rounded to x's type once.
    common: DType,
    /// A copy of x as it was, if y needs a gradient.
    before: Option<Tensor>,
}

impl Op<2> for MulInPlace {
    fn name(&self) -> &'static str {
        "mul_"
    }

    fn forward(&self, ctx: &mut Ctx, [x, y]: [&Tensor; 2]) -> Tensor {
        ctx.save_if(ctx.needs(0), y);
        ctx.save_if(ctx.needs(1), self.before.as_ref().unwrap_or(x));
        match self.common == x.dtype() {
            true => x.device().backend().mul_in_place(x.view_of(), y.view_of()),
            false => assign("mul_", x, &x.to(self.common).mul(y)),
        }
        x.clone()
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let dx = ctx.needs(0).then(|| dy.mul(&ctx.saved(0)).to(dy.dtype()));
        let dother = ctx.needs(1).then(|| dy.to(self.common).mul(&ctx.saved(1)));
        [dx, dother]
    }
}

/// x = c. Shapes: any → the same. Gradient: dx = 0, since nothing of x is left. Saves nothing.
struct FillInPlace {
    zero: bool,
    value: Scalar,
}

impl Op<1> for FillInPlace {
    fn name(&self) -> &'static str {
        match self.zero {
            true => "zero_",
            false => "fill_",
        }
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let value = Tensor::full_on(&[], self.value, x.dtype(), x.device()).expand(x.shape());
        x.device().backend().copy_in_place(self.name(), x.view_of(), value.view_of());
        x.clone()
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.zeros_like())]
    }
}

/// x = y. Shapes: two of one shape → the same. Gradient: dx = 0, and dy for y. Saves nothing.
struct CopyInPlace;

impl Op<2> for CopyInPlace {
    fn name(&self) -> &'static str {
        "copy_"
    }

    fn forward(&self, _: &mut Ctx, [x, y]: [&Tensor; 2]) -> Tensor {
        x.device().backend().copy_in_place("copy_", x.view_of(), y.view_of());
        x.clone()
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        [ctx.needs(0).then(|| dy.zeros_like()), Some(dy.clone())]
    }
}

/// x = c where the mask holds. Shapes: two of one shape → the same. Gradient: dx is 0 there, else
/// dy. Saves the mask.
struct MaskedFillInPlace(Scalar);

impl Op<2> for MaskedFillInPlace {
    fn name(&self) -> &'static str {
        "masked_fill_"
    }

    fn forward(&self, ctx: &mut Ctx, [x, mask]: [&Tensor; 2]) -> Tensor {
        ctx.save(mask);
        x.device().backend().masked_fill_in_place(x.view_of(), mask.view_of(), self.0);
        x.clone()
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        [Some(dy.masked_fill(&ctx.saved(0), 0)), None]
    }
}
