//! For the tests of checkpoints: a folder for a test, tensors as bytes, and errors as sentences.
#![allow(dead_code, reason = "each test needs some of it")]

use std::fs;
use std::path::{Path, PathBuf};

use engine_room::serialize::{MapLocation, StateDict};
use engine_room::{DType, Device, Error, Tensor, bf16, f16};
use serde_json::Value;

/// Everything to the CPU.
pub const CPU: MapLocation = MapLocation::Device(Device::Cpu);

/// An empty folder, which goes when the test ends.
pub struct Folder {
    path: PathBuf,
    stays: bool,
}

impl Folder {
    pub fn new(test: &str) -> Folder {
        let mut folder = Folder::that_stays(&format!("{test}-{}", std::process::id()));
        folder.stays = false;
        folder
    }

    /// One that does not go.
    pub fn that_stays(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder of cargo's");
        Folder { path, stays: true }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Puts a file into it.
    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.at(name), bytes).expect("a file of the test's");
        self.at(name)
    }

    /// The names of what is in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).expect("the folder is there");
        let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("a name in UTF-8");
        let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.stays {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// A file of tests/golden/.
pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

/// A JSON file of tests/golden/.
pub fn golden_json(name: &str) -> Value {
    let text = fs::read(golden(name)).expect("the golden file is there");
    serde_json::from_slice(&text).expect("the golden file is JSON")
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "{text} is cut");
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// The elements in logical order as bytes, little-endian.
pub fn bytes_of(x: &Tensor) -> Vec<u8> {
    macro_rules! bytes {
        ($T:ty) => {
            x.to_vec::<$T>().into_iter().flat_map(|value| value.to_le_bytes()).collect()
        };
    }
    match x.dtype() {
        DType::F64 => bytes!(f64),
        DType::F32 => bytes!(f32),
        DType::F16 => bytes!(f16),
        DType::BF16 => bytes!(bf16),
        DType::I64 => bytes!(i64),
        DType::I32 => bytes!(i32),
        DType::U8 => x.to_vec::<u8>(),
        DType::Bool => x.to_vec::<bool>().into_iter().map(u8::from).collect(),
    }
}

/// Type, shape and bits.
pub fn shown(x: &Tensor) -> String {
    format!("{} {:?} {}", x.dtype(), x.shape(), hex(&bytes_of(x)))
}

/// Checks that a state has exactly the tensors of a golden file, bit by bit.
#[track_caller]
pub fn is_golden(state: &StateDict, want: &Value) {
    let want = want.as_object().expect("tensors under names");
    for (name, x) in want {
        let shape: Vec<u64> =
            x["shape"].as_array().expect("a list").iter().flat_map(Value::as_u64).collect();
        let [dtype, bytes] = ["dtype", "bytes"].map(|key| x[key].as_str().expect("a word"));
        let found = state.get(name).unwrap_or_else(|| panic!("{name:?} is not there"));
        assert_eq!(shown(found), format!("{dtype} {shape:?} {bytes}"), "{name:?}");
    }
    assert_eq!(state.len(), want.len(), "{:?}", state.names().collect::<Vec<_>>());
}

/// A file with this header, and these numbers behind it.
pub fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// A state of these tensors.
pub fn state<'n>(tensors: impl IntoIterator<Item = (&'n str, Tensor)>) -> StateDict {
    let mut state = StateDict::new();
    for (name, x) in tensors {
        state.insert(name, x).expect("each name once");
    }
    state
}

/// `f32` values without dimensions but one.
pub fn list(values: &[f32]) -> Tensor {
    Tensor::from_vec(values.to_vec(), &[values.len()])
}

/// The sentence of an error, which must have every part. It is ASCII: any terminal shows it.
#[track_caller]
pub fn says<T>(result: Result<T, Error>, parts: &[&str]) -> String {
    let Err(error) = result else { panic!("it went through; it must say {parts:?}") };
    let shown = error.to_string();
    for part in parts {
        assert!(shown.contains(part), "{shown:?} does not say {part:?}");
    }
    assert!(shown.is_ascii() && !shown.contains('\0'), "{shown}");
    shown
}
