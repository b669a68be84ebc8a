//! One state dict in several files with an index, as `huggingface_hub` splits it.
//!
//! Tensors are put into files in order, each file up to a size; one that is larger has a file of
//! its own. All names of a tied tensor belong to one file, whose metadata has the further ones; the
//! index names the first. If one file is enough, it is `model.safetensors`, without an index.
//!
//! **A crash leaves the old checkpoint or the new one, whole.** The index is what counts, and it is
//! exchanged at once, after all new files are on the disk under names that the old index does not
//! name: `model-00001-of-00002.safetensors`, or `model-alt-00001-of-00002.safetensors` if the old
//! one has such. Then the old files are removed. What a crash leaves too much of is removed by the
//! next save: every file of such a name that the index does not name. Who loads while another
//! process saves may find that files are gone, and has to begin again.
//!
//! Where both are there, the index is taken and `model.safetensors` is not; `transformers` looks
//! the other way round, so for the time of a save it may still load the old one.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Quoted};
use crate::nn::StateDict;
use crate::serialize::files::{Files, replace};
use crate::serialize::index::Index;
use crate::serialize::map_location::listed;
use crate::serialize::safetensors::{Opened, save_with, without_ties};
use crate::serialize::{Disk, MapLocation, load_file};

/// The file of a checkpoint that needs no other.
const ONE_FILE: &str = "model.safetensors";
/// The file that says where the tensors are.
const INDEX: &str = "model.safetensors.index.json";
/// How the names of files begin, in turn.
const SERIES: [&str; 2] = ["model", "model-alt"];

/// Saves a state dict in a folder, in files of at most `max_shard_bytes` of tensors each, unless
/// one tensor is larger. What was saved there before is replaced.
///
/// # Errors
/// If the folder is missing or something cannot be written. What was there before still loads.
pub fn save_sharded(folder: &Path, state: &StateDict, max_shard_bytes: u64) -> Result<(), Error> {
    save_sharded_with(&Disk, folder, state, max_shard_bytes)
}

/// As [`save_sharded`], through any [`Files`]. The index of what is there before is read from the
/// disk itself.
///
/// # Errors
/// As [`save_sharded`].
pub fn save_sharded_with(
    files: &dyn Files,
    folder: &Path,
    state: &StateDict,
    max_shard_bytes: u64,
) -> Result<(), Error> {
    let shards = split(state, max_shard_bytes)?;
    if let [] | [_] = &shards[..] {
        save_with(files, &folder.join(ONE_FILE), state, &[])?;
        return clean(files, folder, INDEX, &[ONE_FILE.to_string()]);
    }
    let names = free_names(folder, shards.len());
    let index = index_of(&shards, &names);
    let saved = names.iter().zip(&shards);
    let mut saved = saved.map(|(name, shard)| save_with(files, &folder.join(name), shard, &[]));
    let saved = saved.find(Result::is_err).unwrap_or(Ok(()));
    let text = index.text();
    let at = folder.join(INDEX);
    let saved = saved.and_then(|()| replace(files, &at, &mut |file| file.write(text.as_bytes())));
    if let Err(error) = saved {
        // The index can be in its place although its folder could not be synced.
        if fs::read(&at).ok().as_deref() != Some(text.as_bytes()) {
            names.iter().for_each(|name| drop(files.remove(&folder.join(name))));
        }
        return Err(error);
    }
    clean(files, folder, ONE_FILE, &names)
}

/// Loads what [`save_sharded`] or Hugging Face's libraries have saved: `at` is the folder, or the
/// index itself. A tensor in a file for which the index names another file, or none, is left out.
///
/// # Errors
/// If the index cannot be read; all files that it names and that are missing; all names that their
/// files lack; or as [`load_file`].
pub fn load_sharded(at: &Path, map_location: &MapLocation) -> Result<StateDict, Error> {
    let index = if at.is_dir() { at.join(INDEX) } else { at.to_path_buf() };
    if at.is_dir() && !index.exists() {
        let one_file = at.join(ONE_FILE);
        if !one_file.exists() {
            let message = format!("the folder has no {INDEX} and no {ONE_FILE}");
            return Err(Error::file(at, message));
        }
        return load_file(&one_file, map_location);
    }
    let named = read_index(&index).map_err(|message| Error::file(&index, message))?;
    let shards = Shards::of(&index, &named);
    shards.expect_files()?;
    shards.expect_tensors()?;
    shards.load(map_location)
}

fn read_index(path: &Path) -> Result<Index, String> {
    let text = fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    Index::parse(&text).map_err(|error| format!("this is no index of a checkpoint: {error}"))
}

/// The files that an index names.
struct Shards<'i> {
    at: &'i Path,
    index: &'i Index,
    files: Vec<&'i str>,
    /// The file of each name.
    file_of: HashMap<&'i str, &'i str>,
}

impl<'i> Shards<'i> {
    fn of(at: &'i Path, index: &'i Index) -> Shards<'i> {
        let pairs = index.weight_map.iter();
        let file_of = pairs.map(|(name, file)| (name.as_str(), file.as_str())).collect();
        Shards { at, index, files: index.files(), file_of }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.at.with_file_name(file)
    }

    /// The names that the index has for a file.
    fn names_of(&self, file: &str) -> Vec<&'i str> {
        let here = self.index.weight_map.iter().filter(|(_, other)| other == file);
        here.map(|(name, _)| name.as_str()).collect()
    }

    /// Refuses all missing files at once.
    fn expect_files(&self) -> Result<(), Error> {
        let missing = self.files.iter().filter(|file| !self.path(file).exists());
        let list =
            missing.map(|file| format!("{} with {}", Quoted(file), listed(&self.names_of(file))));
        let list: Vec<String> = list.collect();
        if list.is_empty() {
            return Ok(());
        }
        let list = list.join("; ");
        let message = format!("files that it names are missing: {list}; put them beside the index");
        Err(Error::file(self.at, message))
    }

    /// Looks into every file before any tensor is made, and refuses all that they lack at once.
    fn expect_tensors(&self) -> Result<(), Error> {
        let mut lacking = Vec::new();
        for &file in &self.files {
            let path = self.path(file);
            let opened = Opened::open(&path)?;
            let held = opened.contents().names()?;
            let mut absent = self.names_of(file);
            absent.retain(|&name| !held.contains(name));
            if !absent.is_empty() {
                lacking.push(format!("{} lacks {}", Quoted(file), listed(&absent)));
            }
        }
        if lacking.is_empty() {
            return Ok(());
        }
        let message = format!(
            "files lack what it says they have: {}; index and files are not of one save",
            lacking.join("; ")
        );
        Err(Error::file(self.at, message))
    }

    /// The tensors in the order of the index, then the further names of tied ones.
    fn load(&self, map_location: &MapLocation) -> Result<StateDict, Error> {
        let (mut found, mut further) = (HashMap::new(), Vec::new());
        for &file in &self.files {
            let path = self.path(file);
            let wanted = |name: &str, first: &str| match self.file_of.get(name) {
                Some(&other) => other == file,
                None => name != first && self.file_of.get(first) == Some(&file),
            };
            for (name, x) in Opened::open(&path)?.contents().tensors(map_location, &wanted)? {
                match self.file_of.contains_key(name.as_str()) {
                    true => drop(found.insert(name, x)),
                    false => further.push((name, x)),
                }
            }
        }
        let mut state = StateDict::new();
        for (name, file) in &self.index.weight_map {
            // A file that was exchanged after it was looked into.
            let lost = || Error::file(&self.path(file), format!("has lost {}", Quoted(name)));
            state.insert(name, found.remove(name).ok_or_else(lost)?)?;
        }
        further.iter().try_for_each(|(name, x)| state.insert(name, x.clone()))?;
        Ok(state)
    }
}

/// The state in parts as `split_torch_state_dict_into_shards` makes them: a part is closed when the
/// next tensor does not fit, and one that is too large for any part is one of its own.
fn split(state: &StateDict, max_shard_bytes: u64) -> Result<Vec<StateDict>, Error> {
    let (stored, tied) = without_ties(state);
    let (mut shards, mut open, mut bytes) = (Vec::new(), StateDict::new(), 0);
    for (name, x) in stored {
        if x.nbytes() > max_shard_bytes {
            let mut own = StateDict::new();
            own.insert(name, x.clone())?;
            shards.push(own);
            continue;
        }
        if bytes + x.nbytes() > max_shard_bytes {
            shards.push(std::mem::take(&mut open));
            bytes = 0;
        }
        open.insert(name, x.clone())?;
        bytes += x.nbytes();
    }
    if !open.is_empty() {
        shards.push(open);
    }
    for (name, first) in tied {
        let shard = shards.iter_mut().find_map(|shard| Some((shard.get(first)?.clone(), shard)));
        let (x, shard) = shard.expect("every stored tensor is in one");
        shard.insert(name, x)?;
    }
    Ok(shards)
}

/// Names for so many files, none of which the index that is there now names.
fn free_names(folder: &Path, count: usize) -> Vec<String> {
    let named = read_index(&folder.join(INDEX)).ok();
    let taken = |names: &[String]| {
        let named = named.iter().flat_map(|index| &index.weight_map);
        named.into_iter().any(|(_, file)| names.contains(file))
    };
    let series = SERIES.map(|series| {
        let name = |number| format!("{series}-{number:05}-of-{count:05}.safetensors");
        (1..=count).map(name).collect::<Vec<String>>()
    });
    let free = series.iter().find(|names| !taken(names)).unwrap_or(&series[0]);
    free.clone()
}

/// Whether [`save_sharded`] gives such names to files.
fn is_ours(file: &str) -> bool {
    let number = |text: &str| text.len() >= 5 && text.bytes().all(|c| c.is_ascii_digit());
    let numbers = |text: &str| text.split_once("-of-").is_some_and(|(a, b)| number(a) && number(b));
    SERIES.iter().any(|series| {
        let rest = file.strip_prefix(series).and_then(|rest| rest.strip_prefix('-'));
        rest.and_then(|rest| rest.strip_suffix(".safetensors")).is_some_and(numbers)
    })
}

fn index_of(shards: &[StateDict], files: &[String]) -> Index {
    let (mut total_size, mut weight_map) = (0, Vec::new());
    for (shard, file) in shards.iter().zip(files) {
        for (name, x) in without_ties(shard).0 {
            total_size += x.nbytes();
            weight_map.push((name.to_string(), file.clone()));
        }
    }
    Index { total_size, weight_map }
}

/// Removes what earlier saves left: first the other kind of entry, `other`, so that no moment has
/// an entry without its files; then every file of ours that is not among `kept`.
fn clean(files: &dyn Files, folder: &Path, other: &str, kept: &[String]) -> Result<(), Error> {
    let failed = |error: std::io::Error| {
        let message = format!("the new checkpoint is saved, but not the old one removed: {error}");
        Error::file(folder, message)
    };
    let there = files.list(folder).unwrap_or_default();
    if there.iter().any(|name| name == other) {
        files.remove(&folder.join(other)).map_err(failed)?;
        files.sync_folder(folder).map_err(failed)?;
    }
    let old = there.iter().filter(|name| is_ours(name) && !kept.contains(name));
    let old: Vec<PathBuf> = old.map(|name| folder.join(name)).collect();
    old.iter().try_for_each(|path| files.remove(path)).map_err(failed)?;
    if old.is_empty() { Ok(()) } else { files.sync_folder(folder).map_err(failed) }
}
