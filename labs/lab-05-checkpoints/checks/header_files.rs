//! Files for 5.2: good ones at random, and what is needed to break one rule of one of them.

use engine_room::rng::Generator;

use super::super::header::{TensorInfo, item_size};

/// A file that can be changed before its bytes are made.
#[derive(Clone)]
pub struct Draft {
    /// What the header says, as JSON, in its order.
    pub pairs: Vec<(String, String)>,
    /// What is read from the header if the file is good.
    pub tensors: Vec<TensorInfo>,
    /// Behind the header.
    pub data: Vec<u8>,
}

const NAMES: [&str; 6] =
    ["embed.weight", "blocks.0.norm.bias", "blocks.1.w", "head.weight", "step", "positions"];
const DTYPES: [&str; 6] = ["F32", "BF16", "I64", "U8", "F64", "F16"];

/// Tensors with at least one element each, that stand in another order in the header than in the
/// data. The header has `__metadata__` in front of them.
pub fn random(rng: &mut Generator) -> Draft {
    let count = 3 + rng.below(3);
    let names = rng.permutation(NAMES.len());
    let mut tensors = Vec::new();
    let mut end = 0;
    for name in &names[..count] {
        let dtype = DTYPES[rng.below(DTYPES.len())];
        let shape: Vec<u64> = (0..1 + rng.below(3)).map(|_| 1 + rng.below(4) as u64).collect();
        let bytes = item_size(dtype).unwrap_or(0) * shape.iter().product::<u64>();
        tensors.push(info(NAMES[*name], dtype, &shape, end, end + bytes));
        end += bytes;
    }
    // Never the order of the data: its first tensor stands last in the header.
    tensors.rotate_left(1);
    let mut draft = of(&tensors, end as usize);
    draft.data = (0..end).map(|_| rng.next_u32() as u8).collect();
    draft.pairs.insert(0, metadata(r#"{"format":"pt"}"#));
    draft
}

/// A file of these tensors, in this order in the header.
pub fn of(tensors: &[TensorInfo], data: usize) -> Draft {
    let pairs = tensors.iter().map(|tensor| (tensor.name.clone(), fields(tensor))).collect();
    Draft { pairs, tensors: tensors.to_vec(), data: vec![0; data] }
}

/// A tensor.
pub fn info(name: &str, dtype: &str, shape: &[u64], start: u64, end: u64) -> TensorInfo {
    let (name, dtype, shape) = (name.to_string(), dtype.to_string(), shape.to_vec());
    TensorInfo { name, dtype, shape, start, end }
}

/// The pair `__metadata__`.
pub fn metadata(value: &str) -> (String, String) {
    ("__metadata__".to_string(), value.to_string())
}

fn fields(tensor: &TensorInfo) -> String {
    let TensorInfo { dtype, shape, start, end, .. } = tensor;
    format!(r#"{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#)
}

impl Draft {
    /// The place of `tensors[i]` among the pairs.
    fn place(&self, i: usize) -> usize {
        let name = &self.tensors[i].name;
        self.pairs.iter().position(|(other, _)| other == name).expect("every tensor has a pair")
    }

    /// Makes one field of a tensor something else: `shape` or `"shape":[1]`, as it is written.
    pub fn swap(&mut self, i: usize, old: &str, new: &str) {
        let place = self.place(i);
        assert!(self.pairs[place].1.contains(old), "the field {old} is there");
        self.pairs[place].1 = self.pairs[place].1.replacen(old, new, 1);
    }

    /// Gives a field of a tensor another value.
    pub fn set(&mut self, i: usize, field: &str, value: &str) {
        let place = self.place(i);
        let text = &self.pairs[place].1;
        let begin = text.find(&format!("\"{field}\":")).expect("the field is there");
        let begin = begin + field.len() + 3;
        let open = text[begin..].starts_with('[');
        let end = text[begin..].find(if open { ']' } else { ',' }).expect("the value ends");
        let end = begin + end + usize::from(open);
        self.pairs[place].1 = format!("{}{value}{}", &text[..begin], &text[end..]);
    }

    /// Describes a tensor otherwise.
    pub fn describe(&mut self, i: usize, change: impl FnOnce(&mut TensorInfo)) {
        let place = self.place(i);
        change(&mut self.tensors[i]);
        self.pairs[place] = (self.tensors[i].name.clone(), fields(&self.tensors[i]));
    }

    /// Makes a pair of the header something else as a whole.
    pub fn replace(&mut self, i: usize, value: &str) {
        let place = self.place(i);
        self.pairs[place].1 = value.to_string();
    }

    /// The tensor whose data come at this place.
    pub fn by_data(&self, place: usize) -> usize {
        let mut all: Vec<usize> = (0..self.tensors.len()).collect();
        all.sort_by_key(|&i| (self.tensors[i].start, self.tensors[i].end));
        all[place]
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let pairs: Vec<String> =
            self.pairs.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
        bytes(&format!("{{{}}}", pairs.join(",")), &self.data)
    }
}

/// A file with this header.
pub fn bytes(header: &str, data: &[u8]) -> Vec<u8> {
    raw(header.len() as u64, header.as_bytes(), data)
}

/// A file that says that its header is so long.
pub fn raw(length: u64, header: &[u8], data: &[u8]) -> Vec<u8> {
    [&length.to_le_bytes(), header, data].concat()
}

/// A name as JSON writes it.
fn quoted(name: &str) -> String {
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
