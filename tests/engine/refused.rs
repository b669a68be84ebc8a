//! For the engine's tests: runs a call that must be refused, and hands out the refusal.

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine_room::Misuse;

/// The misuse that `call` panics with.
#[track_caller]
pub fn refused<T>(call: impl FnOnce() -> T) -> Misuse {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(_) => panic!("the call went through; it must be refused"),
        Err(payload) => *payload.downcast().expect("a panic whose payload is not a Misuse"),
    }
}
