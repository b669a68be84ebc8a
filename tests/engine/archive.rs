//! For the engine's tests: zip archives and pickles made by hand, to be right or wrong in one way.
#![allow(dead_code, reason = "each test needs some of it")]

/// An entry of an archive, with what its two headers say of it.
#[derive(Clone)]
pub struct Entry {
    pub name: String,
    pub data: Vec<u8>,
    pub flags: u16,
    pub method: u16,
    pub crc: u32,
    /// What the directory says of its size, packed size and place, if not the truth.
    pub size: Option<u32>,
    pub packed: Option<u32>,
    pub header: Option<u32>,
    /// The extra field of the directory.
    pub extra: Vec<u8>,
    /// What the header before the bytes says, if something else.
    pub local_name: Option<String>,
    pub local_crc: Option<u32>,
    pub local_size: Option<u32>,
}

/// An entry as it should be.
pub fn entry(name: &str, data: &[u8]) -> Entry {
    Entry {
        name: name.to_string(),
        data: data.to_vec(),
        flags: 0,
        method: 0,
        crc: slow_crc(data),
        size: None,
        packed: None,
        header: None,
        extra: Vec::new(),
        local_name: None,
        local_crc: None,
        local_size: None,
    }
}

/// CRC-32 bit by bit, from its definition.
pub fn slow_crc(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// A zip of these entries, without zip64.
pub fn zip(entries: &[Entry]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for it in entries {
        let (at, length) = (file.len() as u32, it.data.len() as u32);
        let name = it.local_name.as_ref().unwrap_or(&it.name);
        let local_size = it.local_size.unwrap_or(length);
        let [crc, local_crc] = [it.crc, it.local_crc.unwrap_or(it.crc)];
        file.extend(b"PK\x03\x04\0\0");
        push(&mut file, &[it.flags, it.method, 0, 0], &[local_crc, local_size, local_size]);
        push(&mut file, &[name.len() as u16, 0], &[]);
        file.extend(name.as_bytes());
        file.extend(&it.data);
        directory.extend(b"PK\x01\x02\0\0\0\0");
        let [size, packed] = [it.size.unwrap_or(length), it.packed.unwrap_or(length)];
        push(&mut directory, &[it.flags, it.method, 0, 0], &[crc, packed, size]);
        let lengths = [it.name.len() as u16, it.extra.len() as u16, 0, 0, 0];
        push(&mut directory, &lengths, &[0, it.header.unwrap_or(at)]);
        directory.extend(it.name.as_bytes());
        directory.extend(&it.extra);
    }
    let (start, count) = (file.len() as u32, entries.len() as u16);
    file.extend(&directory);
    file.extend(b"PK\x05\x06");
    push(&mut file, &[0, 0, count, count], &[directory.len() as u32, start]);
    push(&mut file, &[0], &[]);
    file
}

fn push(file: &mut Vec<u8>, shorts: &[u16], words: &[u32]) {
    file.extend(shorts.iter().flat_map(|short| short.to_le_bytes()));
    file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// A `.pt` file with this pickle and these storages.
pub fn pt(pickle: &[u8], storages: &[(&str, &[u8])]) -> Vec<u8> {
    zip(&entries_of(pickle, storages))
}

/// The entries of such a file.
pub fn entries_of(pickle: &[u8], storages: &[(&str, &[u8])]) -> Vec<Entry> {
    let data = storages.iter().map(|(key, bytes)| entry(&format!("a/data/{key}"), bytes));
    [entry("a/data.pkl", pickle), entry("a/byteorder", b"little")].into_iter().chain(data).collect()
}

/// A short text, as protocol 2 writes it.
pub fn text(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

/// A whole number.
pub fn int(number: i64) -> Vec<u8> {
    [&[0x8a, 8][..], &number.to_le_bytes()].concat()
}

/// A tuple.
pub fn tuple(parts: &[Vec<u8>]) -> Vec<u8> {
    [b"(".to_vec(), parts.concat(), b"t".to_vec()].concat()
}

fn ints(numbers: &[i64]) -> Vec<u8> {
    tuple(&numbers.iter().map(|&number| int(number)).collect::<Vec<_>>())
}

/// A storage: its class, key, device and elements.
pub fn storage(class: &str, key: &str, device: &str, numel: i64) -> Vec<u8> {
    let class = format!("ctorch\n{class}\n").into_bytes();
    let id = tuple(&[text("storage"), class, text(key), text(device), int(numel)]);
    [id, b"Q".to_vec()].concat()
}

/// A tensor of a storage.
pub fn tensor(storage: Vec<u8>, offset: i64, sizes: &[i64], strides: &[i64]) -> Vec<u8> {
    let hooks = b"ccollections\nOrderedDict\n)R".to_vec();
    let given = [storage, int(offset), ints(sizes), ints(strides), vec![0x89], hooks];
    [b"ctorch._utils\n_rebuild_tensor_v2\n".to_vec(), tuple(&given), b"R".to_vec()].concat()
}

/// A pickle of one dict.
pub fn dict(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let parts = entries.iter().map(|(key, value)| [text(key), value.clone()].concat());
    [b"\x80\x02}(".to_vec(), parts.collect::<Vec<_>>().concat(), b"u.".to_vec()].concat()
}

/// A `.pt` file with one tensor `w` of a storage of `numel` f32.
pub fn one(numel: usize, offset: i64, sizes: &[i64], strides: &[i64]) -> Vec<u8> {
    let own = storage("FloatStorage", "0", "cpu", numel as i64);
    let bytes: Vec<u8> = (0..numel).flat_map(|i| (i as f32).to_le_bytes()).collect();
    pt(&dict(&[("w", tensor(own, offset, sizes, strides))]), &[("0", &bytes)])
}
