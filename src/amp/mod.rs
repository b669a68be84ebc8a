//! Mixed precision: products in a half type, everything that needs range or precision in `f32`, and
//! losses scaled so that small gradients do not vanish.
//!
//! `autocast.rs` switches the conversions on; which operation they concern stands in
//! `ops/autocast.rs`.

mod autocast;
mod scaler;

pub use autocast::{autocast, autocast_disabled};
pub use scaler::{GradScaler, ScalerState};

pub use crate::autograd::autocast_dtype;
pub use crate::ops::{AUTOCAST_OPS, Policy};
