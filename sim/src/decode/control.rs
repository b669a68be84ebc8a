//! Control flow: branches, calls, barriers of the block.

use crate::alu::Class;
use crate::ptx::ast::{Kind, Operand, Symbol, Table};

use super::code::{
    Barrier, Call, Callee, Carrier, Indexed, Instruction, NOWHERE, Op, Reduction, TRUE, Vote,
};
use super::{Body, Decoded};

/// Turns the numbers of the text's instructions, by which the branches name their targets so far,
/// into those of the code.
pub(super) fn aim(code: &mut [Instruction], branches: &[usize], starts: &[u32]) {
    let start = |at: &mut u32| {
        if *at != NOWHERE {
            *at = starts[*at as usize];
        }
    };
    for &branch in branches {
        match &mut code[branch].op {
            Op::Branch { target, meet } => {
                start(target);
                start(meet);
            }
            Op::Indexed(table) => {
                table.targets.iter_mut().for_each(start);
                start(&mut table.meet);
            }
            _ => {}
        }
    }
}

impl Body<'_, '_> {
    /// §9.7.12: branches, calls, and ends.
    pub fn control(&mut self, pieces: &[&str], meet: Option<u32>) -> Decoded<()> {
        match pieces[0] {
            "bra" => self.branch(meet),
            "brx" => self.indexed(meet),
            "call" => self.call(),
            "ret" => {
                let kernel = self.function.kind == Kind::Entry;
                self.emit(if kernel { Op::Exit } else { Op::Return });
                Ok(())
            }
            "exit" => {
                self.emit(Op::Exit);
                Ok(())
            }
            _ => {
                self.emit(Op::Trap);
                Ok(())
            }
        }
    }

    /// Where lanes meet again. Where all that is left is to end the thread, they need not wait for
    /// each other.
    fn meet(&self, meet: Option<u32>) -> u32 {
        let Some(meet) = meet else { return NOWHERE };
        let ends = self.function.body.get(meet as usize).is_none_or(|text| {
            matches!(text.pieces().next(), Some("ret" | "exit")) && text.guard.is_none()
        });
        if ends && self.function.kind == Kind::Entry { NOWHERE } else { meet }
    }

    fn label(&self, operand: &Operand) -> Decoded<u32> {
        match operand {
            Operand::Symbol(Symbol::Label(label), 0) => {
                Ok(self.function.labels[*label as usize].at)
            }
            _ => self.refuse(format!("`{}` does not name a label", self.text.opcode)),
        }
    }

    fn branch(&mut self, meet: Option<u32>) -> Decoded<()> {
        let (target, meet) = (self.label(self.operand(0)?)?, self.meet(meet));
        self.branches.push(self.builder.kernel.code.len());
        self.emit(Op::Branch { target, meet });
        Ok(())
    }

    fn indexed(&mut self, meet: Option<u32>) -> Decoded<()> {
        let index = self.operand(0)?.clone();
        let index = self.source(&index, Class::B32)?;
        let table = match self.operand(1)? {
            Operand::Symbol(Symbol::Table(table), _) => &self.function.tables[*table as usize],
            _ => return self.unsupported(),
        };
        let Table::Branches(labels) = table else { return self.unsupported() };
        let at = |label: &u32| self.function.labels[*label as usize].at;
        let targets = labels.iter().map(at).collect();
        let meet = self.meet(meet);
        self.branches.push(self.builder.kernel.code.len());
        self.emit(Op::Indexed(Box::new(Indexed { index, targets, meet })));
        Ok(())
    }

    fn call(&mut self) -> Decoded<()> {
        let list = |operand: &Operand| match operand {
            Operand::List(all) => all.clone(),
            _ => Vec::new(),
        };
        let (results, arguments) = (list(self.operand(0)?), list(self.operand(2)?));
        let results = results.iter().map(|r| self.carrier(r)).collect::<Decoded<Vec<_>>>()?;
        let arguments = arguments.iter().map(|a| self.carrier(a)).collect::<Decoded<Vec<_>>>()?;
        let callee = match self.operand(1)?.clone() {
            Operand::Symbol(Symbol::Function(function), _) => {
                match self.builder.numbers.get(&function) {
                    Some(&number) => Callee::Function(number),
                    None => return self.system(function, arguments, results),
                }
            }
            pointer => Callee::Handle(self.source(&pointer, Class::B64)?),
        };
        if let Callee::Function(number) = callee {
            let function = &self.builder.kernel.functions[number as usize];
            let same =
                function.params.len() == arguments.len() && function.results.len() == results.len();
            if number == 0 || !same {
                let name = function.name.clone();
                return self.refuse(format!("the call does not fit {name}"));
            }
        }
        self.emit(Op::Call(Box::new(Call { callee, arguments, results })));
        Ok(())
    }

    /// What the CUDA runtime has to offer to kernels.
    fn system(
        &mut self,
        function: u32,
        arguments: Vec<Carrier>,
        results: Vec<Carrier>,
    ) -> Decoded<()> {
        let name = self.builder.module.functions[function as usize].name.as_str();
        let call = Box::new(Call { callee: Callee::System, arguments, results });
        let op = match name {
            "vprintf" => Op::Print(call),
            "__assertfail" => Op::Assert(call),
            _ => return self.refuse(format!("the function `{name}` is not supported")),
        };
        self.emit(op);
        Ok(())
    }

    /// Where an argument is, or where a result goes.
    fn carrier(&mut self, operand: &Operand) -> Decoded<Carrier> {
        let frame = &self.builder.frames[self.number as usize];
        match operand {
            Operand::Register(register) => {
                let class = self.class(*register)?;
                Ok(Carrier::Register { slot: self.slot(*register), words: class.words() as u32 })
            }
            Operand::Symbol(Symbol::Variable(at), 0) => {
                let bytes = self.function.variables[*at as usize].bytes() as u32;
                Ok(Carrier::Local { offset: frame.variables[*at as usize], bytes })
            }
            Operand::Symbol(Symbol::Parameter(at), 0) if self.function.kind == Kind::Device => {
                Ok(frame.parameters[*at as usize])
            }
            Operand::Symbol(Symbol::Return(at), 0) => Ok(frame.returns[*at as usize]),
            Operand::Integer(_) | Operand::Single(_) => {
                let slot = self.source(operand, Class::B32)?;
                Ok(Carrier::Register { slot, words: 16 })
            }
            Operand::Double(_) => {
                let slot = self.source(operand, Class::B64)?;
                Ok(Carrier::Register { slot, words: 32 })
            }
            _ => self.refuse("the call has an argument that is none"),
        }
    }

    /// §9.7.14.3: `bar` and `barrier`, with `.sync`, `.arrive` and `.red`.
    pub fn barrier(&mut self, pieces: &[&str]) -> Decoded<()> {
        let has = |piece: &str| pieces.contains(&piece);
        if has("cluster") {
            return self.unsupported();
        }
        let aligned = pieces[0] == "bar" || has("aligned");
        let mut operands = self.text.operands.clone().into_iter();
        let vote = match (has("red"), has("popc"), has("and"), has("or")) {
            (false, ..) => None,
            (_, true, _, _) => Some((Vote::Count, Class::B32)),
            (_, _, true, _) => Some((Vote::All, Class::P)),
            (_, _, _, true) => Some((Vote::Any, Class::P)),
            _ => return self.unsupported(),
        };
        let mut reduction = None;
        if let Some((vote, class)) = vote {
            let (Some(to), Some(from)) = (operands.next(), operands.next_back()) else {
                return self.refuse("`bar.red` lacks an operand");
            };
            let (target, source) = (self.target(&to, class)?, self.predicate(&from)?);
            reduction = Some(Reduction { vote, source, target });
        }
        let id = operands.next().unwrap_or(Operand::Integer(0));
        let id = self.source(&id, Class::B32)?;
        let count = match operands.next() {
            Some(count) => Some(self.source(&count, Class::B32)?),
            None => None,
        };
        if !(has("sync") || has("arrive") || has("red")) || (has("arrive") && count.is_none()) {
            return self.unsupported();
        }
        let waits = !has("arrive");
        self.emit(Op::Barrier(Box::new(Barrier { id, count, waits, reduction, aligned })));
        Ok(())
    }

    /// A predicate that is read: its register, and all ones if it is negated.
    pub fn predicate(&mut self, operand: &Operand) -> Decoded<(u32, u32)> {
        match operand {
            Operand::Not(register) if self.class(*register)? == Class::P => {
                Ok((self.slot(*register), u32::MAX))
            }
            Operand::Integer(0) => Ok((TRUE, u32::MAX)),
            operand => Ok((self.source(operand, Class::P)?, 0)),
        }
    }
}
