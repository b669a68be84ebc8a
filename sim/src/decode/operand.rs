//! Operands: in which register, at which address.

use crate::alu::{Class, Slots, lookup};
use crate::ptx::ast::{self, Kind, Operand, Symbol};

use super::code::{Address, Base, Carrier, FALSE, HANDLE, HANDLES, Op, Space, Special, TRUE};
use super::{Body, Decoded};

/// What a symbol is the address of.
pub(super) enum Place {
    /// An address that is the same for every thread.
    Fixed(Space, u64),
    /// So many bytes from the start of the frame in local memory.
    Frame(u32),
}

impl Body<'_, '_> {
    /// The first word of a register.
    pub fn slot(&self, register: u32) -> u32 {
        self.builder.frames[self.number as usize].registers[register as usize].0
    }

    /// The class of a register.
    pub fn class(&self, register: u32) -> Decoded<Class> {
        Ok(self.builder.frames[self.number as usize].registers[register as usize].1)
    }

    /// The name of a register, for messages.
    fn name(&self, register: u32) -> &str {
        &self.function.registers[register as usize].name
    }

    /// The operand with this number.
    pub fn operand(&self, at: usize) -> Decoded<&'_ Operand> {
        match self.text.operands.get(at) {
            Some(operand) => Ok(operand),
            None => self.refuse(format!("`{}` lacks an operand", self.text.opcode)),
        }
    }

    /// A spare register of a class, until the instruction is done.
    pub fn spare(&mut self, class: Class) -> Decoded<u32> {
        let spare = &self.builder.spare;
        let (kind, slots): (usize, &[u32]) = match class {
            Class::P | Class::Carry => (0, &spare.predicates),
            Class::B32 => (1, &spare.narrow),
            Class::B64 => (2, &spare.wide),
        };
        let Some(&slot) = slots.get(self.used[kind]) else { return self.unsupported() };
        self.used[kind] += 1;
        Ok(slot)
    }

    /// A register that nobody reads.
    pub fn sink(&self, class: Class) -> u32 {
        self.builder.spare.sinks[match class {
            Class::P | Class::Carry => 0,
            Class::B32 => 1,
            Class::B64 => 2,
        }]
    }

    /// The register that an operand writes, which must be of a class.
    pub fn target(&self, operand: &Operand, class: Class) -> Decoded<u32> {
        match operand {
            Operand::Register(register) if self.class(*register)? == class => {
                Ok(self.slot(*register))
            }
            Operand::Register(register) => {
                let (name, opcode) = (self.name(*register), &self.text.opcode);
                self.refuse(format!("`{opcode}` cannot write {name}: its size is another"))
            }
            Operand::Sink => Ok(self.sink(class)),
            _ => self.refuse(format!("`{}` has a target that is no register", self.text.opcode)),
        }
    }

    /// The register in which an operand of a class is found.
    pub fn source(&mut self, operand: &Operand, class: Class) -> Decoded<u32> {
        match operand {
            Operand::Register(register) => {
                let (slot, found) = (self.slot(*register), self.class(*register)?);
                self.fit(slot, found, class, *register)
            }
            Operand::Not(register) => {
                let spare = self.spare(Class::P)?;
                self.step(&["not", "pred"], spare, &[self.slot(*register)])?;
                Ok(spare)
            }
            Operand::Special(name) => self.special(&name.clone(), class),
            Operand::Symbol(symbol, offset) => self.address_of(*symbol, *offset, class),
            operand => match self.constant(operand, class) {
                Some(slot) => Ok(slot),
                None => self.refuse(format!("`{}` has an operand of no use", self.text.opcode)),
            },
        }
    }

    /// A register as one of the class that an instruction reads: of 64 bits, the low 32 (§9.4.1).
    fn fit(&mut self, slot: u32, found: Class, class: Class, register: u32) -> Decoded<u32> {
        match (found, class) {
            _ if found == class => Ok(slot),
            (Class::B64, Class::B32) if self.may_be_wider() => {
                let spare = self.spare(Class::B32)?;
                self.step(&["cvt", "u32", "u64"], spare, &[slot])?;
                Ok(spare)
            }
            _ => {
                let (name, opcode) = (self.name(register), &self.text.opcode);
                self.refuse(format!("`{opcode}` cannot read {name}: its size is another"))
            }
        }
    }

    /// Whether operands of the instruction may be wider than its type (§9.4.1).
    fn may_be_wider(&self) -> bool {
        matches!(self.text.pieces().next(), Some("cvt" | "st" | "ld"))
    }

    /// A step that computes, as help for the instruction.
    pub fn step(&mut self, pieces: &[&str], target: u32, sources: &[u32]) -> Decoded<()> {
        let Some(form) = lookup(pieces) else { return self.unsupported() };
        let mut slots = Slots { target, ..Slots::default() };
        slots.sources[..sources.len()].copy_from_slice(sources);
        self.help(Op::Compute(form.run, slots));
        Ok(())
    }

    /// The register of a constant.
    pub fn constant(&mut self, operand: &Operand, class: Class) -> Option<u32> {
        let double = |bits: u64| f64::from_bits(bits);
        Some(match (operand, class) {
            (Operand::Integer(0), Class::P) => FALSE,
            (Operand::Integer(_), Class::P) => TRUE,
            (Operand::Integer(value), Class::B32) => self.builder.constant(false, *value),
            (Operand::Integer(value), Class::B64) => self.builder.constant(true, *value),
            (Operand::Single(bits), Class::B32) => self.builder.constant(false, u64::from(*bits)),
            (Operand::Single(bits), Class::B64) => {
                self.builder.constant(true, f64::from(f32::from_bits(*bits)).to_bits())
            }
            (Operand::Double(bits), Class::B64) => self.builder.constant(true, *bits),
            (Operand::Double(bits), Class::B32) => {
                let single = double(*bits) as f32;
                self.builder.constant(false, u64::from(single.to_bits()))
            }
            _ => return None,
        })
    }

    /// A special register by its name (§10).
    fn special(&mut self, name: &str, class: Class) -> Decoded<u32> {
        let clock = match name {
            "%clock" | "%clock_lo" => Some((false, 0)),
            "%clock64" => Some((true, 0)),
            "%clock_hi" => Some((false, 32)),
            "%globaltimer" => Some((true, 0)),
            "%globaltimer_lo" => Some((false, 0)),
            "%globaltimer_hi" => Some((false, 32)),
            _ => None,
        };
        if let Some((wide, shift)) = clock {
            let target = self.spare(if wide { Class::B64 } else { Class::B32 })?;
            self.help(Op::Clock { target, wide, shift });
            return self.widen(target, wide, class);
        }
        let Some(special) = named(name) else {
            return self.refuse(format!("the special register {name} is not supported"));
        };
        let slot = self.builder.special(special);
        self.widen(slot, special == Special::Grid, class)
    }

    /// A register as one of the class that is wanted.
    fn widen(&mut self, slot: u32, wide: bool, class: Class) -> Decoded<u32> {
        match (wide, class) {
            (false, Class::B32) | (true, Class::B64) => Ok(slot),
            (false, Class::B64) => {
                let spare = self.spare(Class::B64)?;
                self.step(&["cvt", "u64", "u32"], spare, &[slot])?;
                Ok(spare)
            }
            (true, Class::B32) => {
                let spare = self.spare(Class::B32)?;
                self.step(&["cvt", "u32", "u64"], spare, &[slot])?;
                Ok(spare)
            }
            _ => self.unsupported(),
        }
    }

    /// The address of what a symbol names.
    pub fn place(&self, symbol: Symbol) -> Decoded<Place> {
        let frame = &self.builder.frames[self.number as usize];
        let carried = |carrier: &Carrier| match *carrier {
            Carrier::Local { offset, .. } if self.function.kind == Kind::Entry => {
                Ok(Place::Fixed(Space::Param, u64::from(offset)))
            }
            Carrier::Local { offset, .. } => Ok(Place::Frame(offset)),
            Carrier::Register { .. } => self.refuse("a register has no address"),
        };
        match symbol {
            Symbol::Parameter(at) => carried(&frame.parameters[at as usize]),
            Symbol::Return(at) => carried(&frame.returns[at as usize]),
            Symbol::Variable(at) => {
                let offset = frame.variables[at as usize];
                Ok(match self.function.variables[at as usize].space {
                    ast::Space::Shared => Place::Fixed(Space::Shared, u64::from(offset)),
                    _ => Place::Frame(offset),
                })
            }
            Symbol::Global(at) => Ok(match self.builder.shared.get(&at) {
                Some(&offset) => Place::Fixed(Space::Shared, u64::from(offset)),
                None => Place::Fixed(Space::Global, self.builder.globals[at as usize]),
            }),
            Symbol::Function(at) => {
                Ok(Place::Fixed(Space::Generic, HANDLES + HANDLE * u64::from(at)))
            }
            Symbol::Label(_) | Symbol::Table(_) => self.refuse("a label has no address"),
        }
    }

    /// A register with the address of what a symbol names.
    fn address_of(&mut self, symbol: Symbol, offset: i64, class: Class) -> Decoded<u32> {
        let wide = match class {
            Class::B64 => true,
            Class::B32 => false,
            _ => return self.unsupported(),
        };
        match self.place(symbol)? {
            Place::Fixed(_, address) => {
                Ok(self.builder.constant(wide, address.wrapping_add_signed(offset)))
            }
            Place::Frame(start) => {
                let target = self.spare(class)?;
                let offset = start.wrapping_add(offset as u32);
                self.help(Op::FrameAddress { target, wide, offset });
                Ok(target)
            }
        }
    }

    /// What an access names as its address, and in which memory it lies if that is a symbol's.
    pub fn address_operand(&mut self, operand: &Operand) -> Decoded<(Address, Option<Space>)> {
        let Operand::Address { base, offset } = *operand else {
            return self.refuse(format!("`{}` lacks an address", self.text.opcode));
        };
        let zero = |address: u64| Address { base: Base::Zero, offset: address };
        Ok(match base {
            ast::Base::Zero => (zero(offset as u64), None),
            ast::Base::Register(register) => {
                let slot = self.slot(register);
                let base = match self.class(register)? {
                    Class::B32 => Base::Narrow(slot),
                    Class::B64 => Base::Wide(slot),
                    _ => return self.refuse("a predicate is no address"),
                };
                (Address { base, offset: offset as u64 }, None)
            }
            ast::Base::Symbol(symbol) => match self.place(symbol)? {
                Place::Fixed(space, address) => {
                    (zero(address.wrapping_add_signed(offset)), Some(space))
                }
                Place::Frame(start) => {
                    let offset = u64::from(start).wrapping_add_signed(offset);
                    (Address { base: Base::Frame, offset }, Some(Space::Local))
                }
            },
        })
    }
}

/// The special registers that a warp finds filled.
fn named(name: &str) -> Option<Special> {
    let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| *axis == name);
    if let Some((name, component)) = name.split_once('.') {
        let axis = axis(component)?;
        return Some(match name {
            "%tid" => Special::Thread(axis),
            "%ntid" => Special::Threads(axis),
            "%ctaid" => Special::Block(axis),
            "%nctaid" => Special::Blocks(axis),
            _ => return None,
        });
    }
    Some(match name {
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%nwarpid" => Special::Warps,
        "%lanemask_eq" => Special::LanesEqual,
        "%lanemask_lt" => Special::LanesBelow,
        "%lanemask_le" => Special::LanesUpTo,
        "%lanemask_gt" => Special::LanesAbove,
        "%lanemask_ge" => Special::LanesFrom,
        "%smid" => Special::Multiprocessor,
        "%nsmid" => Special::Multiprocessors,
        "%dynamic_smem_size" => Special::DynamicShared,
        "%total_smem_size" => Special::TotalShared,
        "%gridid" => Special::Grid,
        // Of memory that CUDA's own code shares: there is none.
        "%reserved_smem_offset_begin" | "%reserved_smem_offset_end" => Special::Zero,
        "%reserved_smem_offset_cap" => Special::Zero,
        "%reserved_smem_offset_0" | "%reserved_smem_offset_1" => Special::Zero,
        _ => return None,
    })
}
