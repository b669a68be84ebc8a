//! The regions of a program in which operations convert their operands by themselves.

use std::cell::Cell;

use crate::autograd::set_autocast;
use crate::dtype::DType;
use crate::error::misuse;
use crate::ops::forget_casts;

/// Runs `f` with autocast on, as PyTorch's `torch.autocast` does: the operations in
/// [`AUTOCAST_OPS`](crate::amp::AUTOCAST_OPS) convert their operands before they run, products to
/// `dtype`, what needs range or precision to `f32`. All others run in the type that their operands
/// have. Parameters stay in `f32`: a conversion is recorded like any operation, so a gradient comes
/// back in the type of its parameter.
///
/// A parameter is converted once: what it gave is kept until the outermost region ends. It is
/// converted anew if it was changed in between.
///
/// Only the current thread is affected. Regions nest, and the inner one decides. An operation is
/// not affected inside: `apply` calls its passes with autocast off. So `backward` may stand inside
/// or behind the region, with the same result.
///
/// # Panics
/// If `dtype` is not one of the two half types.
#[track_caller]
pub fn autocast<T>(dtype: DType, f: impl FnOnce() -> T) -> T {
    if !matches!(dtype, DType::F16 | DType::BF16) {
        let message = "autocast lowers products to f16 or bf16; without it they stay in f32";
        misuse("autocast", &[&dtype], message.to_string());
    }
    region(Some(dtype), f)
}

/// Runs `f` with autocast off, as `torch.autocast(.., enabled=False)` does. Operands that come from
/// outside can be of a half type there, and parameters are `f32`: convert one of them.
pub fn autocast_disabled<T>(f: impl FnOnce() -> T) -> T {
    region(None, f)
}

thread_local! {
    /// How many regions the thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

fn region<T>(dtype: Option<DType>, f: impl FnOnce() -> T) -> T {
    let _depth = Depth::one_more();
    let _restore = set_autocast(dtype);
    f()
}

/// One region; dropped at its end, also if it panics.
struct Depth;

impl Depth {
    fn one_more() -> Depth {
        DEPTH.set(DEPTH.get() + 1);
        Depth
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            forget_casts();
        }
    }
}
