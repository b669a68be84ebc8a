//! The index of a checkpoint in several files, as `transformers` and `huggingface_hub` write it.
//!
//! ```text
//! {"metadata": {"total_size": 24}, "weight_map": {"a": "model-00001-of-00002.safetensors", ..}}
//! ```
//!
//! Contract: the index decides. It names the files, and the file of each tensor; a file that it
//! does not name does not belong to the checkpoint. Each file lies beside the index: a path could
//! lead anywhere.

use std::collections::HashSet;

use crate::error::Quoted;
use crate::json::JsonText;
use crate::serialize::json::Reader;

/// Which file has which tensor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Index {
    /// Bytes of all tensors.
    pub total_size: u64,
    /// Each name with the name of its file.
    pub weight_map: Vec<(String, String)>,
}

impl Index {
    /// Reads an index. `total_size` is 0 where it is missing or no whole number: others write it
    /// as `1e9`, and nothing depends on it.
    ///
    /// # Errors
    /// A sentence without the name of the file. It has all names of files that lead elsewhere.
    pub fn parse(text: &[u8]) -> Result<Index, String> {
        let text = std::str::from_utf8(text).map_err(|error| format!("it is no UTF-8: {error}"))?;
        let (mut total_size, mut weight_map) = (0, None);
        let mut reader = Reader::new(text);
        reader.object(&mut |reader, key| {
            match &*key {
                "metadata" if reader.is_object() => total_size = total(reader)?,
                "weight_map" => weight_map = Some(files(reader)?),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        reader.end()?;
        let weight_map = weight_map.ok_or("it has no weight_map, which says where tensors are")?;
        Ok(Index { total_size, weight_map })
    }

    /// The files, each once, in the order in which they are named first.
    pub fn files(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let files = self.weight_map.iter().map(|(_, file)| file.as_str());
        files.filter(|&file| seen.insert(file)).collect()
    }

    /// The text, laid out as Python's `json.dumps(index, indent=2)`, with the names in their order.
    pub fn text(&self) -> String {
        let mut out = format!(
            "{{\n  \"metadata\": {{\n    \"total_size\": {}\n  }},\n  \"weight_map\": {{",
            self.total_size
        );
        for (number, (name, file)) in self.weight_map.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            out += &format!("{comma}\n    {}: {}", JsonText(name), JsonText(file));
        }
        out.push_str(if self.weight_map.is_empty() { "}\n}\n" } else { "\n  }\n}\n" });
        out
    }
}

fn total(reader: &mut Reader) -> Result<u64, String> {
    let mut total_size = 0;
    reader.object(&mut |reader, key| {
        match &*key {
            "total_size" => total_size = reader.number_or_skip()?.unwrap_or(0),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(total_size)
}

fn files(reader: &mut Reader) -> Result<Vec<(String, String)>, String> {
    let (mut files, mut elsewhere) = (Vec::new(), String::new());
    reader.object(&mut |reader, name| {
        let of_name = |error| format!("the file of {}: {error}", Quoted(&name));
        let file = reader.string().map_err(of_name)?;
        // Only so many are listed: a message is no copy of the file.
        if !is_plain(&file) && elsewhere.len() < 1000 {
            let comma = if elsewhere.is_empty() { "" } else { ", " };
            elsewhere += &format!("{comma}{} (for {})", Quoted(&file), Quoted(&name));
        }
        files.push((name.into_owned(), file.into_owned()));
        Ok(())
    })?;
    if elsewhere.is_empty() {
        return Ok(files);
    }
    Err(format!("it names files that do not lie beside it, which could be any: {elsewhere}"))
}

/// Whether this is the name of a file in the same folder, on every system.
pub(super) fn is_plain(file: &str) -> bool {
    !matches!(file, "" | "." | "..") && !file.contains(['/', '\\', ':', '\0'])
}
