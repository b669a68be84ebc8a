//! TeX to MathML at build time: formulas need no script, no font and no network.

use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};

use crate::markdown::{self, Part};
use crate::problem::Wrong;

/// One formula as a `<math>` element that Markdown passes through untouched.
pub fn mathml(tex: &str, on_its_own_line: bool) -> Result<String, Wrong> {
    let display = if on_its_own_line { MathDisplay::Block } else { MathDisplay::Inline };
    let bad = |error: String| {
        Wrong::new(
            format!("The formula `{}` is not TeX that can be converted: {error}", tex.trim()),
            "Repair it; a dollar sign that begins no formula is written \\$.",
        )
    };
    let converter =
        LatexToMathML::new(MathCoreConfig::default()).map_err(|(e, ..)| bad(e.to_string()))?;
    let converted = converter.convert_with_local_state(tex.trim(), display);
    let mathml = guard(&converted.map_err(|e| bad(e.to_string()))?.mathml);
    // A wide formula scrolls in a box of its own.
    let boxed = || format!("<span class=\"formula\">{mathml}</span>");
    Ok(if on_its_own_line { boxed() } else { mathml })
}

/// Every formula of a piece of Markdown converted.
pub fn render(text: &str) -> Result<String, Wrong> {
    let (mut rendered, mut end) = (String::new(), 0);
    for (range, part) in markdown::parts(text) {
        let mathml = match part {
            Part::Formula(tex, display) => mathml(&tex, display)?,
            Part::Dollar => return Err(dollar()),
            _ => continue,
        };
        rendered = rendered + &text[end..range.start] + &mathml;
        end = range.end;
    }
    Ok(rendered + &text[end..])
}

/// What is wrong with a dollar sign that is neither a formula's nor escaped.
pub fn dollar() -> Wrong {
    Wrong::new(
        "A dollar sign begins no formula here.",
        "Write \\$ for the sign; close the formula; in a table, \\lvert and \\mid instead of |.",
    )
}

/// Characters that Markdown would read as markup become entities; a newline would end a table row.
fn guard(mathml: &str) -> String {
    let mut guarded = String::with_capacity(mathml.len());
    for c in mathml.chars() {
        match c {
            '*' | '_' | '[' | ']' | '`' | '\\' | '$' | '~' | '|' | '{' | '}' | '\'' => {
                guarded.push_str(&format!("&#{};", u32::from(c)));
            }
            '\n' => guarded.push(' '),
            _ => guarded.push(c),
        }
    }
    guarded
}

#[cfg(test)]
#[path = "../tests/math.rs"]
mod tests;
