//! The state of one warp: registers, local memory, and which of its lanes are where.
//!
//! Lanes that go the same way are a [`Path`]. Where a branch sends them different ways, their path
//! waits at the place where they meet again (the immediate post-dominator) for one child for each
//! way; a call is a path that waits for the path within the function. So the paths of a warp are a
//! tree whose leaves can run, in any order: if one waits at a barrier, another goes on.

use crate::decode::code::{Kernel, NOWHERE};
use crate::memory::Cells;

use super::call;

/// Lanes that go the same way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    /// The next instruction.
    pub pc: u32,
    /// The lanes.
    pub mask: u32,
    /// Where they join the path that waits for them.
    pub meet: u32,
    /// That path, or [`NOBODY`].
    pub parent: u32,
    /// How many paths this one waits for.
    pub children: u32,
    /// The activation of a function that they are in.
    pub frame: u32,
    /// Whether they can go on.
    pub state: State,
}

/// Whether a path can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// There is no such path (any more).
    Free,
    /// It can.
    Ready,
    /// It waits for its children to meet.
    Meeting,
    /// It waits for the frame with this number to be left.
    Calling(u32),
    /// It waits at a barrier of the block, at its instruction.
    Barrier(u32),
    /// It waits for other lanes of the warp, at its instruction.
    Exchange,
}

/// How many calls are told of one inside the other.
const MOST_CALLS: usize = 32;

/// No path, or no frame.
pub(super) const NOBODY: u32 = u32::MAX;

/// One activation of a function, by lanes that called it together.
#[derive(Debug)]
pub(super) struct Frame {
    /// Which function.
    pub function: u32,
    /// Where its local memory begins and ends, in that of each lane.
    pub base: u32,
    /// As above.
    pub top: u32,
    /// The call, to find the results; [`NOWHERE`] for the kernel itself.
    pub call: u32,
    /// What the function's registers held before, if it was active already.
    pub saved: Option<Box<[u64]>>,
}

/// The state of one warp.
pub(super) struct Warp {
    /// Its number in the block.
    pub number: u32,
    /// All registers; see [`crate::decode::code`].
    pub registers: Vec<u64>,
    /// The lanes that have not exited.
    pub alive: u32,
    /// The tree of paths.
    pub paths: Vec<Path>,
    /// The activations, by number; the kernel is number 0.
    pub frames: Vec<Option<Frame>>,
    /// How many activations each function has.
    pub active: Vec<u32>,
    /// Local memory, lane after lane.
    pub local: Cells,
    /// Bytes of it for each lane.
    pub local_bytes: u32,
}

impl Warp {
    /// The instruction to blame for what happens at `pc` of a path: of an `assert` or a trap that
    /// is a function without lines of the source, the call.
    pub fn blamed(&self, kernel: &Kernel, at: usize, pc: u32) -> u32 {
        let has_line = |pc: &u32| kernel.code[*pc as usize].location.position.is_some();
        std::iter::once(pc).chain(self.calls(at)).find(has_line).unwrap_or(pc)
    }

    /// The calls that a path is in, innermost first.
    pub fn calls(&self, mut at: usize) -> Vec<u32> {
        let mut calls = Vec::new();
        while calls.len() < MOST_CALLS {
            let number = self.paths[at].frame;
            let Some(frame) = &self.frames[number as usize] else { break };
            if frame.call == NOWHERE {
                break;
            }
            calls.push(frame.call);
            while self.paths[at].frame == number {
                at = self.paths[at].parent as usize;
            }
        }
        calls
    }

    /// A path that can run, the youngest place first.
    pub fn ready(&self) -> Option<usize> {
        self.paths.iter().rposition(|path| path.state == State::Ready)
    }

    /// Whether every lane has exited.
    pub fn is_done(&self) -> bool {
        self.alive == 0
    }

    fn add(&mut self, path: Path) -> u32 {
        let free = self.paths.iter().position(|path| path.state == State::Free);
        let at = free.unwrap_or(self.paths.len());
        match free {
            Some(at) => self.paths[at] = path,
            None => self.paths.push(path),
        }
        at as u32
    }

    /// Adds a path that is at `pc`, as a child of `parent`.
    pub fn spawn(&mut self, pc: u32, mask: u32, meet: u32, parent: u32, frame: u32) -> u32 {
        if parent != NOBODY {
            self.paths[parent as usize].children += 1;
        }
        let state = State::Ready;
        self.add(Path { pc, mask, meet, parent, children: 0, frame, state })
    }

    /// Sends the lanes of a path different ways: some to each of several instructions.
    pub fn split(&mut self, kernel: &Kernel, at: usize, ways: &[(u32, u32)], meet: u32) {
        let path = self.paths[at];
        if meet != NOWHERE && meet != path.meet {
            self.paths[at].pc = meet;
            for &(pc, mask) in ways.iter().filter(|(pc, _)| *pc != meet) {
                self.spawn(pc, mask, meet, at as u32, path.frame);
                self.paths[at].state = State::Meeting;
            }
            return;
        }
        // They meet where this path ends anyway: it goes one way, and gets siblings.
        let mut ways = ways.iter().filter(|(pc, _)| *pc != path.meet);
        let Some(&(pc, mask)) = ways.next() else {
            return self.finish(kernel, at);
        };
        (self.paths[at].pc, self.paths[at].mask) = (pc, mask);
        for &(pc, mask) in ways {
            self.spawn(pc, mask, path.meet, path.parent, path.frame);
        }
    }

    /// Ends a path, and lets go on who has waited for the last of its children.
    pub fn finish(&mut self, kernel: &Kernel, at: usize) {
        let mut at = at as u32;
        loop {
            let parent = self.paths[at as usize].parent;
            self.paths[at as usize].state = State::Free;
            let Some(waiting) = self.paths.get_mut(parent as usize) else { return };
            waiting.children -= 1;
            if waiting.children > 0 {
                return;
            }
            waiting.mask &= self.alive;
            let state = std::mem::replace(&mut waiting.state, State::Ready);
            if let State::Calling(frame) = state {
                call::leave(kernel, self, parent as usize, frame);
            }
            if self.paths[parent as usize].mask != 0 {
                return;
            }
            at = parent;
        }
    }

    /// Ends lanes of a path for good.
    pub fn exit(&mut self, kernel: &Kernel, at: usize, lanes: u32) {
        self.alive &= !lanes;
        self.paths[at].mask &= !lanes;
        if self.paths[at].mask == 0 {
            self.finish(kernel, at);
        }
    }

    /// Lets lanes of a path leave their function; they go on when all that called have left.
    pub fn leave(&mut self, kernel: &Kernel, at: usize, lanes: u32) {
        let frame = self.paths[at].frame;
        if frame == 0 {
            return self.exit(kernel, at, lanes);
        }
        let mut q = at;
        while let Some(path) = self.paths.get_mut(q).filter(|path| path.frame == frame) {
            path.mask &= !lanes;
            q = path.parent as usize;
        }
        if self.paths[at].mask == 0 {
            self.finish(kernel, at);
        }
    }

    /// Joins paths that stand at the same place and would meet at the same place.
    pub fn join(&mut self) {
        for a in 0..self.paths.len() {
            for b in a + 1..self.paths.len() {
                let (one, other) = (self.paths[a], self.paths[b]);
                let ready = one.state == State::Ready && other.state == State::Ready;
                let place = |path: Path| (path.pc, path.meet, path.parent, path.frame);
                if ready && place(one) == place(other) {
                    self.paths[a].mask |= other.mask;
                    self.paths[b].state = State::Free;
                    if let Some(parent) = self.paths.get_mut(one.parent as usize) {
                        parent.children -= 1;
                    }
                }
            }
        }
    }

    /// The lanes that wait at a barrier of the block.
    pub fn waiting(&self, barrier: u32) -> u32 {
        let here = self.paths.iter().filter(|path| path.state == State::Barrier(barrier));
        here.fold(0, |lanes, path| lanes | path.mask)
    }

    /// The lanes that wait for others to meet them.
    pub fn meeting(&self) -> u32 {
        let elsewhere = self.paths.iter().filter(|path| {
            matches!(path.state, State::Ready | State::Barrier(_) | State::Exchange)
        });
        self.alive & !elsewhere.fold(0, |lanes, path| lanes | path.mask)
    }

    /// The activation that a path is in.
    pub fn frame(&self, at: usize) -> &Frame {
        let frame = self.frames[self.paths[at].frame as usize].as_ref();
        frame.expect("a path is within an activation")
    }
}
