//! The machine that carries out a pickle, as far as it builds tensors and containers.
//!
//! Values lie in one list and name each other by number. So a list that holds itself, one that
//! holds another a million times, and one nested a million deep all cost what their instructions
//! cost: nothing here follows a value into its parts, neither to build nor to drop it. The list
//! has room for as many values as the stream has instructions that make one: at most some tens of
//! bytes for each byte of the stream, whatever its numbers say.

use std::collections::HashMap;
use std::ops::Range;

use crate::serialize::pt::globals::Global;
use crate::serialize::pt::opcodes::{Argument, Op, Opcodes, Step};
use crate::serialize::pt::storages::SavedStorage;

/// The number of a value.
pub(super) type Id = u32;

/// One value. Text and bytes are named by where they lie in the stream.
#[derive(Debug)]
pub(super) enum Node {
    None,
    Bool(bool),
    Int(i64),
    /// An integer of more than 64 bits, which nothing here needs the value of.
    Long,
    Float(f64),
    Text(Range<usize>),
    Bytes(Range<usize>),
    /// A text each of whose characters stands for the byte of the same number.
    Latin1(Range<usize>),
    /// A list or a set.
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dict {
        ordered: bool,
        entries: Vec<(Id, Id)>,
    },
    Global(Global),
    /// A storage, by its place in the list of storages.
    Storage(u32),
    /// A tensor, by the arguments of the function that rebuilds it.
    Tensor(Id),
}

/// What a pickle built.
#[derive(Debug)]
pub(super) struct Unpickled {
    pub stream: Vec<u8>,
    pub nodes: Vec<Node>,
    pub storages: Vec<SavedStorage>,
    pub root: Id,
}

/// The bytes of the storage with a key, if the archive has it.
pub(super) type Stored<'a> = &'a dyn Fn(&str) -> Option<u64>;

impl Unpickled {
    /// Carries a stream out. `stored` knows the archive. An error says at which instruction it
    /// ended.
    pub fn new(stream: Vec<u8>, stored: Stored) -> Result<Unpickled, String> {
        if u32::try_from(stream.len()).is_err() {
            return Err("it has more than 4 GiB; no state dict needs so many".to_string());
        }
        let makes = |step: &Step| step.op.is_some_and(Op::makes_a_value);
        let values = Opcodes::new(&stream).flatten().filter(makes).count();
        let built = Unpickled {
            nodes: Vec::with_capacity(values),
            storages: Vec::new(),
            root: 0,
            stream: Vec::new(),
        };
        let mut machine = Machine {
            built,
            stream: &stream,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            keys: HashMap::new(),
            stored,
        };
        machine.run()?;
        let built = machine.built;
        Ok(Unpickled { stream, ..built })
    }
}

/// The machine at work.
pub(super) struct Machine<'a> {
    pub built: Unpickled,
    pub stream: &'a [u8],
    pub stack: Vec<Id>,
    /// Heights of the stack at which a `MARK` was set.
    pub marks: Vec<usize>,
    memo: HashMap<i64, Id>,
    /// The storages that were met, by their keys.
    pub keys: HashMap<&'a str, u32>,
    pub stored: Stored<'a>,
}

const REFUSED: &str = "this instruction makes objects of any class, calls functions, or is one \
    that torch.save does not write; only those that build tensors and containers are carried out. \
    If you trust the file, load it in Python and save the tensors alone: \
    torch.save(model.state_dict(), ...)";

impl Machine<'_> {
    fn run(&mut self) -> Result<(), String> {
        let mut opcodes = Opcodes::new(self.stream);
        while let Some(step) = opcodes.next() {
            let step = step?;
            let done = match step.op {
                Some(op) => self.step(op, step.argument, opcodes.left()),
                None => Err(REFUSED.to_string()),
            };
            done.map_err(|why| format!("{} at position {}: {why}", step.name, step.position))?;
        }
        match opcodes.left() {
            0 => Ok(()),
            left => Err(format!("{left} bytes lie behind STOP; it is damaged")),
        }
    }

    fn step(&mut self, op: Op, argument: Argument, left: usize) -> Result<(), String> {
        match (op, argument) {
            (Op::Proto, Argument::Number(version)) => expect_protocol(version),
            (Op::Frame, Argument::Number(bytes)) => expect_frame(bytes, left),
            (Op::None, _) => self.push(Node::None),
            (Op::True, _) => self.push(Node::Bool(true)),
            (Op::False, _) => self.push(Node::Bool(false)),
            (Op::Int, Argument::Number(number)) => self.push(Node::Int(number)),
            (Op::Float, Argument::Float(number)) => self.push(Node::Float(number)),
            (Op::Long, Argument::Bytes(bytes)) => self.push(whole(&self.stream[bytes])),
            (Op::Bytes, Argument::Bytes(bytes)) => self.push(Node::Bytes(bytes)),
            (Op::Text, Argument::Text(text)) => self.push(Node::Text(text)),
            (Op::EmptyDict, _) => self.push(Node::Dict { ordered: false, entries: Vec::new() }),
            (Op::EmptyList | Op::EmptySet, _) => self.push(Node::List(Vec::new())),
            (Op::EmptyTuple, _) => self.push(Node::Tuple(Vec::new())),
            (Op::TupleOf(count), _) => self.below(count).and_then(|from| self.tuple(from)),
            (Op::Tuple | Op::FrozenSet, _) => self.marked().and_then(|from| self.tuple(from)),
            (Op::Append, _) => self.below(1).and_then(|from| self.append(from)),
            (Op::Appends, _) => self.marked().and_then(|from| self.append(from)),
            (Op::SetItem, _) => self.below(2).and_then(|from| self.set_items(from)),
            (Op::SetItems, _) => self.marked().and_then(|from| self.set_items(from)),
            (Op::Mark, _) => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            (Op::Put, Argument::Number(key)) => self.put(key),
            (Op::Memoize, _) => self.put(self.memo.len() as i64),
            (Op::Get, Argument::Number(key)) => self.get(key),
            (Op::Global, Argument::Lines2(module, name)) => {
                self.global(self.text_at(&module), self.text_at(&name))
            }
            (Op::StackGlobal, _) => self.stack_global(),
            (Op::Reduce, _) => self.reduce(),
            (Op::Build, _) => self.build(),
            (Op::BinPersId, _) => self.persistent(),
            (Op::Stop, _) => self.stop(),
            (op, argument) => unreachable!("the table of opcodes gives {op:?} no {argument:?}"),
        }
    }

    fn put(&mut self, key: i64) -> Result<(), String> {
        let [value] = *self.top(1)? else { unreachable!("one was asked for") };
        self.memo.insert(key, value);
        Ok(())
    }

    fn get(&mut self, key: i64) -> Result<(), String> {
        let value = self.memo.get(&key).ok_or("nothing was put under this number before")?;
        self.stack.push(*value);
        Ok(())
    }

    /// The last value is the result, and the only one.
    fn stop(&mut self) -> Result<(), String> {
        self.built.root = self.pop()?;
        match (&self.stack[..], &self.marks[..]) {
            ([], []) => Ok(()),
            _ => Err("more than one value is left; it is damaged".to_string()),
        }
    }
}

/// An integer from its bytes, the lowest first, in two's complement.
fn whole(bytes: &[u8]) -> Node {
    let sign = if bytes.last().is_some_and(|&top| top >= 0x80) { 0xff } else { 0 };
    let mut word = [sign; 8];
    let low = bytes.len().min(8);
    word[..low].copy_from_slice(&bytes[..low]);
    let number = i64::from_le_bytes(word);
    let more_is_sign = bytes[low..].iter().all(|&byte| byte == sign);
    let fits = more_is_sign && (number < 0) == (sign == 0xff);
    if fits { Node::Int(number) } else { Node::Long }
}

fn expect_protocol(version: i64) -> Result<(), String> {
    let known = version <= 5;
    known.then_some(()).ok_or_else(|| format!("protocol {version} is not known, only up to 5"))
}

/// A frame says how many of the bytes belong together; they must be there.
fn expect_frame(bytes: i64, left: usize) -> Result<(), String> {
    let fits = bytes as u64 <= left as u64;
    let missing = || format!("a frame of {bytes} bytes, and {left} are left; it is cut short");
    fits.then_some(()).ok_or_else(missing)
}
