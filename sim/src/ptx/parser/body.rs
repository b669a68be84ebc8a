//! The body of a function: blocks, labels, declarations (PTX ISA 4.3, 5.4, 7.1, 11.2).

use std::collections::HashMap;

use super::DEEPEST;
use super::constant::unsigned32;
use super::module::Parser;
use super::scope::Entity;
use crate::ptx::ast::{Function, Label, Space, Symbol, Table, Variable};
use crate::ptx::error::Error;
use crate::ptx::lexer::Kind;

/// The labels of each block, by the number of the token that opens it: a name, and whether it
/// names a table.
type Labels<'a> = HashMap<usize, Vec<(&'a str, bool)>>;

impl<'a> Parser<'a> {
    /// Everything from `{` to the `}` that closes it.
    pub fn body(&mut self, function: &mut Function) -> Result<(), Error> {
        self.locations.current = None;
        let outside = self.scopes.depth();
        let open = self.cursor.peek();
        if !self.cursor.sees(b'{') {
            return Err(self.cursor.wanted("`{` or `;`"));
        }
        let mut labels = self.labels();
        loop {
            match self.cursor.kind() {
                Kind::End => return Err(self.cursor.unclosed(open)),
                Kind::Mark(b'{') => self.open(function, &mut labels)?,
                Kind::Mark(b'}') => {
                    self.cursor.at += 1;
                    self.scopes.close();
                    if self.scopes.depth() == outside {
                        return Ok(());
                    }
                }
                Kind::Mark(b';') => self.cursor.at += 1,
                Kind::Dotted => self.declaration(function)?,
                Kind::Word if self.names_label() => self.label(function)?,
                _ => self.instruction(function)?,
            }
        }
    }

    fn names_label(&self) -> bool {
        self.cursor.token(self.cursor.at + 1).kind == Kind::Mark(b':')
    }

    /// Finds the labels of all blocks in advance: a branch may come before its label.
    fn labels(&self) -> Labels<'a> {
        let mut found = Labels::new();
        let mut blocks = Vec::new();
        for at in self.cursor.at.. {
            match self.cursor.token(at).kind {
                Kind::Mark(b'{') => blocks.push(at),
                Kind::Mark(b'}') => drop(blocks.pop()),
                Kind::Mark(b':') => {
                    let name = self.cursor.token(at - 1);
                    let table = self.cursor.token(at + 1);
                    let table = table.kind == Kind::Dotted && is_table(self.cursor.spell(table));
                    if let (Kind::Word, Some(block)) = (name.kind, blocks.last()) {
                        found.entry(*block).or_default().push((self.cursor.spell(name), table));
                    }
                }
                Kind::End => return found,
                _ => {}
            }
            if blocks.is_empty() {
                return found;
            }
        }
        found
    }

    /// Opens a block, and makes its labels known.
    fn open(&mut self, function: &mut Function, labels: &mut Labels<'a>) -> Result<(), Error> {
        if self.scopes.depth() >= DEEPEST {
            return Err(self.cursor.wanted("fewer blocks inside each other"));
        }
        self.scopes.open();
        for (name, table) in labels.remove(&self.cursor.at).unwrap_or_default() {
            let symbol = if table {
                function.tables.push(Table::Branches(Vec::new()));
                Symbol::Table(function.tables.len() as u32 - 1)
            } else {
                function.labels.push(Label { name: name.into(), at: u32::MAX });
                Symbol::Label(function.labels.len() as u32 - 1)
            };
            if !self.scopes.declare(name, Entity::Symbol(symbol)) {
                return Err(self.cursor.wanted(&format!("`{name}` to be one label in this block")));
            }
        }
        self.cursor.at += 1;
        Ok(())
    }

    /// `name:`, and the table behind it if it names one.
    fn label(&mut self, function: &mut Function) -> Result<(), Error> {
        let name = self.cursor.name()?;
        let entity = self.scopes.find(name);
        self.cursor.expect(b':')?;
        match entity {
            Some(Entity::Symbol(Symbol::Label(label))) => {
                function.labels[label as usize].at = function.body.len() as u32;
            }
            Some(Entity::Symbol(Symbol::Table(table))) => {
                function.tables[table as usize] = self.table()?;
            }
            _ => return Err(self.twice(name)),
        }
        Ok(())
    }

    /// `.branchtargets a, b;`, `.calltargets f, g;` or
    /// `.callprototype (.param .b32 _) _ (.param .b32 _);`
    fn table(&mut self) -> Result<Table, Error> {
        let kind = self.cursor.word();
        self.cursor.at += 1;
        if kind == ".callprototype" {
            return self.prototype();
        }
        let mut numbers = Vec::new();
        loop {
            let token = self.cursor.peek();
            let name = self.cursor.name()?;
            match (kind, self.symbol(name)) {
                (".branchtargets", Some(Symbol::Label(number)))
                | (".calltargets", Some(Symbol::Function(number))) => numbers.push(number),
                _ => {
                    let message = format!("`{name}` is nothing that `{kind}` can list");
                    return Err(self.cursor.error(token, message));
                }
            }
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.cursor.expect(b';')?;
        let branches = kind == ".branchtargets";
        Ok(if branches { Table::Branches(numbers) } else { Table::Calls(numbers) })
    }

    fn prototype(&mut self) -> Result<Table, Error> {
        let returns = self.parameters()?.into_iter().map(|named| named.1).collect();
        self.cursor.name()?;
        let params = self.parameters()?.into_iter().map(|named| named.1).collect();
        while !self.cursor.eat(b';') {
            if !matches!(self.cursor.kind(), Kind::Dotted | Kind::Number) {
                return Err(self.cursor.wanted("`;`"));
            }
            self.cursor.at += 1;
        }
        Ok(Table::Prototype { returns, params })
    }

    /// What begins with a dot inside a body.
    fn declaration(&mut self, function: &mut Function) -> Result<(), Error> {
        match self.cursor.word() {
            ".loc" => self.locations.line(&mut self.cursor),
            ".pragma" => self.skip_pragma(),
            ".file" => self.locations.file(&mut self.cursor),
            ".reg" => self.declare_registers(),
            ".extern" => {
                self.cursor.at += 1;
                self.declare_variables(function, true)
            }
            _ => self.declare_variables(function, false),
        }
    }

    /// `.reg .b32 %r<10>, %a;`
    fn declare_registers(&mut self) -> Result<(), Error> {
        let head = self.head()?;
        loop {
            let name = self.cursor.name()?;
            let fresh = if self.cursor.eat(b'<') {
                let count = unsigned32(&mut self.cursor)?;
                self.cursor.expect(b'>')?;
                head.lanes == 1 && self.scopes.declare_range(name, count, head.element)
            } else {
                self.scopes.declare_register(name, head.element, head.lanes)
            };
            if !fresh {
                return Err(self.twice(name));
            }
            if !self.cursor.eat(b',') {
                return self.cursor.expect(b';');
            }
        }
    }

    /// Variables of a function. Global and constant ones live as long as the module's, and join
    /// them.
    fn declare_variables(&mut self, function: &mut Function, external: bool) -> Result<(), Error> {
        let head = self.head()?;
        loop {
            let name = self.cursor.word();
            let variable = self.variable(head, external)?;
            let symbol = match head.space {
                Space::Global | Space::Const => {
                    added(&mut self.module.globals, variable, Symbol::Global)
                }
                _ => added(&mut function.variables, variable, Symbol::Variable),
            };
            if !self.scopes.declare(name, Entity::Symbol(symbol)) {
                return Err(self.twice(name));
            }
            if !self.cursor.eat(b',') {
                return self.cursor.expect(b';');
            }
        }
    }

    /// What a name in a body stands for, if it is no register.
    pub fn symbol(&mut self, name: &'a str) -> Option<Symbol> {
        match self.scopes.find(name) {
            Some(Entity::Symbol(symbol)) => Some(symbol),
            Some(_) => None,
            None => self.known(name),
        }
    }
}

/// Appends a variable, and says which symbol it is.
fn added(list: &mut Vec<Variable>, variable: Variable, symbol: fn(u32) -> Symbol) -> Symbol {
    list.push(variable);
    symbol(list.len() as u32 - 1)
}

fn is_table(directive: &str) -> bool {
    matches!(directive, ".branchtargets" | ".calltargets" | ".callprototype")
}
