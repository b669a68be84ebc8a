//! Whether the learner has begun an exercise: its functions, token for token, against the stub's.

use crate::model::Facts;
use crate::source::function_tokens;

/// True while every function of the exercise equals the stub's; comments and white space do not
/// count, any other token does. A function that is gone has been changed.
pub fn is_not_started(facts: &Facts, source: &str, stub: &str) -> bool {
    facts.functions.iter().all(|name| {
        let handed_out = function_tokens(stub, name);
        handed_out.is_some() && function_tokens(source, name) == handed_out
    })
}
