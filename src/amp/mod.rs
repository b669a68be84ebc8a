//! Mixed precision: most of the work in 16 bits, without losing what 16 bits cannot hold.

mod scaler;

pub use scaler::{GradScaler, ScalerState};
