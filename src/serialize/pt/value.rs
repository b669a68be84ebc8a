//! What a pickle built, to be read: numbers, text, lists, dicts, tensors.

use std::ops::Range;

use crate::Tensor;
use crate::error::{Error, Quoted};
use crate::nn::StateDict;
use crate::serialize::pt::PtFile;
use crate::serialize::pt::globals::Global;
use crate::serialize::pt::unpickler::{Id, Node, Unpickled};

/// Most parts of a dict that a message shows.
const SHOWN: usize = 6;

/// A value of a `.pt` file. It is a place in the file, not a copy: a list that holds itself, or one
/// value a million times, is no larger than in the file. Tensors are read when they are asked for.
#[derive(Clone, Copy)]
pub struct PtValue<'a> {
    file: &'a PtFile,
    id: Id,
}

impl<'a> PtValue<'a> {
    pub(super) fn new(file: &'a PtFile, id: Id) -> PtValue<'a> {
        PtValue { file, id }
    }

    fn node(self) -> &'a Node {
        &self.file.pickle().nodes[self.id as usize]
    }

    fn of(self, id: Id) -> PtValue<'a> {
        PtValue { file: self.file, id }
    }

    /// Whether it is `None`.
    pub fn is_none(self) -> bool {
        matches!(self.node(), Node::None)
    }

    /// True or false.
    pub fn as_bool(self) -> Option<bool> {
        if let Node::Bool(truth) = self.node() { Some(*truth) } else { None }
    }

    /// A whole number, if it has no more than 64 bits.
    pub fn as_i64(self) -> Option<i64> {
        if let Node::Int(number) = self.node() { Some(*number) } else { None }
    }

    /// A number as a float; a whole one is rounded to the nearest.
    pub fn as_f64(self) -> Option<f64> {
        match self.node() {
            Node::Float(number) => Some(*number),
            _ => self.as_i64().map(|number| number as f64),
        }
    }

    /// Text.
    pub fn as_str(self) -> Option<&'a str> {
        match self.node() {
            Node::Text(range) => Some(self.file.pickle().text(range)),
            _ => None,
        }
    }

    /// Bytes.
    pub fn as_bytes(self) -> Option<Vec<u8>> {
        let pickle = self.file.pickle();
        match self.node() {
            Node::Bytes(range) => Some(pickle.stream[range.clone()].to_vec()),
            Node::Latin1(range) => {
                pickle.text(range).chars().map(|c| u8::try_from(c).ok()).collect()
            }
            _ => None,
        }
    }

    /// The values of a list, a tuple or a set.
    pub fn items(self) -> Option<impl ExactSizeIterator<Item = PtValue<'a>>> {
        match self.node() {
            Node::List(items) | Node::Tuple(items) => {
                Some(items.iter().map(move |&item| self.of(item)))
            }
            _ => None,
        }
    }

    /// The keys and values of a dict, in the order of the file.
    pub fn entries(self) -> Option<impl ExactSizeIterator<Item = (PtValue<'a>, PtValue<'a>)>> {
        match self.node() {
            Node::Dict { entries, .. } => {
                Some(entries.iter().map(move |&(key, value)| (self.of(key), self.of(value))))
            }
            _ => None,
        }
    }

    /// The value of a dict under a text; the first one if a damaged file has several.
    pub fn get(self, key: &str) -> Option<PtValue<'a>> {
        let found = self.entries()?.find(|(own, _)| own.as_str() == Some(key));
        found.map(|(_, value)| value)
    }

    /// The value of a dict under a number, or that of a list at a place, from 0.
    pub fn at(self, key: i64) -> Option<PtValue<'a>> {
        match self.entries() {
            Some(mut entries) => entries.find(|(own, _)| own.as_i64() == Some(key)).map(|e| e.1),
            None => self.items()?.nth(usize::try_from(key).ok()?),
        }
    }

    /// The tensor, on the device that the file's `map_location` says. Views of one another share
    /// their memory again, as long as one of them is alive; whether a tensor asks for a gradient is
    /// a matter of the model, and is not taken from the file.
    pub fn tensor(self) -> Result<Tensor, Error> {
        match self.node() {
            &Node::Tensor(arguments) => self.file.tensor(arguments),
            _ => Err(self.file.error(format!("it is {}, not a tensor", self.brief()))),
        }
    }

    /// The tensors of a dict that holds nothing else, under their names.
    pub fn state_dict(self) -> Result<StateDict, Error> {
        let Some(entries) = self.entries() else {
            let message = format!("it holds {}, and a state dict is a dict", self.brief());
            return Err(self.file.error(message));
        };
        let mut state = StateDict::new();
        for (key, value) in entries {
            let (Some(name), Node::Tensor(arguments)) = (key.as_str(), value.node()) else {
                return Err(self.file.error(self.no_state(key, value)));
            };
            let tensor = self.file.tensor(*arguments);
            let tensor = tensor.map_err(|error| self.file.within(name, error))?;
            state.insert(name, tensor)?;
        }
        Ok(state)
    }

    /// What to say of a dict that holds something else than tensors.
    fn no_state(self, key: PtValue, value: PtValue) -> String {
        let parts = self.entries().into_iter().flatten();
        let dicts =
            parts.filter(|(key, value)| key.as_str().is_some() && value.entries().is_some());
        let names: Vec<String> = dicts
            .take(SHOWN)
            .filter_map(|(key, _)| key.as_str().map(|key| Quoted(key).to_string()))
            .collect();
        let advice = match &names[..] {
            [] => "save the tensors alone: torch.save(model.state_dict(), ...)".to_string(),
            _ => format!(
                "name the part to load with load_pt_at; these are dicts: {}",
                names.join(", ")
            ),
        };
        let (key, value) = (key.brief(), value.brief());
        format!("it is not a flat state dict: under {key} it holds {value}; {advice}")
    }

    /// What it is, in a few characters, for messages: `a dict of 3`.
    pub fn brief(self) -> String {
        match self.node() {
            Node::Text(_) => Quoted(self.as_str().unwrap_or_default()).to_string(),
            Node::Int(number) => number.to_string(),
            Node::Float(number) => format!("{number:?}"),
            Node::Bool(truth) => truth.to_string(),
            Node::List(items) => format!("a list of {}", items.len()),
            Node::Tuple(items) => format!("a tuple of {}", items.len()),
            Node::Dict { entries, .. } => format!("a dict of {}", entries.len()),
            Node::Tensor(arguments) => self.file.pickle().brief(*arguments),
            other => other.kind(),
        }
    }
}

impl Node {
    /// What kind of value it is.
    pub fn kind(&self) -> String {
        match self {
            Node::None => "None",
            Node::Bool(_) => "a bool",
            Node::Int(_) | Node::Long => "a whole number",
            Node::Float(_) => "a float",
            Node::Text(_) => "text",
            Node::Bytes(_) | Node::Latin1(_) => "bytes",
            Node::List(_) => "a list",
            Node::Tuple(_) => "a tuple",
            Node::Dict { .. } => "a dict",
            Node::Storage(_) => "a storage",
            Node::Tensor(_) => "a tensor",
            Node::Global(Global::DType(elements)) => return format!("torch.{}", elements.name),
            Node::Global(_) => "a class or function",
        }
        .to_string()
    }
}

impl Unpickled {
    /// The text at a place in the stream.
    pub fn text(&self, range: &Range<usize>) -> &str {
        std::str::from_utf8(&self.stream[range.clone()]).expect("it was checked when it was read")
    }

    /// Type and shape of a tensor.
    fn brief(&self, arguments: Id) -> String {
        match self.geometry(arguments) {
            Ok(tensor) => format!("a {} tensor {:?}", tensor.elements.name, tensor.layout.shape()),
            Err(_) => "a tensor".to_string(),
        }
    }
}
