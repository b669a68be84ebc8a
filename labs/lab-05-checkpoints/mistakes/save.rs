//! Wrong ways to save: 5.4.

use std::io;
use std::path::{Path, PathBuf};

use engine_room::serialize::Files;

use super::super::solution::save as right;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_way();
    all.extend(of_the_end());
    all.extend(of_the_syncs());
    all.extend(of_the_folder());
    all.extend(of_the_errors());
    all.extend(of_ways_out());
    all.extend(of_the_cleanup());
    all.extend(of_the_leftovers());
    all
}

fn save(
    diagnosis: &'static str,
    name: &'static str,
    save: fn(&dyn Files, &Path, &[u8]) -> io::Result<()>,
) -> Wrong {
    wrong("5.4", diagnosis, name, |table| table.save = save)
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("tmp")
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Makes a file with these bytes, and syncs it.
fn write(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = files.create(path)?;
    file.write(bytes)?;
    file.sync()
}

/// The end of all right ways: the name, or no file; then the folder.
fn put(files: &dyn Files, path: &Path, written: io::Result<()>) -> io::Result<()> {
    let renamed = written.and_then(|()| files.rename(&beside(path), path));
    if renamed.is_err() {
        let _ = files.remove(&beside(path));
    }
    renamed.and_then(|()| files.sync_folder(folder(path)))
}

fn of_the_way() -> Vec<Wrong> {
    vec![
        save("5.4-in-place", "open and write", |files, path, bytes| {
            write(files, path, bytes)?;
            files.sync_folder(folder(path))
        }),
        save("5.4-copied", "a copy instead of a rename", |files, path, bytes| {
            write(files, &beside(path), bytes)?;
            write(files, path, bytes)?;
            files.remove(&beside(path))?;
            files.sync_folder(folder(path))
        }),
        save("5.4-removed-first", "makes room for the name", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            if written.is_ok() {
                let _ = files.remove(path);
            }
            put(files, path, written)
        }),
        save("5.4-remove-fails", "removes what may not be there", |files, path, bytes| {
            files.remove(&beside(path))?;
            right(files, path, bytes)
        }),
        save("5.4-moved-away", "a backup first", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            let backup = path.with_extension("bak");
            let _ = files.rename(path, &backup);
            put(files, path, written)?;
            let _ = files.remove(&backup);
            Ok(())
        }),
    ]
}

fn of_the_end() -> Vec<Wrong> {
    vec![
        save("5.4-never-renamed", "beside, and no more", |files, path, bytes| {
            write(files, &beside(path), bytes)?;
            files.sync_folder(folder(path))
        }),
        save("5.4-names-swapped", "from the new name", |files, path, bytes| {
            write(files, &beside(path), bytes)?;
            files.rename(path, &beside(path))?;
            files.sync_folder(folder(path))
        }),
        save("5.4-left-after-success", "keeps a copy", |files, path, bytes| {
            right(files, &path.with_extension("bak"), bytes)?;
            right(files, path, bytes)
        }),
        save("5.4-other-bytes", "the content twice", |files, path, bytes| {
            right(files, path, &[bytes, bytes].concat())
        }),
        save("5.4-elsewhere", "std::fs", |_, path, bytes| {
            let saved = std::fs::write(beside(path), bytes);
            saved.and_then(|()| std::fs::rename(beside(path), path))
        }),
        save("5.4-fails", "an error at the end", |files, path, bytes| {
            right(files, path, bytes)?;
            Err(io::Error::other("done"))
        }),
    ]
}

fn of_the_syncs() -> Vec<Wrong> {
    vec![
        save("5.4-not-synced", "closing is enough", |files, path, bytes| {
            let written = files.create(&beside(path)).and_then(|mut file| file.write(bytes));
            put(files, path, written)
        }),
        save("5.4-synced-too-early", "syncs before it writes", |files, path, bytes| {
            let written = files.create(&beside(path)).and_then(|mut file| {
                file.sync()?;
                file.write(bytes)
            });
            put(files, path, written)
        }),
        save("5.4-synced-too-late", "syncs after the rename", |files, path, bytes| {
            let mut file = files.create(&beside(path))?;
            let written = file.write(bytes);
            put(files, path, written)?;
            file.sync()
        }),
        save("5.4-renamed-too-early", "writes under the new name", |files, path, bytes| {
            let mut file = files.create(&beside(path))?;
            put(files, path, Ok(()))?;
            file.write(bytes)?;
            file.sync()
        }),
        save("5.4-synced-again", "syncs until it succeeds", |files, path, bytes| {
            let written = files.create(&beside(path)).and_then(|mut file| {
                file.write(bytes)?;
                file.sync().or_else(|_| file.sync())
            });
            put(files, path, written)
        }),
    ]
}

fn of_the_folder() -> Vec<Wrong> {
    vec![
        save("5.4-no-folder", "no sync of the folder", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            let renamed = written.and_then(|()| files.rename(&beside(path), path));
            if renamed.is_err() {
                let _ = files.remove(&beside(path));
            }
            renamed
        }),
        save("5.4-folder-too-early", "the folder before the rename", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            let synced = written.and_then(|()| files.sync_folder(folder(path)));
            let renamed = synced.and_then(|()| files.rename(&beside(path), path));
            if renamed.is_err() {
                let _ = files.remove(&beside(path));
            }
            renamed
        }),
        save("5.4-other-folder", "the folder above", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            written.and_then(|()| files.rename(&beside(path), path))?;
            files.sync_folder(folder(folder(path)))
        }),
        save("5.4-not-a-folder", "the file as a folder", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            written.and_then(|()| files.rename(&beside(path), path))?;
            files.sync_folder(path)
        }),
        save("5.4-other-disk", "in /tmp", |files, path, bytes| {
            let temporary = std::env::temp_dir().join("model.tmp");
            let written = write(files, &temporary, bytes);
            let renamed = written.and_then(|()| files.rename(&temporary, path));
            if renamed.is_err() {
                let _ = files.remove(&temporary);
            }
            renamed.and_then(|()| files.sync_folder(folder(path)))
        }),
        save("5.4-no-such-folder", "in a folder of its own", |files, path, bytes| {
            let temporary = folder(path).join("tmp").join("model.safetensors");
            write(files, &temporary, bytes)?;
            files.rename(&temporary, path)?;
            files.sync_folder(folder(path))
        }),
    ]
}

fn of_the_errors() -> Vec<Wrong> {
    vec![
        save("5.4-ignored-create", "if it could be made", |files, path, bytes| {
            let Ok(mut file) = files.create(&beside(path)) else { return Ok(()) };
            let written = file.write(bytes).and_then(|()| file.sync());
            put(files, path, written)
        }),
        save("5.4-ignored-write", "in two parts, one unchecked", |files, path, bytes| {
            let written = files.create(&beside(path)).and_then(|mut file| {
                let (head, tail) = bytes.split_at(bytes.len() / 2);
                file.write(head)?;
                let _ = file.write(tail);
                file.sync()
            });
            put(files, path, written)
        }),
        save("5.4-ignored-sync", "a sync that may fail", |files, path, bytes| {
            let written = files.create(&beside(path)).and_then(|mut file| {
                file.write(bytes)?;
                let _ = file.sync();
                Ok(())
            });
            put(files, path, written)
        }),
        save("5.4-ignored-rename", "a rename that may fail", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            if written.is_ok() && files.rename(&beside(path), path).is_ok() {
                return files.sync_folder(folder(path));
            }
            let _ = files.remove(&beside(path));
            written
        }),
        save("5.4-ignored-folder", "the folder as an extra", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            let renamed = written.and_then(|()| files.rename(&beside(path), path));
            if renamed.is_err() {
                let _ = files.remove(&beside(path));
            }
            let _ = files.sync_folder(folder(path));
            renamed
        }),
    ]
}

fn of_ways_out() -> Vec<Wrong> {
    vec![
        save("5.4-folder-synced-again", "syncs the folder once more", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            let renamed = written.and_then(|()| files.rename(&beside(path), path));
            if renamed.is_err() {
                let _ = files.remove(&beside(path));
            }
            renamed?;
            files.sync_folder(folder(path)).or_else(|_| files.sync_folder(folder(path)))
        }),
        save("5.4-unwrap", "unwrap", |files, path, bytes| {
            let mut file = files.create(&beside(path)).unwrap();
            file.write(bytes).unwrap();
            file.sync().unwrap();
            files.rename(&beside(path), path).unwrap();
            files.sync_folder(folder(path))
        }),
        save("5.4-repeats", "until it works", |files, path, bytes| {
            while right(files, path, bytes).is_err() {}
            Ok(())
        }),
        save("5.4-falls-back", "the unsafe way as a way out", |files, path, bytes| {
            right(files, path, bytes).or_else(|_| write(files, path, bytes))?;
            files.sync_folder(folder(path))
        }),
    ]
}

fn of_the_cleanup() -> Vec<Wrong> {
    vec![
        save("5.4-left", "a question mark on the way", |files, path, bytes| {
            write(files, &beside(path), bytes)?;
            files.rename(&beside(path), path)?;
            files.sync_folder(folder(path))
        }),
        save("5.4-left-sometimes", "cleans up after writing only", |files, path, bytes| {
            if let Err(error) = write(files, &beside(path), bytes) {
                let _ = files.remove(&beside(path));
                return Err(error);
            }
            files.rename(&beside(path), path)?;
            files.sync_folder(folder(path))
        }),
        save("5.4-cleanup", "removes the file itself", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            let renamed = written.and_then(|()| files.rename(&beside(path), path));
            if renamed.is_err() {
                let _ = files.remove(&beside(path));
            }
            renamed?;
            files.sync_folder(folder(path)).inspect_err(|_| drop(files.remove(path)))
        }),
        save("5.4-other-error", "the error of cleaning up", |files, path, bytes| {
            let written = write(files, &beside(path), bytes);
            let renamed = written.and_then(|()| files.rename(&beside(path), path));
            if let Err(error) = renamed {
                files.remove(&beside(path))?;
                return Err(error);
            }
            files.sync_folder(folder(path))
        }),
        save("5.4-others", "cleans the folder", |files, path, bytes| {
            right(files, path, bytes)?;
            for name in files.list(folder(path))? {
                let other = folder(path).join(name);
                if other != path {
                    files.remove(&other)?;
                }
            }
            files.sync_folder(folder(path))
        }),
    ]
}

fn of_the_leftovers() -> Vec<Wrong> {
    vec![
        save("5.4-blocked", "somebody else is saving", |files, path, bytes| {
            if has_leftover(files, path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            put(files, path, write(files, &beside(path), bytes))
        }),
        save("5.4-trusted", "goes on where a save has ended", |files, path, bytes| {
            let written = match has_leftover(files, path) {
                true => Ok(()),
                false => write(files, &beside(path), bytes),
            };
            put(files, path, written)
        }),
    ]
}

fn has_leftover(files: &dyn Files, path: &Path) -> bool {
    let names = files.list(folder(path)).unwrap_or_default();
    names.iter().any(|name| folder(path).join(name) == beside(path))
}
