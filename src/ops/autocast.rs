//! Autocast: what an operation converts its operands to, and the hook that does it.
//!
//! The lists are those of PyTorch 2.9.1 for CUDA (`AT_FORALL_*` in `ATen/autocast_mode.h`), as far
//! as the operations exist here; `torch.autocast("cpu")` has shorter ones, with which `sum`, `exp`
//! and `softmax` stay in the half type. They serve every device here: a program that was tried on
//! the CPU is to give the same types, and nearly the same numbers, on an accelerator.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::Tensor;
use crate::autograd::{
    AutocastGuard, autocast_dtype, is_grad_enabled, is_inference_mode, is_recomputing, set_autocast,
};
use crate::dtype::DType;

/// What autocast converts the operands of an operation to. Integers, `bool` and `f64` stay what
/// they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The half type of the region: products, which are faster in it and add up in `f32` anyway.
    LowerPrecision,
    /// `f32`: functions that grow fast, and sums of many terms.
    F32,
    /// The widest type among the operands: operations that demand one type of them all.
    Widest,
}

/// Every operation that autocast concerns. All others run in the type that their operands have.
///
/// Calls that consist of one of these need no row: `bmm` and `mv` are a matmul, `square` is a
/// power, `stack` is a cat, and that one takes mixed types with or without autocast. Changes in
/// place, such as `add_`, are never converted.
pub const AUTOCAST_OPS: &[(&str, Policy)] = &[
    ("matmul", Policy::LowerPrecision),
    ("addmm", Policy::LowerPrecision),
    ("linear", Policy::LowerPrecision),
    ("scaled_dot_product_attention", Policy::LowerPrecision),
    ("exp", Policy::F32),
    ("expm1", Policy::F32),
    ("log", Policy::F32),
    ("log2", Policy::F32),
    ("log1p", Policy::F32),
    ("reciprocal", Policy::F32),
    ("rsqrt", Policy::F32),
    ("pow", Policy::F32),
    ("pow_scalar", Policy::F32),
    ("softplus", Policy::F32),
    ("sum", Policy::F32),
    ("prod", Policy::F32),
    ("cumsum", Policy::F32),
    ("cumprod", Policy::F32),
    ("norm", Policy::F32),
    ("logsumexp", Policy::F32),
    ("softmax", Policy::F32),
    ("log_softmax", Policy::F32),
    ("layer_norm", Policy::F32),
    ("cross_entropy", Policy::F32),
    ("nll_loss", Policy::F32),
    ("mse_loss", Policy::F32),
    ("l1_loss", Policy::F32),
    ("huber_loss", Policy::F32),
    ("smooth_l1_loss", Policy::F32),
    ("bce_with_logits", Policy::F32),
    ("dot", Policy::Widest),
    ("scatter_add", Policy::Widest),
    // Not on PyTorch's lists: its rms_norm accepts mixed types, and gives that of x.
    ("rms_norm", Policy::Widest),
];

impl Policy {
    /// The type for these operands.
    fn dtype(self, lower: DType, operands: &[&Tensor]) -> DType {
        match self {
            Policy::LowerPrecision => lower,
            Policy::F32 => DType::F32,
            Policy::Widest => {
                let eligible = operands.iter().filter(|x| is_eligible(x));
                eligible.fold(lower, |widest, x| DType::promote(widest, x.dtype()))
            }
        }
    }
}

/// Whether autocast may convert a tensor at all.
fn is_eligible(x: &Tensor) -> bool {
    x.dtype().is_floating_point() && x.dtype() != DType::F64
}

/// A call of an operation under autocast, which is off while this lives.
pub(super) struct Casting {
    to: DType,
    _off: AutocastGuard,
}

/// What a public method of a listed operation asks first. If autocast is on, the method calls
/// itself once more, with converted operands and autocast off:
///
/// ```text
/// if let Some(cast) = casting("exp", &[self]) {
///     return cast.of(self).exp();
/// }
/// ```
///
/// The conversion comes before all checks, which compare types, and is an operation of its own.
#[inline]
pub(super) fn casting(op: &'static str, operands: &[&Tensor]) -> Option<Casting> {
    autocast_dtype().map(|lower| Casting::new(op, lower, operands))
}

impl Casting {
    fn new(op: &'static str, lower: DType, operands: &[&Tensor]) -> Casting {
        let row = AUTOCAST_OPS.iter().find(|(name, _)| *name == op);
        let (_, policy) = row.expect("an operation that asks has a row");
        Casting { to: policy.dtype(lower, operands), _off: set_autocast(None) }
    }

    /// The operand in the type that the operation runs in.
    #[track_caller]
    pub(super) fn of(&self, x: &Tensor) -> Tensor {
        if !is_eligible(x) || x.dtype() == self.to {
            return x.clone();
        }
        // As in PyTorch: what a parameter is lowered to is worth keeping, since a weight is used
        // again; of other tensors nobody knows.
        // What runs a second time may run behind the region, where nothing forgets a kept cast.
        let is_weight =
            !is_recomputing() && x.dtype() == DType::F32 && x.requires_grad() && x.is_leaf();
        if is_weight { kept_cast(x, self.to) } else { x.to(self.to) }
    }

    /// The same of an operand that may be missing.
    #[track_caller]
    pub(super) fn of_some(&self, x: Option<&Tensor>) -> Option<Tensor> {
        // No closure, which would lose the line of the caller.
        Some(self.of(x?))
    }
}

/// Whose cast it is: the node of a leaf, whose id is never given to another one, the type, and
/// whether operations are recorded: a cast that was not would keep the gradient from its parameter.
type Key = (u64, DType, bool, bool);

/// A cast, and the version that the parameter's numbers had.
struct Kept {
    version: u64,
    cast: Tensor,
}

thread_local! {
    static CASTS: RefCell<HashMap<Key, Kept>> = RefCell::default();
}

/// The cast of a leaf: the one that is kept, unless the leaf was changed since.
#[track_caller]
fn kept_cast(x: &Tensor, to: DType) -> Tensor {
    let Some(node) = x.node() else { return x.to(to) };
    let key = (node.id(), to, is_grad_enabled(), is_inference_mode());
    let version = x.storage().version();
    let kept = CASTS.with_borrow(|casts| {
        let kept = casts.get(&key).filter(|kept| kept.version == version);
        kept.map(|kept| kept.cast.clone())
    });
    if let Some(kept) = kept {
        return kept;
    }
    let cast = x.to(to);
    let kept = Kept { version, cast: cast.clone() };
    CASTS.with_borrow_mut(|casts| casts.insert(key, kept));
    cast
}

/// Drops what is kept, at the end of the outermost region.
pub(crate) fn forget_casts() {
    drop(CASTS.take());
}
