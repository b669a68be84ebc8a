//! From the text's instructions to what the executor runs.
//!
//! A kernel is decoded with every function that it may call. What the executor does not know is
//! refused by name, with its place in the source, before anything runs.

mod access;
pub mod atomic;
pub mod code;
mod compute;
mod control;
mod cost;
mod exchange;
mod frame;
mod operand;
mod space;
mod special;
mod together;

use std::collections::HashMap;

use crate::alu::Class;
use crate::flow;
use crate::ptx::ast::{self, Instruction as Text, Kind, Module};

use code::{Constant, Cost, FALSE, Instruction, Kernel, Location, Loop, Op, Special, TRUE};
use frame::Frame;

/// What is not supported, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What, by name.
    pub message: String,
    /// Where.
    pub location: Location,
}

/// What of the module has been found for one kernel so far.
struct Builder<'m> {
    module: &'m Module,
    /// The address of each variable outside of functions; 0 for those in shared memory.
    globals: &'m [u64],
    kernel: Kernel,
    constants: HashMap<(bool, u64), u32>,
    specials: HashMap<Special, u32>,
    /// The number in the kernel of each function of the module that it may call.
    numbers: HashMap<u32, u32>,
    /// What the frames of these functions hold, by that number.
    frames: Vec<Frame>,
    /// Offsets of the variables of the module that are in shared memory.
    shared: HashMap<u32, u32>,
    spare: Spare,
}

/// Registers for what an instruction needs besides those of the text.
#[derive(Default)]
struct Spare {
    carry: u32,
    /// Targets that nobody reads.
    sinks: [u32; 3],
    /// Values on their way from one step of an instruction to the next.
    predicates: [u32; 3],
    narrow: [u32; 4],
    wide: [u32; 4],
}

/// One function on its way into a kernel.
struct Body<'b, 'm> {
    builder: &'b mut Builder<'m>,
    function: &'m ast::Function,
    number: u32,
    /// The instruction that is decoded.
    text: &'m Text,
    /// How many spare registers it has used.
    used: [usize; 3],
    /// Branches whose targets are still numbers of the text's instructions.
    branches: Vec<usize>,
}

type Decoded<T> = Result<T, Refusal>;

/// Decodes the kernel with this number among the functions of the module.
pub fn kernel(module: &Module, number: u32, globals: &[u64]) -> Result<Kernel, Refusal> {
    let entry = &module.functions[number as usize];
    let bounds = &entry.bounds;
    let kernel = Kernel {
        name: entry.name.clone(),
        exact_threads: bounds.reqntid,
        most_threads: bounds.maxntid,
        ..Kernel::default()
    };
    let mut builder = Builder {
        module,
        globals,
        kernel,
        constants: HashMap::new(),
        specials: HashMap::new(),
        numbers: HashMap::new(),
        frames: Vec::new(),
        shared: HashMap::new(),
        spare: Spare::default(),
    };
    let reached = frame::reach(module, number);
    builder.lay_out(&reached)?;
    for &function in &reached {
        builder.body(function)?;
    }
    Ok(builder.kernel)
}

impl<'m> Builder<'m> {
    /// Room for so many words.
    fn words(&mut self, words: usize) -> u32 {
        let slot = self.kernel.words;
        self.kernel.words += words as u32;
        slot
    }

    fn register(&mut self, class: Class) -> u32 {
        self.words(class.words())
    }

    fn constant(&mut self, wide: bool, value: u64) -> u32 {
        let value = if wide { value } else { value & u64::from(u32::MAX) };
        if let Some(&slot) = self.constants.get(&(wide, value)) {
            return slot;
        }
        let slot = self.register(if wide { Class::B64 } else { Class::B32 });
        self.constants.insert((wide, value), slot);
        self.kernel.constants.push(Constant { slot, wide, value });
        slot
    }

    fn special(&mut self, special: Special) -> u32 {
        if let Some(&slot) = self.specials.get(&special) {
            return slot;
        }
        let wide = special == Special::Grid;
        let slot = self.register(if wide { Class::B64 } else { Class::B32 });
        self.specials.insert(special, slot);
        self.kernel.specials.push((special, slot));
        slot
    }

    /// Gives every register its place, every variable its offset.
    fn lay_out(&mut self, reached: &[u32]) -> Decoded<()> {
        self.kernel.words = FALSE + 1;
        self.spare = Spare {
            carry: self.register(Class::Carry),
            sinks: [Class::P, Class::B32, Class::B64].map(|class| self.register(class)),
            predicates: [(); 3].map(|()| self.register(Class::P)),
            narrow: [(); 4].map(|()| self.register(Class::B32)),
            wide: [(); 4].map(|()| self.register(Class::B64)),
        };
        frame::share(self, reached)?;
        for (number, &function) in (0..).zip(reached) {
            self.numbers.insert(function, number);
            let text = &self.module.functions[function as usize];
            let frame = Frame::of(self, text)?;
            self.kernel.functions.push(frame.function(text));
            self.frames.push(frame);
        }
        self.kernel.variables = FALSE + 1..self.kernel.words;
        self.kernel.params = self.frames[0].params;
        let handle = |function: u32| self.numbers.get(&function).copied();
        self.kernel.handles = (0..self.module.functions.len() as u32).map(handle).collect();
        Ok(())
    }

    /// Decodes the instructions of a function.
    fn body(&mut self, function: u32) -> Decoded<()> {
        let number = self.numbers[&function];
        let function = &self.module.functions[function as usize];
        self.kernel.functions[number as usize].entry = self.kernel.code.len() as u32;
        let meets = flow::reconvergence(function);
        let mut starts = Vec::with_capacity(function.body.len() + 1);
        let mut branches = Vec::new();
        for (i, text) in function.body.iter().enumerate() {
            starts.push(self.kernel.code.len() as u32);
            let mut body = Body {
                builder: self,
                function,
                number,
                text,
                used: [0; 3],
                branches: std::mem::take(&mut branches),
            };
            body.instruction(meets.get(i).copied().flatten())?;
            branches = body.branches;
        }
        starts.push(self.kernel.code.len() as u32);
        let location = function.body.last().map_or(location(None, function.line), locate);
        let op = if function.kind == Kind::Entry { Op::Exit } else { Op::Return };
        let guard = TRUE;
        self.kernel.code.push(Instruction { guard, flip: 0, location, flops: 0, weight: 1, op });
        self.kernel.costs.push(Cost::default());
        control::aim(&mut self.kernel.code, &branches, &starts);
        self.link(function, &starts);
        Ok(())
    }

    /// Says of the instructions of a function, which begin at these places, what they need.
    fn link(&mut self, function: &ast::Function, starts: &[u32]) {
        // The last step of an instruction is the one that has its result.
        let last = |text: u32| starts[text as usize + 1].saturating_sub(1);
        for (text, needs) in (0..).zip(cost::needs(function)) {
            self.kernel.costs[last(text) as usize].needs = needs.into_iter().map(last).collect();
        }
        self.kernel.loops.extend(cost::loops(function).into_iter().map(|inner| Loop {
            first: starts[inner.first as usize],
            last: last(inner.last),
            carried: inner.carried.iter().map(|&(to, from)| (last(to), last(from))).collect(),
        }));
    }
}

fn location(position: Option<u32>, line: u32) -> Location {
    Location { position, line }
}

fn locate(text: &Text) -> Location {
    location(text.position, text.line)
}

impl<'m> Body<'_, 'm> {
    fn refuse<T>(&self, message: impl Into<String>) -> Decoded<T> {
        Err(Refusal { message: message.into(), location: locate(self.text) })
    }

    /// Refuses the instruction by its name.
    fn unsupported<T>(&self) -> Decoded<T> {
        self.refuse(format!("`{}` is not supported", self.text.opcode))
    }

    /// Appends a step of the instruction that only helps the one that follows.
    fn help(&mut self, op: Op) {
        self.push(op, 0, 0);
        self.builder.kernel.costs.push(Cost::default());
    }

    /// Appends the instruction itself.
    fn emit(&mut self, op: Op) {
        let flops = compute::flops(self.text);
        self.push(op, flops, 1);
        self.builder.kernel.costs.push(Cost::of(self.text));
    }

    fn push(&mut self, op: Op, flops: u32, weight: u32) {
        let (guard, flip) = match self.text.guard {
            None => (TRUE, 0),
            Some(guard) => {
                let flip = if guard.negated { u32::MAX } else { 0 };
                (self.slot(guard.register), flip)
            }
        };
        let location = locate(self.text);
        self.builder.kernel.code.push(Instruction { guard, flip, location, flops, weight, op });
    }

    fn instruction(&mut self, meet: Option<u32>) -> Decoded<()> {
        if let Some(guard) = self.text.guard
            && self.class(guard.register)? != Class::P
        {
            return self.refuse("the guard is no predicate register");
        }
        let pieces: Vec<&str> = self.text.pieces().collect();
        match pieces[0] {
            "ld" | "ldu" | "st" => self.access(&pieces),
            "atom" | "red" => self.atomic(&pieces),
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" => {
                self.control(&pieces, meet)
            }
            "bar" | "barrier" if pieces.get(1) != Some(&"warp") => self.barrier(&pieces),
            "bar" | "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => {
                self.exchange(&pieces)
            }
            "membar" | "fence" => {
                self.emit(Op::Fence);
                Ok(())
            }
            "nanosleep" | "pragma" | "prefetch" | "prefetchu" | "applypriority" | "discard"
            | "isspacep" | "cvta" | "mov" | "griddepcontrol" | "setmaxnreg" => {
                self.address(&pieces)
            }
            _ => self.compute(&pieces),
        }
    }
}
