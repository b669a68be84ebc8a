//! 5.3

use grading::{Check, Diagnosis};

use super::Implementation;

/// 5.3
pub fn load(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    Ok(())
}
