//! The archive around a `.pt` file: a zip whose entries are stored as they are.
//!
//! At the end of a zip lies a directory that says where each entry begins, and each entry has a
//! header of its own; programs that believe one or the other see different files. PyTorch writes
//! one kind of zip only, and only that is read: nothing before it, between it and behind it that
//! is not accounted for, no compression, no encryption, every name once, no two entries over the
//! same bytes, and both headers the same. So the entries together are no larger than the file.
//! Source: PKWARE, "APPNOTE.TXT", version 6.3.10.

use std::io::{Read, Seek, SeekFrom};

use crate::error::Quoted;
use crate::serialize::pt::mistaken;

/// Where an archive is read from.
pub(super) trait Source: Read + Seek {}

impl<S: Read + Seek> Source for S {}

/// What the directory says of an entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: String,
    /// Bytes of the entry, which start at `start`.
    pub bytes: u64,
    start: u64,
    header: u64,
    flags: u16,
    crc: u32,
}

/// An archive whose directory was read and compared with its entries.
pub(super) struct Archive {
    source: Box<dyn Source>,
    /// In the order of their names.
    pub entries: Vec<Entry>,
}

const END: (&[u8], usize) = (b"PK\x05\x06", 22);
const END_64: (&[u8], usize) = (b"PK\x06\x06", 56);
const LOCATOR_64: (&[u8], usize) = (b"PK\x06\x07", 20);
const DIRECTORY: (&[u8], usize) = (b"PK\x01\x02", 46);
const LOCAL: (&[u8], usize) = (b"PK\x03\x04", 30);
/// Flags of an entry: the sizes stand behind it, and its name is UTF-8.
const SIZES_BEHIND: u16 = 1 << 3;
const UTF8: u16 = 1 << 11;

impl Archive {
    /// Reads the directory of a zip.
    pub fn open(mut source: Box<dyn Source>) -> Result<Archive, String> {
        let length = source.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
        let directory = find_directory(&mut *source, length)?;
        let bytes = read_at(&mut *source, directory.start, directory.bytes)?;
        let mut entries = read_directory(&bytes, directory.entries)?;
        entries.sort_by_key(|entry| entry.header);
        let mut end = 0;
        for (at, entry) in entries.iter_mut().enumerate() {
            let name = Quoted(&entry.name);
            if at == 0 && entry.header != 0 {
                return Err(format!("{} bytes lie before its first entry, {name}", entry.header));
            }
            if entry.header < end {
                return Err(format!("entry {name} overlaps the one before it"));
            }
            entry.start = read_header(&mut *source, entry)?;
            end = entry.start.saturating_add(entry.bytes);
            if end > directory.start {
                return Err(format!(
                    "entry {name} goes on beyond the last byte before the directory"
                ));
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Archive { source, entries })
    }

    /// The entry of a name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        let found = self.entries.binary_search_by(|entry| entry.name.as_str().cmp(name));
        found.ok().map(|at| &self.entries[at])
    }

    /// The bytes of an entry, with their checksum compared.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let entry =
            self.entry(name).ok_or_else(|| format!("there is no entry {}", Quoted(name)))?;
        let (start, bytes, crc) = (entry.start, entry.bytes, entry.crc);
        let read = read_at(&mut *self.source, start, bytes)?;
        // PyTorch writes 0 for all where `torch.serialization.set_crc32_options(False)` was called.
        if crc != 0 && crc32fast::hash(&read) != crc {
            return Err(format!(
                "the checksum of entry {} is not that of its bytes; the file is damaged: copy or \
                 download it again",
                Quoted(name)
            ));
        }
        Ok(read)
    }
}

struct Directory {
    start: u64,
    bytes: u64,
    entries: u64,
}

/// Finds the directory by the record at the end of the file, and that of zip64 if there is one.
fn find_directory(source: &mut dyn Source, length: u64) -> Result<Directory, String> {
    let end = length.checked_sub(END.1 as u64).ok_or(CUT)?;
    let record = record_at(source, end, END).map_err(|_| CUT.to_string())?;
    if record.u16(20) != 0 {
        return Err("it has a comment at its end, which torch.save does not write".to_string());
    }
    let [disk, first, here, all] = [4, 6, 8, 10].map(|at| u64::from(record.u16(at)));
    let [bytes, start] = [12, 16].map(|at| u64::from(record.u32(at)));
    let locator = end.checked_sub(LOCATOR_64.1 as u64);
    let locator = locator.and_then(|at| Some((at, record_at(source, at, LOCATOR_64).ok()?)));
    let Some((at, locator)) = locator else {
        return directory(end, [disk, first], [here, all], bytes, start);
    };
    // Its own record lies right before it; whoever says otherwise hides something in between.
    let own = at.checked_sub(END_64.1 as u64).filter(|&own| own == locator.u64(8)).ok_or(CUT)?;
    let large = record_at(source, own, END_64)?;
    let [disk, first] = [16, 20].map(|at| u64::from(large.u32(at)));
    let [here_64, all_64, bytes_64, start_64] = [24, 32, 40, 48].map(|at| large.u64(at));
    let agree = |small: u64, top: u64, large: u64| small == large || small == top;
    let (top_16, top_32) = (u64::from(u16::MAX), u64::from(u32::MAX));
    let both = agree(here, top_16, here_64)
        && agree(all, top_16, all_64)
        && agree(bytes, top_32, bytes_64)
        && agree(start, top_32, start_64);
    if !both || large.u64(4) != END_64.1 as u64 - 12 {
        return Err("the two records at its end say different things; it is damaged".to_string());
    }
    directory(own, [disk, first], [here_64, all_64], bytes_64, start_64)
}

const CUT: &str = "it begins like a zip and does not end like one: it is cut short, or something \
                   was appended; copy or download it again";

/// What the last record says of the directory, which must end where the record begins.
fn directory(
    end: u64,
    disks: [u64; 2],
    [here, entries]: [u64; 2],
    bytes: u64,
    start: u64,
) -> Result<Directory, String> {
    if disks != [0, 0] || here != entries {
        return Err("it is one part of several, which torch.save does not write".to_string());
    }
    if start.checked_add(bytes) != Some(end) {
        return Err("its directory is not where it says; something was cut out of the file, put \
            before it or appended"
            .to_string());
    }
    // As few bytes as each entry needs: nothing is made of the number alone.
    if entries > bytes / DIRECTORY.1 as u64 {
        return Err(format!("a directory of {bytes} bytes cannot hold {entries} entries"));
    }
    Ok(Directory { start, bytes, entries })
}

fn read_directory(bytes: &[u8], count: u64) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::with_capacity(count as usize);
    let mut left = bytes;
    for _ in 0..count {
        let record = Record::of(left, DIRECTORY)?;
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(record.u16(at)));
        let behind = &left[DIRECTORY.1..];
        let all = behind.get(..name + extra + comment).ok_or(SHORT)?;
        entries.push(entry(&record, &all[..name], &all[name..name + extra])?);
        left = &behind[all.len()..];
    }
    if !left.is_empty() {
        return Err(format!("{} bytes of its directory belong to no entry", left.len()));
    }
    let mut names: Vec<&str> = entries.iter().map(|entry: &Entry| entry.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("duplicate name: two entries are called {}", Quoted(pair[0]))),
        None => Ok(entries),
    }
}

const SHORT: &str = "its directory is cut short";

/// One entry of the directory.
fn entry(record: &Record, name: &[u8], extra: &[u8]) -> Result<Entry, String> {
    let name = std::str::from_utf8(name).map_err(|_| "the name of an entry is not UTF-8")?;
    if let Some(other) = mistaken::other_archive(name) {
        return Err(other);
    }
    let shown = Quoted(name);
    let (flags, method, crc) = (record.u16(8), record.u16(10), record.u32(16));
    if flags & !(SIZES_BEHIND | UTF8) != 0 {
        let what = if flags & 1 == 1 { "encrypted" } else { "of a kind that is not read" };
        return Err(format!("entry {shown} is {what}; torch.save writes none such"));
    }
    if method != 0 {
        let how = if method == 8 { "deflate".to_string() } else { format!("method {method}") };
        return Err(format!(
            "entry {shown} is compressed ({how}), which torch.save never does; unpack the archive \
             and load the file that it holds, or save it again with torch.save"
        ));
    }
    let large = Large::of(extra).map_err(|why| format!("entry {shown}: {why}"))?;
    let mut large = large.into_iter();
    // What is too large for 4 bytes stands in the extra field, in this order.
    let mut whole = |at: usize| match record.u32(at) {
        u32::MAX => large.next().ok_or_else(|| format!("entry {shown} lacks its zip64 sizes")),
        small => Ok(u64::from(small)),
    };
    let (bytes, packed, header) = (whole(24)?, whole(20)?, whole(42)?);
    if bytes != packed {
        return Err(format!("entry {shown} has {packed} bytes in the file and {bytes} unpacked"));
    }
    Ok(Entry { name: name.to_string(), bytes, start: 0, header, flags, crc })
}

/// The numbers of the zip64 field among the extra fields.
struct Large;

impl Large {
    fn of(mut extra: &[u8]) -> Result<Vec<u64>, &'static str> {
        while let [a, b, c, d, behind @ ..] = extra {
            let (id, length) = (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
            let field = behind.get(..usize::from(length)).ok_or("its extra field is cut short")?;
            if id == 1 {
                let (numbers, _) = field.as_chunks::<8>();
                return Ok(numbers.iter().map(|&number| u64::from_le_bytes(number)).collect());
            }
            extra = &behind[field.len()..];
        }
        Ok(Vec::new())
    }
}

/// Compares the header of an entry with the directory, and gives the position of its bytes.
fn read_header(source: &mut dyn Source, entry: &Entry) -> Result<u64, String> {
    let shown = Quoted(&entry.name);
    let missing = |_| format!("entry {shown} does not begin where the directory says");
    let record = record_at(source, entry.header, LOCAL).map_err(missing)?;
    let [name, extra] = [26, 28].map(|at| u64::from(record.u16(at)));
    let behind = entry.header + LOCAL.1 as u64;
    let written = read_at(source, behind, name).map_err(missing)?;
    let sizes = [18, 22].map(|at| record.u32(at));
    // Sizes that stand behind the entry are 0 here; those of zip64 stand in the extra field.
    let says = |size: u32| size == u32::MAX || u64::from(size) == entry.bytes;
    let later = entry.flags & SIZES_BEHIND != 0;
    let sizes_agree = sizes.into_iter().all(|size| says(size) || later && size == 0);
    let crc_agrees = record.u32(14) == entry.crc || later && record.u32(14) == 0;
    let agree = (record.u16(6), record.u16(8)) == (entry.flags, 0)
        && written == entry.name.as_bytes()
        && sizes_agree
        && crc_agrees;
    let differ = || format!("the header of entry {shown} and the directory say different things");
    agree.then_some(behind + name + extra).ok_or_else(differ)
}

/// The numbers of a record, which stand at fixed places.
struct Record(Vec<u8>);

impl Record {
    fn of(bytes: &[u8], (mark, length): (&[u8], usize)) -> Result<Record, String> {
        let record = bytes.get(..length).filter(|record| record.starts_with(mark));
        Ok(Record(record.ok_or(SHORT)?.to_vec()))
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }
}

fn record_at(source: &mut dyn Source, at: u64, kind: (&[u8], usize)) -> Result<Record, String> {
    Record::of(&read_at(source, at, kind.1 as u64)?, kind)
}

/// Reads bytes that the caller knows to be in the file, or that are few.
fn read_at(source: &mut dyn Source, at: u64, bytes: u64) -> Result<Vec<u8>, String> {
    source.seek(SeekFrom::Start(at)).map_err(|error| error.to_string())?;
    let mut read = vec![0; usize::try_from(bytes).map_err(|_| SHORT)?];
    source.read_exact(&mut read).map_err(|error| error.to_string())?;
    Ok(read)
}
