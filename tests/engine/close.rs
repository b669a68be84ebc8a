//! For the engine's tests: compares f32 results with numbers that come from elsewhere.

/// Says where `got` and `want` differ first: relative to `want` above 1, absolutely below. NaN
/// equals NaN only, an infinity only itself.
pub fn difference(got: &[f32], want: &[f64], tolerance: f64) -> Option<String> {
    if got.len() != want.len() {
        return Some(format!("{} numbers instead of {}", got.len(), want.len()));
    }
    let close = |got: f64, want: f64| {
        got == want
            || (got.is_nan() && want.is_nan())
            || (got.is_finite()
                && want.is_finite()
                && (got - want).abs() <= tolerance * want.abs().max(1.0))
    };
    let at = got.iter().zip(want).position(|(&got, &want)| !close(got as f64, want))?;
    Some(format!("at {at}: {} instead of {}", got[at], want[at]))
}
