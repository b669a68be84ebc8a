//! 7.7

use grading::{Check, Diagnosis};

use super::Implementation;

/// 7.7
pub fn step(_imp: &Implementation, _check: &mut Check) -> Result<(), Diagnosis> {
    Ok(())
}
