//! One file of tensors in the safetensors format, which Python's `safetensors` reads as well.
//!
//! **Saved** is the state dict in its order; the numbers lie in the file by the size of their type,
//! largest first, so that each is aligned. A view is saved as the elements that it shows, in
//! logical order. Tensors that share a part of their memory are saved as if they did not.
//!
//! **Tied names**, which show the very same elements, are saved once, under the first name. The
//! metadata has `engine_room.tied`, a JSON object from each further name to the first one, and
//! loading gives all names one tensor again. In Python, `safetensors.torch.load_model` fills a tied
//! model from such a file, and `load_file` gives the first name only.
//!
//! **Devices**: `engine_room.devices` is a JSON object from each name whose tensor was not on the
//! CPU to its device. `format` is `pt`, without which Hugging Face's libraries refuse a file.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::Tensor;
use crate::device::Device;
use crate::dtype::Buffer;
use crate::error::{Error, Quoted};
use crate::layout::Layout;
use crate::nn::{StateDict, are_tied};
use crate::serialize::Disk;
use crate::serialize::files::{Files, replace};
use crate::serialize::header::{self, Entry, Header};
use crate::serialize::json::{Reader, read_strings, write_strings};
use crate::serialize::map_location::{MapLocation, place_all};
use crate::serialize::mapped::Mapped;
use crate::shape::Dims;
use crate::storage::Storage;

/// The name of each further name's first name.
const TIED: &str = "engine_room.tied";
/// The devices of tensors that were not on the CPU.
const DEVICES: &str = "engine_room.devices";
const FORMAT: &str = "format";

/// Saves a state dict as one file, whole or not at all: see [`replace`].
///
/// # Errors
/// If it cannot be written, or a name cannot be saved. A file that was there before is untouched.
pub fn save_file(path: &Path, state: &StateDict) -> Result<(), Error> {
    save_with(&Disk, path, state, &[])
}

/// As [`save_file`], through any [`Files`], with further texts in the file's metadata. It holds the
/// header and one tensor's packed bytes at a time.
///
/// # Errors
/// As [`save_file`].
pub fn save_with(
    files: &dyn Files,
    path: &Path,
    state: &StateDict,
    metadata: &[(&str, String)],
) -> Result<(), Error> {
    let plan = Plan::of(state, metadata)?;
    replace(files, path, &mut |file| plan.write(&mut |bytes| file.write(bytes)))
}

/// The bytes of the file that [`save_file`] writes.
///
/// # Errors
/// If a name cannot be saved.
pub fn serialize(state: &StateDict) -> Result<Vec<u8>, Error> {
    let plan = Plan::of(state, &[])?;
    let mut out = Vec::with_capacity(plan.bytes);
    let written = plan.write(&mut |bytes| {
        out.extend_from_slice(bytes);
        Ok(())
    });
    written.expect("a vector takes all bytes");
    Ok(out)
}

/// Loads a file. It is mapped into memory and never copied as a whole: at any time there are the
/// tensors that are done and at most one that is on its way to its device.
///
/// # Errors
/// If it cannot be read or is damaged, or if a device is not here. No tensor is made before all of
/// the header has been checked.
pub fn load_file(path: &Path, map_location: &MapLocation) -> Result<StateDict, Error> {
    Opened::open(path)?.contents().state(map_location)
}

/// The tensors of a file that is in memory.
///
/// # Errors
/// As [`load_file`].
pub fn deserialize(bytes: &[u8], map_location: &MapLocation) -> Result<StateDict, Error> {
    let path = Path::new("the bytes");
    let header = parse(bytes, path)?;
    Contents { path, bytes, header: &header }.state(map_location)
}

fn parse(bytes: &[u8], path: &Path) -> Result<Header, Error> {
    Header::parse(bytes, bytes.len() as u64).map_err(|message| Error::file(path, message))
}

/// A file whose header was read and checked.
pub(super) struct Opened<'p> {
    path: &'p Path,
    mapped: Mapped,
    header: Header,
}

impl<'p> Opened<'p> {
    /// Maps a file and checks its header.
    pub fn open(path: &'p Path) -> Result<Opened<'p>, Error> {
        let mapped = Mapped::open(path)?;
        let header = parse(&mapped, path)?;
        Ok(Opened { path, mapped, header })
    }

    /// Its tensors.
    pub fn contents(&self) -> Contents<'_> {
        Contents { path: self.path, bytes: &self.mapped, header: &self.header }
    }
}

/// The bytes of a file with its header.
pub(super) struct Contents<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    header: &'a Header,
}

impl Contents<'_> {
    fn state(&self, map_location: &MapLocation) -> Result<StateDict, Error> {
        let mut state = StateDict::new();
        for (name, x) in self.tensors(map_location, &|_, _| true)? {
            state.insert(&name, x)?;
        }
        Ok(state)
    }

    /// All names, also the further ones of tied tensors.
    pub fn names(&self) -> Result<HashSet<String>, Error> {
        let stored = self.header.entries.iter().map(|entry| entry.name.clone());
        Ok(stored.chain(self.tied()?.into_iter().map(|(name, _)| name)).collect())
    }

    /// The tensors in the order of the header, then the further names of tied ones. Only those for
    /// which `wanted` is true: it is asked with each name and its first name.
    pub fn tensors(
        &self,
        map_location: &MapLocation,
        wanted: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Vec<(String, Tensor)>, Error> {
        let mut further = self.tied()?;
        further.retain(|(name, first)| wanted(name, first));
        let firsts: HashSet<&str> = further.iter().map(|(_, first)| first.as_str()).collect();
        let is_wanted = |entry: &&Entry| wanted(&entry.name, &entry.name);
        let is_first = |entry: &&Entry| firsts.contains(entry.name.as_str());
        let entries = self.header.entries.iter().filter(|it| is_wanted(it) || is_first(it));
        let entries: Vec<&Entry> = entries.collect();
        let devices = self.devices(&entries, map_location)?;
        let (mut found, mut by_first) = (Vec::new(), HashMap::new());
        for (entry, device) in entries.iter().zip(devices) {
            let x = self.tensor(entry, device);
            if is_first(entry) {
                by_first.insert(entry.name.as_str(), x.clone());
            }
            if is_wanted(entry) {
                found.push((entry.name.clone(), x));
            }
        }
        let further =
            further.iter().map(|(name, first)| (name.clone(), by_first[&**first].clone()));
        found.extend(further);
        Ok(found)
    }

    fn devices(&self, entries: &[&Entry], to: &MapLocation) -> Result<Vec<Device>, Error> {
        let saved: HashMap<String, String> = self.strings(DEVICES)?.into_iter().collect();
        let places = entries.iter().map(|entry| {
            let saved = saved.get(&entry.name).map_or("cpu", String::as_str);
            (entry.name.as_str(), saved)
        });
        place_all(self.path, to, places)
    }

    /// Each further name of a tensor with its first name.
    fn tied(&self) -> Result<Vec<(String, String)>, Error> {
        let pairs = self.strings(TIED)?;
        if pairs.is_empty() {
            return Ok(pairs);
        }
        let names: HashSet<&str> =
            self.header.entries.iter().map(|entry| entry.name.as_str()).collect();
        let wrong = |(name, first): &&(String, String)| {
            names.contains(name.as_str()) || !names.contains(first.as_str())
        };
        if let Some((name, first)) = pairs.iter().find(wrong) {
            return Err(self.wrong(&format!(
                "{TIED} ties {} to {}: the first must be no tensor of the file, the other one",
                Quoted(name),
                Quoted(first)
            )));
        }
        Ok(pairs)
    }

    /// A JSON object of strings in the metadata; empty if it is not there.
    fn strings(&self, name: &str) -> Result<Vec<(String, String)>, Error> {
        let Some(text) = self.header.metadata_of(name) else { return Ok(Vec::new()) };
        let mut reader = Reader::new(text);
        let pairs = read_strings(&mut reader).and_then(|pairs| reader.end().map(|()| pairs));
        let pairs = pairs.map_err(|error| self.wrong(&format!("{name} {error}")))?;
        Ok(pairs.into_iter().map(|(a, b)| (a.into_owned(), b.into_owned())).collect())
    }

    /// One tensor, its bytes read whether or not they are aligned for its type.
    fn tensor(&self, entry: &Entry, device: Device) -> Tensor {
        let start = self.header.data_start;
        let bytes = &self.bytes[start + entry.bytes.start..start + entry.bytes.end];
        let storage = Storage::of_buffer(Buffer::from_bytes(entry.dtype, bytes), None);
        Tensor::over(Arc::new(storage), Layout::contiguous(&entry.shape)).to(device)
    }

    fn wrong(&self, message: &str) -> Error {
        Error::file(self.path, message)
    }
}

/// What a file will be: its front, and the tensors behind it in the order of their bytes.
struct Plan<'a> {
    front: Vec<u8>,
    tensors: Vec<&'a Tensor>,
    bytes: usize,
}

impl<'a> Plan<'a> {
    fn of(state: &'a StateDict, metadata: &[(&str, String)]) -> Result<Plan<'a>, Error> {
        let (stored, tied) = without_ties(state);
        let size = |place: usize| stored[place].1.dtype().size();
        let mut order: Vec<usize> = (0..stored.len()).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(size(place)));
        let mut starts = vec![0; stored.len()];
        let mut end = 0;
        for &place in &order {
            starts[place] = end;
            end += stored[place].1.nbytes() as usize;
        }
        let entries: Vec<Entry> = stored.iter().zip(starts).map(entry_of).collect();
        let front = header::written(&entries, &notes(&stored, &tied, metadata)?)?;
        let bytes = front.len() + end;
        let tensors = order.into_iter().map(|place| stored[place].1).collect();
        Ok(Plan { front, tensors, bytes })
    }

    fn write(&self, out: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        out(&self.front)?;
        self.tensors.iter().try_for_each(|x| with_packed_bytes(x, out))
    }
}

fn entry_of(((name, x), start): (&(&str, &Tensor), usize)) -> Entry {
    let (shape, bytes) = (Dims::new(x.shape()), start..start + x.nbytes() as usize);
    Entry { name: name.to_string(), dtype: x.dtype(), shape, bytes }
}

/// Calls `f` with the bytes of the elements in logical order. A view with gaps, or a tensor of a
/// device, is copied for that; a packed one is not.
pub(super) fn with_packed_bytes<T>(x: &Tensor, f: &mut dyn FnMut(&[u8]) -> T) -> T {
    let packed = x.detach().to(Device::Cpu).contiguous_for("save");
    let start = packed.storage_offset() * packed.dtype().size();
    let numbers = packed.storage().read("save");
    f(&numbers.bytes()[start..start + packed.nbytes() as usize])
}

type Named<'a> = Vec<(&'a str, &'a Tensor)>;

/// The tensors that are stored, and each further name with its first one.
pub(super) fn without_ties(state: &StateDict) -> (Named<'_>, Vec<(&str, &str)>) {
    let (mut stored, mut tied) = (Named::new(), Vec::new());
    let mut by_storage: HashMap<*const Storage, Named> = HashMap::new();
    for (name, x) in state.iter() {
        let sharing = by_storage.entry(Arc::as_ptr(x.storage())).or_default();
        match sharing.iter().find(|(_, other)| are_tied(x, other)) {
            Some((first, _)) => tied.push((name, *first)),
            None => {
                sharing.push((name, x));
                stored.push((name, x));
            }
        }
    }
    (stored, tied)
}

/// The metadata: ours where there is something to say, and the caller's.
fn notes(
    stored: &Named,
    tied: &[(&str, &str)],
    metadata: &[(&str, String)],
) -> Result<Vec<(String, String)>, Error> {
    let mut notes = vec![(FORMAT.to_string(), "pt".to_string())];
    let mut note = |name: &str, pairs: &[(&str, &str)]| {
        if !pairs.is_empty() {
            let mut text = String::new();
            write_strings(&mut text, pairs.iter().copied());
            notes.push((name.to_string(), text));
        }
    };
    note(TIED, tied);
    let elsewhere = stored.iter().filter(|(_, x)| x.device() != Device::Cpu);
    let devices: Vec<(&str, String)> =
        elsewhere.map(|(name, x)| (*name, x.device().to_string())).collect();
    let devices: Vec<(&str, &str)> =
        devices.iter().map(|(name, device)| (*name, device.as_str())).collect();
    note(DEVICES, &devices);
    for (name, text) in metadata {
        if notes.iter().any(|(other, _)| other == name) || [TIED, DEVICES].contains(name) {
            let message = format!("the file's metadata has a duplicate name, {}", Quoted(name));
            return Err(Error::Mismatch { message });
        }
        notes.push((name.to_string(), text.clone()));
    }
    Ok(notes)
}
