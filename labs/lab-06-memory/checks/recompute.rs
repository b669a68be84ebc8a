//! 6.5

use grading::{Check, Diagnosis};

use super::Implementation;

/// 6.5
pub fn recompute(_imp: &Implementation, _check: &mut Check) -> Result<(), Diagnosis> {
    Ok(())
}
