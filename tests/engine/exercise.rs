//! Any bytes as a file or as an index: what must hold whatever they are. Seeded damage calls it in
//! engine_safetensors_damage.rs, and libFuzzer in fuzz/.

use std::fs;
use std::path::Path;

use engine_room::serialize::{MapLocation, StateDict, deserialize, load_sharded};
use engine_room::{Device, Error};
use safetensors::SafeTensors;
use safetensors::tensor::View;

use crate::heap::measured;

/// Bytes of the heap for each byte of a file. Most is for a header of many empty tensors or short
/// notes: 25 bytes of text become an entry in a list, in a set of names, and in the reference's.
const PER_BYTE: usize = 24;
/// And for a file however short: messages, names of files, a set with room for some names.
const AT_LEAST: usize = 32 << 10;

/// Reads any bytes as a file. It allocates in proportion to them; and what it takes, the reference
/// takes too and finds the same in.
pub fn header(bytes: &[u8]) -> Result<StateDict, Error> {
    let (loaded, peak) = measured(|| deserialize(bytes, &MapLocation::Device(Device::Cpu)));
    let allowed = PER_BYTE * bytes.len() + AT_LEAST;
    assert!(peak <= allowed, "{peak} bytes of the heap for a file of {}", bytes.len());
    if let Ok(state) = &loaded {
        agrees_with_the_reference(bytes, state);
    }
    loaded
}

fn agrees_with_the_reference(bytes: &[u8], state: &StateDict) {
    let reference = SafeTensors::deserialize(bytes).expect("the reference takes what we take");
    let mut stored = 0;
    for (name, view) in reference.iter() {
        let x = state.get(name).expect("a tensor that the reference finds");
        assert_eq!(x.shape(), view.shape(), "{name:?}");
        assert_eq!(x.nbytes(), view.data_len() as u64, "{name:?}");
        stored += 1;
    }
    // Further names of tied tensors are in the notes, which the reference only keeps.
    assert!(state.len() >= stored);
}

/// Reads any bytes as an index in a folder with the files of a checkpoint.
pub fn index(bytes: &[u8], folder: &Path) -> Result<StateDict, Error> {
    let path = folder.join("any.index.json");
    fs::write(&path, bytes).expect("a folder of the test's");
    let (loaded, peak) = measured(|| load_sharded(&path, &MapLocation::Device(Device::Cpu)));
    // The files may be read for each name of one that the index has: they are small.
    let files: usize = 16 << 10;
    let allowed = PER_BYTE * (bytes.len() + files) + AT_LEAST;
    assert!(peak <= allowed, "{peak} bytes of the heap for an index of {}", bytes.len());
    loaded
}
