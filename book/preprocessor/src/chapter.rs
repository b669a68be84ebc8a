//! One chapter: finds its directives, blocks and formulas, and puts in their place what they ask
//! for. Code is left as it is.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::markdown::{self, Directive, Part, escape, fenced, stack};
use crate::problem::{Problem, Wrong, line_of, near};
use crate::{checks, items, kernels, lab, math, output};

/// Directives of this preprocessor.
const OURS: [&str; 6] = ["item", "stub", "exercise", "prediction", "output", "figure"];
/// Directives that mdBook resolves after us; it does not fail on a bad one, so they are checked.
const MDBOOKS: [&str; 4] = ["include", "rustdoc_include", "playground", "title"];

/// Where a chapter stands.
pub struct Place {
    root: PathBuf,
    folder: PathBuf,
    /// Its path from the root, with forward slashes, for people.
    pub shown: String,
}

impl Place {
    /// The place of the chapter at `path` in the book's source folder.
    pub fn new(root: &Path, source: &Path, path: &Path) -> Place {
        let file = source.join(path);
        let shown = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let folder = file.parent().unwrap_or(source).to_path_buf();
        Place { root: root.to_path_buf(), folder, shown }
    }
}

/// A chapter with everything in its place. The problems come beside the text, all at once.
pub fn expand(place: &Place, text: &str) -> (String, Vec<Problem>) {
    let parts = markdown::parts(text);
    let mut results: Vec<(Range<usize>, Result<String, Wrong>)> = Vec::new();
    for (range, part) in &parts {
        let result = match part {
            Part::Code => continue,
            Part::Dollar => Err(math::dollar()),
            Part::Formula(tex, display) => math::mathml(tex, *display),
            Part::Fence(..) if range.start > 0 && !text[..range.start].ends_with('\n') => {
                Err(Wrong::new("This block is indented.", "Begin its fence in the first column."))
            }
            Part::Fence("check", body) => checks::check(body),
            Part::Fence(_, body) => checks::invariant(body),
        };
        results.push((range.clone(), result));
    }
    for directive in markdown::directives(text) {
        let inside = parts.iter().find(|(range, _)| range.contains(&directive.range.start));
        let result = match inside {
            Some((_, Part::Code)) if !MDBOOKS.contains(&directive.name) => continue,
            None | Some((_, Part::Code | Part::Dollar)) => resolve(place, &directive, text),
            Some(_) => Err(Wrong::new(
                "A directive cannot stand inside a check, an invariant or a formula.",
                "Put it before or after.",
            )),
        };
        results.push((directive.range, result));
    }
    results.sort_by_key(|(range, _)| range.start);
    let (mut expanded, mut problems, mut end) = (String::new(), Vec::new(), 0);
    for (range, result) in results {
        let asked = text[range.clone()].lines().next().unwrap_or_default();
        match result {
            Ok(replacement) => {
                expanded = expanded + &text[end..range.start] + &replacement;
                end = range.end;
            }
            Err(wrong) => problems.push(wrong.at(&place.shown, line_of(text, range.start), asked)),
        }
    }
    (expanded + &text[end..], problems)
}

/// What a directive stands for.
fn resolve(place: &Place, directive: &Directive, text: &str) -> Result<String, Wrong> {
    let Directive { name, arguments, range, alone } = directive;
    if MDBOOKS.contains(name) {
        return included(place, name, arguments).map(|()| text[range.clone()].to_string());
    }
    if !OURS.contains(name) {
        let known = near(name, OURS.into_iter().chain(MDBOOKS));
        let todo = format!("{known} To show one as an example, write \\{{{{#{name} … }}}}.");
        return Err(Wrong::new(format!("There is no directive `{name}`."), todo));
    }
    if !alone {
        return Err(Wrong::new(
            "A directive stands on a line of its own, from the first column on, and ends in }}.",
            "Give it that line, outside any list or table.",
        ));
    }
    let outputs = place.folder.join("output");
    match (*name, &arguments[..]) {
        ("item", [path, name @ .., "nodoc"]) => item(place, path, &name.join(" "), false),
        ("item", [path, name @ ..]) => item(place, path, &name.join(" "), true),
        ("stub", [id]) => lab::stub(&place.root, id),
        ("exercise", [id]) => lab::exercise(&place.root, id),
        ("prediction", [id]) => lab::prediction(&place.root, id),
        ("output", [name]) => output::output(&outputs, name),
        ("figure", [name]) => output::figure(&outputs, name),
        _ => Err(Wrong::new(
            format!("`{name}` cannot do with these {} arguments.", arguments.len()),
            "Like {{#item src/ops/binary.rs Mul::backward}}, {{#stub 3.2}} or {{#output saved}}.",
        )),
    }
}

/// `{{#item path name [nodoc]}}`: a listing from the source, by name.
fn item(place: &Place, path: &str, name: &str, docs: bool) -> Result<String, Wrong> {
    let readers = ["exercise.rs", "solution.rs", "alternatives.rs", "mistakes.rs"];
    if path.starts_with("labs/") && readers.iter().any(|file| path.ends_with(file)) {
        return Err(Wrong::new(
            format!("{path} is the reader's to change, or is missing in the student edition."),
            "Show the stub, with {{#stub 3.2}}, or the engine's source.",
        ));
    }
    let source = read_from(&place.root, path)?;
    let kernel = path.ends_with(".cu") || path.ends_with(".cuh");
    let find = if kernel { kernels::find } else { items::find };
    let excerpt = find(&source, name, docs)
        .map_err(|Wrong { what, todo }| Wrong::new(format!("{path}: {what}"), todo))?;
    let lines = match excerpt.lines {
        (first, last) if first == last => format!("line {first}"),
        (first, last) => format!("lines {first}–{last}"),
    };
    let caption = format!("<code>{}</code>, {lines}", escape(path));
    Ok(listing(if kernel { "cpp" } else { "rust" }, &caption, &excerpt.text))
}

/// Code from the repository, under a line that says where it stands.
pub fn listing(language: &str, caption: &str, code: &str) -> String {
    let shown = |line: &str| {
        // mdBook hides Rust lines that begin with "# "; a second # shows them.
        let rest = line.trim_start().strip_prefix('#').filter(|_| language == "rust");
        let hidden = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '#']));
        if hidden { line.replacen('#', "##", 1) } else { line.to_string() }
    };
    let code: Vec<String> = code.lines().map(shown).collect();
    stack(&[
        "<div class=\"listing\">".into(),
        format!("<p class=\"source\">{caption}</p>"),
        fenced(language, &code.join("\n")),
        "</div>".into(),
    ])
}

/// Fails on an include that mdBook would leave in the page or would replace by nothing.
fn included(place: &Place, name: &str, arguments: &[&str]) -> Result<(), Wrong> {
    let (path, part) = match arguments.first() {
        _ if name == "title" => return Ok(()),
        Some(target) => target.split_once(':').unwrap_or((target, "")),
        None => return Err(Wrong::new(format!("`{name}` names no file."), "Name one.")),
    };
    let text = read_from(&place.folder, path)?;
    let first = part.split(':').next().unwrap_or_default();
    let found = match first.parse::<usize>() {
        Ok(line) => line <= text.lines().count(),
        Err(_) => first.is_empty() || text.lines().any(|line| is_anchor(line, first)),
    };
    let what = format!("{path} has no line or anchor `{first}`.");
    let todo = "Prefer {{#item}}: a name follows its item through the file.";
    if found { Ok(()) } else { Err(Wrong::new(what, todo)) }
}

fn is_anchor(line: &str, name: &str) -> bool {
    line.split_once("ANCHOR:").is_some_and(|(_, after)| after.trim() == name)
}

fn read_from(folder: &Path, path: &str) -> Result<String, Wrong> {
    let file = folder.join(path);
    if file.is_file() {
        return read(&file);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let parent = file.parent().unwrap_or(folder);
    Err(Wrong::new(format!("There is no file {path}."), near(name, names(parent))))
}

/// The names of what a folder holds, if there is one.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A file's text with `\n` line ends.
pub fn read(file: &Path) -> Result<String, Wrong> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(file).map_err(|e| {
        let written = name.ends_with(".toml") || name.ends_with(".rs");
        let capture = "Capture it: `cargo run --bin course -- dev capture`.";
        let todo = if written { "Write it first." } else { capture };
        Wrong::new(format!("{name} cannot be read: {e}."), todo)
    })?;
    Ok(text.replace("\r\n", "\n"))
}

#[cfg(test)]
#[path = "../tests/chapter.rs"]
mod tests;
