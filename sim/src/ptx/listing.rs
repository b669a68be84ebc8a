//! What a module offers: its kernels, with what a launch needs to know of them.

use super::ast::{Base, Function, Kind, Module, Operand, Space, Symbol, Value, Variable};

/// A kernel as a launch sees it.
pub struct Listed<'a> {
    /// The kernel.
    pub function: &'a Function,
    /// Where each parameter lies among the bytes of all of them (PTX ISA 5.1.6.1: in order, each
    /// at its alignment).
    pub offsets: Vec<u64>,
    /// The bytes of all parameters.
    pub parameter_bytes: u64,
    /// Bytes of shared memory that the kernel and what it calls declare.
    pub shared_bytes: u64,
    /// Whether it uses shared memory whose size the launch says.
    pub dynamic_shared: bool,
}

/// The kernels of a module, in the order of the text.
#[must_use]
pub fn kernels(module: &Module) -> Vec<Listed<'_>> {
    let defined = |function: &&Function| function.kind == Kind::Entry && function.defined;
    module.functions.iter().filter(defined).map(|function| listed(module, function)).collect()
}

fn listed<'a>(module: &'a Module, function: &'a Function) -> Listed<'a> {
    let mut end = 0;
    let offsets = function.params.iter().map(|variable| placed(variable, &mut end)).collect();
    let (mut shared_bytes, mut dynamic_shared) = (0, false);
    for variable in shared(module, function) {
        let dynamic = variable.external || variable.length.is_none();
        dynamic_shared |= dynamic;
        if !dynamic {
            placed(variable, &mut shared_bytes);
        }
    }
    Listed { function, offsets, parameter_bytes: end, shared_bytes, dynamic_shared }
}

/// Where a variable comes to lie behind others.
fn placed(variable: &Variable, end: &mut u64) -> u64 {
    let start = end.next_multiple_of(u64::from(variable.alignment));
    *end = start + variable.bytes();
    start
}

/// The shared variables that a kernel reaches, in the order in which it does.
fn shared<'a>(module: &'a Module, kernel: &'a Function) -> Vec<&'a Variable> {
    let mut found = Vec::new();
    let mut open = vec![kernel];
    let mut seen_globals = vec![false; module.globals.len()];
    let mut seen_functions = vec![false; module.functions.len()];
    while let Some(function) = open.pop() {
        let is_shared = |variable: &&Variable| variable.space == Space::Shared;
        found.extend(function.variables.iter().filter(is_shared));
        let mut symbols: Vec<Symbol> = Vec::new();
        let operands = function.body.iter().flat_map(|instruction| &instruction.operands);
        operands.for_each(|operand| collect(operand, &mut symbols));
        while let Some(symbol) = symbols.pop() {
            match symbol {
                Symbol::Global(number)
                    if !std::mem::replace(&mut seen_globals[number as usize], true) =>
                {
                    let variable = &module.globals[number as usize];
                    found.extend(Some(variable).filter(is_shared));
                    symbols.extend(
                        variable.initial.iter().filter_map(|initial| address(&initial.value)),
                    );
                }
                Symbol::Function(number)
                    if !std::mem::replace(&mut seen_functions[number as usize], true) =>
                {
                    open.push(&module.functions[number as usize]);
                }
                _ => {}
            }
        }
    }
    found
}

/// The symbol whose address a variable begins with.
fn address(value: &Value) -> Option<Symbol> {
    match value {
        Value::Address { symbol, .. } => Some(*symbol),
        Value::Bits(_) => None,
    }
}

/// The symbols that an operand names.
fn collect(operand: &Operand, into: &mut Vec<Symbol>) {
    match operand {
        Operand::Symbol(symbol, _) => into.push(*symbol),
        Operand::Address { base: Base::Symbol(symbol), .. } => into.push(*symbol),
        Operand::Vector(list) | Operand::List(list) => {
            list.iter().for_each(|operand| collect(operand, into));
        }
        _ => {}
    }
}

/// A parameter's type as in the text: `u64`, or `b8[24]`.
#[must_use]
pub fn type_name(variable: &Variable) -> String {
    match variable.length {
        Some(1) => variable.element.name().to_string(),
        Some(count) => format!("{}[{count}]", variable.element.name()),
        None => format!("{}[]", variable.element.name()),
    }
}
