//! 6.6

use grading::{Check, Diagnosis};

use super::Implementation;

/// 6.6
pub fn segments(_imp: &Implementation, _check: &mut Check) -> Result<(), Diagnosis> {
    Ok(())
}
