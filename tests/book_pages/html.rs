//! A reader of the HTML that mdBook writes: its tags with their attributes, and its visible text.

/// One start or end tag.
pub struct Tag<'a> {
    /// Lower-case name, with a leading `/` for an end tag.
    pub name: String,
    /// Attributes in order; one without a value has an empty one.
    pub attributes: Vec<(&'a str, &'a str)>,
    /// Where the tag begins and where the text after it does.
    pub range: std::ops::Range<usize>,
}

impl<'a> Tag<'a> {
    /// An attribute's value.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Whether it is an element of this class.
    pub fn has_class(&self, class: &str) -> bool {
        self.get("class").is_some_and(|list| list.split_whitespace().any(|name| name == class))
    }
}

/// Every tag of a page; comments and the text of scripts and styles are skipped.
pub fn tags(html: &str) -> Vec<Tag<'_>> {
    let mut tags: Vec<Tag> = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|found| at + found) {
        let rest = &html[start..];
        at = start + 1;
        if rest.starts_with("<!--") {
            at = start + rest.find("-->").map_or(rest.len(), |end| end + 3);
        } else if rest[1..].starts_with(|c: char| c == '/' || c.is_ascii_alphabetic()) {
            let tag = tag(html, start);
            at = tag.range.end;
            if matches!(tag.name.as_str(), "script" | "style") {
                let close = format!("</{}", tag.name);
                at += html[at..].find(&close).unwrap_or(html.len() - at);
            }
            tags.push(tag);
        }
    }
    tags
}

/// The tag that begins at `start`.
fn tag(html: &str, start: usize) -> Tag<'_> {
    let is_end = |c: char| c.is_whitespace() || c == '>';
    let name_end = html[start..].find(is_end).map_or(html.len(), |end| start + end);
    let name = html[start + 1..name_end].trim_end_matches('/').to_lowercase();
    let (mut attributes, mut at) = (Vec::new(), name_end);
    loop {
        let trimmed = html[at..].trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        at = html.len() - trimmed.len();
        if trimmed.is_empty() || trimmed.starts_with('>') {
            return Tag { name, attributes, range: start..(at + 1).min(html.len()) };
        }
        let key_end = trimmed.find(|c| is_end(c) || c == '=').unwrap_or(trimmed.len());
        let (key, rest) = trimmed.split_at(key_end);
        let (value, length) = match rest.strip_prefix('=') {
            Some(value) => quoted(value),
            None => ("", 0),
        };
        attributes.push((key, value));
        at += key_end + length;
    }
}

/// An attribute's value, and the length of it with its `=` and its quotes.
fn quoted(text: &str) -> (&str, usize) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            let end = inner.find(quote).unwrap_or(inner.len());
            return (&inner[..end], end + 3);
        }
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(text.len());
    (&text[..end], end + 1)
}

/// What a page says of itself: the part between `<main>` and `</main>`.
pub fn main_part(html: &str) -> &str {
    let start = html.find("<main>").expect("a page has a <main>");
    let end = html.find("</main>").expect("a page has a </main>");
    &html[start..end]
}

/// The text of a page outside code.
pub fn prose(html: &str) -> String {
    let (mut text, mut depth, mut end) = (String::new(), 0, 0);
    for tag in tags(html) {
        if depth == 0 {
            text.push_str(&html[end..tag.range.start]);
        }
        match tag.name.as_str() {
            "code" | "pre" | "script" | "style" | "template" => depth += 1,
            "/code" | "/pre" | "/script" | "/style" | "/template" => depth -= 1,
            _ => {}
        }
        end = tag.range.end;
    }
    text + if depth == 0 { &html[end..] } else { "" }
}

/// The page as a browser without scripts has it.
pub fn without_scripts(html: &str) -> String {
    let (mut kept, mut end) = (String::new(), 0);
    for tag in tags(html) {
        if tag.name == "script" {
            kept.push_str(&html[end..tag.range.start]);
        } else if tag.name == "/script" {
            end = tag.range.end;
        }
    }
    kept + &html[end..]
}

/// How many words of prose a page has, and after how many of them it asks its reader something.
/// Code, figures, and the boxes that ask do not count; a formula is one word.
pub fn words(html: &str) -> (usize, Vec<usize>) {
    let (mut words, mut asked, mut end) = (0, Vec::new(), 0);
    let mut skipped: Option<(String, usize)> = None;
    for tag in tags(html) {
        if let Some((name, depth)) = &mut skipped {
            *depth += usize::from(tag.name == *name);
            *depth -= usize::from(tag.name.strip_prefix('/') == Some(name));
            if *depth > 0 {
                continue;
            }
            skipped = None;
        } else {
            let text = html[end..tag.range.start].split_whitespace();
            words += text.filter(|word| word.contains(char::is_alphanumeric)).count();
            let asks = ["check", "exercise", "prediction"].iter().any(|box_| tag.has_class(box_));
            asked.extend(asks.then_some(words));
            words += usize::from(tag.name == "math");
            if asks || tag.has_class("source") || ["math", "pre", "figure"].contains(&&*tag.name) {
                skipped = Some((tag.name.clone(), 1));
            }
        }
        end = tag.range.end;
    }
    (words, asked)
}
