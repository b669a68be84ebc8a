//! A file as memory: pages come from the disk when they are read, and nothing is copied before.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::error::Error;

/// The bytes of a file.
pub(super) struct Mapped(Mmap);

impl Mapped {
    /// Maps a file for reading.
    ///
    /// # Errors
    /// If it cannot be opened or is none, e.g. a folder.
    pub fn open(path: &Path) -> Result<Mapped, Error> {
        let failed = |error: std::io::Error| Error::file(path, format!("cannot be read: {error}"));
        let file = File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(Error::file(path, "cannot be read: it is no file; name a file"));
        }
        #[expect(unsafe_code, reason = "the compiler cannot know who else has the file")]
        // SAFETY: the bytes must stay as they are while they are mapped. The engine replaces files
        // by renaming and never writes into one that has its name, so what is mapped here stays;
        // another program that cuts or rewrites the file meanwhile breaks this, as it would break
        // any reader of it. The map is read as plain bytes only, and dropped when loading ends.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Ok(Mapped(map))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
