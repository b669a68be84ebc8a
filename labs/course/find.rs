//! Finds labs and exercises by what a person types.

use grading::{Facts, Lab, Prediction, root};

/// All labs of the course.
pub fn labs() -> Result<Vec<Lab>, String> {
    let labs = Lab::all(&root())?;
    if labs.is_empty() {
        Err("there is no lab: no labs/lab-NN-slug/lab.toml".into())
    } else {
        Ok(labs)
    }
}

/// The labs that the names say, or all of them if there are no names: `3`, `03`, `03-autograd`.
pub fn labs_named(names: &[String]) -> Result<Vec<Lab>, String> {
    let labs = labs()?;
    for name in names {
        if !labs.iter().any(|lab| is_named(lab, name)) {
            let known: Vec<&str> = labs.iter().map(|lab| lab.slug.as_str()).collect();
            return Err(format!("there is no lab '{name}'; there are: {}", known.join(", ")));
        }
    }
    let chosen = |lab: &Lab| names.is_empty() || names.iter().any(|name| is_named(lab, name));
    Ok(labs.into_iter().filter(chosen).collect())
}

/// Whether a person may call the lab so.
pub fn is_named(lab: &Lab, name: &str) -> bool {
    name == lab.id || name == lab.number() || name == lab.slug || name == lab.target()
}

/// The exercise with this id, and its lab.
pub fn exercise(id: &str) -> Result<(Lab, Facts), String> {
    let labs = labs()?;
    for lab in &labs {
        if let Some(facts) = lab.exercise(id) {
            return Ok((lab.clone(), facts.clone()));
        }
    }
    let known = labs.iter().flat_map(|lab| &lab.exercises).map(|facts| facts.id.as_str());
    Err(format!("there is no exercise '{id}'; there are: {}", joined(known)))
}

/// The prediction with this id, and its lab.
pub fn prediction(id: &str) -> Result<(Lab, Prediction), String> {
    let labs = labs()?;
    for lab in &labs {
        if let Some(prediction) = lab.predictions.iter().find(|prediction| prediction.id == id) {
            return Ok((lab.clone(), prediction.clone()));
        }
    }
    let known = labs.iter().flat_map(|lab| &lab.predictions).map(|p| p.id.as_str());
    Err(format!("there is no prediction '{id}'; there are: {}", joined(known)))
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

/// A paragraph in lines of at most 80 columns, each after `indent`.
pub fn wrapped(text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut line = indent.to_string();
    for word in text.split_whitespace() {
        if line.len() > indent.len() && line.len() + 1 + word.len() > 80 {
            out += &format!("{line}\n");
            line = indent.to_string();
        }
        if line.len() > indent.len() {
            line.push(' ');
        }
        line.push_str(word);
    }
    out + &line + "\n"
}
