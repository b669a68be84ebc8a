//! What happened in 5.4, in words: the call, the operations up to a moment, what the disk holds.

use std::path::Path;

use super::file_system::{Disk, Op};
use super::machine::{Outcome, Step, advance, refusal_words, replayed};
use super::save::{Run, Story};

/// How many operations are told; of more than that the first and the last.
const SHOWN: usize = 12;

/// What was called, and what the disk held.
pub fn called(story: &Story) -> String {
    let old = match story.old() {
        Some(old) => format!("a file of {} bytes", old.len()),
        None => "no file".to_string(),
    };
    let (path, new) = (story.path.display(), story.new.len());
    format!("save(files, \"{path}\", {new} bytes), where there is {old}")
}

/// All operations, and what the call returned.
pub fn whole(run: &Run) -> String {
    let returned = match &run.result {
        Ok(()) => "save returns Ok(())".to_string(),
        Err(error) => format!("save returns an error: {error}"),
    };
    format!("{}{returned}\n", operations(run, run.log.len()))
}

/// The operations up to a crash, what the disk kept, and what a load finds.
pub fn crash(run: &Run, count: usize, found: &Option<Vec<u8>>) -> String {
    let told = match count == run.log.len() {
        true => whole(run),
        false => operations(run, count),
    };
    let (name, content) = (named(run.story, &run.story.path), content(run.story, found));
    let load = match found {
        None => "no file",
        Some(bytes) if Some(bytes) == run.story.old() => "the old content",
        Some(_) => "a damaged file",
    };
    format!(
        "{told}-- here the machine loses power --\non the disk, {name}: {content}\n\
         a load finds {load}\n"
    )
}

/// What a load may find.
pub fn allowed(story: &Story, only_new: bool) -> String {
    let old = content(story, &story.old().cloned());
    let new = content(story, &Some(story.new.clone()));
    if only_new { new } else { format!("{old}, or {new}") }
}

/// A content, compared with the old and the new one.
pub fn content(story: &Story, found: &Option<Vec<u8>>) -> String {
    let (new, old) = (&story.new, story.old());
    match found {
        None => "no file".to_string(),
        Some(bytes) if bytes == new => format!("all {} new bytes", new.len()),
        Some(bytes) if Some(bytes) == old => format!("all {} old bytes", bytes.len()),
        Some(bytes) if bytes.is_empty() => "0 bytes".to_string(),
        Some(bytes) if bytes.iter().all(|byte| *byte == 0) => {
            format!("{} bytes, all of them 0", bytes.len())
        }
        Some(bytes) if new.starts_with(bytes) => {
            format!("the first {} of {} new bytes", bytes.len(), new.len())
        }
        Some(bytes) => format!("{} bytes, neither the old nor the new ones", bytes.len()),
    }
}

/// The first operations of a run, a line each.
pub fn operations(run: &Run, count: usize) -> String {
    let mut disk = replayed(&run.story.files, &[]);
    let mut lines = Vec::new();
    for step in &run.log[..count] {
        lines.push(operation(run.story, &disk, step));
        advance(&mut disk, step);
    }
    if lines.len() > SHOWN {
        let left_out = lines.len() - SHOWN;
        let note = format!("({left_out} more operations)\n");
        lines.splice(SHOWN / 2..SHOWN / 2 + left_out, [note]);
    }
    lines.concat()
}

fn operation(story: &Story, disk: &Disk, step: &Step) -> String {
    let name = |path: &Path| named(story, path);
    let file = |file: usize| disk.name(file).map_or("a removed file".to_string(), name);
    let words = match &step.op {
        Op::Create(path) => format!("create {}", name(path)),
        Op::Write(to, bytes) => format!("write {} bytes to {}", bytes.len(), file(*to)),
        Op::Sync(which) => format!("sync {}", file(*which)),
        Op::Rename(from, to) => format!("rename {} to {}", name(from), name(to)),
        Op::Remove(path) => format!("remove {}", name(path)),
        Op::SyncFolder(folder) => format!("sync_folder {}", folder.display()),
    };
    match step.outcome {
        Outcome::Done => format!("{words}\n"),
        Outcome::Refused => format!("{words} -- fails: {}\n", refusal_words(&step.op)),
        Outcome::Impossible(kind) => format!("{words} -- fails: {kind}\n"),
    }
}

/// A path without its folder, if that is the folder of the file to save.
pub fn named(story: &Story, path: &Path) -> String {
    let short = path.strip_prefix(story.folder()).unwrap_or(path);
    short.display().to_string()
}
