//! 6.3

use grading::{Check, Diagnosis};

use super::Implementation;

/// 6.3
pub fn peak(_imp: &Implementation, _check: &mut Check) -> Result<(), Diagnosis> {
    Ok(())
}
