//! A module on a device: its variables in memory, its kernels decoded when they are first needed.

use std::sync::{Arc, OnceLock};

use crate::decode::code::{HANDLE, HANDLES, Kernel, Location};
use crate::decode::{self, Refusal};
use crate::memory::{Error, Memory};
use crate::ptx::ast::{Kind, Module, Position, Space, Symbol, Value, Variable};
use crate::ptx::source;

use super::report::Place;

/// A module on a device.
pub struct Program {
    /// The module.
    pub module: Arc<Module>,
    /// The address of each variable outside of functions.
    globals: Vec<u64>,
    kernels: Vec<OnceLock<Result<Kernel, Refusal>>>,
}

impl Program {
    /// Puts the variables of a module into memory.
    pub(super) fn load(module: Arc<Module>, memory: &mut Memory) -> Result<Program, Error> {
        let mut globals = Vec::with_capacity(module.globals.len());
        for variable in &module.globals {
            let stored = matches!(variable.space, Space::Global | Space::Const);
            let address = if stored { memory.alloc(variable.bytes()) } else { Ok(0) };
            match address {
                Ok(address) => globals.push(address),
                Err(error) => {
                    for address in globals {
                        memory.free(address)?;
                    }
                    return Err(error);
                }
            }
        }
        for (variable, &address) in module.globals.iter().zip(&globals) {
            if address != 0 {
                memory.write("load", address, &image(variable, &globals))?;
            }
        }
        let kernels = module.functions.iter().map(|_| OnceLock::new()).collect();
        Ok(Program { module, globals, kernels })
    }

    /// The kernel with a name; `None` if there is none.
    pub(super) fn kernel(&self, name: &str) -> Option<&Result<Kernel, Refusal>> {
        let is_it = |function: &crate::ptx::ast::Function| {
            function.name == name && function.kind == Kind::Entry && function.defined
        };
        let number = self.module.functions.iter().position(is_it)?;
        let decode = || decode::kernel(&self.module, number as u32, &self.globals);
        Some(self.kernels[number].get_or_init(decode))
    }

    /// The address and the bytes of a variable outside of functions; `None` if there is none with
    /// this name in global or constant memory (`cudaGetSymbolAddress`).
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let at = self.module.globals.iter().position(|variable| variable.name == name)?;
        let address = self.globals[at];
        (address != 0).then(|| (address, self.module.globals[at].bytes()))
    }

    /// The lines of an instruction and of the calls around it: first the user's own, then the
    /// others from the inside outwards. If none of them has a line, that of the PTX.
    pub(super) fn places(&self, locations: &[Location]) -> Vec<Place> {
        let module = &self.module;
        let place = |position: &Position| {
            let file = module.files.get(position.file as usize).cloned().unwrap_or_default();
            Place { file, line: position.line }
        };
        let chains = locations.iter().flat_map(|at| source::chain(module, at.position));
        let mut places: Vec<Place> = chains.map(place).collect();
        // Of recursion, one line tells as much as the same one many times.
        places.dedup();
        if places.is_empty() {
            let line = locations.first().map_or(0, |at| at.line);
            places.push(Place { file: module.path.clone(), line });
        }
        if let Some(own) = places.iter().position(|place| !source::is_toolkit(&place.file)) {
            places[..=own].rotate_right(1);
        }
        places
    }
}

/// The bytes that a variable begins with.
fn image(variable: &Variable, globals: &[u64]) -> Vec<u8> {
    let size = variable.element.bytes() as usize;
    let mut bytes = vec![0; variable.bytes() as usize];
    for initial in &variable.initial {
        let value = match initial.value {
            Value::Bits(bits) => bits,
            Value::Address { symbol, offset, shift, .. } => {
                let base = match symbol {
                    Symbol::Global(global) => globals[global as usize],
                    Symbol::Function(function) => HANDLES + HANDLE * u64::from(function),
                    _ => 0,
                };
                base.wrapping_add_signed(offset).checked_shr(shift).unwrap_or(0)
            }
        };
        let start = (initial.index as usize).saturating_mul(size);
        if let Some(to) = bytes.get_mut(start..start.saturating_add(size)) {
            let len = to.len().min(8);
            to[..len].copy_from_slice(&value.to_le_bytes()[..len]);
        }
    }
    bytes
}
