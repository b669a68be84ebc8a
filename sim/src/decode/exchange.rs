//! Exchanges between the lanes of a warp.

use crate::alu::Class;
use crate::ptx::ast::Operand;

use super::access::rule;
use super::code::{Exchange, Op, Swap, Vote};
use super::{Body, Decoded};

impl Body<'_, '_> {
    /// `bar.warp`, `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`.
    pub fn exchange(&mut self, pieces: &[&str]) -> Decoded<()> {
        if pieces[0] == "activemask" {
            let target = self.target(self.operand(0)?, Class::B32)?;
            self.emit(Op::ActiveMask(target));
            return Ok(());
        }
        if pieces[0] == "bar" {
            let members = Some(self.read(0, Class::B32)?);
            return self.swap(Swap::Barrier, [0; 2], [0; 3], 0, members);
        }
        let Some(rule) = swap(pieces) else { return self.unsupported() };
        let sync = pieces.contains(&"sync");
        match rule {
            Swap::Vote(vote) => self.vote(vote, sync),
            Swap::Elect => {
                let target = self.pair(Class::B32)?;
                let members = Some(self.read(1, Class::B32)?);
                self.swap(rule, target, [0; 3], 0, members)
            }
            Swap::MatchAny { wide } | Swap::MatchAll { wide } => {
                let target = self.pair(Class::B32)?;
                let class = if wide { Class::B64 } else { Class::B32 };
                let source = self.read(1, class)?;
                let members = Some(self.read(2, Class::B32)?);
                self.swap(rule, target, [source, 0, 0], 0, members)
            }
            Swap::Reduce(_) => {
                let target = self.pair(Class::B32)?;
                let source = self.read(1, Class::B32)?;
                let members = Some(self.read(2, Class::B32)?);
                self.swap(rule, target, [source, 0, 0], 0, members)
            }
            _ => {
                let target = self.pair(Class::B32)?;
                let sources = [1, 2, 3].map(|at| self.read(at, Class::B32));
                let [a, b, c] = sources;
                let members = if sync { Some(self.read(4, Class::B32)?) } else { None };
                self.swap(rule, target, [a?, b?, c?], 0, members)
            }
        }
    }

    fn vote(&mut self, vote: Vote, sync: bool) -> Decoded<()> {
        let class = if vote == Vote::Ballot { Class::B32 } else { Class::P };
        let target = self.target(&self.operand(0)?.clone(), class)?;
        let source = self.operand(1)?.clone();
        let (source, flip) = self.predicate(&source)?;
        let members = if sync { Some(self.read(2, Class::B32)?) } else { None };
        let targets = [target, self.sink(Class::P)];
        self.swap(Swap::Vote(vote), targets, [source, 0, 0], flip, members)
    }

    fn read(&mut self, at: usize, class: Class) -> Decoded<u32> {
        let operand = self.operand(at)?.clone();
        self.source(&operand, class)
    }

    /// A target `d` or `d|p`.
    fn pair(&mut self, class: Class) -> Decoded<[u32; 2]> {
        match self.operand(0)?.clone() {
            Operand::Pair(first, second) => {
                Ok([self.target(&first, class)?, self.target(&second, Class::P)?])
            }
            single => Ok([self.target(&single, class)?, self.sink(Class::P)]),
        }
    }

    fn swap(
        &mut self,
        rule: Swap,
        [target, second]: [u32; 2],
        sources: [u32; 3],
        flip: u32,
        members: Option<u32>,
    ) -> Decoded<()> {
        let exchange = Exchange { rule, members, target, second, sources, flip };
        self.emit(Op::Exchange(Box::new(exchange)));
        Ok(())
    }
}

/// What the pieces of an opcode say is exchanged.
fn swap(pieces: &[&str]) -> Option<Swap> {
    let sync = pieces.contains(&"sync");
    // Without `.sync` the lanes that are there exchange (until PTX 6.3).
    if !sync && !matches!(pieces[0], "shfl" | "vote") {
        return None;
    }
    let rest: Vec<&str> = pieces[1..].iter().filter(|piece| **piece != "sync").copied().collect();
    Some(match (pieces[0], &rest[..]) {
        ("shfl", ["up", "b32"]) => Swap::ShuffleUp,
        ("shfl", ["down", "b32"]) => Swap::ShuffleDown,
        ("shfl", ["bfly", "b32"]) => Swap::ShuffleButterfly,
        ("shfl", ["idx", "b32"]) => Swap::ShuffleIndex,
        ("vote", ["all", "pred"]) => Swap::Vote(Vote::All),
        ("vote", ["any", "pred"]) => Swap::Vote(Vote::Any),
        ("vote", ["uni", "pred"]) => Swap::Vote(Vote::Uniform),
        ("vote", ["ballot", "b32"]) => Swap::Vote(Vote::Ballot),
        ("match", ["any", "b32"]) => Swap::MatchAny { wide: false },
        ("match", ["any", "b64"]) => Swap::MatchAny { wide: true },
        ("match", ["all", "b32"]) => Swap::MatchAll { wide: false },
        ("match", ["all", "b64"]) => Swap::MatchAll { wide: true },
        ("redux", [operation, kind @ ("u32" | "s32" | "b32")]) => {
            Swap::Reduce(rule(operation, kind).filter(|_| *operation != "exch")?)
        }
        ("elect", []) => Swap::Elect,
        _ => return None,
    })
}
