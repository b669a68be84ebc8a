//! What names mean at a place in a function (PTX ISA 5.2 and 5.4.6: `.reg .b32 %r<10>`).

use std::collections::HashMap;
use std::sync::Arc;

use crate::ptx::ast::{Register, Symbol, Type};

/// The scopes around a place in a function, the outermost first.
#[derive(Default)]
pub struct Scopes<'a> {
    scopes: Vec<Scope<'a>>,
    /// The registers that were used, in this order.
    pub registers: Vec<Register>,
}

/// The names of one block.
#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Entity>,
    /// By prefix: how many registers, and their type.
    ranges: HashMap<&'a str, (u32, Type)>,
}

/// What a name inside a function stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    /// A register.
    Register(u32),
    /// The first of the registers of a vector register, and how many there are.
    Vector(u32, u32),
    /// Anything else.
    Symbol(Symbol),
}

impl<'a> Scopes<'a> {
    /// Opens a block.
    pub fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Closes the innermost block: its names are gone.
    pub fn close(&mut self) {
        self.scopes.pop();
    }

    /// How many blocks are open.
    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Gives a name a meaning in the innermost block; false if it has one there.
    pub fn declare(&mut self, name: &'a str, entity: Entity) -> bool {
        let Some(scope) = self.scopes.last_mut() else { return false };
        scope.names.insert(name, entity).is_none()
    }

    /// Declares one register, or one with `lanes` elements; false if the name has a meaning.
    pub fn declare_register(&mut self, name: &'a str, kind: Type, lanes: u32) -> bool {
        let first = self.registers.len() as u32;
        if lanes == 1 {
            self.registers.push(Register { name: name.into(), kind });
            return self.declare(name, Entity::Register(first));
        }
        for lane in ["x", "y", "z", "w"].iter().take(lanes as usize) {
            let name: Arc<str> = format!("{name}.{lane}").into();
            self.registers.push(Register { name, kind });
        }
        self.declare(name, Entity::Vector(first, lanes))
    }

    /// Declares the registers `prefix0` to `prefix{count - 1}`; false if the prefix is taken.
    pub fn declare_range(&mut self, prefix: &'a str, count: u32, kind: Type) -> bool {
        let Some(scope) = self.scopes.last_mut() else { return false };
        scope.ranges.insert(prefix, (count, kind)).is_none()
    }

    /// What a name means here, if it is declared inside the function.
    pub fn find(&mut self, name: &'a str) -> Option<Entity> {
        for scope in self.scopes.iter_mut().rev() {
            if let Some(entity) = scope.names.get(name) {
                return Some(*entity);
            }
            if let Some(kind) = scope.ranged(name) {
                let register = Entity::Register(self.registers.len() as u32);
                self.registers.push(Register { name: name.into(), kind });
                scope.names.insert(name, register);
                return Some(register);
            }
        }
        None
    }
}

impl Scope<'_> {
    /// The type of a register that a range declares: `%r12` is in `%r<13>`, and in `%r1<3>` too.
    fn ranged(&self, name: &str) -> Option<Type> {
        let digits = name.bytes().rev().take(10).take_while(u8::is_ascii_digit).count();
        (name.len() - digits..name.len()).find_map(|cut| {
            let (prefix, number) = name.split_at(cut);
            let (count, kind) = self.ranges.get(prefix)?;
            let canonical = number == "0" || !number.starts_with('0');
            (canonical && number.parse::<u32>().ok()? < *count).then_some(*kind)
        })
    }
}
