//! Everything that is done with a `.pt` file, or with a pickle, that somebody made. Seeded damage
//! calls it in engine_pt_damage.rs, and libFuzzer in fuzz/.

use engine_room::Device;
use engine_room::serialize::{MapLocation, PtFile, PtValue, pickle_opcodes};

use crate::archive::pt;
use crate::heap;

/// Most values that are looked at: a list may hold itself.
const VALUES: usize = 1000;
/// Bytes of the heap for each byte of a file, and for any file at all. What takes the most is a
/// pickle of empty lists: 32 bytes for each, its place on the stack, and, while the stack grows,
/// twice that place.
const PER_BYTE: usize = 64;
const AT_LEAST: usize = 96 << 10;

/// Runs `f` on bytes, and compares the most that it takes of the heap with them.
fn measured<T>(bytes: &[u8], f: impl FnOnce(&[u8]) -> T) -> T {
    let (result, peak) = heap::measured(|| f(bytes));
    let allowed = AT_LEAST + PER_BYTE * bytes.len();
    assert!(peak <= allowed, "{peak} bytes of the heap for a file of {}", bytes.len());
    result
}

/// Opens a file, looks at everything in it, and reads every tensor; gives whether it opened.
pub fn file(bytes: &[u8]) -> bool {
    measured(bytes, |bytes| {
        let file = PtFile::from_bytes(bytes.to_vec(), &MapLocation::Device(Device::Cpu));
        file.map(|file| look_at(file.root())).is_ok()
    })
}

/// Lists the instructions of a pickle, and carries it out as that of a file with two storages.
#[allow(dead_code, reason = "the fuzz target of files has no bare pickle")]
pub fn pickle(bytes: &[u8]) -> bool {
    // A list of all instructions takes 64 bytes for each, and twice as many while it grows.
    let shown = pickle_opcodes(bytes).map(|ops| ops.iter().map(|op| op.to_string().len()).sum());
    assert!(shown.unwrap_or(0usize) < 1000 * (1 + bytes.len()));
    file(&pt(bytes, &[("0", &[0; 96]), ("1", &[0; 8])]))
}

fn look_at(root: PtValue) {
    let mut left = vec![root];
    for _ in 0..VALUES {
        let Some(value) = left.pop() else { return };
        value.brief();
        let _ = (value.is_none(), value.as_bool(), value.as_f64(), value.as_str());
        drop((value.as_bytes(), value.state_dict()));
        if let Ok(tensor) = value.tensor() {
            // One with more elements than its storage shows some of them many times over.
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
