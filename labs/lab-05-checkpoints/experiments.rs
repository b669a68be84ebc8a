//! The experiments of lab 05, one file each, and what they share.

pub mod bytes;
pub mod crash;
pub mod damage;
pub mod header;
pub mod pickle;
pub mod report;
pub mod resume;
pub mod shares;

/// What the engine has said, in lines that a page has room for.
pub fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![indent.to_string()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.len() + word.len() >= WIDTH && line.trim() != "" {
            lines.push(format!("{indent}  {word}"));
        } else {
            let blank = if line.trim().is_empty() { "" } else { " " };
            line.push_str(&format!("{blank}{word}"));
        }
    }
    lines.join("\n")
}

const WIDTH: usize = 88;
