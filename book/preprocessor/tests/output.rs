//! Tests of captured output and figures.

use super::*;

const DRAWN: &str = "<?xml version=\"1.0\"?>\n<svg width=\"9\" viewBox=\"0 0 9 9\">\n\n\
                     <rect/><text>\n8 KiB\n</text></svg>";

#[test]
fn a_drawing_is_named_and_has_no_blank_line() {
    let svg = svg(DRAWN, "bytes \"saved\"").unwrap();
    assert!(svg.starts_with(
        "<svg width=\"9\" viewBox=\"0 0 9 9\" role=\"img\" aria-label=\"bytes &quot;"
    ));
    assert!(svg.contains("<rect/><text>\n8 KiB"), "{svg}");
    assert!(!svg.contains("\n\n"));
}

#[test]
fn a_drawing_that_would_fetch_something_is_refused() {
    assert!(svg(&DRAWN.replace("<rect", "<image href=\"https://x\"/><rect"), "a").is_err());
    assert!(svg(&DRAWN.replace("viewBox", "box"), "a").is_err());
}

#[test]
fn captures_say_where_they_come_from() {
    let folder = std::env::temp_dir().join(format!("engine-room-book-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let capture = "command = [\"lab-03-autograd\", \"--experiment\", \"saved\"]\n";
    std::fs::write(folder.join("saved.txt"), "a  8\n\nb 16\n").unwrap();
    std::fs::write(folder.join("saved.toml"), format!("{capture}kind = \"exact\"")).unwrap();
    let html = output(&folder, "saved").unwrap();
    assert!(html.contains("$ cargo run --bin lab-03-autograd -- --experiment saved\na  8"));
    assert!(html.contains("The same on every system."));
    std::fs::write(folder.join("saved.toml"), format!("{capture}kind = \"measured\"")).unwrap();
    assert!(output(&folder, "saved").unwrap_err().what.contains("no machine"));
    assert!(output(&folder, "save").unwrap_err().todo.contains("`saved`"));
    assert!(figure(&folder, "saved").unwrap_err().what.contains("`alt`"));
    std::fs::remove_dir_all(&folder).unwrap();
}
