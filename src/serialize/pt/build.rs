//! How the instructions of a pickle build values: containers, calls, and the storages of tensors.

use std::ops::Range;

use crate::error::Quoted;
use crate::serialize::pt::globals::Global;
use crate::serialize::pt::storages::SavedStorage;
use crate::serialize::pt::unpickler::{Id, Machine, Node};

/// Longest name of a module, a storage or a device. Names are looked at more than once, and a few
/// bytes of the stream can look at the same one again.
const LONGEST_NAME: usize = 255;

impl<'a> Machine<'a> {
    /// Puts a new value onto the stack.
    pub fn push(&mut self, node: Node) -> Result<(), String> {
        let id = self.made(node);
        self.stack.push(id);
        Ok(())
    }

    fn made(&mut self, node: Node) -> Id {
        self.built.nodes.push(node);
        self.built.nodes.len() as Id - 1
    }

    /// The height of the stack without the topmost `count` values. What lies below the last `MARK`
    /// is out of reach.
    pub fn below(&self, count: usize) -> Result<usize, String> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let height = self.stack.len().checked_sub(count).filter(|&height| height >= floor);
        height.ok_or_else(|| "it needs more values than the stack holds; it is damaged".to_string())
    }

    /// The topmost `count` values.
    pub fn top(&self, count: usize) -> Result<&[Id], String> {
        Ok(&self.stack[self.below(count)?..])
    }

    /// Takes the topmost value off the stack.
    pub fn pop(&mut self) -> Result<Id, String> {
        let from = self.below(1)?;
        let popped = self.stack[from];
        self.stack.truncate(from);
        Ok(popped)
    }

    /// The height of the stack at the last `MARK`, which is gone then.
    pub fn marked(&mut self) -> Result<usize, String> {
        self.marks.pop().ok_or_else(|| "no MARK was set before; it is damaged".to_string())
    }

    /// Makes a tuple of the values from `from` on.
    pub fn tuple(&mut self, from: usize) -> Result<(), String> {
        let parts = self.stack.split_off(from);
        self.push(Node::Tuple(parts))
    }

    /// Puts the values from `from` on into the list below them.
    pub fn append(&mut self, from: usize) -> Result<(), String> {
        let added = self.stack.split_off(from);
        match self.top_node()? {
            Node::List(items) => {
                items.extend(added);
                Ok(())
            }
            other => Err(format!("only a list or a set can be appended to, not {}", other.kind())),
        }
    }

    /// Puts the keys and values from `from` on into the dict below them.
    pub fn set_items(&mut self, from: usize) -> Result<(), String> {
        let added = self.stack.split_off(from);
        let (pairs, odd) = added.as_chunks::<2>();
        match self.top_node()? {
            Node::Dict { entries, .. } if odd.is_empty() => {
                entries.extend(pairs.iter().map(|&[key, value]| (key, value)));
                Ok(())
            }
            Node::Dict { .. } => Err("a key has no value; it is damaged".to_string()),
            other => Err(format!("only a dict has keys, not {}", other.kind())),
        }
    }

    fn top_node(&mut self) -> Result<&mut Node, String> {
        let top = self.top(1)?[0];
        Ok(&mut self.built.nodes[top as usize])
    }

    fn node(&self, id: Id) -> &Node {
        &self.built.nodes[id as usize]
    }

    /// The text at a place in the stream.
    pub fn text_at(&self, range: &Range<usize>) -> &'a str {
        std::str::from_utf8(&self.stream[range.clone()]).expect("it was checked when it was read")
    }

    /// The text of a value that must be a short one.
    fn name(&self, id: Id) -> Result<&'a str, String> {
        match self.node(id) {
            Node::Text(range) if range.len() <= LONGEST_NAME => Ok(self.text_at(range)),
            Node::Text(range) => Err(format!("a name has {} bytes, too many", range.len())),
            other => Err(format!("it needs a name, not {}", other.kind())),
        }
    }

    /// Puts what a name stands for onto the stack, if the name is one of the list.
    pub fn global(&mut self, module: &str, name: &str) -> Result<(), String> {
        let Some(global) = Global::find(module, name) else {
            let (module, name) = (Quoted(module), Quoted(name));
            return Err(format!(
                "the pickle wants {name} of the module {module}, which is neither a tensor nor a \
                 container; nothing of it was run. If you trust the file, load it in Python and \
                 save the tensors alone: torch.save(model.state_dict(), ...)"
            ));
        };
        self.push(Node::Global(global))
    }

    /// The same, of a module and a name that lie on the stack.
    pub fn stack_global(&mut self) -> Result<(), String> {
        let (name, module) = (self.pop()?, self.pop()?);
        let (name, module) = (self.name(name)?, self.name(module)?);
        self.global(module, name)
    }

    /// Calls what is allowed to be called; the result takes the place of both.
    pub fn reduce(&mut self) -> Result<(), String> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let made = self.call(function, arguments)?;
        self.stack.push(made);
        Ok(())
    }

    fn call(&mut self, function: Id, arguments: Id) -> Result<Id, String> {
        let &Node::Global(function) = self.node(function) else {
            return Err(format!("{} cannot be called", self.node(function).kind()));
        };
        let Node::Tuple(given) = self.node(arguments) else {
            return Err(format!("arguments are a tuple, not {}", self.node(arguments).kind()));
        };
        match (function, &given[..]) {
            (Global::OrderedDict, []) => {
                Ok(self.made(Node::Dict { ordered: true, entries: Vec::new() }))
            }
            // The arguments themselves stand for the value: no copy that a few bytes could ask for.
            (Global::Holds, &[only]) => Ok(only),
            (Global::Holds, _) => Ok(arguments),
            (Global::Encode, &[text, encoding]) => self.encoded(text, encoding),
            (Global::RebuildTensor | Global::RebuildTyped, _) => {
                self.built.geometry(arguments)?;
                Ok(self.made(Node::Tensor(arguments)))
            }
            // Whether it asks for a gradient, its hooks and its attributes are the model's matter.
            (Global::RebuildParameter, &[tensor, ..]) => match self.node(tensor) {
                Node::Tensor(_) => Ok(tensor),
                other => Err(format!("a parameter is made of a tensor, not of {}", other.kind())),
            },
            (Global::RebuildFromType, &[function, class, arguments, _]) => {
                match (self.node(function), self.node(class)) {
                    (
                        Node::Global(Global::RebuildTensor | Global::RebuildTyped),
                        Node::Global(Global::Tensor),
                    ) => self.call(function, arguments),
                    _ => Err("only a plain tensor can have attributes".to_string()),
                }
            }
            _ => Err(format!("{function:?} cannot be called with {} arguments", given.len())),
        }
    }

    fn encoded(&mut self, text: Id, encoding: Id) -> Result<Id, String> {
        match (self.node(text), self.name(encoding)?) {
            (Node::Text(text), "latin1") => Ok(self.made(Node::Latin1(text.clone()))),
            (other, encoding) => {
                Err(format!("{} in {} does not stand for bytes", other.kind(), Quoted(encoding)))
            }
        }
    }

    /// `BUILD` gives an object its attributes. An ordered dict of PyTorch has the versions of the
    /// modules there; the engine has no use for them.
    pub fn build(&mut self) -> Result<(), String> {
        self.pop()?;
        match self.top_node()? {
            Node::Dict { ordered: true, .. } => Ok(()),
            other => Err(format!("only an OrderedDict has attributes here, not {}", other.kind())),
        }
    }

    /// A storage: `('storage', its class, its key in the archive, its device, elements)`.
    pub fn persistent(&mut self) -> Result<(), String> {
        let id = self.pop()?;
        let Node::Tuple(parts) = self.node(id) else {
            return Err(format!("it names a storage by a tuple, not by {}", self.node(id).kind()));
        };
        let &[word, class, key, location, numel] = &parts[..] else {
            return Err(format!("a storage has 5 parts, not {}", parts.len()));
        };
        let (word, name) = (self.name(word)?, self.name(key)?);
        let (&Node::Global(Global::Storage(elements)), &Node::Int(numel), "storage") =
            (self.node(class), self.node(numel), word)
        else {
            return Err("it is not ('storage', class, key, device, elements)".to_string());
        };
        let location = self.name(location)?.to_string();
        let found = SavedStorage { key: name.to_string(), location, elements, numel };
        let place = self.storage(name, found)?;
        self.push(Node::Storage(place))
    }

    /// The place of a storage in the list. Tensors that share it name it once each.
    fn storage(&mut self, key: &'a str, found: SavedStorage) -> Result<u32, String> {
        if let Some(&place) = self.keys.get(key) {
            let known = &self.built.storages[place as usize];
            let same = *known == found;
            let differ = || format!("the pickle says both {known} and {found}");
            return same.then_some(place).ok_or_else(differ);
        }
        found.expect_bytes((self.stored)(key))?;
        let place = self.built.storages.len() as u32;
        self.keys.insert(key, place);
        self.built.storages.push(found);
        Ok(place)
    }
}
