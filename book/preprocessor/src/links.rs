//! Links inside the book: every page, file and heading that a chapter points to must exist.
//! Headings get the ids that mdBook 0.5 gives them.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::markdown::OPTIONS;
use crate::problem::{Problem, Wrong, line_of, near};

/// A chapter as links see it.
#[derive(Default)]
pub struct Page {
    shown: String,
    written: String,
    links: Vec<String>,
    ids: HashSet<String>,
}

impl Page {
    /// A page from its path for people, what its author wrote, and what became of it.
    pub fn new(shown: String, written: String, expanded: &str) -> Page {
        let mut page = Page { shown, written, ..Page::default() };
        let mut made = HashSet::new();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(expanded, OPTIONS) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into());
                }
                Event::Start(Tag::Heading { id: Some(id), .. }) => {
                    page.ids.insert(id.into());
                }
                Event::Start(Tag::Heading { .. } | Tag::DefinitionListTitle) => {
                    heading = Some(String::new());
                }
                Event::End(TagEnd::Heading(_) | TagEnd::DefinitionListTitle) => {
                    page.ids.extend(heading.take().map(|text| id(&text, &mut made)));
                }
                Event::Text(text) | Event::Code(text) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&text));
                }
                Event::SoftBreak => heading.iter_mut().for_each(|heading| heading.push(' ')),
                Event::Html(html) | Event::InlineHtml(html) => {
                    let values = html.split(" id=\"").skip(1).filter_map(|s| s.split('"').next());
                    page.ids.extend(values.map(String::from));
                }
                _ => {}
            }
        }
        page
    }
}

/// mdBook's `id_from_content` and `unique_id`: the second heading "X" is `x-1`.
fn id(heading: &str, made: &mut HashSet<String>) -> String {
    let keep = |c: &char| c.is_alphanumeric() || "_-".contains(*c) || c.is_whitespace();
    let kept = heading.trim().to_lowercase();
    let id = kept.chars().filter(keep).map(|c| if c.is_whitespace() { '-' } else { c });
    let id: String = id.collect();
    let candidates = (0..).map(|n| if n == 0 { id.clone() } else { format!("{id}-{n}") });
    candidates.into_iter().find(|candidate| made.insert(candidate.clone())).unwrap_or_default()
}

/// Checks every link of every page.
pub fn check(pages: &BTreeMap<PathBuf, Page>, source: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, page) in pages {
        for link in &page.links {
            if let Err(wrong) = resolve(link, path, page, pages, source) {
                let found = page.written.find(&format!("({link}"));
                let line = found.map_or(1, |at| line_of(&page.written, at));
                problems.push(wrong.at(&page.shown, line, &format!("the link {link}")));
            }
        }
    }
    problems
}

fn resolve(
    link: &str,
    path: &Path,
    page: &Page,
    pages: &BTreeMap<PathBuf, Page>,
    source: &Path,
) -> Result<(), Wrong> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if link.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(is_word)) {
        return Ok(()); // an address outside the book
    }
    let (file, id) = link.split_once('#').unwrap_or((link, ""));
    let target = normal(&path.parent().unwrap_or(path).join(file));
    let target = match pages.get(&target.with_extension("md")) {
        _ if file.is_empty() => page,
        Some(page) => page,
        None if !file.ends_with(".md") && source.join(&target).is_file() => return Ok(()),
        None => {
            let names = pages.keys().map(|path| path.display().to_string());
            let what = "Neither a written chapter of SUMMARY.md nor a file beside it is there.";
            return Err(Wrong::new(what, near(file, names)));
        }
    };
    if id.is_empty() || target.ids.contains(id) {
        return Ok(());
    }
    Err(Wrong::new(format!("{} has no heading `#{id}`.", target.shown), near(id, &target.ids)))
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            _ => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
#[path = "../tests/links.rs"]
mod tests;
