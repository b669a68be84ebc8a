//! Instructions and their operands (PTX ISA 4.3.2, 6, 9.1).

use super::DEEPEST;
use super::constant::number;
use super::module::Parser;
use super::scope::Entity;
use crate::ptx::ast::{Base, Function, Guard, Instruction, Operand, Type};
use crate::ptx::error::Error;
use crate::ptx::lexer::{Kind, Token};

/// How the names of special registers begin (PTX ISA 10), after the `%`.
const SPECIALS: [&str; 16] = [
    "tid",
    "ntid",
    "laneid",
    "warpid",
    "nwarpid",
    "ctaid",
    "nctaid",
    "smid",
    "nsmid",
    "gridid",
    "lanemask_",
    "clock",
    "pm",
    "envreg",
    "globaltimer",
    "dynamic_smem_size",
];
/// The rest of them.
const MORE_SPECIALS: [&str; 7] = [
    "total_smem_size",
    "aggr_smem_size",
    "reserved_smem",
    "is_explicit_cluster",
    "cluster",
    "ncluster",
    "current_graph_exec",
];

impl<'a> Parser<'a> {
    /// `@%p1 add.f32 %f1, %f2, %f3;`
    pub fn instruction(&mut self, function: &mut Function) -> Result<(), Error> {
        let guard = if self.cursor.eat(b'@') { Some(self.guard()?) } else { None };
        let first = self.cursor.peek();
        self.cursor.name()?;
        while self.cursor.kind() == Kind::Dotted && self.cursor.adjacent() {
            self.cursor.at += 1;
        }
        let text = self.cursor.slice(first.start, self.cursor.token(self.cursor.at - 1).end);
        let opcode = self.opcodes.entry(text).or_insert_with(|| text.into()).clone();
        let mut operands = self.operands(b';')?;
        if text == "call" || text.starts_with("call.") {
            operands = call(operands)
                .ok_or_else(|| self.cursor.error(first, "a call names one function".into()))?;
        }
        let position = self.locations.current;
        function.body.push(Instruction { guard, opcode, operands, position, line: first.line });
        Ok(())
    }

    fn guard(&mut self) -> Result<Guard, Error> {
        let negated = self.cursor.eat(b'!');
        Ok(Guard { register: self.predicate()?, negated })
    }

    /// The name of a predicate register.
    fn predicate(&mut self) -> Result<u32, Error> {
        let token = self.cursor.peek();
        let name = self.cursor.name()?;
        match self.scopes.find(name) {
            Some(Entity::Register(register))
                if self.scopes.registers[register as usize].kind == Type::Pred =>
            {
                Ok(register)
            }
            _ => Err(self.cursor.error(token, format!("`{name}` is no predicate register"))),
        }
    }

    /// Operands between commas, up to and with the mark that closes them.
    fn operands(&mut self, close: u8) -> Result<Vec<Operand>, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.cursor.wanted("fewer brackets inside each other"));
        }
        let mut list = Vec::new();
        while !self.cursor.eat(close) {
            list.push(self.operand()?);
            if !self.cursor.eat(b',') && !self.cursor.sees(close) {
                return Err(self.cursor.wanted(&format!("`,` or `{}`", close as char)));
            }
        }
        self.depth -= 1;
        Ok(list)
    }

    /// One operand. What is no operand that the tree knows is taken as it is written.
    fn operand(&mut self) -> Result<Operand, Error> {
        let start = self.cursor.at;
        let operand = match self.cursor.kind() {
            Kind::Mark(b'{') => {
                self.cursor.at += 1;
                Some(Operand::Vector(self.operands(b'}')?))
            }
            Kind::Mark(b'(') => {
                self.cursor.at += 1;
                Some(Operand::List(self.operands(b')')?))
            }
            Kind::Mark(b'[') => self.address()?,
            Kind::Mark(b'!') => {
                self.cursor.at += 1;
                Some(Operand::Not(self.predicate()?))
            }
            Kind::Mark(b'-') | Kind::Number => Some(number(&mut self.cursor)?),
            Kind::Word => self.named()?,
            _ => None,
        };
        let whole = matches!(self.cursor.kind(), Kind::Mark(b',' | b';' | b')' | b'}' | b'|'));
        match operand {
            Some(operand) if whole => self.pair(operand),
            _ => self.other(start),
        }
    }

    /// `p|q`, if there is a `|` behind an operand.
    fn pair(&mut self, first: Operand) -> Result<Operand, Error> {
        if !self.cursor.eat(b'|') {
            return Ok(first);
        }
        let second = self.named()?;
        let second = second.ok_or_else(|| self.cursor.wanted("a register"))?;
        Ok(Operand::Pair(Box::new(first), Box::new(second)))
    }

    /// `[%rd1+8]`, `[name]`, `[16]`; `None` for an address of another kind.
    fn address(&mut self) -> Result<Option<Operand>, Error> {
        self.cursor.at += 1;
        let base = match self.cursor.kind() {
            Kind::Word => match self.named()? {
                Some(Operand::Register(register)) => Base::Register(register),
                Some(Operand::Symbol(symbol, offset)) if self.cursor.eat(b']') => {
                    return Ok(Some(Operand::Address { base: Base::Symbol(symbol), offset }));
                }
                _ => return Ok(None),
            },
            Kind::Number | Kind::Mark(b'-') => match number(&mut self.cursor)? {
                Operand::Integer(value) if self.cursor.eat(b']') => {
                    return Ok(Some(Operand::Address { base: Base::Zero, offset: value as i64 }));
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        if self.cursor.sees(b',') {
            return Ok(None);
        }
        let offset = self.offset()?;
        Ok(self.cursor.eat(b']').then_some(Operand::Address { base, offset }))
    }

    /// An operand that begins with a name.
    fn named(&mut self) -> Result<Option<Operand>, Error> {
        let token = self.cursor.peek();
        let name = self.cursor.name()?;
        let component = self.cursor.kind() == Kind::Dotted && self.cursor.adjacent();
        Ok(match self.scopes.find(name) {
            Some(Entity::Register(_)) if component => None,
            Some(Entity::Register(register)) => Some(Operand::Register(register)),
            Some(Entity::Vector(first, lanes)) if component => self.lane(first, lanes),
            Some(Entity::Vector(first, lanes)) => {
                Some(Operand::Vector((first..first + lanes).map(Operand::Register).collect()))
            }
            Some(Entity::Symbol(symbol)) => Some(Operand::Symbol(symbol, self.offset()?)),
            None => match self.known(name) {
                Some(symbol) => Some(Operand::Symbol(symbol, self.offset()?)),
                None => Some(self.predefined(token, name, component)?),
            },
        })
    }

    /// `.x` or `.r` behind a vector register.
    fn lane(&mut self, first: u32, lanes: u32) -> Option<Operand> {
        let names = [[".x", ".y", ".z", ".w"], [".r", ".g", ".b", ".a"]];
        let word = self.cursor.word();
        let lane = names.iter().find_map(|names| names.iter().position(|name| *name == word));
        self.cursor.at += 1;
        lane.filter(|lane| *lane < lanes as usize)
            .map(|lane| Operand::Register(first + lane as u32))
    }

    /// What PTX itself names: special registers, `WARP_SZ`, `_`.
    fn predefined(
        &mut self,
        token: Token,
        name: &'a str,
        component: bool,
    ) -> Result<Operand, Error> {
        let special = name.strip_prefix('%').is_some_and(|name| {
            SPECIALS.iter().chain(&MORE_SPECIALS).any(|special| name.starts_with(special))
        });
        if special {
            self.cursor.at += usize::from(component);
            let end = self.cursor.token(self.cursor.at - 1).end;
            return Ok(Operand::Special(self.cursor.slice(token.start, end).into()));
        }
        match name {
            "_" => Ok(Operand::Sink),
            "WARP_SZ" => Ok(Operand::Integer(32)),
            _ => Err(self.cursor.error(token, format!("`{name}` is not declared"))),
        }
    }

    /// Everything from token `start` to the next comma that is not in brackets.
    fn other(&mut self, start: usize) -> Result<Operand, Error> {
        self.cursor.at = start;
        let mut open = 0_u32;
        loop {
            match self.cursor.kind() {
                Kind::Mark(b',' | b';') if open == 0 => break,
                Kind::Mark(b'[' | b'(' | b'{') => open += 1,
                Kind::Mark(b']' | b')' | b'}') if open == 0 => break,
                Kind::Mark(b']' | b')' | b'}') => open -= 1,
                Kind::Mark(b';') | Kind::End => {
                    return Err(self.cursor.wanted("a closing bracket"));
                }
                _ => {}
            }
            self.cursor.at += 1;
        }
        if self.cursor.at == start {
            return Err(self.cursor.wanted("an operand"));
        }
        let (first, last) = (self.cursor.token(start), self.cursor.token(self.cursor.at - 1));
        Ok(Operand::Other(self.cursor.slice(first.start, last.end).into()))
    }
}

/// The operands of a call in the order of [`Instruction::operands`].
fn call(operands: Vec<Operand>) -> Option<Vec<Operand>> {
    let mut rest = operands.into_iter().peekable();
    let is_list = |operand: &Operand| matches!(operand, Operand::List(_));
    let returns = rest.next_if(is_list).unwrap_or(Operand::List(Vec::new()));
    let callee = rest.next()?;
    let params = rest.next_if(is_list).unwrap_or(Operand::List(Vec::new()));
    let known = matches!(callee, Operand::Symbol(..) | Operand::Register(_));
    let mut sorted = vec![returns, callee, params];
    sorted.extend(rest.next());
    (known && rest.next().is_none()).then_some(sorted)
}
