//! Any bytes as the index of a sharded state, or as the file of a rank: what must hold whatever
//! they are. Seeded damage calls it in engine_sharded_files.rs, and libFuzzer in fuzz/.

use std::fs;
use std::path::Path;

use engine_room::nn::Parameter;
use engine_room::serialize::{Disk, Sharding, Share, load_share, reshard, save_index, save_share};
use engine_room::{Device, Error, Tensor};

use crate::heap::measured;

/// The name of the index.
pub const INDEX: &str = "sharded.index.json";

/// Bytes of the heap for each byte of the files: an index of very short names becomes two plans.
const PER_BYTE: usize = 24;
/// And however short they are: messages, names of files, lists with room for some entries.
const AT_LEAST: usize = 32 << 10;

/// Loads the whole state of a folder.
pub fn load(folder: &Path) -> Result<Share, Error> {
    load_share(folder, &Sharding::PerParameter, 0, 1, Device::Cpu)
}

/// Loads what may be damaged. It allocates in proportion to the files, and refuses with the name of
/// one.
pub fn damaged(folder: &Path) -> Result<Share, Error> {
    let files = fs::read_dir(folder).expect("the folder is there");
    let sizes = files.map(|file| file.expect("an entry").metadata().expect("a file").len());
    let total = sizes.sum::<u64>() as usize;
    let (loaded, peak) = measured(|| load(folder));
    let allowed = PER_BYTE * total + AT_LEAST;
    assert!(peak <= allowed, "{peak} bytes of the heap for files of {total}");
    if let Err(error) = &loaded {
        assert!(matches!(error, Error::File { .. }), "{error:?}");
    }
    loaded
}

/// Puts the files of two ranks and their index into a folder.
pub fn fill(folder: &Path) {
    let param = |shape: &[usize]| Parameter::new(Tensor::ones(shape));
    let params = [("a", param(&[3, 2])), ("m.b", param(&[5])), ("m.c", param(&[]))];
    let params: Vec<(String, Parameter)> =
        params.into_iter().map(|(name, it)| (name.to_string(), it)).collect();
    let whole = Share::whole(&params).expect("names differ");
    let flat = Sharding::Flat { units: vec!["m".to_string()] };
    for rank in 0..2 {
        let share = reshard(std::slice::from_ref(&whole), &flat, rank, 2).expect("it fits");
        save_share(&Disk, folder, &share).expect("room for a file");
        if rank == 1 {
            save_index(&Disk, folder, share.plan()).expect("both have saved");
        }
    }
}
