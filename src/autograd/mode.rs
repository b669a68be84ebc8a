//! The switches of the current thread: whether operations are recorded, and what autocast converts
//! their operands to.

use std::cell::Cell;

use crate::dtype::DType;

/// Whether operations are recorded, and if not, whether they ever could be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Record,
    NoGrad,
    Inference,
}

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Record) };
    static AUTOCAST: Cell<Option<DType>> = const { Cell::new(None) };
}

/// Whether operations are recorded on this thread.
pub fn is_grad_enabled() -> bool {
    MODE.get() == Mode::Record
}

/// Whether tensors made now may never be saved by a graph.
pub fn is_inference_mode() -> bool {
    MODE.get() == Mode::Inference
}

/// Runs `f` without recording. Its tensors require no gradient, but may be used in a graph later.
///
/// It does not switch dropout off: that is what a module's evaluation mode is for.
pub fn no_grad<T>(f: impl FnOnce() -> T) -> T {
    // Inside inference mode the stricter promise stays.
    let mode = if is_inference_mode() { Mode::Inference } else { Mode::NoGrad };
    with_mode(mode, f)
}

/// Runs `f` without recording, and lets no graph ever save its tensors. In return nobody has to
/// watch them for changes.
pub fn inference_mode<T>(f: impl FnOnce() -> T) -> T {
    with_mode(Mode::Inference, f)
}

/// Runs `f` with recording on, whatever it was: also inside [`no_grad`], and inside an operation,
/// which makes it possible to run a part of a model again in a backward pass.
pub fn enable_grad<T>(f: impl FnOnce() -> T) -> T {
    with_mode(Mode::Record, f)
}

/// Sets the mode back even if `f` panics.
struct Restore(Mode);

impl Drop for Restore {
    fn drop(&mut self) {
        MODE.set(self.0);
    }
}

fn with_mode<T>(mode: Mode, f: impl FnOnce() -> T) -> T {
    let _restore = Restore(MODE.replace(mode));
    f()
}

/// The type that autocast lowers products to on this thread; `None` where it is off, and inside an
/// operation: what its passes call gets the tensors that they hand over.
pub fn autocast_dtype() -> Option<DType> {
    AUTOCAST.get()
}

/// Switches autocast on or off until the guard is dropped.
#[must_use]
pub(crate) fn set_autocast(dtype: Option<DType>) -> AutocastGuard {
    AutocastGuard(AUTOCAST.replace(dtype))
}

/// Runs a pass of an operation forwards: what it calls is neither recorded nor converted.
pub(super) fn inside_an_operation<T>(f: impl FnOnce() -> T) -> T {
    let _off = set_autocast(None);
    no_grad(f)
}

/// Sets autocast back to what it was, even if the code in between panics.
pub(crate) struct AutocastGuard(Option<DType>);

impl Drop for AutocastGuard {
    fn drop(&mut self) {
        AUTOCAST.set(self.0);
    }
}
