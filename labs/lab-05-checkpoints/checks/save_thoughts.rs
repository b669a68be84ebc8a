//! What may be thought in 5.4, read from the order of the operations.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::file_system::Op;
use super::machine::{Outcome, Step, replayed};
use super::save::Run;

/// The key of a diagnosis, and what is true instead.
pub type Thought = (&'static str, &'static str);

/// Why a file is lost if the power fails after so many operations, and this is found.
pub fn of_crash(run: &Run, count: usize, found: &Option<Vec<u8>>) -> Thought {
    let done = &run.log[..count];
    let path = &run.story.path;
    let failed = run.refused().filter(|at| *at < count);
    let after_failure = |at: Option<usize>| at > failed && failed.is_some();
    let at_path = |op: &Op| matches!(op, Op::Create(it) if it == path);
    let created = last(done, at_path);
    let removed = last(done, |op| matches!(op, Op::Remove(it) if it == path));
    let moved = last(done, |op| matches!(op, Op::Rename(from, _) if from == path));
    let renamed = last(done, |op| matches!(op, Op::Rename(_, to) if to == path));
    if after_failure(created) {
        return FALLS_BACK;
    }
    if after_failure(removed) {
        return CLEANUP;
    }
    if let Some(at) = failed
        && run.result.is_ok()
        && count == run.log.len()
    {
        return of_ignored(run, at);
    }
    if found.is_none() && run.story.old().is_some() && (removed.is_some() || moved.is_some()) {
        return if removed > moved { REMOVED_FIRST } else { MOVED_AWAY };
    }
    if created.is_some() {
        let beside = last(done, |op| matches!(op, Op::Create(it) if it != path));
        return if beside.is_some() { COPIED } else { IN_PLACE };
    }
    let Some(renamed) = renamed else { return UNKNOWN };
    if found.as_ref() == run.story.old() {
        return of_the_folder(run, done, renamed);
    }
    let file = replayed(&run.story.files, &done[..=renamed]).file(path);
    // The whole log: a sync that comes after the crash has come too late.
    let written = last(&run.log, |op| matches!(op, Op::Write(it, _) if Some(*it) == file));
    let synced = last(&run.log, |op| matches!(op, Op::Sync(it) if Some(*it) == file));
    match (written, synced) {
        (Some(written), _) if written > renamed => RENAMED_TOO_EARLY,
        (_, None) => NOT_SYNCED,
        (Some(written), Some(synced)) if synced < written => SYNCED_TOO_EARLY,
        (_, Some(synced)) if synced > renamed => SYNCED_TOO_LATE,
        _ => UNKNOWN,
    }
}

/// The last of the operations that were done and are like this.
fn last(log: &[Step], is_it: impl Fn(&Op) -> bool) -> Option<usize> {
    log.iter().rposition(|step| step.outcome == Outcome::Done && is_it(&step.op))
}

fn of_the_folder(run: &Run, done: &[Step], renamed: usize) -> Thought {
    let own = run.story.folder();
    let synced = last(done, |op| matches!(op, Op::SyncFolder(folder) if folder == own));
    let other = last(done, |op| matches!(op, Op::SyncFolder(folder) if folder != own));
    match (synced, other) {
        (Some(synced), _) if synced < renamed => FOLDER_TOO_EARLY,
        (None, Some(_)) => OTHER_FOLDER,
        _ => NO_FOLDER,
    }
}

/// An operation has failed, the call returned `Ok`, and the file is not safe.
fn of_ignored(run: &Run, at: usize) -> Thought {
    match &run.log[at].op {
        Op::Create(_) => IGNORED_CREATE,
        Op::Write(..) => IGNORED_WRITE,
        Op::Sync(file) => {
            let again = last(&run.log, |op| op == &Op::Sync(*file));
            if again > Some(at) { SYNCED_AGAIN } else { IGNORED_SYNC }
        }
        Op::Rename(..) => IGNORED_RENAME,
        Op::SyncFolder(_) => {
            let again = last(&run.log, |op| op == &run.log[at].op);
            if again > Some(at) { FOLDER_SYNCED_AGAIN } else { IGNORED_FOLDER }
        }
        Op::Remove(_) => UNKNOWN,
    }
}

/// An error where the disk is in order.
pub fn of_impossible(run: &Run) -> Thought {
    let impossible = run.log.iter().find_map(|step| match step.outcome {
        Outcome::Impossible(kind) => Some((&step.op, kind)),
        _ => None,
    });
    match impossible {
        Some((Op::Rename(..), ErrorKind::CrossesDevices)) => OTHER_DISK,
        Some((Op::Rename(..), _)) => NAMES_SWAPPED,
        Some((Op::SyncFolder(_), _)) => NOT_A_FOLDER,
        Some((Op::Remove(_), _)) => REMOVE_FAILS,
        Some((Op::Create(_), _)) => NO_SUCH_FOLDER,
        _ => FAILS,
    }
}

/// Why the file does not hold the new bytes, though nothing has failed.
pub fn of_content(run: &Run) -> Thought {
    let seen = replayed(&run.story.files, &run.log).seen();
    let found = seen.get(&run.story.path);
    let is_elsewhere =
        |(path, bytes): (&PathBuf, &Vec<u8>)| *path != run.story.path && *bytes == run.story.new;
    let path = &run.story.path;
    if last(&run.log, |op| matches!(op, Op::Rename(from, _) if from == path)).is_some() {
        return NAMES_SWAPPED;
    }
    if found == run.story.old() && seen.iter().any(is_elsewhere) {
        return NEVER_RENAMED;
    }
    OTHER_BYTES
}

/// Why a save fails or saves something else where an earlier one was cut off.
pub fn of_leftover(run: &Run) -> Thought {
    if run.result.is_err() { BLOCKED } else { TRUSTED }
}

/// Too many operations. Also what a time limit means here.
pub const REPEATS: Thought = (
    "5.4-repeats",
    "An operation that fails is repeated until it succeeds. A disk that is full stays full for \
     hours, and a training that waits without a word is worse than one that ends in an error.",
);
/// A panic when an operation fails.
pub const UNWRAP: Thought = (
    "5.4-unwrap",
    "A disk that is full or broken is no mistake in a program, and a panic ends the training. `?` \
     hands the error to the caller, who may save elsewhere.",
);
/// Not one operation came through `files`.
pub const ELSEWHERE: Thought = (
    "5.4-elsewhere",
    "Nothing was asked of `files`. `std::fs` writes to the real disk, where no test can cut the \
     power: create, write, sync and rename through `files` and what it gives you.",
);
/// The temporary file is there after a success.
pub const LEFT_AFTER_SUCCESS: Thought = (
    "5.4-left-after-success",
    "After a success there is a file besides. Each save leaves one more, or holds the room of two \
     checkpoints where one is wanted. A rename leaves nothing behind.",
);
/// Other files are gone or changed.
pub const OTHERS: Thought = (
    "5.4-others",
    "Other files of the folder have changed. They are the index, the optimizer, another \
     checkpoint: whoever saves one file touches no other.",
);
/// No failure is cleaned up after.
pub const LEFT: Thought = (
    "5.4-left",
    "After an error the new file lies beside the old one. A failed save is tried again, and each \
     try would take the room of one more checkpoint. Remove the file before the error is returned: \
     a `?` on the way ends the function at once.",
);
/// Some failures are cleaned up after.
pub const LEFT_SOMETIMES: Thought = (
    "5.4-left-sometimes",
    "The new file is removed after some failures and not after this one. Each operation between \
     `create` and the end of `rename` can fail, and the file is there during all of them.",
);
/// Another error than the cause comes back.
pub const OTHER_ERROR: Thought = (
    "5.4-other-error",
    "The error that comes back is not the one that ended the save. Cleaning up can fail as well, \
     and then its error must not take the place of the first: a person reads that nothing could \
     be removed, and not that the disk is full.",
);
const FALLS_BACK: Thought = (
    "5.4-falls-back",
    "When the safe way failed, the file itself was written. Just then, on a disk in trouble, \
     the old file is all that there is. Return the error and leave it alone.",
);
const CLEANUP: Thought = (
    "5.4-cleanup",
    "After the failure the file itself was removed. Once the rename has succeeded there is no \
     temporary file any more, and the name stands for the only content that there is.",
);
const REMOVED_FIRST: Thought = (
    "5.4-removed-first",
    "The old file was removed before the new one had its name. If the power fails between the two, \
     there is no checkpoint under this name. A rename replaces the file that is there, at once.",
);
const MOVED_AWAY: Thought = (
    "5.4-moved-away",
    "The old file was moved away before the new one had its name. If the power fails between the \
     two, a load finds no file. A rename replaces the file that is there, at once.",
);
const IN_PLACE: Thought = (
    "5.4-in-place",
    "The file itself was opened for writing, and that empties it. From then until the last byte is \
     on the disk there is no whole checkpoint, neither the old nor the new one. Write beside it.",
);
const COPIED: Thought = (
    "5.4-copied",
    "The new content was written beside the old file, and then written again into it. During the \
     second time the file is in pieces, as if the first had not been. A rename moves no bytes: it \
     gives the file that is whole the name.",
);
const NO_FOLDER: Thought = (
    "5.4-no-folder",
    "The content is on the disk, and the name is not. A rename changes the folder, and a folder is \
     written to the disk when the system finds time. Before you report a success, sync the folder, \
     or the file that comes back after a power failure is the old one.",
);
const FOLDER_TOO_EARLY: Thought = (
    "5.4-folder-too-early",
    "The folder was synced before the rename, so that the old name is safe on the disk, and the \
     new one is not.",
);
const OTHER_FOLDER: Thought = (
    "5.4-other-folder",
    "Another folder was synced. The name stands in the folder that the file is in: \
     `path.parent()`.",
);
const NOT_SYNCED: Thought = (
    "5.4-not-synced",
    "The new file has its name, and its content has not reached the disk. Written bytes wait in \
     memory for up to half a minute, and a rename may overtake them. Closing a file or syncing \
     its folder does not bring a byte of it to the disk. Sync the file.",
);
const SYNCED_TOO_EARLY: Thought = (
    "5.4-synced-too-early",
    "The file was synced, and then more was written to it. A sync is a promise about what was \
     written before.",
);
const SYNCED_TOO_LATE: Thought = (
    "5.4-synced-too-late",
    "The file was synced after the rename. Between the two the name stands for a content that is \
     not on the disk yet, and the old one is gone.",
);
const RENAMED_TOO_EARLY: Thought = (
    "5.4-renamed-too-early",
    "The file got its name before it had its content. The rename is the moment in which the new \
     file takes the place of the old one: everything else comes before.",
);
const IGNORED_CREATE: Thought = (
    "5.4-ignored-create",
    "No file could be made, and the save reports a success. Nothing was saved.",
);
const IGNORED_WRITE: Thought = (
    "5.4-ignored-write",
    "A write has failed, and the save went on to the rename: the whole old file was replaced by a \
     part of the new one. Every `write` needs its `?`, also the second one.",
);
const IGNORED_SYNC: Thought = (
    "5.4-ignored-sync",
    "The sync of the file has failed, and the save went on. The error of a write that was only \
     promised arrives here, and nowhere else.",
);
const SYNCED_AGAIN: Thought = (
    "5.4-synced-again",
    "A sync has failed, and a second one succeeded. The second says nothing about the bytes of the \
     first: the system has marked them as written and forgets them. A database has lost data by \
     this. The file is spoilt: remove it, and return the error.",
);
const IGNORED_RENAME: Thought = (
    "5.4-ignored-rename",
    "The rename has failed, and the save reports a success. The file still holds the old content.",
);
const IGNORED_FOLDER: Thought = (
    "5.4-ignored-folder",
    "The sync of the folder has failed, and the save reports a success. The new name may not be on \
     the disk: the caller must know.",
);
const FOLDER_SYNCED_AGAIN: Thought = (
    "5.4-folder-synced-again",
    "The sync of the folder has failed, and a second one succeeded. The second says nothing about \
     a name that the first was to bring to the disk. Return the first one's error.",
);
const OTHER_DISK: Thought = (
    "5.4-other-disk",
    "The temporary file lies in another folder, and that is on another disk, as `/tmp` often is. A \
     rename changes names and moves no bytes, so it cannot leave a disk. Write into the folder of \
     the file.",
);
const NAMES_SWAPPED: Thought = (
    "5.4-names-swapped",
    "The names of the rename are swapped: it takes the present name first, the future one second. \
     Like this the old file gets the name of the new one.",
);
const NOT_A_FOLDER: Thought = (
    "5.4-not-a-folder",
    "`sync_folder` was given something that is no folder. It takes the folder of the file, \
     `path.parent()`, and the file itself has `sync`.",
);
const REMOVE_FAILS: Thought = (
    "5.4-remove-fails",
    "A file was removed that is not there, and this error ended the save. Before the first save \
     there is no old file, and most of the time there is no leftover.",
);
const NO_SUCH_FOLDER: Thought = (
    "5.4-no-such-folder",
    "The temporary file was to lie in a folder that does not exist. The one folder that you can \
     count on is that of the file.",
);
const FAILS: Thought =
    ("5.4-fails", "The save returns an error, though every operation has succeeded.");
const NEVER_RENAMED: Thought = (
    "5.4-never-renamed",
    "The new content lies beside the old one and never gets the name. Who loads this path finds \
     the old content.",
);
const OTHER_BYTES: Thought = (
    "5.4-other-bytes",
    "The file does not hold the bytes that were to be saved, all of them and each once.",
);
const BLOCKED: Thought = (
    "5.4-blocked",
    "An earlier save was cut off by a crash, and what it left stops this one. Nobody is writing \
     that file any more: `create` empties it, and the save goes on.",
);
const TRUSTED: Thought = (
    "5.4-trusted",
    "An earlier save was cut off by a crash, and its file was taken for the one to be saved. It \
     may hold any part of another content. `create` empties it.",
);
const UNKNOWN: Thought = (
    "5.4-unsafe",
    "Go through the operations one by one: what is on the disk for certain after each, and which \
     content does the name stand for?",
);
