//! Damages files of compilers, and sees what the simulator makes of them.

use std::path::Path;

use crate::exercise::exercise;
use crate::random::Random;

/// How many damaged texts there are unless the environment says.
const TEXTS: u64 = 1_500;

/// Every PTX file of this crate, without what only a debugger reads.
fn files() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["tests/ptx", "programs/ptx"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the folder is there");
        let paths = entries.map(|entry| entry.expect("a readable folder").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|ending| ending == "ptx")));
    }
    found.sort();
    let code = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a readable file");
        text.split("\t.section").next().unwrap_or_default().as_bytes().to_vec()
    };
    found.iter().map(code).collect()
}

/// Changes a text in one of the ways in which texts break. Most of them keep it PTX.
fn damage(text: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(text.len());
    let length = (1 + random.below(40)).min(text.len() - at);
    match random.below(8) {
        0 => text[at] = random.below(256) as u8,
        1 => drop(text.drain(at..at + length)),
        2 => {
            let marks = b"{}[]();,.:<>@!|_%$\"0123456789xf-+=";
            text[at] = marks[random.below(marks.len())];
        }
        3 => {
            let from = random.below(other.len());
            let piece = &other[from..(from + length).min(other.len())];
            text.splice(at..at + length, piece.iter().copied());
        }
        4 => change_digit(text, at, random),
        _ => change_line(text, at, other, random),
    }
}

/// Puts another digit in the place of the next one: other registers, constants, types, sizes.
fn change_digit(text: &mut [u8], at: usize, random: &mut Random) {
    if let Some(digit) = text[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
        *digit = b'0' + random.below(10) as u8;
    }
}

/// Removes a line, doubles it, or takes one of the other file in its place.
fn change_line(text: &mut Vec<u8>, at: usize, other: &[u8], random: &mut Random) {
    let line = |text: &[u8], at: usize| {
        let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let end = text[at..].iter().position(|byte| *byte == b'\n');
        start..end.map_or(text.len(), |end| at + end + 1)
    };
    let here = line(text, at);
    match random.below(3) {
        0 => drop(text.drain(here)),
        1 => {
            let copy = text[here.clone()].to_vec();
            text.splice(here.end..here.end, copy);
        }
        _ => {
            let from = line(other, random.below(other.len()));
            text.splice(here, other[from].iter().copied());
        }
    }
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn damaged_files_are_refused_or_run() {
    let files = files();
    let first = setting("ENGINE_ROOM_FUZZ_SEED", 0);
    for seed in first..first + setting("ENGINE_ROOM_FUZZ_TEXTS", TEXTS) {
        let mut random = Random(seed);
        let mut text = files[random.below(files.len())].clone();
        let other = &files[random.below(files.len())];
        for _ in 0..=random.below(4) {
            if !text.is_empty() {
                damage(&mut text, other, &mut random);
            }
        }
        let result = std::panic::catch_unwind(|| exercise(&text));
        if result.is_err() {
            let path = std::env::temp_dir().join(format!("engine-room-fuzz-{seed}.ptx"));
            let kept = std::fs::write(&path, &text).map(|()| path.display().to_string());
            panic!("seed {seed} makes a text that the simulator panics at; it is in {kept:?}");
        }
    }
}
