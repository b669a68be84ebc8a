//! Hands out single functions anew: the stub's in place of the learner's, the rest untouched.

use std::ops::Range;

/// `text` with the stub's functions of these names in place of its own; a function that is gone is
/// added at the end. Line endings stay as they are.
pub fn with_stub_functions(text: &str, stub: &str, names: &[String]) -> Result<String, String> {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<&str> = text.lines().collect();
    let stub_lines: Vec<&str> = stub.lines().collect();
    for name in names {
        let stub = function(&stub_lines, name).ok_or(format!("stub.rs has no function {name}"))?;
        match function(&lines, name) {
            Some(region) => {
                lines.splice(region, stub_lines[stub].iter().copied());
            }
            None => {
                let above = stub_lines[..stub.start].iter().rev();
                let comment = above.take_while(|line| line.starts_with("///")).count();
                lines.push("");
                lines.extend(&stub_lines[stub.start - comment..stub.end]);
            }
        }
    }
    Ok(lines.join(ending) + ending)
}

/// The lines of a function, from `fn` to its closing brace: both stand in the first column. Where
/// the brace is missing, it goes on to the next function or the comment above that.
fn function(lines: &[&str], name: &str) -> Option<Range<usize>> {
    let start = lines.iter().position(|line| declared(line) == Some(name))?;
    if lines[start].trim_end().ends_with('}') {
        return Some(start..start + 1);
    }
    let rest = &lines[start + 1..];
    let next = rest.iter().position(|line| declared(line).is_some()).unwrap_or(rest.len());
    if let Some(brace) = rest[..next].iter().position(|line| line.starts_with('}')) {
        return Some(start..start + brace + 2);
    }
    let above = |line: &&&str| line.trim().is_empty() || line.starts_with("///");
    let trailing = rest[..next].iter().rev().take_while(above).count();
    Some(start..start + 1 + next - trailing)
}

/// The name of the function whose declaration begins on this line, in the first column.
fn declared(line: &str) -> Option<&str> {
    let is_before = |text: &str| text.is_empty() || text.starts_with("pub");
    let (before, after) = line.split_once("fn ")?;
    let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    name.filter(|_| is_before(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUB: &str = "\
/// First.
pub fn first(a: f32) -> f32 {
    exercise!(\"3.1\")
}

/// Second.
pub fn first_again(a: f32) -> f32 {
    exercise!(\"3.2\")
}
";

    fn reset(text: &str, name: &str) -> String {
        with_stub_functions(text, STUB, &[name.to_string()]).unwrap()
    }

    #[test]
    fn only_the_named_function_is_handed_out() {
        let mine = STUB.replace("exercise!(\"3.1\")", "if a > 0.0 {\n// mine\n        a\n    }");
        let both = mine.replace("exercise!(\"3.2\")", "a + a") + "\nfn helper() {}\n";
        let expected = STUB.replace("exercise!(\"3.2\")", "a + a") + "\nfn helper() {}\n";
        assert_eq!(reset(&both, "first"), expected);
        assert_eq!(reset(STUB, "first"), STUB);
    }

    #[test]
    fn a_broken_function_takes_no_other_along() {
        let open = STUB.replace("    exercise!(\"3.1\")\n}", "    if a > 0.0 {");
        assert_eq!(reset(&open, "first"), STUB);
        let on_one_line = STUB.replace(" {\n    exercise!(\"3.1\")\n}", " { a }");
        assert_eq!(reset(&on_one_line, "first"), STUB);
    }

    #[test]
    fn a_function_that_is_gone_comes_back_with_its_comment() {
        let kept = &STUB[..STUB.find("\n/// Second").unwrap()];
        assert_eq!(reset(kept, "first_again"), STUB);
        assert!(with_stub_functions(STUB, STUB, &["third".to_string()]).is_err());
    }

    #[test]
    fn line_endings_stay() {
        let windows = STUB.replace('\n', "\r\n");
        assert_eq!(reset(&windows.replace("3.1", "mine"), "first"), windows);
    }
}
