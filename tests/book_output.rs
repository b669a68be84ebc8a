//! What the book shows as output is what the programs print: exact output byte for byte, measured
//! output by its rows, its keys and the relations that the text relies on.

use engine_room_labs::capture;

#[test]
fn captured_output_is_still_true() {
    let captures = capture::all(&grading::root()).expect("every capture is described well");
    assert!(!captures.is_empty(), "the book has no captured output");
    let wrong: Vec<String> = captures.iter().filter_map(|capture| capture.verify().err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    println!("{} captured outputs are still true", captures.len());
}
