//! Rust source by item name: the text of a function, type, impl block or method, with its doc
//! comment, as it stands in the file.

use std::ops::Range;

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::spanned::Spanned;

use crate::problem::{Wrong, line_of, near};

/// A piece of a source file, and its first and last line there, from 1.
#[derive(Debug)]
pub struct Excerpt {
    /// Its text, without the indentation it has in the file.
    pub text: String,
    /// First and last line in the file.
    pub lines: (usize, usize),
}

/// The names an item can be asked by, and where it stands.
type Named = (Vec<String>, Range<usize>);

/// The item called `name` (`matmul`, `Mul`, `Mul::backward`, `<Mul as Op>::backward`,
/// `impl Op for Mul`), with its doc comment if `docs`.
pub fn find(source: &str, name: &str, docs: bool) -> Result<Excerpt, Wrong> {
    let file = syn::parse_file(source).map_err(|e| {
        let line = e.span().start().line;
        Wrong::new(format!("The file is not Rust: line {line}: {e}."), "Repair the source first.")
    })?;
    let mut items = Vec::new();
    collect(source, &file.items, "", &mut items);
    let mut found = items.iter().filter(|(names, _)| names.iter().any(|n| n == name));
    match (found.next(), found.next()) {
        (Some((_, range)), None) => Ok(excerpt(source, range, docs)),
        (Some((_, first)), Some((_, second))) => {
            let lines = [first, second].map(|range| line_of(source, range.start).to_string());
            Err(Wrong::new(
                format!("More than one item is called `{name}` (lines {}).", lines.join(" and ")),
                "Ask for one of them: `<Type as Trait>::method`, or the impl's whole first line.",
            ))
        }
        _ => Err(Wrong::new(
            format!("No item is called `{name}`."),
            near(name, items.iter().flat_map(|(names, _)| names)),
        )),
    }
}

/// The text of `range` with the first line's indentation taken off every line.
pub fn excerpt(source: &str, range: &Range<usize>, docs: bool) -> Excerpt {
    let start = source[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = &source[start..range.start];
    let lines = source[start..range.end].lines();
    let is_comment = |line: &&str| !docs && line.trim_start().starts_with("//");
    let comments = lines.clone().take_while(is_comment).count();
    let dedented = lines.skip(comments).map(|line| line.strip_prefix(indent).unwrap_or(line));
    let text: Vec<&str> = dedented.collect();
    let first = line_of(source, start) + comments;
    Excerpt { text: text.join("\n"), lines: (first, first + text.len() - 1) }
}

fn collect(source: &str, items: &[syn::Item], path: &str, out: &mut Vec<Named>) {
    for item in items {
        match item {
            syn::Item::Impl(item) => collect_impl(source, item, path, out),
            syn::Item::Mod(syn::ItemMod { ident, content: Some((_, inner)), .. }) => {
                collect(source, inner, &format!("{path}{ident}::"), out);
            }
            syn::Item::Trait(item) => {
                for inner in &item.items {
                    let name = declared(inner).map(|name| format!("{path}{}::{name}", item.ident));
                    out.extend(name.map(|name| (vec![name], range(inner))));
                }
            }
            _ => {}
        }
        let name = declared(item).map(|name| format!("{path}{name}"));
        out.extend(name.map(|name| (vec![name], range(item))));
    }
}

fn collect_impl(source: &str, item: &syn::ItemImpl, path: &str, out: &mut Vec<Named>) {
    let this = plain(&item.self_ty);
    let brace = item.brace_token.span.open().byte_range().start;
    let header = &source[item.impl_token.span.byte_range().start..brace];
    let header = header.split_whitespace().collect::<Vec<_>>().join(" ");
    let of = item.trait_.as_ref().and_then(|(of, _)| last_segment(of));
    let short = of.as_ref().map_or(format!("impl {this}"), |of| format!("impl {of} for {this}"));
    out.push((vec![header, short], range(item)));
    for inner in &item.items {
        let Some(name) = declared(inner) else { continue };
        let mut names = vec![format!("{path}{this}::{name}")];
        names.extend(of.iter().map(|of| format!("<{this} as {of}>::{name}")));
        out.push((names, range(inner)));
    }
}

/// The name that an item declares: the one after its `fn`, `struct` and so on.
fn declared(item: &impl ToTokens) -> Option<String> {
    const KINDS: [&str; 9] =
        ["fn", "struct", "enum", "const", "static", "type", "trait", "mod", "macro_rules"];
    const BETWEEN: [&str; 4] = ["mut", "unsafe", "async", "extern"];
    let mut after_kind = false;
    for token in item.to_token_stream() {
        match token {
            TokenTree::Ident(word) if KINDS.iter().any(|kind| word == kind) => after_kind = true,
            TokenTree::Ident(word) if word == "impl" || word == "use" => return None,
            TokenTree::Ident(word) if after_kind && !BETWEEN.iter().any(|other| word == other) => {
                return Some(word.to_string());
            }
            _ => {}
        }
    }
    None
}

/// A type as its last word: `Mul` for `ops::Mul<T>`, `&Tensor` for a reference.
fn plain(this: &syn::Type) -> String {
    match this {
        syn::Type::Path(this) => last_segment(&this.path).unwrap_or_default(),
        syn::Type::Reference(this) => format!("&{}", plain(&this.elem)),
        _ => String::new(),
    }
}

fn last_segment(path: &syn::Path) -> Option<String> {
    path.segments.last().map(|segment| segment.ident.to_string())
}

fn range(item: &impl Spanned) -> Range<usize> {
    item.span().byte_range()
}

#[cfg(test)]
#[path = "../tests/items.rs"]
mod tests;
