//! Everything that is done with a `.pt` file, or with a pickle, that somebody made.
//!
//! Shared by the test of damaged files and by the fuzz targets `pt` and `unpickler`. The caller
//! has `Counting` as its allocator and `peak.rs` as the module `peak`.

use engine_room::Device;
use engine_room::serialize::{MapLocation, PtFile, PtValue, pickle_opcodes};

use crate::peak::peak;

/// Most values that are looked at: a list may hold itself.
const VALUES: usize = 1000;
/// Bytes of memory for each byte of a file, and for any file at all. What takes the most is a
/// pickle of empty lists: 32 bytes for each, its place on the stack, and, while the stack grows,
/// twice that place.
const PER_BYTE: usize = 64;
const ANY_FILE: usize = 64 << 10;

/// Opens a file, looks at everything in it, and reads every tensor. An error is as good as a
/// result; too much memory is not.
pub fn file(bytes: &[u8]) -> bool {
    let (opened, most) = peak(|| {
        let file = PtFile::from_bytes(bytes.to_vec(), &MapLocation::Device(Device::Cpu));
        file.map(|file| look_at(file.root())).is_ok()
    });
    assert!(most <= ANY_FILE + PER_BYTE * bytes.len(), "{most} bytes for {}", bytes.len());
    opened
}

/// Lists a pickle, and carries it out as the pickle of a file with storages `0` and `1`.
pub fn pickle(bytes: &[u8], archive: impl Fn(&[u8]) -> Vec<u8>) -> bool {
    let (_, most) = peak(|| pickle_opcodes(bytes).is_ok());
    assert!(most <= ANY_FILE + 2 * PER_BYTE * bytes.len(), "{most} bytes for {}", bytes.len());
    file(&archive(bytes))
}

fn look_at(root: PtValue) {
    let mut left = vec![root];
    for _ in 0..VALUES {
        let Some(value) = left.pop() else { return };
        value.brief();
        let _ = (value.is_none(), value.as_bool(), value.as_f64(), value.as_str());
        drop(value.as_bytes());
        drop(value.state_dict());
        if let Ok(tensor) = value.tensor() {
            // More elements than bytes are those of a tensor that shows some of them repeatedly.
            if tensor.nbytes() <= tensor.storage().nbytes() {
                tensor.copy();
            }
        }
        let room = VALUES.saturating_sub(left.len());
        left.extend(value.items().into_iter().flatten().take(room));
        let entries = value.entries().into_iter().flatten().take(room);
        left.extend(entries.flat_map(|(key, value)| [key, value]));
    }
}
