//! Instructions that compute lane by lane: operands of the form that the arithmetic has for them.

use crate::alu::{Class, Form, Slots, extension, lookup};
use crate::ptx::ast::{Instruction as Text, Operand};

use super::code::{LOCAL_WINDOW, Op, PARAM_WINDOW, Pieces, SHARED_WINDOW, Space};
use super::{Body, Decoded};

impl Body<'_, '_> {
    /// An instruction that the arithmetic knows.
    pub fn compute(&mut self, pieces: &[&str]) -> Decoded<()> {
        let Some(form) = lookup(pieces) else { return self.unsupported() };
        let (first, second) = match self.operand(0)? {
            Operand::Pair(first, second) => ((**first).clone(), Some((**second).clone())),
            other => (other.clone(), None),
        };
        let mut slots = Slots { code: form.code, ..Slots::default() };
        let mut given = self.text.operands[1..].iter();
        for (slot, class) in slots.sources.iter_mut().zip(form.sources) {
            *slot = match (class, given.as_slice()) {
                (Class::Carry, _) => self.builder.spare.carry,
                (_, []) => return self.refuse(format!("`{}` lacks an operand", self.text.opcode)),
                (class, [operand, ..]) => {
                    given.next();
                    self.source(operand, *class)?
                }
            };
        }
        if given.next().is_some() {
            return self.refuse(format!("`{}` has an operand too many", self.text.opcode));
        }
        slots.second = match (form.second, second) {
            (Some(Class::Carry), None) => self.builder.spare.carry,
            (Some(class), Some(operand)) => self.target(&operand, class)?,
            (Some(class), None) => self.sink(class),
            (None, None) => 0,
            (None, Some(_)) => {
                return self.refuse(format!("`{}` has one target", self.text.opcode));
            }
        };
        self.result(&form, slots, &first, pieces[0] == "cvt")
    }

    /// Emits the form, with its result in a register that may be wider if it converts.
    fn result(&mut self, form: &Form, mut slots: Slots, to: &Operand, wider: bool) -> Decoded<()> {
        let Operand::Register(register) = *to else {
            slots.target = self.target(to, form.target)?;
            self.emit(Op::Compute(form.run, slots));
            return Ok(());
        };
        let bits = self.function.registers[register as usize].kind.bits();
        let Some(extend) = extension(form, bits).filter(|_| wider) else {
            slots.target = self.target(to, form.target)?;
            self.emit(Op::Compute(form.run, slots));
            return Ok(());
        };
        slots.target = self.spare(form.target)?;
        self.help(Op::Compute(form.run, slots));
        let target = self.target(to, extend.target)?;
        let sources = [slots.target, 0, 0, 0];
        let slots = Slots { target, sources, code: extend.code, ..Slots::default() };
        self.emit(Op::Compute(extend.run, slots));
        Ok(())
    }

    /// Moves, conversions of addresses, and hints that do nothing that can be seen.
    pub fn address(&mut self, pieces: &[&str]) -> Decoded<()> {
        match pieces[0] {
            "mov" => self.mov(pieces),
            "cvta" => self.cvta(pieces),
            "isspacep" => self.isspacep(pieces),
            "setmaxnreg" => self.unsupported(),
            _ => {
                self.emit(Op::Nothing);
                Ok(())
            }
        }
    }

    fn mov(&mut self, pieces: &[&str]) -> Decoded<()> {
        let bits = match pieces.get(1) {
            Some(&"b16") => 16,
            Some(&"b32" | &"u32" | &"s32" | &"f32") => 32,
            Some(&"b64" | &"u64" | &"s64" | &"f64") => 64,
            _ => 0,
        };
        let class = if bits == 64 { Class::B64 } else { Class::B32 };
        match (self.operand(0)?.clone(), self.operand(1)?.clone()) {
            (Operand::Vector(parts), whole) if bits > 0 => {
                let whole = self.source(&whole, class)?;
                let parts = self.pieces(&parts, bits, true)?;
                self.pack(Pieces { whole, bits, parts }, true)
            }
            (whole, Operand::Vector(parts)) if bits > 0 => {
                let whole = self.target(&whole, class)?;
                let parts = self.pieces(&parts, bits, false)?;
                self.pack(Pieces { whole, bits, parts }, false)
            }
            _ => self.compute(pieces),
        }
    }

    fn pack(&mut self, pieces: Pieces, split: bool) -> Decoded<()> {
        if !matches!(pieces.parts.len(), 2 | 4) || pieces.bits / pieces.parts.len() as u32 > 32 {
            return self.unsupported();
        }
        let pieces = Box::new(pieces);
        self.emit(if split { Op::Split(pieces) } else { Op::Join(pieces) });
        Ok(())
    }

    fn pieces(&mut self, parts: &[Operand], bits: u32, targets: bool) -> Decoded<Vec<u32>> {
        let bits = bits / parts.len().max(1) as u32;
        let mut slots = Vec::with_capacity(parts.len());
        for part in parts {
            if bits == 0 {
                return self.unsupported();
            }
            slots.push(match targets {
                true => self.target(part, Class::B32)?,
                false => self.source(part, Class::B32)?,
            });
        }
        Ok(slots)
    }

    /// §9.7.9.20: an address of one kind of memory as a generic one, or back.
    fn cvta(&mut self, pieces: &[&str]) -> Decoded<()> {
        let back = pieces.get(1) == Some(&"to");
        let space = pieces.get(if back { 2 } else { 1 });
        let base = match space.map(|space| kind_of(space)) {
            Some("shared") => SHARED_WINDOW,
            Some("local") => LOCAL_WINDOW,
            Some("param") if self.function.kind == crate::ptx::ast::Kind::Entry => PARAM_WINDOW,
            Some("param") => LOCAL_WINDOW,
            Some("global" | "const") => 0,
            _ => return self.unsupported(),
        };
        if pieces.last() != Some(&"u64") {
            return self.refuse("addresses of 32 bits are not supported");
        }
        let source = self.operand(1)?.clone();
        let source = self.source(&source, Class::B64)?;
        let target = self.target(&self.operand(0)?.clone(), Class::B64)?;
        let base = self.builder.constant(true, if back { base.wrapping_neg() } else { base });
        let Some(form) = lookup(&["add", "u64"]) else { return self.unsupported() };
        let slots = Slots { target, sources: [source, base, 0, 0], ..Slots::default() };
        self.emit(Op::Compute(form.run, Slots { code: form.code, ..slots }));
        Ok(())
    }

    fn isspacep(&mut self, pieces: &[&str]) -> Decoded<()> {
        let space = match pieces.get(1).map(|space| kind_of(space)) {
            Some("shared") => Space::Shared,
            Some("local") => Space::Local,
            Some("param") => Space::Param,
            Some("global") => Space::Global,
            Some("const") => Space::Constant,
            _ => return self.unsupported(),
        };
        let source = self.operand(1)?.clone();
        let source = self.source(&source, Class::B64)?;
        let target = self.target(self.operand(0)?, Class::P)?;
        self.emit(Op::IsSpace { target, source, space });
        Ok(())
    }
}

/// The kind of memory without what follows a `::`.
pub(super) fn kind_of(space: &str) -> &str {
    match space.split_once("::") {
        Some((space, "cta" | "entry")) => space,
        _ => space,
    }
}

/// The floating-point operations of one lane of an instruction: a fused multiply-add is two; a
/// comparison, a conversion, a minimum is none.
pub(super) fn flops(text: &Text) -> u32 {
    let mut pieces = text.pieces();
    let name = pieces.next().unwrap_or_default();
    let each = match name {
        "fma" | "mad" => 2,
        "add" | "sub" | "mul" | "div" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2"
        | "ex2" | "tanh" => 1,
        _ => return 0,
    };
    match pieces.last() {
        Some("f16" | "bf16" | "f32" | "f64") => each,
        Some("f16x2" | "bf16x2" | "f32x2") => 2 * each,
        _ => 0,
    }
}
