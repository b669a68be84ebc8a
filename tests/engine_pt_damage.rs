//! `.pt` files that are damaged, cut short, or made to take memory: each is read or refused without
//! a panic, and with no more memory than a small multiple of its bytes.

#[path = "engine/archive.rs"]
mod archive;
#[path = "engine/heap.rs"]
mod heap;
#[path = "engine/pt_exercise.rs"]
mod pt_exercise;

use std::path::{Path, PathBuf};

use archive::pt;
use engine_room::rng::Generator;
use engine_room::serialize::read_pickle;
use heap::alone;

const SEED: u64 = 20_261_203;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/checkpoints")
}

/// The files that PyTorch wrote.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder()).expect("it is there").map(|file| file.expect("a file"));
    let names =
        files.map(|file| file.path()).filter(|path| path.extension() == Some("pt".as_ref()));
    let mut read: Vec<_> = names
        .map(|path| (path.display().to_string(), std::fs::read(&path).expect("it is readable")))
        .collect();
    read.sort();
    assert!(read.len() > 20);
    read
}

/// A file whose pickle builds one value by these instructions.
fn pickled(body: &[u8]) -> Vec<u8> {
    pt(&[b"\x80\x02", body, b"."].concat(), &[])
}

/// Lists that hold lists that hold lists, each many times, and lists that hold themselves.
#[test]
fn what_a_few_bytes_say_takes_no_more_than_a_few_bytes() {
    let _turn = alone();
    let laughs: Vec<u8> = (0..200u8)
        .flat_map(|level| match level {
            0 => b"]q\x00".to_vec(),
            _ => [&b"]("[..], &[b'h', level - 1].repeat(10), b"eq", &[level]].concat(),
        })
        .collect();
    // One value must be left at the end, so a tuple holds them all.
    let nested = [&b"("[..], &laughs, b"t"].concat();
    assert!(pt_exercise::file(&pickled(&nested)));
    assert!(pt_exercise::file(&pickled(b"]q\x00h\x00a")));
    assert!(pt_exercise::file(&pickled(b"}q\x00Nh\x00s")));
    let deep = |opcode: u8, n: usize| [&b"N"[..], &vec![opcode; n]].concat();
    assert!(pt_exercise::file(&pickled(&deep(0x85, 1_000_000))));
    let lists = [vec![b']'; 500_000], vec![b'a'; 499_999]].concat();
    assert!(pt_exercise::file(&pickled(&lists)));
    // Each of these makes as much as it can of each byte.
    for body in [b"]".repeat(300_000), b"(".repeat(300_000), b"]\x94".repeat(150_000)] {
        assert!(!pt_exercise::file(&pickled(&body)));
    }
}

#[test]
fn every_prefix_of_a_file_is_refused() {
    let _turn = alone();
    for (name, bytes) in fixtures() {
        // Of the longest, the last part holds the directory, and is cut at every byte.
        let step = |at: usize| if at + 1200 > bytes.len() || at < 600 { 1 } else { 37 };
        let mut at = 0;
        while at < bytes.len() {
            assert!(!pt_exercise::file(&bytes[..at]), "{name} cut to {at}");
            at += step(at);
        }
    }
}

/// Bits that fall over, in the archive and, with the checksum made right again, in the pickle.
#[test]
fn damaged_files_are_read_or_refused() {
    let _turn = alone();
    println!("seed {SEED}");
    let mut random = Generator::new(SEED);
    for (_, bytes) in fixtures() {
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(damaged.len());
                damaged[at] ^= 1 << random.below(8);
            }
            pt_exercise::file(&damaged);
        }
    }
    let files = ["training.pt", "views.pt", "protocol4.pt"];
    let mut accepted = 0;
    for name in files {
        let pickle = read_pickle(&folder().join(name)).expect("it is right");
        for _ in 0..2000 {
            let mut damaged = pickle.clone();
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
            accepted += usize::from(pt_exercise::pickle(&damaged));
        }
    }
    println!("{accepted} of {} were read", 2000 * files.len());
}
