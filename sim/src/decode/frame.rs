//! Where the registers and variables of functions are.

use crate::alu::Class;
use crate::ptx::ast::{self, Base, Kind, Module, Operand, Space, Symbol, Value, Variable};

use super::code::{Carrier, Function, MOST_LOCAL};
use super::{Builder, Decoded, Refusal, location};

/// Bytes of shared memory that can be declared: more than any GPU has, so that the launch says so.
const MOST_SHARED: u64 = 8 << 20;

/// Bytes of parameters of a kernel: what the ISA allows from version 8.1 on (§4.6).
const MOST_PARAMS: u64 = 32764;

/// Where the registers and variables of one function are.
pub(super) struct Frame {
    /// The first word and the class of each register.
    pub registers: Vec<(u32, Class)>,
    /// The words of all of them.
    words: std::ops::Range<u32>,
    /// Offsets: of parameters (in the parameters' memory for a kernel, else in the frame, or the
    /// word of a register), of what is returned, of variables (in the frame or in shared memory).
    pub parameters: Vec<Carrier>,
    pub returns: Vec<Carrier>,
    pub variables: Vec<u32>,
    /// Bytes of a kernel's parameters.
    pub params: u32,
    local: u32,
}

/// Puts variables one after the other.
#[derive(Default)]
struct Shelf {
    end: u64,
}

impl Shelf {
    fn put(&mut self, variable: &Variable) -> u32 {
        let start = self.end.next_multiple_of(u64::from(variable.alignment.max(1)));
        self.end = start.saturating_add(variable.bytes());
        u32::try_from(start).unwrap_or(u32::MAX)
    }

    /// The end, if it is no further than allowed.
    fn within(&self, most: u64, what: &str, text: &ast::Function) -> Decoded<u32> {
        u32::try_from(self.end).ok().filter(|end| u64::from(*end) <= most).ok_or_else(|| {
            let name = &text.name;
            let message = format!("{name} has {} bytes of {what}, at most {most} can be", self.end);
            Refusal { message, location: location(None, text.line) }
        })
    }
}

impl Frame {
    pub fn of(builder: &mut Builder, text: &ast::Function) -> Decoded<Frame> {
        let start = builder.kernel.words;
        let mut registers = Vec::with_capacity(text.registers.len());
        for register in &text.registers {
            let class = class(register.kind, text)?;
            registers.push((builder.register(class), class));
        }
        let mut locals = Shelf::default();
        let mut params = Shelf::default();
        let kernel = text.kind == Kind::Entry;
        let mut carriers = |variables: &[Variable], builder: &mut Builder| {
            variables
                .iter()
                .map(|variable| {
                    let bytes = variable.bytes() as u32;
                    Ok(match variable.space {
                        Space::Register => {
                            let class = class(variable.element, text)?;
                            let slot = own(text, &registers, &variable.name);
                            let slot = slot.unwrap_or_else(|| builder.register(class));
                            Carrier::Register { slot, words: class.words() as u32 }
                        }
                        _ if kernel => Carrier::Local { offset: params.put(variable), bytes },
                        _ => Carrier::Local { offset: locals.put(variable), bytes },
                    })
                })
                .collect::<Decoded<Vec<_>>>()
        };
        let parameters = carriers(&text.params, builder)?;
        let returns = carriers(&text.returns, builder)?;
        let mut variables = Vec::with_capacity(text.variables.len());
        for variable in &text.variables {
            variables.push(match variable.space {
                Space::Shared => shared(builder, variable),
                _ => locals.put(variable),
            });
        }
        let params = params.within(MOST_PARAMS, "parameters", text)?;
        let local = locals.within(u64::from(MOST_LOCAL), "local memory", text)?;
        let words = start..builder.kernel.words;
        Ok(Frame { registers, words, parameters, returns, variables, params, local })
    }

    pub fn function(&self, text: &ast::Function) -> Function {
        Function {
            name: text.name.clone(),
            entry: 0,
            words: self.words.clone(),
            classes: self.registers.iter().map(|register| register.1).collect(),
            local: self.local,
            params: self.parameters.clone(),
            results: self.returns.clone(),
        }
    }
}

/// The register of a parameter that is one.
fn own(text: &ast::Function, registers: &[(u32, Class)], name: &str) -> Option<u32> {
    let at = text.registers.iter().position(|register| &*register.name == name)?;
    Some(registers[at].0)
}

fn class(kind: ast::Type, text: &ast::Function) -> Decoded<Class> {
    match kind.bits() {
        1 => Ok(Class::P),
        8 | 16 | 32 => Ok(Class::B32),
        64 => Ok(Class::B64),
        _ => {
            let message = format!("registers of type .{} are not supported", kind.name());
            Err(Refusal { message, location: location(None, text.line) })
        }
    }
}

/// Gives a variable in shared memory its place; dynamic ones get theirs behind all others.
fn shared(builder: &mut Builder, variable: &Variable) -> u32 {
    if is_dynamic(variable) {
        return builder.kernel.dynamic;
    }
    let mut shelf = Shelf { end: u64::from(builder.kernel.shared) };
    let offset = shelf.put(variable);
    builder.kernel.shared = u32::try_from(shelf.end).unwrap_or(u32::MAX);
    offset
}

fn is_dynamic(variable: &Variable) -> bool {
    variable.external || variable.length.is_none()
}

/// Lays out the shared memory of the functions that are reached: what they declare, and what they
/// name of the module.
pub(super) fn share(builder: &mut Builder, reached: &[u32]) -> Decoded<()> {
    let module = builder.module;
    let mut named: Vec<u32> = Vec::new();
    let mut declared: Vec<&Variable> = Vec::new();
    for &function in reached {
        let text = &module.functions[function as usize];
        each_symbol(text, |symbol| {
            if let Symbol::Global(global) = symbol
                && module.globals[global as usize].space == Space::Shared
                && !named.contains(&global)
            {
                named.push(global);
            }
        });
        declared.extend(text.variables.iter().filter(|variable| variable.space == Space::Shared));
    }
    let all = named.iter().map(|&global| &module.globals[global as usize]).chain(declared);
    let all: Vec<&Variable> = all.collect();
    let mut whole = Shelf::default();
    for &variable in all.iter().filter(|variable| !is_dynamic(variable)) {
        whole.put(variable);
    }
    let end = whole.within(MOST_SHARED, "shared memory", &module.functions[reached[0] as usize])?;
    let dynamic = all.iter().filter(|variable| is_dynamic(variable));
    let alignment = dynamic.map(|variable| variable.alignment).max().unwrap_or(16).max(16);
    // Each is given its place in this order: those of the module here, others by their function.
    builder.kernel.dynamic = end.next_multiple_of(alignment);
    for global in named {
        let offset = shared(builder, &module.globals[global as usize]);
        builder.shared.insert(global, offset);
    }
    Ok(())
}

fn each_symbol(text: &ast::Function, mut each: impl FnMut(Symbol)) {
    fn visit(operand: &Operand, each: &mut impl FnMut(Symbol)) {
        match operand {
            Operand::Symbol(symbol, _) | Operand::Address { base: Base::Symbol(symbol), .. } => {
                each(*symbol);
            }
            Operand::Vector(all) | Operand::List(all) => {
                all.iter().for_each(|operand| visit(operand, each));
            }
            _ => {}
        }
    }
    for instruction in &text.body {
        instruction.operands.iter().for_each(|operand| visit(operand, &mut each));
    }
}

/// A kernel and every function that it may call, in the order in which they are found.
pub(super) fn reach(module: &Module, kernel: u32) -> Vec<u32> {
    let mut reached = vec![kernel];
    let mut at = 0;
    while let Some(&function) = reached.get(at) {
        at += 1;
        let text = &module.functions[function as usize];
        let mut add = |function: u32| {
            let callee = &module.functions[function as usize];
            if callee.defined && callee.kind == Kind::Device && !reached.contains(&function) {
                reached.push(function);
            }
        };
        let mut tables = Vec::new();
        each_symbol(text, |symbol| match symbol {
            Symbol::Function(function) => add(function),
            Symbol::Global(global) => tables.push(global),
            _ => {}
        });
        // A pointer to a function may lie in any variable, and be loaded from there.
        if calls_by_pointer(text) {
            tables.extend(0..module.globals.len() as u32);
        }
        for table in tables {
            for initial in &module.globals[table as usize].initial {
                if let Value::Address { symbol: Symbol::Function(function), .. } = initial.value {
                    add(function);
                }
            }
        }
    }
    reached
}

fn calls_by_pointer(text: &ast::Function) -> bool {
    let by_pointer = |operand: Option<&Operand>| matches!(operand, Some(Operand::Register(_)));
    text.body.iter().any(|i| i.pieces().next() == Some("call") && by_pointer(i.operands.get(1)))
}
