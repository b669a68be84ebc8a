//! Modules (PTX ISA 4.3, 11.1, 11.5, 11.6): what stands outside of functions.

use std::collections::HashMap;
use std::sync::Arc;

use super::constant::{number, unsigned32};
use super::cursor::Cursor;
use super::location::Locations;
use super::scope::Scopes;
use crate::ptx::ast::{Module, Operand, Space, Symbol, Variable};
use crate::ptx::error::Error;
use crate::ptx::lexer::Kind;

/// Reads one module.
pub struct Parser<'a> {
    pub cursor: Cursor<'a>,
    pub module: Module,
    /// The names of the module.
    names: HashMap<&'a str, Symbol>,
    /// One text for each opcode, however often it is used.
    pub opcodes: HashMap<&'a str, Arc<str>>,
    pub locations: Locations,
    /// The names inside the function that is being read.
    pub scopes: Scopes<'a>,
    /// How many braces are open around an operand or a value.
    pub depth: usize,
}

impl<'a> Parser<'a> {
    /// Stands at the beginning of the text.
    pub fn new(cursor: Cursor<'a>) -> Parser<'a> {
        let module = Module { path: cursor.path().into(), address_size: 32, ..Module::default() };
        Parser {
            cursor,
            module,
            names: HashMap::new(),
            opcodes: HashMap::new(),
            locations: Locations::default(),
            scopes: Scopes::default(),
            depth: 0,
        }
    }

    /// Reads all of it.
    pub fn module(mut self) -> Result<Module, Error> {
        if !self.cursor.sees_dotted(".version") {
            return Err(self.cursor.wanted("`.version`, as every PTX file begins"));
        }
        while self.cursor.kind() != Kind::End {
            self.directive()?;
        }
        (self.module.files, self.module.positions) = self.locations.finish();
        Ok(self.module)
    }

    fn directive(&mut self) -> Result<(), Error> {
        if self.cursor.kind() != Kind::Dotted {
            return Err(self.cursor.wanted("a directive"));
        }
        if self.sees_space().is_some() {
            return self.variables(false);
        }
        match self.cursor.word() {
            ".visible" | ".weak" | ".extern" | ".common" | ".func" | ".entry" => self.linked(),
            ".version" => self.version(),
            ".target" => self.target(),
            ".address_size" => self.address_size(),
            ".file" => self.locations.file(&mut self.cursor),
            ".section" => self.skip_section(),
            ".pragma" => self.skip_pragma(),
            ".alias" => self.alias(),
            _ => Err(self.cursor.wanted("a directive that the simulator has")),
        }
    }

    fn version(&mut self) -> Result<(), Error> {
        self.cursor.at += 1;
        let text = self.cursor.word();
        let parts = text.split_once('.').map(|(major, minor)| (major.parse(), minor.parse()));
        let Some((Ok(major), Ok(minor))) = parts else {
            return Err(self.cursor.wanted("a version such as 8.1"));
        };
        self.module.version = (major, minor);
        self.cursor.at += 1;
        Ok(())
    }

    fn target(&mut self) -> Result<(), Error> {
        self.cursor.at += 1;
        let mut names = vec![self.cursor.name()?];
        while self.cursor.eat(b',') {
            names.push(self.cursor.name()?);
        }
        self.module.target = names.join(", ");
        Ok(())
    }

    fn address_size(&mut self) -> Result<(), Error> {
        self.cursor.at += 1;
        let token = self.cursor.peek();
        self.module.address_size = unsigned32(&mut self.cursor)?;
        if !matches!(self.module.address_size, 32 | 64) {
            return Err(self.cursor.error(token, "an address has 32 or 64 bits".into()));
        }
        Ok(())
    }

    /// `.section .debug_info { .. }`: for a debugger.
    fn skip_section(&mut self) -> Result<(), Error> {
        self.cursor.at += 2;
        self.cursor.skip_brackets(b'{', b'}')
    }

    /// `.pragma "nounroll";`: advice to ptxas.
    pub fn skip_pragma(&mut self) -> Result<(), Error> {
        self.cursor.at += 1;
        self.cursor.string()?;
        while self.cursor.eat(b',') {
            self.cursor.string()?;
        }
        self.cursor.expect(b';')
    }

    /// `.alias a, b;`: the function `a` is `b`.
    fn alias(&mut self) -> Result<(), Error> {
        self.cursor.at += 1;
        let alias = self.cursor.name()?;
        self.cursor.expect(b',')?;
        let symbol = self.module_symbol()?;
        self.names.insert(alias, symbol);
        self.cursor.expect(b';')
    }

    /// A function or variables, with `.visible` and the like in front.
    fn linked(&mut self) -> Result<(), Error> {
        let mut external = false;
        loop {
            match self.cursor.word() {
                ".extern" => external = true,
                ".visible" | ".weak" | ".common" => {}
                ".entry" | ".func" => return self.function(),
                _ => return self.variables(external),
            }
            self.cursor.at += 1;
        }
    }

    /// `external`: `.extern` stood in front, so that they are defined elsewhere (PTX ISA 11.6.1).
    fn variables(&mut self, external: bool) -> Result<(), Error> {
        let head = self.head()?;
        if matches!(head.space, Space::Register | Space::Param) {
            return Err(self.cursor.wanted("a variable in memory, outside of functions"));
        }
        loop {
            let name = self.cursor.word();
            let variable = self.variable(head, external)?;
            self.global(name, variable)?;
            if !self.cursor.eat(b',') {
                return self.cursor.expect(b';');
            }
        }
    }

    /// Adds a variable; its definition takes the place of an `.extern` declaration.
    fn global(&mut self, name: &'a str, variable: Variable) -> Result<(), Error> {
        match self.names.get(name) {
            None => {
                let symbol = Symbol::Global(self.module.globals.len() as u32);
                self.names.insert(name, symbol);
                self.module.globals.push(variable);
            }
            Some(Symbol::Global(known)) => {
                let known = &mut self.module.globals[*known as usize];
                if !known.external && !variable.external {
                    return Err(self.twice(name));
                }
                if known.external && known.space == variable.space {
                    *known = variable;
                }
            }
            Some(_) => return Err(self.twice(name)),
        }
        Ok(())
    }

    /// An error: the name has a meaning already.
    pub fn twice(&self, name: &str) -> Error {
        let last = self.cursor.token(self.cursor.at.saturating_sub(1));
        self.cursor.error(last, format!("`{name}` is declared twice"))
    }

    /// What a name outside of functions stands for.
    pub fn known(&self, name: &str) -> Option<Symbol> {
        self.names.get(name).copied()
    }

    /// Gives a name outside of functions a meaning.
    pub fn know(&mut self, name: &'a str, symbol: Symbol) {
        self.names.insert(name, symbol);
    }

    /// The name of a variable or function of the module.
    pub fn module_symbol(&mut self) -> Result<Symbol, Error> {
        let token = self.cursor.peek();
        let name = self.cursor.name()?;
        self.known(name)
            .ok_or_else(|| self.cursor.error(token, format!("`{name}` is declared nowhere above")))
    }

    /// `+4` or `-4` behind a name; 0 if there is none.
    pub fn offset(&mut self) -> Result<i64, Error> {
        if !self.cursor.sees(b'+') && !self.cursor.sees(b'-') {
            return Ok(0);
        }
        if self.cursor.sees(b'+') {
            self.cursor.at += 1;
        }
        let token = self.cursor.peek();
        match number(&mut self.cursor)? {
            Operand::Integer(value) => Ok(value as i64),
            _ => Err(self.cursor.error(token, "an offset is an integer".into())),
        }
    }
}
