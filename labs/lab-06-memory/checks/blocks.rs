//! 6.2

use grading::{Check, Diagnosis};

use super::Implementation;

/// 6.2
pub fn blocks(_imp: &Implementation, _check: &mut Check) -> Result<(), Diagnosis> {
    Ok(())
}
