//! The learner's file as text and as tokens: where each function stands, and whether it changed.

use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The tokens of `fn name …` up to and with its body, without comments; none if there is no such
/// function or the text is not Rust. White space does not count.
pub(crate) fn function_tokens(source: &str, name: &str) -> Option<String> {
    let tokens = TokenStream::from_str(source).ok()?;
    find(tokens, name).map(|found| undocumented(found).to_string())
}

/// The function, at any depth.
fn find(tokens: TokenStream, name: &str) -> Option<TokenStream> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, pair) in trees.windows(2).enumerate() {
        if is_word(&pair[0], "fn") && is_word(&pair[1], name) {
            let rest = &trees[index..];
            let body = rest.iter().position(is_body)?;
            return Some(rest[..=body].iter().cloned().collect());
        }
    }
    trees.into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) => find(group.stream(), name),
        _ => None,
    })
}

/// The same tokens without doc comments, which are attributes to the lexer.
fn undocumented(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let is_hash = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '#');
        if is_hash && trees.peek().is_some_and(is_doc) {
            trees.next();
            continue;
        }
        kept.push(match tree {
            TokenTree::Group(group) => {
                let inner = undocumented(group.stream());
                TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inner))
            }
            other => other,
        });
    }
    kept.into_iter().collect()
}

fn is_doc(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else { return false };
    group.stream().into_iter().next().is_some_and(|first| is_word(&first, "doc"))
}

fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

fn is_body(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Whether the text is a sequence of whole tokens: all brackets and quotes are closed.
pub(crate) fn is_closed(source: &str) -> bool {
    TokenStream::from_str(source).is_ok()
}

/// The lines of a function, counted from 0: from its `fn` line to the line before the next item.
///
/// Works on text that does not even lex, as long as items begin in the first column, as rustfmt
/// puts them.
pub(crate) fn function_lines(source: &str, name: &str) -> Option<Range<usize>> {
    let lines: Vec<&str> = source.lines().collect();
    let start = lines.iter().position(|line| declared_function(line) == Some(name))?;
    let inside = &lines[start + 1..];
    let length = inside.iter().position(|line| begins_item(line)).unwrap_or(inside.len());
    let trailing = inside[..length].iter().rev().take_while(|line| line.trim().is_empty()).count();
    Some(start..start + 1 + length - trailing)
}

/// The name of the function whose declaration begins on this line, in the first column.
fn declared_function(line: &str) -> Option<&str> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "fn")?;
    words.get(at + 1)?.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

fn begins_item(line: &str) -> bool {
    const FIRST: [&str; 15] = [
        "pub",
        "fn",
        "use",
        "struct",
        "enum",
        "impl",
        "trait",
        "const",
        "static",
        "type",
        "mod",
        "macro_rules!",
        "unsafe",
        "extern",
        "async",
    ];
    let word = line.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    FIRST.contains(&word) || line.starts_with("#[") || line.starts_with("///")
}
