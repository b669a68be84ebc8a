//! CUDA source by function name: the text of a kernel or device function of a `.cu` file.

use std::ops::Range;

use crate::items::{Excerpt, excerpt};
use crate::problem::{Wrong, near};

/// The function called `name`, with the comment lines above it if `docs`.
pub fn find(source: &str, name: &str, docs: bool) -> Result<Excerpt, Wrong> {
    let functions = functions(source);
    let Some((_, range)) = functions.iter().find(|(found, _)| found == name) else {
        let names = functions.iter().map(|(found, _)| found);
        return Err(Wrong::new(format!("No kernel is called `{name}`."), near(name, names)));
    };
    Ok(excerpt(source, range, docs))
}

/// Every definition marked `__global__` or `__device__`: its name and where it stands, from the
/// comment or template lines above it on.
fn functions(source: &str) -> Vec<(String, Range<usize>)> {
    let code = masked(source);
    let mut found: Vec<(String, Range<usize>)> = Vec::new();
    let marks = ["__global__", "__device__"].map(|mark| code.match_indices(mark));
    for (mark, _) in marks.into_iter().flatten() {
        let Some(length) = code[mark..].find(['{', ';']) else { continue };
        let open = mark + length;
        let Some(name) = called(&code[mark..open]).filter(|_| code[open..].starts_with('{')) else {
            continue; // a declaration, or a variable
        };
        let mut depth = 0;
        let close = code[open..].find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        let end = close.map_or(code.len(), |close| open + close + 1);
        found.push((name, beginning(source, mark)..end));
    }
    found
}

/// The name before the argument list that ends `… name(arguments)`.
fn called(head: &str) -> Option<String> {
    let head = head.trim_end().strip_suffix(')')?;
    let mut depth = 1;
    let open = head.rfind(|c| {
        depth += i32::from(c == ')') - i32::from(c == '(');
        depth == 0
    })?;
    let words = head[..open].trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_');
    words.map(String::from).next()
}

/// Where the definition's line begins, or the comment and template lines directly above it.
fn beginning(source: &str, mark: usize) -> usize {
    let mut begin = source[..mark].rfind('\n').map_or(0, |newline| newline + 1);
    for line in source[..begin].lines().rev() {
        if !line.starts_with("//") && !line.starts_with("template") {
            break;
        }
        begin -= line.len() + 1;
    }
    begin
}

/// The source with comments, strings and character literals blanked, byte for byte as long.
fn masked(source: &str) -> String {
    let mut masked = source.as_bytes().to_vec();
    let mut at = 0;
    while at < source.len() {
        let rest = &source.as_bytes()[at..];
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => {
                let close = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                close.map_or(rest.len(), |close| close + 4)
            }
            [quote @ (b'"' | b'\''), ..] => quoted(rest, *quote),
            _ => 0,
        };
        masked[at..at + length].fill(b' ');
        at += length.max(1);
    }
    String::from_utf8_lossy(&masked).into_owned()
}

/// Length of a literal that begins with `quote`.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += 1 + usize::from(rest[at] == b'\\');
    }
    (at + 1).min(rest.len())
}

#[cfg(test)]
#[path = "../tests/kernels.rs"]
mod tests;
