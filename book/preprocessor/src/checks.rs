//! The `check` and `invariant` blocks: a question with an explanation for every option, and a
//! boxed rule. Both work without a script, by keyboard and by screen reader.

use serde::Deserialize;

use crate::markdown::{inline, stack};
use crate::math;
use crate::problem::Wrong;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    question: String,
    #[serde(default)]
    many: bool,
    option: Vec<Choice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    text: String,
    right: bool,
    why: String,
}

/// Words that make a question hard to read and test nothing else.
const UNCLEAR: [(&str, &str); 6] = [
    ("NOT", "a negation that is overlooked"),
    ("EXCEPT", "a negation that is overlooked"),
    ("all of the above", "an option about the other options"),
    ("none of the above", "an option about the other options"),
    ("both of the above", "an option about the other options"),
    ("option above", "an option about the other options"),
];

/// A `check` block's TOML as a question whose options open to their explanation.
pub fn check(text: &str) -> Result<String, Wrong> {
    let check: Check = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        Wrong::new(
            format!("The check is not as expected, in its line {line}: {}.", e.message()),
            "It has `question`, perhaps `many = true`, and [[option]] with text, right and why.",
        )
    })?;
    lint(&check)?;
    let how = if check.many { "More than one is right." } else { "One is right." };
    let mut blocks = vec![
        "<section class=\"check\" aria-label=\"Check yourself\">".to_string(),
        "<p class=\"label\">Check yourself</p>".into(),
        math::render(&check.question)?,
        format!("<p class=\"facts\">{how} Open an option to see why.</p>"),
    ];
    for option in &check.option {
        let (class, verdict) =
            if option.right { ("is-right", "Right.") } else { ("is-wrong", "Not so.") };
        blocks.push(format!("<details><summary>{}</summary>", inline(&option.text)?));
        blocks.push(format!("<div class=\"why {class}\">"));
        blocks.push(format!("**{verdict}** {}", math::render(option.why.trim())?));
        blocks.push("</div>\n</details>".into());
    }
    blocks.push("</section>".into());
    Ok(stack(&blocks))
}

fn lint(check: &Check) -> Result<(), Wrong> {
    let right = check.option.iter().filter(|option| option.right).count();
    if check.option.len() < 2 || right == 0 || (right != 1 && !check.many) {
        return Err(Wrong::new(
            format!("The check has {} options, {right} of them right.", check.option.len()),
            "Give two options or more, one of them right; with `many = true`, one or more.",
        ));
    }
    if let Some(option) = check.option.iter().find(|option| option.why.trim().is_empty()) {
        return Err(Wrong::new(
            format!("The option \"{}\" has an empty `why`.", option.text.trim()),
            "Say why it is right, or which thought leads to it.",
        ));
    }
    let texts = check.option.iter().map(|option| &option.text).chain([&check.question]);
    for text in texts {
        let unclear = UNCLEAR.iter().find(|(words, _)| has_words(text, words));
        if let Some((words, reason)) = unclear {
            return Err(Wrong::new(
                format!("\"{}\" has \"{words}\": {reason}.", text.trim()),
                "Ask for what is so, and let each option stand alone.",
            ));
        }
    }
    Ok(())
}

/// Whether the words stand in a text as words; capitals count only where they are asked for.
fn has_words(text: &str, words: &str) -> bool {
    let text =
        if words.chars().any(char::is_uppercase) { text.into() } else { text.to_lowercase() };
    text.match_indices(words).any(|(at, _)| {
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        edge(text[..at].chars().next_back()) && edge(text[at + words.len()..].chars().next())
    })
}

/// An `invariant` block's Markdown as a box.
pub fn invariant(text: &str) -> Result<String, Wrong> {
    Ok(stack(&[
        "<section class=\"invariant\" aria-label=\"Invariant\">".into(),
        "<p class=\"label\">Invariant</p>".into(),
        math::render(text)?,
        "</section>".into(),
    ]))
}

#[cfg(test)]
#[path = "../tests/checks.rs"]
mod tests;
