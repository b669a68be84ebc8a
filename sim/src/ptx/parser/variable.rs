//! Declarations of variables and parameters (PTX ISA 5.4, 7.1).

use super::DEEPEST;
use super::constant::{number, unsigned, unsigned32};
use super::module::Parser;
use crate::ptx::ast::{Initial, Operand, Space, Type, Value, Variable};
use crate::ptx::error::Error;
use crate::ptx::lexer::{Kind, Token};

/// The most bytes of a variable. It keeps sums of sizes far away from the end of 64 bits.
const LARGEST: u64 = 1 << 40;

/// The spaces that a declaration may name.
const SPACES: [(&str, Space); 6] = [
    (".reg", Space::Register),
    (".param", Space::Param),
    (".local", Space::Local),
    (".shared", Space::Shared),
    (".global", Space::Global),
    (".const", Space::Const),
];

/// What stands in front of the names of a declaration.
#[derive(Clone, Copy)]
pub struct Head {
    pub space: Space,
    pub element: Type,
    pub lanes: u32,
    alignment: u32,
}

impl Parser<'_> {
    /// The space that the next token names, if any.
    pub fn sees_space(&self) -> Option<Space> {
        if self.cursor.kind() != Kind::Dotted {
            return None;
        }
        let word = self.cursor.word().split("::").next();
        SPACES.iter().find(|row| Some(row.0) == word).map(|row| row.1)
    }

    /// `.global .align 4 .v2 .f32`: everything in front of a name.
    pub fn head(&mut self) -> Result<Head, Error> {
        let first = self.cursor.peek();
        let (mut space, mut kind, mut lanes, mut alignment) = (None, None, 1, None);
        while self.cursor.kind() == Kind::Dotted {
            if let Some(found) = self.sees_space().filter(|_| space.is_none()) {
                space = Some(found);
                self.cursor.at += 1;
            } else if self.cursor.eat_dotted(".align") {
                alignment = Some(self.alignment()?);
            } else if self.cursor.eat_dotted(".ptr") {
                self.skip_pointer()?;
            } else if self.cursor.eat_dotted(".attribute") {
                self.cursor.skip_brackets(b'(', b')')?;
            } else {
                self.type_word(&mut kind, &mut lanes)?;
            }
        }
        let missing =
            |what: &str| self.cursor.error(first, format!("a declaration without {what}"));
        let space = space.ok_or_else(|| missing("a state space"))?;
        let element: Type = kind.ok_or_else(|| missing("a type"))?;
        let alignment = alignment.unwrap_or(element.bytes() * lanes);
        Ok(Head { space, element, lanes, alignment })
    }

    /// `.v2`, or a type.
    fn type_word(&mut self, kind: &mut Option<Type>, lanes: &mut u32) -> Result<(), Error> {
        match self.cursor.word() {
            ".v2" => *lanes = 2,
            ".v4" => *lanes = 4,
            ".v8" => *lanes = 8,
            word => match Type::named(&word[1..]) {
                Some(found) if kind.is_none() => *kind = Some(found),
                _ => return Err(self.cursor.wanted("a type that the simulator has")),
            },
        }
        self.cursor.at += 1;
        Ok(())
    }

    fn alignment(&mut self) -> Result<u32, Error> {
        let token = self.cursor.peek();
        let bytes = unsigned32(&mut self.cursor)?;
        if bytes.is_power_of_two() && bytes <= 1 << 16 {
            return Ok(bytes);
        }
        Err(self.cursor.error(token, format!("{bytes} is no alignment: a power of two is one")))
    }

    /// `.ptr .global .align 8` of a parameter says what it points to: for ptxas, not for us.
    fn skip_pointer(&mut self) -> Result<(), Error> {
        if self.sees_space().is_some() {
            self.cursor.at += 1;
        }
        if self.cursor.eat_dotted(".align") {
            self.alignment()?;
        }
        Ok(())
    }

    /// The name of a variable, its dimensions, and what it begins with.
    pub fn variable(&mut self, head: Head, external: bool) -> Result<Variable, Error> {
        let token = self.cursor.peek();
        let name = self.cursor.name()?;
        let dimensions = self.dimensions()?;
        let mut initial = Vec::new();
        let mut extent = 0;
        if self.cursor.eat(b'=') {
            let inner = dimensions.get(1..).unwrap_or(&[]);
            let mut inner: Vec<u64> = inner.iter().map(|size| size.unwrap_or(0)).collect();
            inner.extend((head.lanes > 1).then_some(u64::from(head.lanes)));
            extent = self.initial(head, &inner, 0, &mut initial)?;
        }
        let length = self.length(token, head, &dimensions, extent)?;
        if initial.last().is_some_and(|last| Some(last.index) >= length) {
            return Err(self
                .cursor
                .error(token, format!("more values than `{name}` has elements")));
        }
        Ok(Variable {
            name: if name == "_" { String::new() } else { name.into() },
            space: head.space,
            external,
            alignment: head.alignment,
            element: head.element,
            length,
            initial,
            line: token.line,
        })
    }

    /// `[2][3]`, or `[][3]`.
    fn dimensions(&mut self) -> Result<Vec<Option<u64>>, Error> {
        let mut dimensions = Vec::new();
        while self.cursor.eat(b'[') {
            let open = dimensions.is_empty() && self.cursor.sees(b']');
            dimensions.push(if open { None } else { Some(unsigned(&mut self.cursor)?) });
            self.cursor.expect(b']')?;
        }
        Ok(dimensions)
    }

    /// The elements of a variable; `None` where the text leaves them open.
    fn length(
        &self,
        token: Token,
        head: Head,
        dimensions: &[Option<u64>],
        extent: u64,
    ) -> Result<Option<u64>, Error> {
        let open = dimensions.first() == Some(&None);
        if open && extent > 0 {
            return Ok(Some(extent));
        }
        let sizes = dimensions.iter().skip(usize::from(open)).map(|size| size.unwrap_or(0));
        let elements = product(sizes).and_then(|count| count.checked_mul(u64::from(head.lanes)));
        let bytes = elements.and_then(|count| count.checked_mul(u64::from(head.element.bytes())));
        match elements {
            Some(_) if open => Ok(None),
            Some(count) if bytes.is_some_and(|bytes| bytes <= LARGEST) => Ok(Some(count)),
            _ => Err(self.cursor.error(token, "a variable of more than 1 TiB".into())),
        }
    }

    /// What follows `=`: one value, or values in braces. `inner` are the dimensions behind the
    /// first; the values go to `index` and behind it. Returns the element behind the last.
    fn initial(
        &mut self,
        head: Head,
        inner: &[u64],
        index: u64,
        into: &mut Vec<Initial>,
    ) -> Result<u64, Error> {
        if !self.cursor.eat(b'{') {
            let value = self.initial_value(head)?;
            into.push(Initial { index, value });
            return Ok(index + 1);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.cursor.wanted("fewer braces inside each other"));
        }
        // The elements of a row: behind a row that is not full, the next begins where it must.
        let row = product(inner.iter().copied()).unwrap_or(0).max(1);
        let mut next = index;
        while !self.cursor.eat(b'}') {
            let start = next;
            let nested = self.cursor.sees(b'{');
            next = self.initial(head, inner.get(1..).unwrap_or(&[]), start, into)?;
            if nested {
                next = next.max(start.checked_add(row).unwrap_or(u64::MAX / 2));
            }
            if next > LARGEST {
                return Err(self.cursor.wanted("fewer values"));
            }
            if !self.cursor.eat(b',') && !self.cursor.sees(b'}') {
                return Err(self.cursor.wanted("`,` or `}`"));
            }
        }
        self.depth -= 1;
        Ok(next)
    }

    fn initial_value(&mut self, head: Head) -> Result<Value, Error> {
        if self.cursor.kind() == Kind::Word {
            return self.initial_address(0);
        }
        let value = number(&mut self.cursor)?;
        if let (Operand::Integer(mask), true) = (&value, self.cursor.eat(b'(')) {
            let address = self.initial_address(mask.trailing_zeros() % 64);
            self.cursor.expect(b')')?;
            return address;
        }
        Ok(Value::Bits(bits(&value, head.element)))
    }

    /// `name`, `name+4`, `generic(name)`.
    fn initial_address(&mut self, shift: u32) -> Result<Value, Error> {
        let generic = self.cursor.eat_word("generic");
        if generic {
            self.cursor.expect(b'(')?;
        }
        let symbol = self.module_symbol()?;
        let mut offset = self.offset()?;
        if generic {
            self.cursor.expect(b')')?;
            offset = offset.wrapping_add(self.offset()?);
        }
        Ok(Value::Address { symbol, offset, generic, shift })
    }
}

/// A product, if it fits.
fn product(mut sizes: impl Iterator<Item = u64>) -> Option<u64> {
    sizes.try_fold(1_u64, u64::checked_mul)
}

/// A number as an element of a type holds it.
fn bits(value: &Operand, kind: Type) -> u64 {
    let float = match *value {
        Operand::Single(bits) => f64::from(f32::from_bits(bits)),
        Operand::Double(bits) => f64::from_bits(bits),
        Operand::Integer(value) => value as i64 as f64,
        _ => 0.0,
    };
    match (kind, value) {
        (Type::F32, Operand::Single(bits)) => u64::from(*bits),
        (Type::F32, _) => u64::from((float as f32).to_bits()),
        (Type::F64, _) => float.to_bits(),
        (_, Operand::Integer(value)) => value & (u64::MAX >> (64 - kind.bits().min(64))),
        (Type::F16 | Type::B16, _) => u64::from(half::f16::from_f64(float).to_bits()),
        (Type::Bf16, _) => u64::from(half::bf16::from_f64(float).to_bits()),
        (_, Operand::Single(bits)) => u64::from(*bits),
        _ => float.to_bits(),
    }
}
