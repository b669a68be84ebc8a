//! Mixed precision: products in a half type, everything that needs range or precision in `f32`.
//!
//! `autocast.rs` switches the conversions on; which operation they concern stands in
//! `ops/autocast.rs`.

mod autocast;

pub use autocast::{autocast, autocast_disabled};

pub use crate::autograd::autocast_dtype;
pub use crate::ops::{AUTOCAST_OPS, Policy};
