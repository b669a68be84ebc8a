//! A strict reader of XML 1.0 for figures: elements, attributes and text, and nothing else.

/// An element, with its own text (not that of elements inside).
#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub text: String,
    pub inside: Vec<Element>,
}

impl Element {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Every element of this name, at any depth, in order.
    pub fn all(&self, name: &str) -> Vec<&Element> {
        let mut found: Vec<&Element> = Vec::new();
        for element in &self.inside {
            found.extend((element.name == name).then_some(element));
            found.extend(element.all(name));
        }
        found
    }
}

/// The one element that the text is.
///
/// # Panics
/// If the text is not well-formed (W3C, "Extensible Markup Language 1.0", fifth edition).
pub fn read(text: &str) -> Element {
    if let Some(c) = text.chars().find(|&c| !is_allowed(c)) {
        panic!("{c:?} is no character of XML");
    }
    let mut rest = text.trim();
    let mut open: Vec<Element> = vec![Element::default()];
    while !rest.is_empty() {
        let at = rest.find('<').unwrap_or(rest.len());
        let (before, tag) = rest.split_at(at);
        open.last_mut().unwrap().text += &decoded(before);
        rest = tag;
        if tag.is_empty() {
            continue;
        }
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            let done = open.pop().unwrap();
            assert_eq!(done.name, name.trim_end(), "an end tag has the name of its start tag");
            open.last_mut().expect("one element for all").inside.push(done);
        } else if let Some(inside) = inside.strip_suffix('/') {
            open.last_mut().unwrap().inside.push(start(inside));
        } else {
            open.push(start(inside));
        }
    }
    assert_eq!(open.len(), 1, "every element is closed");
    let top = open.pop().unwrap();
    assert!(top.text.trim().is_empty(), "text outside the element: {}", top.text);
    let [element] = <[Element; 1]>::try_from(top.inside).expect("one element for all");
    element
}

fn start(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    assert!(is_name(name), "{name:?} is no name of an element");
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.trim_start().is_empty() {
        let (key, after) = rest.split_once('=').expect("an attribute has a value");
        let key = key.trim();
        assert!(is_name(key), "{key:?} is no name of an attribute");
        let value = after.strip_prefix('"').expect("a value stands in quotes");
        let (value, after) = value.split_once('"').expect("a value ends");
        assert!(!value.contains('<'), "a value with <");
        assert!(attributes.iter().all(|(other, _)| other != key), "{key} stands there twice");
        attributes.push((key.to_string(), decoded(value)));
        assert!(after.is_empty() || after.starts_with(char::is_whitespace), "attributes touch");
        rest = after;
    }
    Element { name: name.to_string(), attributes, ..Element::default() }
}

/// Text with its references replaced. A carriage return that stands there itself is a line feed to
/// a reader (section 2.11).
fn decoded(text: &str) -> String {
    assert!(!text.contains("]]>"), "]]> stands in text");
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (name, after) = part.split_once(';').expect("a reference ends in ;");
        out.push(match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            number => {
                let code = number.strip_prefix('#').expect("a reference that XML knows");
                let c = code.parse().ok().and_then(char::from_u32).expect("a character's number");
                assert!(is_allowed(c), "a reference to {c:?}");
                c
            }
        });
        out += after;
    }
    out
}

/// Section 2.2.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}
