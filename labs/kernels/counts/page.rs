//! The tables in `kernels/README.md`.

const PAGE: &str = "kernels/README.md";

/// The lines that the tables stand between.
const MARKS: [&str; 2] = ["<!-- cargo run --bin kernels -- counts --write -->\n", "<!-- end -->\n"];

/// Puts the tables in the place of the old ones.
///
/// # Errors
///
/// If there is no page, or no place for them.
pub fn write(tables: &str) -> Result<(), String> {
    let error = |e| format!("{PAGE}: {e}; run this in the root of the repository");
    let page = std::fs::read_to_string(PAGE).map_err(error)?.replace("\r\n", "\n");
    let parts = page.split_once(MARKS[0]).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(MARKS[1])?;
        Some((before, after))
    });
    let Some((before, after)) = parts else {
        return Err(format!("{PAGE} lacks the lines that the tables stand between"));
    };
    let [start, end] = MARKS;
    std::fs::write(PAGE, format!("{before}{start}\n{tables}\n{end}{after}")).map_err(error)
}
