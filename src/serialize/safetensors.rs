//! One file of tensors in the safetensors format.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors, View};

use crate::Tensor;
use crate::device::Device;
use crate::dtype::{Buffer, DType};
use crate::error::Error;
use crate::layout::Layout;
use crate::nn::StateDict;
use crate::serialize::MapLocation;
use crate::storage::Storage;

/// Saves a state dict as one file.
pub fn save_file(path: &Path, state: &StateDict) -> Result<(), Error> {
    std::fs::write(path, serialize(state)?).map_err(|error| refuse(path, &error))
}

/// Loads a file.
pub fn load_file(path: &Path, map_location: &MapLocation) -> Result<StateDict, Error> {
    deserialize(&std::fs::read(path).map_err(|error| refuse(path, &error))?, map_location)
}

/// The bytes of the file that [`save_file`] writes.
pub fn serialize(state: &StateDict) -> Result<Vec<u8>, Error> {
    let views: Vec<Entry> = state.iter().map(|(_, x)| Entry::new(x)).collect();
    safetensors::serialize(state.names().zip(views), None)
        .map_err(|error| refuse(Path::new("bytes"), &error))
}

/// The tensors of a file that is in memory.
pub fn deserialize(bytes: &[u8], map_location: &MapLocation) -> Result<StateDict, Error> {
    let fail = |error: &dyn std::fmt::Display| refuse(Path::new("bytes"), error);
    let file = SafeTensors::deserialize(bytes).map_err(|error| fail(&error))?;
    let device = map_location.place("cpu").map_err(|error| fail(&error))?;
    let mut state = StateDict::new();
    for (name, view) in file.tensors() {
        let dtype = DType::ALL.into_iter().find(|&dtype| name_of(dtype) == view.dtype());
        let dtype = dtype.ok_or_else(|| fail(&"no such dtype"))?;
        let buffer = Buffer::from_bytes(dtype, view.data());
        let storage = Arc::new(Storage::of_buffer(buffer, None));
        let x = Tensor::over(storage, Layout::contiguous(view.shape()));
        state.insert(&name, x.to(device))?;
    }
    Ok(state)
}

struct Entry {
    dtype: DType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Entry {
    fn new(x: &Tensor) -> Entry {
        let packed = x.detach().to(Device::Cpu).copy();
        let bytes = packed.storage().read("save").bytes().to_vec();
        Entry { dtype: x.dtype(), shape: x.shape().to_vec(), bytes }
    }
}

impl View for Entry {
    fn dtype(&self) -> Dtype {
        name_of(self.dtype)
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

fn name_of(dtype: DType) -> Dtype {
    match dtype {
        DType::F64 => Dtype::F64,
        DType::F32 => Dtype::F32,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::I64 => Dtype::I64,
        DType::I32 => Dtype::I32,
        DType::U8 => Dtype::U8,
        DType::Bool => Dtype::BOOL,
    }
}

fn refuse(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::File { path: path.display().to_string(), message: error.to_string() }
}
