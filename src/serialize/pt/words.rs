//! Text of a file in a message: short, on one line, and plain ASCII, whatever it is.

/// Most characters that are shown.
const SHOWN: usize = 80;

/// The text between quotation marks, the rest of a long one as dots.
pub(super) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_default).collect();
    let rest = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    format!("\"{shown}\"{rest}")
}
