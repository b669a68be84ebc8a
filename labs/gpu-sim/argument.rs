//! The arguments of a kernel, as the command line gives them.

use std::path::Path;

use engine_room::rng::Generator;

use crate::dtype::Dtype;

/// An argument of a kernel.
#[derive(Debug, PartialEq)]
pub enum Argument {
    /// `f32[1000]=iota`: a buffer on the device.
    Buffer(Buffer),
    /// `i32=1000`, or `bytes=00ff`: the bytes of a parameter, and what to call it in messages.
    Value(String, Vec<u8>),
}

/// A buffer on the device.
#[derive(Debug, PartialEq)]
pub struct Buffer {
    /// The type of its elements.
    pub dtype: Dtype,
    /// How many elements it has.
    pub count: usize,
    /// Its bytes before the launch; `None` leaves them as the device hands them out.
    pub bytes: Option<Vec<u8>>,
}

impl Argument {
    /// Reads `TYPE[N]=INIT`, `TYPE=VALUE` or `bytes=HEX`. `limit` is the bytes that the device has.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in one line.
    pub fn parse(text: &str, limit: u64) -> Result<Argument, String> {
        let (kind, value) = text.split_once('=').ok_or("there is no `=`")?;
        if kind == "bytes" {
            return Ok(Argument::Value(kind.to_string(), hex(value)?));
        }
        let (name, count) = match kind.split_once('[') {
            Some((name, count)) => (name, Some(count)),
            None => (kind, None),
        };
        let Some(dtype) = Dtype::named(name) else {
            return Err(format!("`{name}` is no type; the types are {} and bytes", Dtype::names()));
        };
        let Some(count) = count else {
            let bytes = dtype.parse(value);
            let bytes = bytes.ok_or_else(|| format!("`{value}` is no value of type {name}"))?;
            return Ok(Argument::Value(name.to_string(), bytes));
        };
        let count = count.strip_suffix(']').and_then(|count| count.parse::<usize>().ok());
        let count =
            count.ok_or_else(|| format!("`{kind}` does not end in a length such as [8]"))?;
        let bytes = (count as u64).checked_mul(dtype.bytes() as u64);
        if bytes.is_none_or(|bytes| bytes > limit) {
            return Err(format!("{kind} has more bytes than the GPU, which has {limit}"));
        }
        Ok(Argument::Buffer(Buffer { dtype, count, bytes: initial(dtype, count, value)? }))
    }
}

/// The bytes that `zeros`, `random:7` and so on stand for.
fn initial(dtype: Dtype, count: usize, value: &str) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    if let Some(seed) = value.strip_prefix("random:") {
        let seed = seed.parse().map_err(|_| format!("`{seed}` is no seed: a whole number is"))?;
        let mut generator = Generator::new(seed);
        (0..count).for_each(|_| dtype.random(&mut generator, &mut bytes));
        return Ok(Some(bytes));
    }
    if let Some(path) = value.strip_prefix("file:") {
        return file(Path::new(path), count * dtype.bytes()).map(Some);
    }
    match value {
        "uninit" => return Ok(None),
        "zeros" => bytes.resize(count * dtype.bytes(), 0),
        "ones" => (0..count).for_each(|_| dtype.whole(1, &mut bytes)),
        "iota" => (0..count).for_each(|i| dtype.whole(i as u64, &mut bytes)),
        list => return values(dtype, count, list).map(Some),
    }
    Ok(Some(bytes))
}

fn file(path: &Path, wanted: usize) -> Result<Vec<u8>, String> {
    let bytes =
        std::fs::read(path).map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
    if bytes.len() != wanted {
        let (path, found) = (path.display(), bytes.len());
        return Err(format!("{path} has {found} bytes, and the buffer has {wanted}"));
    }
    Ok(bytes)
}

/// `1,2,3`
fn values(dtype: Dtype, count: usize, list: &str) -> Result<Vec<u8>, String> {
    let items: Vec<&str> = list.split(',').filter(|_| !list.is_empty()).collect();
    let mut bytes = Vec::new();
    for item in &items {
        let value = dtype.parse(item.trim()).ok_or_else(|| match items.len() {
            1 => format!(
                "`{list}` is no value of type {}, and none of: zeros ones iota uninit \
                 random:SEED file:PATH",
                dtype.name()
            ),
            _ => format!("`{item}` is no value of type {}", dtype.name()),
        })?;
        bytes.extend(value);
    }
    if items.len() != count {
        return Err(format!("the list has {} values, and the buffer {count}", items.len()));
    }
    Ok(bytes)
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok().filter(|_| pair.len() == 2)?;
        if pair[0] == b'+' { None } else { u8::from_str_radix(text, 16).ok() }
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    bytes.ok_or_else(|| "bytes are pairs of hexadecimal digits, such as bytes=00ff".to_string())
}
