//! Markdown as mdBook reads it: where code is, which directives stand outside it, one line of
//! Markdown as HTML.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::math;
use crate::problem::Wrong;

/// The options of mdBook 0.5 with its default settings (our `book.toml` leaves them alone).
pub const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_HEADING_ATTRIBUTES)
    .union(Options::ENABLE_SMART_PUNCTUATION)
    .union(Options::ENABLE_DEFINITION_LIST)
    .union(Options::ENABLE_GFM);

/// A stretch of a page that is not plain Markdown.
#[derive(Debug, PartialEq)]
pub enum Part {
    /// Inline code, an indented block, or a fenced block in a language: left untouched.
    Code,
    /// A fenced block for this preprocessor, with its info string and its text.
    Fence(&'static str, String),
    /// A formula, with its TeX and whether it stands on a line of its own.
    Formula(String, bool),
    /// Text with a dollar sign that begins no formula and is not written `\\$`.
    Dollar,
}

/// Every part of a page that is not plain Markdown, in order.
pub fn parts(text: &str) -> Vec<(Range<usize>, Part)> {
    let mut parts: Vec<(Range<usize>, Part)> = Vec::new();
    let mut fence: Option<(String, String)> = None;
    let options = OPTIONS.union(Options::ENABLE_MATH);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Code(_) => parts.push((range, Part::Code)),
            Event::InlineMath(tex) => parts.push((range, Part::Formula(tex.into(), false))),
            Event::DisplayMath(tex) => parts.push((range, Part::Formula(tex.into(), true))),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                fence = Some((info.trim().to_string(), String::new()));
            }
            Event::Start(Tag::CodeBlock(_)) => fence = Some(Default::default()),
            Event::Text(body) => match &mut fence {
                Some((_, text)) => text.push_str(&body),
                None if body.contains('$') && !text[..range.start].ends_with('\\') => {
                    parts.push((range, Part::Dollar));
                }
                None => {}
            },
            Event::End(TagEnd::CodeBlock) => match fence.take() {
                Some((info, body)) if info == "check" => {
                    parts.push((range, Part::Fence("check", body)));
                }
                Some((info, body)) if info == "invariant" => {
                    parts.push((range, Part::Fence("invariant", body)));
                }
                _ => parts.push((range, Part::Code)),
            },
            _ => {}
        }
    }
    parts
}

/// A `{{#name arguments}}` in a page.
pub struct Directive<'a> {
    pub range: Range<usize>,
    pub name: &'a str,
    pub arguments: Vec<&'a str>,
    /// Whether it is complete and has its line to itself, from the first column on.
    pub alone: bool,
}

/// Every directive of a page, in code or not, without those behind a backslash.
pub fn directives(text: &str) -> Vec<Directive<'_>> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("{{#") {
        if text[..start].ends_with('\\') {
            continue;
        }
        let line = text[start..].lines().next().unwrap_or_default();
        let length = line.find("}}").map_or(line.len(), |close| close + 2);
        let mut words = line[3..length].trim_end_matches("}}").split_whitespace();
        let alone = (start == 0 || text[..start].ends_with('\n'))
            && line.trim_end().len() == length
            && line[..length].ends_with("}}");
        let (range, name) = (start..start + length, words.next().unwrap_or_default());
        found.push(Directive { range, name, arguments: words.collect(), alone });
    }
    found
}

/// One paragraph of Markdown as HTML without the paragraph, for a `<summary>` or a caption.
pub fn inline(text: &str) -> Result<String, Wrong> {
    let text = math::render(text)?;
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, Parser::new_ext(text.trim(), OPTIONS));
    let html = html.trim();
    let bare = html.strip_prefix("<p>").and_then(|html| html.strip_suffix("</p>"));
    match bare {
        Some(bare) if !bare.contains("<p>") => Ok(bare.replace('\n', " ")),
        _ => Err(Wrong::new(
            format!("\"{}\" is not one paragraph.", text.trim()),
            "Write it as one paragraph, without a list or a code block.",
        )),
    }
}

/// Text as HTML text or as an attribute's value.
pub fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

/// A fenced block that its own text cannot close.
pub fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}

/// Blocks of HTML and of Markdown under each other: the blank lines keep the Markdown alive.
pub fn stack(blocks: &[String]) -> String {
    let blocks: Vec<&str> = blocks.iter().map(|block| block.trim()).collect();
    format!("\n{}\n", blocks.join("\n\n"))
}
