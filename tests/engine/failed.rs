//! For the engine's tests: a call that must give an error, and what that must say.

use engine_room::Error;

/// Checks that it is an error whose sentence has every part.
#[track_caller]
pub fn fails<T>(result: Result<T, Error>, says: &[&str]) {
    let Err(error) = result else { panic!("it went through; it must fail") };
    let shown = error.to_string();
    for part in says {
        assert!(shown.contains(part), "{shown:?} does not say {part:?}");
    }
    assert!(shown.is_ascii() && !shown.contains('\n'), "{shown}");
}
