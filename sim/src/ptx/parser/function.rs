//! Kernels and functions (PTX ISA 11.2 and 11.3): what stands in front of a body.

use super::constant::unsigned32;
use super::module::Parser;
use super::scope::{Entity, Scopes};
use crate::ptx::ast::{Bounds, Function, Kind, Space, Symbol, Variable};
use crate::ptx::error::Error;
use crate::ptx::lexer::Kind as TokenKind;

/// A parameter, and its name in the text.
type Named<'a> = (&'a str, Variable);

impl<'a> Parser<'a> {
    /// `.entry name (..) { .. }`, `.func (..) name (..) { .. }`, or a declaration of one.
    pub fn function(&mut self) -> Result<(), Error> {
        let kind = if self.cursor.word() == ".entry" { Kind::Entry } else { Kind::Device };
        self.cursor.at += 1;
        if self.cursor.eat_dotted(".attribute") {
            self.cursor.skip_brackets(b'(', b')')?;
        }
        let returns = self.parameters()?;
        let line = self.cursor.peek().line;
        let name = self.cursor.name()?;
        let params = self.parameters()?;
        let bounds = self.bounds()?;
        let index = self.function_index(name)?;
        let mut function =
            Function { name: name.into(), kind, line, bounds, ..Function::default() };
        function.defined = !self.cursor.eat(b';');
        self.scopes = Scopes::default();
        self.scopes.open();
        function.returns = self.declare(returns, Symbol::Return)?;
        function.params = self.declare(params, Symbol::Parameter)?;
        if function.defined {
            self.body(&mut function)?;
            if let Some(label) = function.labels.iter().find(|label| label.at == u32::MAX) {
                return Err(self.cursor.wanted(&format!("`{}:` where a label may be", label.name)));
            }
        }
        function.registers = std::mem::take(&mut self.scopes.registers);
        let known = &mut self.module.functions[index as usize];
        match (known.defined, function.defined) {
            (true, true) => return Err(self.twice(name)),
            (true, false) => {}
            (false, _) => *known = function,
        }
        Ok(())
    }

    /// `(.param .b32 a, .param .align 8 .b8 b[16])`; nothing where there is no `(`.
    pub fn parameters(&mut self) -> Result<Vec<Named<'a>>, Error> {
        let mut list = Vec::new();
        if !self.cursor.eat(b'(') {
            return Ok(list);
        }
        while !self.cursor.eat(b')') {
            let head = self.head()?;
            let name = self.cursor.word();
            list.push((name, self.variable(head, false)?));
            if !self.cursor.eat(b',') && !self.cursor.sees(b')') {
                return Err(self.cursor.wanted("`,` or `)`"));
            }
        }
        Ok(list)
    }

    /// Makes parameters or returns known in the body.
    fn declare(
        &mut self,
        named: Vec<Named<'a>>,
        symbol: fn(u32) -> Symbol,
    ) -> Result<Vec<Variable>, Error> {
        let mut list = Vec::new();
        for (name, variable) in named {
            let fresh = match variable.space {
                _ if name == "_" => true,
                Space::Register => self.scopes.declare_register(name, variable.element, 1),
                _ => self.scopes.declare(name, Entity::Symbol(symbol(list.len() as u32))),
            };
            if !fresh {
                return Err(self.twice(name));
            }
            list.push(variable);
        }
        Ok(list)
    }

    /// The number of a function; a new one if it was not declared yet.
    fn function_index(&mut self, name: &'a str) -> Result<u32, Error> {
        match self.known(name) {
            Some(Symbol::Function(index)) => Ok(index),
            Some(_) => Err(self.twice(name)),
            None => {
                let index = self.module.functions.len() as u32;
                self.module.functions.push(Function { name: name.into(), ..Function::default() });
                self.know(name, Symbol::Function(index));
                Ok(index)
            }
        }
    }

    /// The directives between the parameters and the body (PTX ISA 11.3).
    fn bounds(&mut self) -> Result<Bounds, Error> {
        let mut bounds = Bounds::default();
        while self.cursor.kind() == TokenKind::Dotted {
            let name = self.cursor.word();
            if name == ".pragma" {
                self.skip_pragma()?;
                continue;
            }
            self.cursor.at += 1;
            match name {
                ".maxntid" => bounds.maxntid = Some(self.extent()?),
                ".reqntid" => bounds.reqntid = Some(self.extent()?),
                ".minnctapersm" => bounds.minnctapersm = Some(unsigned32(&mut self.cursor)?),
                ".maxnreg" => bounds.maxnreg = Some(unsigned32(&mut self.cursor)?),
                ".maxnctapersm" | ".maxclusterrank" | ".abi_preserve" | ".abi_preserve_control" => {
                    unsigned32(&mut self.cursor)?;
                }
                ".noreturn" | ".explicitcluster" | ".blocksareclusters" => {}
                ".reqnctapercluster" => drop(self.extent()?),
                _ => {
                    self.cursor.at -= 1;
                    return Err(self.cursor.wanted("a directive that the simulator has, or `{`"));
                }
            }
        }
        Ok(bounds)
    }

    /// `256`, `16, 16` or `8, 8, 4`; what is left out is 1.
    fn extent(&mut self) -> Result<[u32; 3], Error> {
        let mut extent = [1; 3];
        extent[0] = unsigned32(&mut self.cursor)?;
        for size in &mut extent[1..] {
            if self.cursor.eat(b',') {
                *size = unsigned32(&mut self.cursor)?;
            }
        }
        Ok(extent)
    }
}
