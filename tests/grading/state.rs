//! Whether the learner has begun an exercise: its functions, token for token, against the stub's.

use crate::model::Facts;
use crate::source::{function_lines, function_tokens};

/// True while every function of the exercise equals the stub's; comments and white space do not
/// count, any other token does. A function that is gone has been changed.
pub fn is_not_started(facts: &Facts, source: &str, stub: &str) -> bool {
    facts.functions.iter().all(|name| {
        let handed_out = function_tokens(stub, name);
        handed_out.is_some() && function_tokens(source, name) == handed_out
    })
}

/// A short text that differs once a function of the exercise has changed. Each function is read on
/// its own, so that a bracket left open in another one does not count.
pub(crate) fn fingerprint(facts: &Facts, source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let functions = facts.functions.iter().map(|name| {
        let text = function_lines(source, name).map(|region| lines[region].join("\n"));
        let text = text.unwrap_or_default();
        function_tokens(&text, name).unwrap_or(text)
    });
    // FNV-1a: the same with every compiler.
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = functions.flat_map(String::into_bytes).fold(0xcbf2_9ce4_8422_2325, mix);
    format!("{hash:016x}")
}
