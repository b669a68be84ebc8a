//! Loads, stores and atomics.

use crate::alu::Class;
use crate::ptx::ast::{Kind, Operand};

use super::atomic::{Atomic, Rule};
use super::code::{Access, Base, Op, Space};
use super::compute::kind_of;
use super::{Body, Decoded};

/// What the pieces of an opcode say of an access.
struct Said {
    space: Space,
    count: u32,
    /// What is ordered: `acquire`, `release`, both.
    acquire: bool,
    release: bool,
    /// Whether an operand with a hint for the cache follows.
    hint: bool,
    /// Of an atomic, its operation.
    operation: Option<String>,
}

impl Body<'_, '_> {
    /// Reads the pieces between the name and the type.
    fn said(&self, pieces: &[&str]) -> Decoded<Said> {
        let (space, count) = (Space::Generic, 1);
        let mut said =
            Said { space, count, acquire: false, release: false, hint: false, operation: None };
        let atomic = matches!(pieces[0], "atom" | "red");
        for piece in &pieces[1..pieces.len().max(2) - 1] {
            match kind_of(piece) {
                "global" => said.space = Space::Global,
                "const" => said.space = Space::Constant,
                "shared" => said.space = Space::Shared,
                "local" => said.space = Space::Local,
                "param" => said.space = Space::Param,
                "v2" => said.count = 2,
                "v4" => said.count = 4,
                "acquire" => said.acquire = true,
                "release" => said.release = true,
                "acq_rel" => (said.acquire, said.release) = (true, true),
                "relaxed" | "volatile" | "weak" | "mmio" | "cta" | "cluster" | "gpu" | "sys"
                | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "nc" | "noftz" => {}
                piece if piece.ends_with("cache_hint") => said.hint = true,
                piece if piece.starts_with("L1::") || piece.starts_with("L2::") => {}
                piece if atomic && said.operation.is_none() => {
                    said.operation = Some(piece.to_string());
                }
                _ => return self.unsupported(),
            }
        }
        Ok(said)
    }

    fn number(&mut self) -> u32 {
        self.builder.kernel.accesses += 1;
        self.builder.kernel.accesses - 1
    }

    /// Where an access goes: in a function, parameters are in the frame.
    fn space(&self, said: Space, named: Option<Space>) -> Space {
        match (said, named) {
            (Space::Param, Some(space)) => space,
            (Space::Param, None) if self.function.kind != Kind::Entry => Space::Local,
            (Space::Generic, Some(Space::Shared)) => Space::Shared,
            (Space::Generic, Some(Space::Local)) => Space::Local,
            (Space::Generic, Some(Space::Param)) => Space::Param,
            (space, _) => space,
        }
    }

    /// `ld` and `st` (§9.7.9.8, §9.7.9.11).
    pub fn access(&mut self, pieces: &[&str]) -> Decoded<()> {
        let said = self.said(pieces)?;
        let Some((bits, signed)) = size(pieces.last().unwrap_or(&"")) else {
            return self.unsupported();
        };
        let loads = pieces[0] != "st";
        let (value, at) = if loads { (0, 1) } else { (1, 0) };
        let value = self.operand(value)?.clone();
        let at = self.operand(at)?.clone();
        let (address, named) = self.address_operand(&at)?;
        let space = self.space(said.space, named);
        if !loads && matches!(space, Space::Param | Space::Constant) {
            return self.refuse(format!("`{}` writes what is read-only", self.text.opcode));
        }
        let parts = match value {
            Operand::Vector(parts) => parts,
            single => vec![single],
        };
        let surplus = self.text.operands.len() != 2 + usize::from(said.hint);
        if parts.len() != said.count as usize || surplus || parts.len() * bits as usize > 256 {
            return self.refuse(format!("`{}` has other operands", self.text.opcode));
        }
        let (registers, wide) = self.registers(&parts, bits, loads)?;
        let (number, count) = (self.number(), said.count);
        let bytes = bits / 8;
        let access = Access { space, bytes, count, signed, wide, registers, address, number };
        if said.release {
            self.help(Op::Fence);
        }
        let access = Box::new(access);
        self.emit(if loads { Op::Load(access) } else { Op::Store(access) });
        if said.acquire {
            self.help(Op::Fence);
        }
        Ok(())
    }

    /// The registers of an access: all of 64 bits or all of 32.
    fn registers(
        &mut self,
        parts: &[Operand],
        bits: u32,
        loads: bool,
    ) -> Decoded<([u32; 4], bool)> {
        let mut wide = bits == 64;
        for part in parts {
            if let Operand::Register(register) = part {
                wide = self.class(*register)? == Class::B64;
            }
        }
        if bits == 64 && !wide {
            return self.refuse(format!("`{}` needs registers of 64 bits", self.text.opcode));
        }
        let class = if wide { Class::B64 } else { Class::B32 };
        let mut registers = [0; 4];
        for (slot, part) in registers.iter_mut().zip(parts) {
            *slot = match (loads, part) {
                (true, part) => self.target(part, class)?,
                (false, Operand::Register(_)) => self.target(part, class)?,
                (false, part) => self.source(part, class)?,
            };
        }
        Ok((registers, wide))
    }

    /// `atom` and `red` (§9.7.13.15 and 16).
    pub fn atomic(&mut self, pieces: &[&str]) -> Decoded<()> {
        let said = self.said(pieces)?;
        let kind = *pieces.last().unwrap_or(&"");
        let rule = said.operation.as_deref().and_then(|operation| rule(operation, kind));
        let (Some(rule), Some((bits, _)), 1) = (rule, size(kind), said.count) else {
            return self.unsupported();
        };
        let returns = pieces[0] == "atom";
        let at = usize::from(returns);
        let (address, named) = self.address_operand(&self.operand(at)?.clone())?;
        let space = self.space(said.space, named);
        if address.base == Base::Frame || matches!(space, Space::Param | Space::Constant) {
            return self.unsupported();
        }
        let (class, wide) = if bits == 64 { (Class::B64, true) } else { (Class::B32, false) };
        let operands = if rule == Rule::CompareAndSwap { 2 } else { 1 };
        if self.text.operands.len() != at + 1 + operands + usize::from(said.hint) {
            return self.refuse(format!("`{}` has other operands", self.text.opcode));
        }
        let mut sources = [0; 2];
        for (i, slot) in sources.iter_mut().enumerate() {
            let operand = self.operand(at + 1 + i.min(operands - 1))?.clone();
            *slot = self.source(&operand, class)?;
        }
        let target = match returns {
            true => self.target(self.operand(0)?, class)?,
            false => 0,
        };
        let number = self.number();
        let registers = [target, 0, 0, 0];
        let bytes = bits / 8;
        let access =
            Access { space, bytes, count: 1, signed: false, wide, registers, address, number };
        if said.release {
            self.help(Op::Fence);
        }
        self.emit(Op::Atomic(Box::new(Atomic { access, rule, sources, returns })));
        if said.acquire {
            self.help(Op::Fence);
        }
        Ok(())
    }
}

/// The bits of a type in memory, and whether a narrow one is sign-extended.
fn size(kind: &str) -> Option<(u32, bool)> {
    Some(match kind {
        "b8" | "u8" => (8, false),
        "s8" => (8, true),
        "b16" | "u16" | "f16" | "bf16" => (16, false),
        "s16" => (16, true),
        "b32" | "u32" | "f32" | "f16x2" | "bf16x2" => (32, false),
        "s32" => (32, true),
        "b64" | "u64" | "s64" | "f64" => (64, false),
        _ => return None,
    })
}

/// What an atomic operation of a type computes.
pub(super) fn rule(operation: &str, kind: &str) -> Option<Rule> {
    Some(match (operation, kind) {
        ("add", "u32" | "s32" | "u64" | "s64") => Rule::Add,
        ("add", "f32") => Rule::AddF32,
        ("add", "f64") => Rule::AddF64,
        ("add", "f16") => Rule::AddF16,
        ("add", "bf16") => Rule::AddBf16,
        ("add", "f16x2") => Rule::AddF16x2,
        ("add", "bf16x2") => Rule::AddBf16x2,
        ("and", "b32" | "b64") => Rule::And,
        ("or", "b32" | "b64") => Rule::Or,
        ("xor", "b32" | "b64") => Rule::Xor,
        ("exch", "b32" | "b64") => Rule::Exchange,
        ("cas", "b16" | "b32" | "b64") => Rule::CompareAndSwap,
        ("min", "s32" | "s64") => Rule::MinSigned,
        ("max", "s32" | "s64") => Rule::MaxSigned,
        ("min", "u32" | "u64") => Rule::MinUnsigned,
        ("max", "u32" | "u64") => Rule::MaxUnsigned,
        ("inc", "u32") => Rule::Increment,
        ("dec", "u32") => Rule::Decrement,
        _ => return None,
    })
}
