//! Loading a sharded state on any number of ranks, in either layout.
//!
//! Contract: everything is checked before the first number is read: the index, that each file is
//! there, and that each header is, tensor by tensor, what the plan says. Then each tensor of this
//! rank is made once and filled by reading ranges of the files. No more is held than that, the
//! headers, and one tensor on its way to a device. No file is read as a whole.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::device::Device;
use crate::error::{Error, Quoted};
use crate::serialize::header::{Entry, Header};
use crate::serialize::sharded::index::{INDEX, parse};
use crate::serialize::sharded::plan::{Plan, Sharding};
use crate::serialize::sharded::reshard::{Piece, Source, assemble, check_rank};
use crate::serialize::sharded::save::{notes, stored_name};
use crate::serialize::sharded::share::Share;

/// Loads the share of `rank` among `world_size` ranks from the checkpoint in a folder, onto a
/// device, however many ranks have saved it and in whichever layout. One rank of 1 gets the whole.
///
/// # Errors
/// If there is no index, a rank's file is missing (all that are missing are named), or a file is
/// damaged or is not what the index says. Nothing was read but the headers then. Or if a flat unit
/// would have to hold what is of several types or steps.
///
/// # Panics
/// If there is no such rank.
#[track_caller]
pub fn load_share(
    folder: &Path,
    sharding: &Sharding,
    rank: usize,
    world_size: usize,
    device: Device,
) -> Result<Share, Error> {
    check_rank(rank, world_size);
    let index = folder.join(INDEX);
    let (plan, names) = parse(&text_of(&index)?).map_err(|error| Error::file(&index, error))?;
    let files = check_files(folder, &plan, &names)?;
    let target =
        plan.resharded(sharding, world_size).map_err(|error| Error::file(&index, error))?;
    assemble(&Saved { plan, files }, target, rank, device)
}

fn text_of(index: &Path) -> Result<Vec<u8>, Error> {
    let text = open(index).and_then(|(file, bytes)| front(&file, bytes));
    text.map_err(|error| {
        let advice = "a folder of rank files without an index is a save that did not finish";
        Error::file(index, format!("cannot be read: {error}; {advice}"))
    })
}

/// Opens the files of all ranks, and refuses what is not as the plan says.
pub(super) fn check_files(
    folder: &Path,
    plan: &Plan,
    names: &[String],
) -> Result<Vec<RankFile>, Error> {
    let missing: Vec<String> =
        names.iter().filter(|name| !folder.join(name).exists()).map(|it| quoted(it)).collect();
    if !missing.is_empty() {
        let message = format!(
            "lacks the files of {} of {} ranks: {}; copy them here, or take another checkpoint",
            missing.len(),
            names.len(),
            listed(&missing)
        );
        return Err(Error::file(folder, message));
    }
    let paths = names.iter().map(|name| folder.join(name)).enumerate();
    paths.map(|(rank, path)| RankFile::open(path, plan, rank)).collect()
}

/// The file of a rank, open and checked.
pub(super) struct RankFile {
    path: PathBuf,
    file: File,
    /// Where each tensor of each unit begins, in bytes of the file.
    starts: Vec<Vec<u64>>,
}

impl RankFile {
    fn open(path: PathBuf, plan: &Plan, rank: usize) -> Result<RankFile, Error> {
        let opened = open(&path).and_then(|(file, bytes)| {
            let mut length = [0; 8];
            let read = (&file).take(8).read(&mut length)?;
            let header = if read < 8 { 0 } else { u64::from_le_bytes(length) };
            // A length that the file cannot have is refused by the parser, and not followed here.
            let front = front(&file, header.saturating_add(8).min(bytes))?;
            Ok((file, front, bytes))
        });
        let failed = |error: io::Error| Error::file(&path, format!("cannot be read: {error}"));
        let (file, front, bytes) = opened.map_err(failed)?;
        let header = Header::parse(&front, bytes).map_err(|error| Error::file(&path, error))?;
        let starts =
            check_header(&header, plan, rank).map_err(|error| Error::file(&path, error))?;
        Ok(RankFile { path, file, starts })
    }
}

/// Where the tensors of a rank lie in its file, or all that is not as the plan says.
fn check_header(header: &Header, plan: &Plan, rank: usize) -> Result<Vec<Vec<u64>>, String> {
    for (name, wanted) in notes(plan, rank) {
        let found = header.metadata_of(name).unwrap_or("nothing");
        if found != wanted {
            let (found, wanted) = (Quoted(found), Quoted(&wanted));
            return Err(format!(
                "says {name} {found}, where {wanted} is due: it is the file of another rank, world \
                 or step; copy the right one here, or save again"
            ));
        }
    }
    let mut rest: HashMap<&str, &Entry> =
        header.entries.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let (mut starts, mut wrong) = (Vec::new(), Vec::new());
    for unit in 0..plan.units.len() {
        let shape = plan.held_shape(unit, rank);
        let tensors = plan.spec_of(unit).tensors.iter().enumerate();
        starts.push(Vec::new());
        for (number, &(_, dtype)) in tensors {
            let name = stored_name(plan, unit, number);
            match rest.remove(name.as_str()) {
                Some(entry) if (entry.dtype, entry.shape) == (dtype, shape) => {
                    starts[unit].push((header.data_start + entry.bytes.start) as u64);
                }
                Some(entry) => wrong.push(format!(
                    "{} is {} {:?} and should be {dtype} {shape:?}",
                    quoted(&name),
                    entry.dtype,
                    entry.shape
                )),
                None => wrong.push(format!("{} is missing", quoted(&name))),
            }
        }
    }
    wrong.extend(rest.keys().map(|name| format!("{} is not in the index", quoted(name))));
    if wrong.is_empty() {
        return Ok(starts);
    }
    wrong.sort();
    Err(format!("is not what the index says: {}", listed(&wrong)))
}

/// A checkpoint whose files were checked.
struct Saved {
    plan: Plan,
    files: Vec<RankFile>,
}

impl Source for Saved {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn read(&self, piece: &Piece, tensor: usize, out: &mut [u8]) -> Result<(), Error> {
        let RankFile { path, file, starts } = &self.files[piece.rank];
        let size = self.plan.spec_of(piece.unit).tensors[tensor].1.size();
        let at = starts[piece.unit][tensor] + (piece.from * size) as u64;
        read_at(file, at, out)
            .map_err(|error| Error::file(path, format!("cannot be read at byte {at}: {error}")))
    }
}

fn read_at(mut file: &File, at: u64, out: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(out)
}

/// A file, and how long it is.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    Ok((file, about.len()))
}

/// The first bytes of a file.
fn front(mut file: &File, bytes: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut front = Vec::new();
    file.take(bytes).read_to_end(&mut front)?;
    Ok(front)
}

/// The first ones of a list: a message is no copy of a file.
fn listed(things: &[String]) -> String {
    const LISTED: usize = 20;
    let shown = things[..things.len().min(LISTED)].join(", ");
    match things.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn quoted(name: &str) -> String {
    Quoted(name).to_string()
}
