//! A training's state saved whole and saved in shares: bytes, memory and time.

use std::path::{Path, PathBuf};
use std::time::Instant;

use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::nn::{Mlp, Module};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::Generator;
use engine_room::serialize::{
    Disk, Sharding, Share, gather, load_share, reshard, save_index, save_share,
};
use engine_room::{Device, Error, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table};

const SIZES: [usize; 4] = [64, 1024, 1024, 10];
const OLD: usize = 4;
const NEW: usize = 3;
const ATTEMPTS: usize = 5;

/// Prints a row for each way to save, and one for each way to load.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    let folder = Folder::new()?;
    let whole = trained(args.seed).map_err(|error| error.to_string())?;
    let numel: usize = whole.parameters().iter().map(|it| it.get().numel()).sum();
    output.say(&format!(
        "An MLP of {SIZES:?} and its AdamW: 3 x 4 x {numel} = {} bytes, {OLD} ranks.\n\
         Held are the bytes of tensors that a rank has beside its share while it saves, and in\n\
         all when it loads. It has processor and disk to itself; the best of {ATTEMPTS}.\n",
        12 * numel
    ));
    let mut table = Table::new()
        .column("what", "what", "")
        .column("files", "files", "")
        .column("bytes", "largest file", "")
        .column("held", "held by a rank", "")
        .column("seconds", "time of a rank", "");
    let flat = || Sharding::Flat { units: Vec::new() };
    for (name, sharding) in [("flat", flat()), ("per parameter", Sharding::PerParameter)] {
        let rows = compare(&folder.0.join(name), name, &whole, &sharding);
        rows.map_err(|error| error.to_string())?.into_iter().for_each(|row| table.row(row));
    }
    output.table("rows", &table);
    Ok(())
}

/// The state of a training after one step, as the share of the only rank.
fn trained(seed: u64) -> Result<Share, Error> {
    let mut generator = Generator::new(seed);
    let model = Mlp::new(&SIZES, &mut generator);
    let mut optimizer = AdamW::new(model.parameters(), 1e-3);
    let x = Tensor::full(&[8, SIZES[0]], 0.5);
    model.forward(&x).sum().backward();
    optimizer.step();
    let mut whole = Share::whole(&model.named_parameters())?;
    whole.keep_state_of(&optimizer);
    Ok(whole)
}

/// Saves and loads in both ways what is shared out like this.
fn compare(
    folder: &Path,
    name: &str,
    whole: &Share,
    sharding: &Sharding,
) -> Result<Vec<[Cell; 5]>, Error> {
    let cut = |rank| reshard(std::slice::from_ref(whole), sharding, rank, OLD);
    let shares = (0..OLD).map(cut).collect::<Result<Vec<Share>, Error>>()?;
    let gathered = watched(&mut |attempt| {
        let full = new(folder, "full", attempt)?;
        let all = gather(&shares)?;
        save_share(&Disk, &full, &all)?;
        save_index(&Disk, &full, all.plan())
    })?;
    // All ranks save at the same time: the first is the one that is looked at.
    let first =
        watched(&mut |attempt| save_share(&Disk, &new(folder, "sharded", attempt)?, &shares[0]))?;
    let (full, sharded) = (folder.join("full-0"), folder.join("sharded-0"));
    for share in &shares[1..] {
        save_share(&Disk, &sharded, share)?;
    }
    save_index(&Disk, &sharded, shares[0].plan())?;
    let whole = watched(&mut |_| load_share(&full, sharding, 0, 1, Device::Cpu))?;
    let third = watched(&mut |_| load_share(&sharded, sharding, 0, NEW, Device::Cpu))?;
    let row = |what: String, folder: Option<&Path>, seen: &Seen| {
        let sizes = folder.map_or(Vec::new(), sizes);
        let count = |n: Option<u64>| n.map_or(Cell::Missing, Cell::Count);
        let files = (!sizes.is_empty()).then_some(sizes.len() as u64);
        let largest = count(sizes.into_iter().max());
        [what.into(), count(files), largest, Cell::Bytes(seen.held), Cell::Seconds(seen.seconds)]
    };
    Ok(vec![
        row(format!("{name}: gathered and saved"), Some(&full), &gathered),
        row(format!("{name}: each saves its share"), Some(&sharded), &first),
        row(format!("{name}: all of it loaded"), None, &whole),
        row(format!("{name}: a share of {NEW} loaded"), None, &third),
    ])
}

/// What something took.
struct Seen {
    /// Bytes at the peak beyond those before it.
    held: u64,
    seconds: f64,
}

/// Does it some times, and takes the shortest.
fn watched<T>(f: &mut dyn FnMut(usize) -> Result<T, Error>) -> Result<Seen, Error> {
    let before = memory_allocated(Device::Cpu);
    reset_peak_memory_stats(Device::Cpu);
    let mut seconds = f64::INFINITY;
    for attempt in 0..ATTEMPTS {
        let start = Instant::now();
        let result = f(attempt)?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
        drop(result);
    }
    Ok(Seen { held: max_memory_allocated(Device::Cpu) - before, seconds })
}

/// A folder for one attempt to save.
fn new(folder: &Path, name: &str, attempt: usize) -> Result<PathBuf, Error> {
    let folder = folder.join(format!("{name}-{attempt}"));
    let made = std::fs::create_dir_all(&folder);
    made.map_err(|error| Error::File {
        path: folder.display().to_string(),
        message: error.to_string(),
    })?;
    Ok(folder)
}

/// Bytes of each file of tensors in a folder.
fn sizes(folder: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let tensors =
        entries.filter(|entry| entry.path().extension().is_some_and(|it| it == "safetensors"));
    tensors.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).collect()
}

/// A folder of this process that goes when it is no longer needed.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("engine-room-bytes-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
