//! What a pickle can do, listed and never done.

use engine_room::serialize::{MapLocation, PtFile, pickle_opcodes};
use engine_room_labs::{LabArgs, Output};

use crate::experiments::wrapped;

/// A pickle as an attacker writes it: Python's `pickle.load` would run the command.
const PICKLE: &[u8] = b"\x80\x02cos\nsystem\nX\x0e\x00\x00\x00echo I am here\x85R.";

/// Prints its instructions, and what the engine says of a file with it.
pub fn run(_args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(&format!("A pickle of {} bytes. Nothing here carries it out.\n", PICKLE.len()));
    for op in pickle_opcodes(PICKLE).map_err(|error| error.to_string())? {
        output.say(&op.to_string());
    }
    output.say("\nThe same as data.pkl of a .pt file, loaded by the engine:");
    match PtFile::from_bytes(zip("archive/data.pkl", PICKLE), &MapLocation::Saved) {
        Ok(_) => Err("the engine has taken it".to_string()),
        Err(error) => {
            output.say(&wrapped(&format!("error: {error}"), ""));
            Ok(())
        }
    }
}

/// A zip archive with one entry that is not compressed.
fn zip(name: &str, content: &[u8]) -> Vec<u8> {
    let short = |n: usize| (n as u16).to_le_bytes();
    let long = |n: usize| (n as u32).to_le_bytes();
    // From "version needed" to the name's length both headers of an entry say the same.
    let both = [
        &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..],
        &crc32(content).to_le_bytes(),
        &long(content.len()),
        &long(content.len()),
        &short(name.len()),
        &short(0),
    ]
    .concat();
    let entry = [b"PK\x03\x04", &both[..], name.as_bytes(), content].concat();
    let directory = [b"PK\x01\x02\x14\x00", &both[..], &[0; 14], name.as_bytes()].concat();
    let end = [
        b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00",
        &long(directory.len())[..],
        &long(entry.len()),
        &short(0),
    ]
    .concat();
    [entry, directory, end].concat()
}

/// The checksum of an entry: one bit at a time, since it is short.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| bit(crc)))
}
