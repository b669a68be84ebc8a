//! Makes the learner's stub from the solution, so that the two can never drift apart.
//!
//! Marks in `solution.rs`, each alone on its line:
//!
//! - `// SOLUTION 3.3` to `// END` becomes `exercise!("3.3")` at the same indentation;
//! - `// STUB code` between the two marks replaces that line by `code` (an exercise of kind
//!   "debug" hands out wrong code this way); several lines may follow each other;
//! - `// SOLUTION` without an id, to `// END`, is dropped, or replaced by its `// STUB` lines;
//! - `// STUB code` outside the marks becomes `code` (an import that only the stub needs).
//!
//! Everything else is kept byte for byte.

/// A block between `// SOLUTION` and `// END` while it is being read.
struct Block<'a> {
    line: usize,
    indent: &'a str,
    id: &'a str,
    stub: Vec<String>,
}

/// The stub's text. An error names the line of the solution whose marks do not fit.
pub fn strip(solution: &str) -> Result<String, String> {
    let mut stub: Vec<String> = Vec::new();
    let mut block: Option<Block> = None;
    let lines: Vec<&str> = solution.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let line_number = index + 1;
        let text = line.trim_start();
        let indent = &line[..line.len() - text.len()];
        match (mark(text), &mut block) {
            (Some(("SOLUTION", id)), None) => {
                block = Some(Block { line: line_number, indent, id, stub: Vec::new() });
            }
            (Some(("SOLUTION", _)), Some(open)) => {
                return Err(format!(
                    "line {line_number}: SOLUTION inside the one of line {}",
                    open.line
                ));
            }
            (Some(("END", _)), None) => {
                return Err(format!("line {line_number}: END without a SOLUTION"));
            }
            (Some(("END", _)), Some(open)) => {
                stub.append(&mut open.replacement(&lines[line_number..]));
                block = None;
            }
            (Some((_, code)), None) => stub.push(format!("{indent}{code}")),
            (Some((_, code)), Some(open)) => open.stub.push(format!("{indent}{code}")),
            (None, None) => stub.push((*line).to_owned()),
            (None, Some(_)) => {}
        }
    }
    match block {
        Some(open) => Err(format!("line {}: SOLUTION without an END", open.line)),
        None => Ok(stub.join("\n") + "\n"),
    }
}

impl Block<'_> {
    /// What stands in the stub instead of this block; `after` is the text that follows it.
    fn replacement(&mut self, after: &[&str]) -> Vec<String> {
        if !self.stub.is_empty() || self.id.is_empty() {
            return std::mem::take(&mut self.stub);
        }
        let next = after.iter().map(|line| line.trim()).find(|line| !line.is_empty());
        let ends_the_body = next.is_none_or(|line| line.starts_with('}'));
        let semicolon = if ends_the_body { "" } else { ";" };
        vec![format!("{}exercise!(\"{}\"){semicolon}", self.indent, self.id)]
    }
}

/// The mark on a line, and what follows it.
fn mark(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("// ")?;
    let (word, argument) = rest.split_once(' ').unwrap_or((rest, ""));
    match word {
        "SOLUTION" | "END" => Some((word, argument.trim())),
        "STUB" => Some((word, argument)),
        _ => None,
    }
}
