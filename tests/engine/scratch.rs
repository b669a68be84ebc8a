//! For the engine's tests: a folder on the disk that is empty at first and gone afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

/// The folder. Another one each time, also where two tests give the same name.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let random = RandomState::new().hash_one(name);
        let path = std::env::temp_dir().join(format!("engine-room-{name}-{random:016x}"));
        fs::create_dir(&path).expect("room for a folder");
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What is in it, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("it is there");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    /// Makes these its only files.
    #[allow(dead_code, reason = "not every test that has a folder fills it")]
    pub fn fill(&self, files: &BTreeMap<String, Vec<u8>>) {
        for name in self.names() {
            fs::remove_file(self.0.join(name)).expect("nobody holds it");
        }
        for (name, bytes) in files {
            fs::write(self.0.join(name), bytes).expect("room");
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
