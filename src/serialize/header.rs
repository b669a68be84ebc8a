//! The header of a safetensors file: which tensors are in it, and where.
//!
//! ```text
//! 8 bytes    n, the length of the header, little-endian
//! n bytes    JSON: {"__metadata__": {..}, "name": {"dtype", "shape", "data_offsets"}, ..}
//! the rest   the numbers, little-endian, each tensor packed in row-major order; no gap, no overlap
//! ```
//!
//! Contract: a header that is taken is true. Its length was compared with the file's before it was
//! looked at, no name stands twice (where the reference keeps the last one), each range is as long
//! as shape and type say, and the ranges tile the rest of the file. At the end the format's own
//! crate looks at what was understood: what it refuses is refused here too.

use std::borrow::Cow;
use std::ops::Range;

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use crate::dtype::DType;
use crate::error::{Error, Quoted};
use crate::json::JsonText;
use crate::serialize::json::{Reader, read_strings, write_strings};
use crate::shape::{Dims, MAX_DIMS};

/// Bytes of the length at the front.
const LENGTH: usize = 8;
/// The reference refuses longer headers.
const LONGEST: u64 = 100_000_000;
/// The one name that no tensor can have.
const METADATA: &str = "__metadata__";

/// One tensor of a file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub name: String,
    pub dtype: DType,
    pub shape: Dims,
    /// Where its bytes are, counted from the first byte behind the header.
    pub bytes: Range<usize>,
}

/// What a file says of itself.
pub(super) struct Header {
    /// In the order of the header, which need not be that of the bytes.
    pub entries: Vec<Entry>,
    /// Texts under names, for whoever knows them.
    pub metadata: Vec<(String, String)>,
    /// Where the numbers begin in the file.
    pub data_start: usize,
}

impl Header {
    /// The header of a file of `file_bytes` bytes. `front` are its first bytes, the header at
    /// least; what is behind it is not looked at.
    ///
    /// # Errors
    /// A sentence without the name of the file.
    pub fn parse(front: &[u8], file_bytes: u64) -> Result<Header, String> {
        let (text, data_start) = text_of(front, file_bytes)?;
        let mut header = Header { entries: Vec::new(), metadata: Vec::new(), data_start };
        let mut reader = Reader::new(text);
        let read = reader.object(&mut |reader, name| {
            if name == METADATA {
                header.metadata = metadata(reader)?;
            } else {
                let of_tensor = |error| format!("tensor {} {error}", Quoted(&name));
                header.entries.push(entry(reader, &name).map_err(of_tensor)?);
            }
            Ok(())
        });
        read.and_then(|()| reader.end()).map_err(|error| format!("the header: {error}"))?;
        tile(&header.entries, file_bytes - data_start as u64)?;
        reference_takes(&header.entries)?;
        Ok(header)
    }

    /// The text of one name of the metadata.
    pub fn metadata_of(&self, name: &str) -> Option<&str> {
        self.metadata.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The header's text and where the numbers begin. Nothing is allocated for a length that the file
/// has only claimed.
fn text_of(front: &[u8], file_bytes: u64) -> Result<(&str, usize), String> {
    let Some(length) = front.first_chunk::<LENGTH>() else {
        return Err(format!(
            "this is no safetensors file, or it was cut: it has {file_bytes} bytes, and the length \
             of the header alone takes {LENGTH}"
        ));
    };
    let (length, behind) = (u64::from_le_bytes(*length), file_bytes.saturating_sub(LENGTH as u64));
    if length > behind {
        return Err(format!(
            "this is no safetensors file, or it was cut: the header is to have {length} bytes, and \
             the file has {behind} behind that number"
        ));
    }
    if length > LONGEST {
        return Err(format!("the header has {length} bytes, and the format allows {LONGEST}"));
    }
    let end = LENGTH + length as usize;
    let bytes = front.get(LENGTH..end).ok_or("the header was not read to its end")?;
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("the header is no UTF-8: {error}; the file is damaged"))?;
    Ok((text, end))
}

fn metadata(reader: &mut Reader) -> Result<Vec<(String, String)>, String> {
    // The reference takes null for "none".
    if reader.is_null() {
        return reader.null().map(|()| Vec::new());
    }
    let pairs = read_strings(reader).map_err(|error| format!("{METADATA} {error}"))?;
    Ok(pairs.into_iter().map(|(key, value)| (key.into_owned(), value.into_owned())).collect())
}

/// Reads what the header says of one tensor. Fields that the format does not have are passed over,
/// as the reference does.
fn entry(reader: &mut Reader, name: &str) -> Result<Entry, String> {
    let (mut dtype, mut shape, mut offsets) = (None, None, None);
    reader.object(&mut |reader, key| {
        let of_field = |error| format!("has a wrong {key}: {error}");
        match &*key {
            "dtype" => dtype = Some(reader.string().map_err(of_field)?),
            "shape" => shape = Some(reader.numbers().map_err(of_field)?),
            "data_offsets" => offsets = Some(reader.numbers().map_err(of_field)?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let dtype = dtype_named(dtype.ok_or("lacks its dtype")?)?;
    let shape = dims(&shape.ok_or("lacks its shape")?)?;
    let (begin, end) = match offsets.ok_or("lacks its data_offsets")?[..] {
        [begin, end] if begin <= end => (begin, end),
        [begin, end] => return Err(format!("ends at byte {end}, before it begins at {begin}")),
        ref other => return Err(format!("needs 2 data_offsets, not {}", other.len())),
    };
    let needs = shape.checked_numel().expect("it was checked") * dtype.size();
    if end - begin != needs as u64 {
        return Err(format!(
            "has {} bytes, from {begin} to {end}, and {dtype} {shape:?} needs {needs}",
            end - begin
        ));
    }
    let place = |at: u64| usize::try_from(at).map_err(|_| "lies beyond all memory");
    Ok(Entry { name: name.to_string(), dtype, shape, bytes: place(begin)?..place(end)? })
}

pub(super) fn dims(sizes: &[u64]) -> Result<Dims, String> {
    if sizes.len() > MAX_DIMS {
        let count = sizes.len();
        return Err(format!("has {count} dimensions, and the engine knows up to {MAX_DIMS}"));
    }
    let sizes: Option<Vec<usize>> = sizes.iter().map(|&size| size.try_into().ok()).collect();
    let shape = sizes.and_then(|sizes| Dims::try_new(&sizes));
    // Also of an empty tensor: its strides are products of the other sizes.
    let shape = shape.filter(|shape| {
        let sizes = shape.iter().filter(|&&size| size > 0);
        let product = sizes.copied().try_fold(1usize, usize::checked_mul);
        product.is_some_and(|all| all <= isize::MAX as usize / size_of::<i64>())
    });
    shape.ok_or_else(|| "has a shape of more elements than memory can hold".to_string())
}

/// Refuses ranges that leave a gap, overlap, or end elsewhere than the file.
fn tile(entries: &[Entry], data_bytes: u64) -> Result<(), String> {
    let mut in_order: Vec<&Entry> = entries.iter().collect();
    in_order.sort_by_key(|entry| (entry.bytes.start, entry.bytes.end));
    let mut reached = 0;
    for entry in in_order {
        let Range { start, end } = entry.bytes;
        let name = Quoted(&entry.name);
        if end as u64 > data_bytes {
            return Err(format!(
                "tensor {name} ends at byte {end} of the numbers, and the file has {data_bytes} of \
                 them: it was cut or damaged"
            ));
        }
        if start != reached {
            let what = if start < reached { "overlaps" } else { "leaves a gap behind" };
            return Err(format!(
                "tensor {name} begins at byte {start} and {what} what ends at byte {reached}"
            ));
        }
        reached = end;
    }
    if reached as u64 != data_bytes {
        let more = data_bytes - reached as u64;
        return Err(format!("{more} bytes stand behind the last tensor, which ends at {reached}"));
    }
    Ok(())
}

/// Lets the format's own crate check the same.
fn reference_takes(entries: &[Entry]) -> Result<(), String> {
    let mut in_order: Vec<&Entry> = entries.iter().collect();
    in_order.sort_by_key(|entry| (entry.bytes.start, entry.bytes.end));
    let infos = in_order.into_iter().map(|entry| {
        let Range { start, end } = entry.bytes;
        let shape = entry.shape.to_vec();
        let info = TensorInfo { dtype: theirs(entry.dtype), shape, data_offsets: (start, end) };
        (entry.name.clone(), info)
    });
    Metadata::new(None, infos.collect()).map(drop).map_err(|error| error.to_string())
}

/// The front of a file with these tensors: length and header, filled up with spaces to a multiple
/// of 8 bytes, as the reference does, so that the numbers are aligned in memory.
///
/// # Errors
/// If a tensor has the name that is the metadata's, or the header becomes too long for the format.
pub(super) fn written(entries: &[Entry], metadata: &[(String, String)]) -> Result<Vec<u8>, Error> {
    let refuse = |message: String| Err(Error::Mismatch { message });
    let mut text = format!("{{{}:", JsonText(METADATA));
    write_strings(&mut text, metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    for Entry { name, dtype, shape, bytes } in entries {
        if name == METADATA {
            return refuse(format!(
                "no tensor can be saved under the name {METADATA}: the format keeps it for the \
                 file's own notes; rename it"
            ));
        }
        let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
        text.push_str(&format!(
            ",{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
            JsonText(name),
            theirs(*dtype),
            shape.join(","),
            bytes.start,
            bytes.end
        ));
    }
    text.push('}');
    let length = text.len().next_multiple_of(LENGTH);
    if length as u64 > LONGEST {
        return refuse(format!(
            "the header would have {length} bytes, and the format allows {LONGEST}; save the \
             tensors in several files"
        ));
    }
    reference_takes(entries).map_err(|message| Error::Mismatch { message })?;
    let mut front = (length as u64).to_le_bytes().to_vec();
    front.extend(text.as_bytes());
    front.resize(LENGTH + length, b' ');
    Ok(front)
}

pub(super) fn theirs(dtype: DType) -> Dtype {
    match dtype {
        DType::F64 => Dtype::F64,
        DType::F32 => Dtype::F32,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::I64 => Dtype::I64,
        DType::I32 => Dtype::I32,
        DType::U8 => Dtype::U8,
        DType::Bool => Dtype::BOOL,
    }
}

pub(super) fn dtype_named(name: Cow<str>) -> Result<DType, String> {
    let found = DType::ALL.into_iter().find(|&dtype| theirs(dtype).to_string() == name);
    found.ok_or_else(|| {
        let known: Vec<String> =
            DType::ALL.iter().map(|&dtype| theirs(dtype).to_string()).collect();
        let known = known.join(", ");
        format!(
            "has dtype {}, which the engine lacks; it has {known}; convert the tensor where the \
             file was made",
            Quoted(&name)
        )
    })
}
