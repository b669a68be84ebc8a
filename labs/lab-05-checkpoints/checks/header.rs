//! 5.2

use grading::{Check, Diagnosis};

use super::Implementation;

/// 5.2
pub fn header(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    Ok(())
}
