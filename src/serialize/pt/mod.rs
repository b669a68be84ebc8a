//! PyTorch's `.pt` files: a zip archive with a pickle that says what is in it, and an entry with
//! the bytes of each storage.
//!
//! A pickle is a program. Python's `torch.load(path, weights_only=False)` runs it, and with it
//! whatever its author wanted. Here only instructions that build tensors and containers are carried
//! out, and any other one, and any name of a class or function that is none of these, is refused
//! with its position. `opcodes.rs` has the instructions, `unpickler.rs` the machine, `globals.rs`
//! the names; `zip.rs` reads the archive and `storages.rs` compares the two.
//!
//! There is no writer: save safetensors files, which PyTorch's users read with
//! `safetensors.torch.load_file`, and which cannot hold a program.
//!
//! Loading holds the tensors that are asked for and the bytes of one storage. The checksum of each
//! entry that is read is compared, unlike in PyTorch.

mod build;
mod globals;
mod listing;
mod mistaken;
mod opcodes;
mod storages;
mod unpickler;
mod value;
mod zip;

pub use listing::{PickleOp, pickle_opcodes};
pub use value::PtValue;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Weak};

use crate::Tensor;
use crate::dtype::Buffer;
use crate::error::{Error, Quoted};
use crate::layout::Layout;
use crate::nn::StateDict;
use crate::serialize::MapLocation;
use crate::storage::Storage;
use unpickler::{Id, Unpickled};
use zip::{Archive, Source};

/// Bytes at the start of a file by which its kind is known.
const START: u64 = 512;

/// The tensors of a `.pt` file that holds a state dict: `torch.save(model.state_dict(), path)`.
pub fn load_pt(path: &Path, map_location: &MapLocation) -> Result<StateDict, Error> {
    load_pt_at(path, &[], map_location)
}

/// The tensors of a state dict within a file: of `{"model": model.state_dict(), "epoch": 3}` those
/// at `["model"]`. The rest of the file is not read.
pub fn load_pt_at(
    path: &Path,
    keys: &[&str],
    map_location: &MapLocation,
) -> Result<StateDict, Error> {
    let file = PtFile::open(path, map_location)?;
    let mut value = file.root();
    for key in keys {
        value = value.get(key).ok_or_else(|| {
            let names = value.entries().into_iter().flatten().take(8);
            let names: Vec<String> = names.map(|(name, _)| name.brief()).collect();
            let (key, what) = (Quoted(key), value.brief());
            file.error(format!("there is no {key} in {what} with the keys {}", names.join(", ")))
        })?;
    }
    value.state_dict()
}

/// The pickle of a `.pt` file, as bytes, for [`pickle_opcodes`]. Nothing of it is carried out.
pub fn read_pickle(path: &Path) -> Result<Vec<u8>, Error> {
    let name = path.display().to_string();
    let read = || {
        let mut archive = archive(Box::new(File::open(path).map_err(|error| error.to_string())?))?;
        let folder = mistaken::folder(&archive)?;
        archive.read(&format!("{folder}data.pkl"))
    };
    read().map_err(|message| Error::File { path: name, message })
}

/// An opened `.pt` file: what the pickle built, and the archive with the bytes of the tensors.
pub struct PtFile {
    name: String,
    pickle: Unpickled,
    map_location: MapLocation,
    folder: String,
    big_endian: bool,
    archive: RefCell<Archive>,
    /// The storages that somebody holds, each with the device's copy of its bytes.
    loaded: RefCell<HashMap<u32, Weak<Storage>>>,
}

impl PtFile {
    /// Opens a file and carries its pickle out; no tensor is read yet.
    pub fn open(path: &Path, map_location: &MapLocation) -> Result<PtFile, Error> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => PtFile::of(name, Box::new(file), map_location),
            Err(error) => Err(Error::File { path: name, message: error.to_string() }),
        }
    }

    /// As [`open`](PtFile::open), of the bytes of a file.
    pub fn from_bytes(bytes: Vec<u8>, map_location: &MapLocation) -> Result<PtFile, Error> {
        PtFile::of("bytes".to_string(), Box::new(Cursor::new(bytes)), map_location)
    }

    fn of(
        name: String,
        source: Box<dyn Source>,
        map_location: &MapLocation,
    ) -> Result<PtFile, Error> {
        let read = || {
            let mut archive = archive(source)?;
            let folder = mistaken::folder(&archive)?;
            let big_endian = is_big_endian(&mut archive, &folder)?;
            let stream = archive.read(&format!("{folder}data.pkl"))?;
            let stored = |key: &str| Some(archive.entry(&format!("{folder}data/{key}"))?.bytes);
            let pickle = Unpickled::new(stream, &stored);
            let pickle = pickle.map_err(|why| format!("its pickle (data.pkl): {why}"))?;
            Ok((archive, folder, big_endian, pickle))
        };
        let opened = read();
        let (archive, folder, big_endian, pickle) =
            opened.map_err(|message: String| Error::File { path: name.clone(), message })?;
        let (archive, loaded) = (RefCell::new(archive), RefCell::default());
        let map_location = map_location.clone();
        Ok(PtFile { name, pickle, map_location, folder, big_endian, archive, loaded })
    }

    /// What was saved.
    pub fn root(&self) -> PtValue<'_> {
        PtValue::new(self, self.pickle.root)
    }

    fn pickle(&self) -> &Unpickled {
        &self.pickle
    }

    fn error(&self, message: String) -> Error {
        Error::File { path: self.name.clone(), message }
    }

    /// An error of this file, with the name of the tensor that it is about.
    fn within(&self, tensor: &str, error: Error) -> Error {
        match error {
            Error::File { path, message } => {
                Error::File { path, message: format!("tensor {}: {message}", Quoted(tensor)) }
            }
            other => other,
        }
    }

    /// The tensor that a pickle rebuilds with these arguments.
    fn tensor(&self, arguments: Id) -> Result<Tensor, Error> {
        let geometry = self.pickle.geometry(arguments).map_err(|why| self.error(why))?;
        let place = geometry.storage;
        let known = self.loaded.borrow().get(&place).and_then(Weak::upgrade);
        let storage = match known {
            Some(storage) => storage,
            None => {
                let storage = self.load(place).map_err(|why| self.error(why))?;
                self.loaded.borrow_mut().insert(place, Arc::downgrade(&storage));
                storage
            }
        };
        if geometry.elements.dtype != Some(storage.dtype()) {
            return Err(self.error(no_such_type(geometry.elements.name)));
        }
        Ok(Tensor::over(storage, geometry.layout))
    }

    /// Reads a storage and brings it to its device.
    fn load(&self, place: u32) -> Result<Arc<Storage>, String> {
        let saved = &self.pickle.storages[place as usize];
        let name = saved.elements.name;
        let dtype = saved.elements.dtype.ok_or_else(|| no_such_type(name))?;
        let device = self.map_location.place(&saved.location).map_err(|why| {
            format!(
                "it was saved on {}: {why}; pass MapLocation::Device(Device::Cpu) to load it onto \
                 the CPU, or a MapLocation::Table that says where it goes",
                Quoted(&saved.location)
            )
        })?;
        let mut bytes =
            self.archive.borrow_mut().read(&format!("{}data/{}", self.folder, saved.key))?;
        if self.big_endian != cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(dtype.size()).for_each(<[u8]>::reverse);
        }
        let numel = saved.numel as usize;
        let storage = Storage::of_buffer(Buffer::from_bytes(dtype, &bytes), None);
        drop(bytes);
        let flat = Tensor::over(Arc::new(storage), Layout::contiguous(&[numel]));
        Ok(flat.to(device).storage().clone())
    }
}

fn no_such_type(name: &str) -> String {
    format!(
        "its elements are {name}, a type that the engine does not have; in Python, convert it \
         before it is saved, e.g. with .to(torch.float32)"
    )
}

/// The archive, if the file begins like one.
fn archive(mut source: Box<dyn Source>) -> Result<Archive, String> {
    let mut start = Vec::new();
    let said = |error: std::io::Error| error.to_string();
    (&mut source).take(START).read_to_end(&mut start).map_err(said)?;
    if !start.starts_with(b"PK") {
        let length = source.seek(SeekFrom::End(0)).map_err(said)?;
        return Err(mistaken::other_than_zip(&start, length));
    }
    Archive::open(source)
}

/// Whether the numbers of the tensors have their highest byte first. Files before version 2.1 do
/// not say, and are little-endian.
fn is_big_endian(archive: &mut Archive, folder: &str) -> Result<bool, String> {
    let name = format!("{folder}byteorder");
    if archive.entry(&name).is_none() {
        return Ok(false);
    }
    match &archive.read(&name)?[..] {
        b"little" => Ok(false),
        b"big" => Ok(true),
        _ => Err("its entry byteorder says neither little nor big; it is damaged".to_string()),
    }
}
