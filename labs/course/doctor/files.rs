//! The course's files: there, readable, and the right ones writable.

use std::fs::OpenOptions;
use std::path::Path;

use engine_room_labs::Digits;
use engine_room_labs::capture::show;
use grading::{Lab, root};

use super::Finding;
use super::system::target_folder;
use crate::find;

/// Writes, reads and deletes a file wherever the course writes.
pub fn permissions() -> Vec<Finding> {
    let folders = [target_folder(), root().join(".progress")];
    let failed: Vec<Finding> = folders.iter().filter_map(|folder| refused(folder)).collect();
    if failed.is_empty() {
        return vec![Finding::ok("files can be written where cargo builds and in .progress")];
    }
    failed
}

fn refused(folder: &Path) -> Option<Finding> {
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    let tried = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, "probe"))
        .and_then(|()| std::fs::read_to_string(&probe))
        .and_then(|read| std::fs::remove_file(&probe).map(|()| read));
    match tried {
        Ok(read) if read == "probe" => None,
        Ok(_) => Some(Finding::fail(
            format!("{}: what was written does not come back", show(folder)),
            "Move the course to a local disk.",
        )),
        Err(why) => Some(Finding::fail(
            format!("{} cannot be written: {why}", show(folder)),
            "Make the folder yours, or copy the course to a folder that is.",
        )),
    }
}

/// Every lab: its facts can be read, its files are there, the learner's file can be written.
pub fn labs() -> Vec<Finding> {
    match find::labs() {
        Ok(labs) => labs.iter().flat_map(lab).collect(),
        Err(why) => vec![Finding::fail(why, "Restore the folder: git checkout -- labs")],
    }
}

fn lab(lab: &Lab) -> Vec<Finding> {
    let mut findings: Vec<Finding> = missing(lab);
    findings.extend(exercise(&lab.folder.join("exercise.rs")));
    if findings.is_empty() {
        let count = lab.exercises.len();
        findings.push(Finding::ok(format!("lab {}: {count} exercises, all files there", lab.id)));
    }
    findings
}

fn missing(lab: &Lab) -> Vec<Finding> {
    let root = root();
    let mut files: Vec<_> =
        ["main.rs", "checks.rs", "stub.rs"].iter().map(|name| lab.folder.join(name)).collect();
    files.push(root.join("tests").join(format!("{}.rs", lab.target())));
    files.push(root.join("book/src").join(&lab.slug).join("index.md"));
    let gone = files.into_iter().filter(|file| !file.is_file());
    gone.map(|file| {
        let name = show(&file);
        Finding::fail(format!("{name} is missing"), format!("Restore it: git checkout -- {name}"))
    })
    .collect()
}

fn exercise(path: &Path) -> Option<Finding> {
    let name = show(path);
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(why) => {
            let todo = "Hand it out anew: cargo run --bin course -- reset all";
            return Some(Finding::fail(format!("{name} cannot be read: {why}"), todo));
        }
    };
    if let Err(why) = OpenOptions::new().append(true).open(path) {
        let todo = "You write your answers into this file: make it writable.";
        return Some(Finding::fail(format!("{name} cannot be written: {why}"), todo));
    }
    if std::str::from_utf8(&text).is_err() {
        return Some(Finding::fail(
            format!("{name} is not UTF-8"),
            "Save it as UTF-8 (without a byte order mark) in your editor.",
        ));
    }
    let windows = text.windows(2).any(|pair| pair == b"\r\n");
    windows.then(|| {
        let todo = "Grading does not mind. To keep git quiet, set your editor to LF for this file.";
        Finding::note(format!("{name} has Windows line endings (CR LF)"), todo)
    })
}

/// The digits: read and unpacked, not only there.
pub fn digits() -> Vec<Finding> {
    vec![match Digits::load() {
        Ok(digits) => Finding::ok(format!("labs/data/digits.csv.gz: {} images", digits.len())),
        Err(why) => Finding::fail(why, "The labs that train need this file."),
    }]
}
