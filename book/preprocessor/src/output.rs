//! Captured output and figures of a chapter's `output/` folder, with where they come from.

use std::path::Path;

use serde::Deserialize;

use crate::chapter::{names, read};
use crate::markdown::{escape, fenced, inline, stack};
use crate::problem::{Wrong, near};

/// What the book needs of a capture's `NAME.toml`; tests read the rest.
#[derive(Deserialize)]
struct Capture {
    command: Vec<String>,
    kind: Kind,
    alt: Option<String>,
    caption: Option<String>,
    machine: Option<String>,
    date: Option<String>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Exact,
    Measured,
}

impl Capture {
    fn load(folder: &Path, name: &str) -> Result<Capture, Wrong> {
        let file = folder.join(format!("{name}.toml"));
        if !file.is_file() {
            let files = names(folder);
            let near = near(name, files.iter().filter_map(|file| file.strip_suffix(".toml")));
            return Err(Wrong::new(
                format!("This chapter has no output/{name}.toml."),
                format!("{near} Write it, then `cargo run --bin course -- dev capture {name}`."),
            ));
        }
        toml::from_str(&read(&file)?).map_err(|e| {
            Wrong::new(
                format!("output/{name}.toml: {}.", e.message()),
                "It has `command`, `kind` (exact or measured), and for a figure `alt`, `caption`.",
            )
        })
    }

    /// The command as a reader types it, and what it printed.
    fn printed(&self, folder: &Path, name: &str) -> Result<String, Wrong> {
        let (program, rest) = self.command.split_first().map_or(("", &[][..]), |(p, r)| (p, r));
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let rest = if rest.is_empty() { String::new() } else { format!(" -- {}", rest.join(" ")) };
        let text = read(&folder.join(format!("{name}.txt")))?;
        Ok(fenced("text", &format!("$ cargo run --bin {program}{rest}\n{text}")))
    }

    /// Where the numbers come from: a measured one names its machine and its day.
    fn origin(&self, name: &str) -> Result<String, Wrong> {
        match (&self.kind, &self.machine, &self.date) {
            (Kind::Exact, ..) => Ok("The same on every system.".into()),
            (Kind::Measured, Some(machine), Some(date)) => {
                Ok(format!("Measured on {}, {}.", escape(machine), escape(date)))
            }
            _ => Err(Wrong::new(
                format!("output/{name}.toml is measured and names no machine and date."),
                format!("Capture it: `cargo run --bin course -- dev capture {name}`."),
            )),
        }
    }

    /// The caption and the origin as one line of HTML.
    fn caption(&self, name: &str) -> Result<String, Wrong> {
        let caption = self.caption.as_deref().map_or(Ok(String::new()), inline)?;
        Ok(format!("{caption} <span class=\"origin\">{}</span>", self.origin(name)?))
    }
}

/// `{{#output NAME}}`: the command, what it printed, and where.
pub fn output(folder: &Path, name: &str) -> Result<String, Wrong> {
    let capture = Capture::load(folder, name)?;
    Ok(stack(&[
        "<figure class=\"output\">".into(),
        capture.printed(folder, name)?,
        format!("<figcaption class=\"origin\">{}</figcaption>", capture.origin(name)?),
        "</figure>".into(),
    ]))
}

/// `{{#figure NAME}}`: the drawing, its caption, and what the program printed as its text form.
pub fn figure(folder: &Path, name: &str) -> Result<String, Wrong> {
    let capture = Capture::load(folder, name)?;
    let (Some(alt), Some(_)) = (&capture.alt, &capture.caption) else {
        return Err(Wrong::new(
            format!("output/{name}.toml is drawn and lacks `alt` or `caption`."),
            "Say in `alt` what the figure shows, and in `caption` which question it answers.",
        ));
    };
    let svg = svg(&read(&folder.join(format!("{name}.svg")))?, alt)?;
    Ok(stack(&[
        format!("<figure class=\"drawing\">\n{svg}"),
        format!("<figcaption>{}</figcaption>", capture.caption(name)?),
        "<details><summary>The numbers as text</summary>".into(),
        capture.printed(folder, name)?,
        "</details>\n</figure>".into(),
    ]))
}

/// A drawing as part of the page, named for screen readers. The labs' plots draw text and axes in
/// `currentColor`, so that it takes the page's.
fn svg(text: &str, alt: &str) -> Result<String, Wrong> {
    let bad = |what: &str| Wrong::new(format!("The SVG {what}."), "Draw it again with `--plot`.");
    let start = text.find("<svg").ok_or_else(|| bad("has no <svg> element"))?;
    let text = &text[start..];
    if text.contains("<script") || text.replace("xmlns=\"http:", "").contains("http") {
        return Err(bad("holds a script or an address"));
    }
    let (head, body) = text.split_at(text.find('>').ok_or_else(|| bad("is cut off"))?);
    if !head.contains("viewBox") {
        return Err(bad("has no viewBox, so it cannot shrink to a phone's width"));
    }
    let head =
        format!("{} role=\"img\" aria-label=\"{}\"", head.replace('\n', " "), escape(alt.trim()));
    // A blank line would end the HTML block and leave the rest to Markdown.
    let lines: Vec<&str> = body.lines().filter(|line| !line.trim().is_empty()).collect();
    Ok(head + &lines.join("\n"))
}

#[cfg(test)]
#[path = "../tests/output.rs"]
mod tests;
