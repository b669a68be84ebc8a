//! Exercise boxes, stub listings and predictions, from a lab's `lab.toml` and `stub.rs`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::chapter::{listing, names, read};
use crate::items;
use crate::markdown::{escape, stack};
use crate::math;
use crate::problem::{Wrong, near};

/// What the book needs of a `lab.toml`; the rest of it is for the graders and `course`.
#[derive(Deserialize)]
struct Lab {
    slug: String,
    exercise: Vec<Exercise>,
    #[serde(default)]
    prediction: Vec<Prediction>,
}

#[derive(Deserialize)]
struct Exercise {
    id: String,
    title: String,
    functions: Vec<String>,
    kind: String,
    minutes: Minutes,
    points: u32,
    section: String,
    statement: String,
    hints: Vec<String>,
}

#[derive(Deserialize)]
struct Minutes {
    estimate: u32,
    measured: Vec<u32>,
}

#[derive(Deserialize)]
struct Prediction {
    id: String,
    question: String,
    unit: String,
}

/// An exercise's box. It links to the section that `lab.toml` names, so that this one must exist.
pub fn exercise(root: &Path, id: &str) -> Result<String, Wrong> {
    let (folder, lab) = lab(root, id)?;
    let exercise = named(&lab.exercise, id, |exercise| &exercise.id)?;
    let anchor = format!("exercise-{}", id.replace('.', "-"));
    let mut blocks = vec![
        format!("<section class=\"exercise\" aria-labelledby=\"{anchor}\">"),
        format!("### Exercise {id}: {} {{#{anchor}}}", exercise.title),
        format!("<p class=\"facts\">{}</p>", facts(exercise)),
        math::render(&exercise.statement)?,
        handed_out(&folder, exercise)?,
        format!(
            "<p class=\"command\">Write it in <code>labs/lab-{0}/exercise.rs</code>. Grade it with \
             <code>cargo test --test lab-{0} -- {id}</code></p>",
            lab.slug
        ),
        format!("To read again: [the section that it comes from](#{}).", exercise.section),
    ];
    let levels = [": a direction", ": an approach", ": nearly the answer"];
    let count = exercise.hints.len();
    for (n, hint) in (1..).zip(&exercise.hints) {
        let level = levels.get(n - 1).unwrap_or(&"");
        let summary = format!("<summary>Hint {n} of {count}{level}</summary>");
        blocks.push(format!("<details class=\"hint\">{summary}"));
        blocks.extend([math::render(hint)?, "</details>".into()]);
    }
    blocks.push("</section>".into());
    Ok(stack(&blocks))
}

/// The functions that an exercise hands out, without the rest of its box.
pub fn stub(root: &Path, id: &str) -> Result<String, Wrong> {
    let (folder, lab) = lab(root, id)?;
    handed_out(&folder, named(&lab.exercise, id, |exercise| &exercise.id)?)
}

/// A prediction's question, and the command that keeps the reader's guess.
pub fn prediction(root: &Path, id: &str) -> Result<String, Wrong> {
    let (_, lab) = lab(root, id)?;
    let prediction = named(&lab.prediction, id, |prediction| &prediction.id)?;
    Ok(stack(&[
        "<section class=\"prediction\" aria-label=\"Predict\">".into(),
        format!("<p class=\"label\">Predict {id}</p>"),
        math::render(&prediction.question)?,
        format!(
            "<p class=\"command\">Keep your guess, in {}, with <code>cargo run --bin course -- \
             predict {id} GUESS</code></p>",
            escape(&prediction.unit)
        ),
        "</section>".into(),
    ]))
}

fn facts(exercise: &Exercise) -> String {
    let mut measured = exercise.minutes.measured.clone();
    measured.sort_unstable();
    let minutes = match measured.get(measured.len() / 2) {
        Some(median) => format!("about {median} min (median of {})", measured.len()),
        None => format!("about {} min (estimate)", exercise.minutes.estimate),
    };
    let kind = escape(&exercise.kind);
    format!("<span class=\"kind\">{kind}</span> · {minutes} · {} points", exercise.points)
}

/// The stub's functions as a listing. Not from `exercise.rs`: that file is the reader's.
fn handed_out(folder: &Path, exercise: &Exercise) -> Result<String, Wrong> {
    let source = read(&folder.join("stub.rs"))?;
    let mut texts = Vec::new();
    for function in &exercise.functions {
        texts.push(items::find(&source, function, true)?.text);
    }
    Ok(listing("rust", "The stub", &texts.join("\n\n")))
}

/// The lab whose number the id begins with.
fn lab(root: &Path, id: &str) -> Result<(PathBuf, Lab), Wrong> {
    let unknown = || {
        Wrong::new(
            format!("No lab has an exercise or a prediction `{id}`."),
            "Ids are like 3.2, and their lab is the folder labs/lab-03-….",
        )
    };
    let number: u32 = id.split('.').next().and_then(|n| n.parse().ok()).ok_or_else(unknown)?;
    let prefix = format!("lab-{number:02}-");
    let folders = names(&root.join("labs"));
    let folder = folders.iter().find(|name| name.starts_with(&prefix)).ok_or_else(unknown)?;
    let folder = root.join("labs").join(folder);
    let text = read(&folder.join("lab.toml"))?;
    let lab = toml::from_str(&text).map_err(|e| {
        Wrong::new(format!("Its lab.toml: {}.", e.message()), "Repair the lab's facts first.")
    })?;
    Ok((folder, lab))
}

fn named<'a, T>(list: &'a [T], id: &str, of: fn(&T) -> &String) -> Result<&'a T, Wrong> {
    list.iter().find(|entry| of(entry) == id).ok_or_else(|| {
        Wrong::new(format!("lab.toml has no `{id}`."), near(id, list.iter().map(of)))
    })
}
