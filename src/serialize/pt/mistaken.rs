//! Files that are given for a `.pt` file of today and are something else.

use crate::serialize::pt::zip::Archive;

/// How a pickle of PyTorch's older format begins: its magic number, as protocol 2 writes it.
const OLD_FORMAT: &[u8] = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";
const AGAIN: &str =
    "in Python: torch.save(torch.load(path, weights_only=True), path) saves it again as a zip";

/// How other files begin, what they are, and what to do.
const STARTS: [(&[u8], &str, &str); 8] = [
    (OLD_FORMAT, "a file of PyTorch's format before version 1.6", AGAIN),
    (
        b"version https://git-lfs",
        "a pointer of Git LFS",
        "run `git lfs pull` to get the file itself",
    ),
    (b"GGUF", "a GGUF file", "load a safetensors or .pt file of the model"),
    (b"\x89HDF\r\n", "an HDF5 file", "save the tensors in Python with torch.save"),
    (
        b"\x93NUMPY",
        "an array of NumPy",
        "in Python: torch.save({\"x\": torch.from_numpy(x)}, path)",
    ),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first"),
    (b"<", "a web page, not a file", "download the file itself"),
    (b"{", "JSON", "give the file with the tensors that belongs to it"),
];

/// Says what a file is that is not a zip, by how it begins. `length` is its bytes.
pub(super) fn other_than_zip(start: &[u8], length: u64) -> String {
    if length == 0 {
        return "the file is empty; copy or download it again".to_string();
    }
    let header = start.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes));
    if header.is_some_and(|header| header < length) && start.get(8) == Some(&b'{') {
        return "this is a safetensors file; load it with load_file".to_string();
    }
    if start.get(257..262) == Some(b"ustar") {
        return format!("this is a tar archive, as PyTorch wrote it before version 0.2; {AGAIN}");
    }
    if let Some((_, what, advice)) = STARTS.iter().find(|(bytes, ..)| start.starts_with(bytes)) {
        return format!("this is {what}; {advice}");
    }
    match start {
        [0x80, 2..=5, ..] => "this is a plain pickle, not a file of torch.save; in Python, save \
                              the tensors in it with torch.save"
            .to_string(),
        _ => "this is not a .pt file: torch.save writes a zip archive, which begins with PK"
            .to_string(),
    }
}

/// What an archive is that has an entry of this name, if it is not one of `torch.save`. It is asked
/// before anything else of the entry is looked at.
pub(super) fn other_archive(name: &str) -> Option<String> {
    if name.ends_with("/constants.pkl") || name.contains("/code/") {
        let what = "this is a TorchScript archive, which holds a program besides the tensors; in \
                    Python: torch.save(torch.jit.load(path).state_dict(), path)";
        return Some(what.to_string());
    }
    let numpy = "this is an archive of NumPy (.npz); in Python, save its arrays as tensors with \
                 torch.save";
    name.ends_with(".npy").then(|| numpy.to_string())
}

/// The folder of a `.pt` archive, with a slash behind it; all entries lie in it.
pub(super) fn folder(archive: &Archive) -> Result<String, String> {
    let names = || archive.entries.iter().map(|entry| entry.name.as_str());
    let first = names().next().and_then(|name| name.split_once('/'));
    let folder = first.map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let inside = names().all(|name| name.starts_with(&folder));
    if folder.is_empty() || !inside || archive.entry(&format!("{folder}data.pkl")).is_none() {
        return Err("this is a zip archive, but not one of torch.save: that has one folder, and \
                    data.pkl in it"
            .to_string());
    }
    Ok(folder)
}
