//! The loop that executes instructions: one path of one warp at a time.

use crate::alu::with_vectors;
use crate::decode::code::{
    Barrier, Call, Callee, Exchange, HANDLE, HANDLES, Indexed, Instruction, NOWHERE, Op,
};

use super::access::{Read, Site, Write};
use super::core::Core;
use super::lanes::{self, lanes_of, mask_of};
use super::report::Kind;
use super::warp::{State, Warp};
use super::{call, exchange, print, registers};

/// Runs a warp until none of its paths can go on, or it has had its turn.
pub(super) fn run(core: &mut Core, warp: &mut Warp) {
    while core.steps > 0 {
        match warp.ready() {
            Some(at) => with_vectors(
                #[inline(always)]
                || advance(core, warp, at),
            ),
            None if exchange::resolve(core.kernel, warp) => {}
            None => return,
        }
    }
}

/// Where the lanes of a path are.
struct Cursor {
    at: usize,
    mask: u32,
    site: Site,
}

/// Runs a path until it ends, waits, goes different ways, or the turn of its warp is over.
#[inline(always)]
fn advance(core: &mut Core, warp: &mut Warp, at: usize) {
    let path = warp.paths[at];
    let (base, top) = (warp.frame(at).base, warp.frame(at).top);
    let kernel = core.kernel;
    let mut pc = path.pc;
    // Made only for those who ask, so that what is in it stays in registers.
    let cursor = |pc| Cursor { at, mask: path.mask, site: Site { pc, base, top } };
    loop {
        if pc == path.meet {
            return warp.finish(kernel, at);
        }
        if core.steps == 0 {
            warp.paths[at].pc = pc;
            return;
        }
        let instruction = &kernel.code[pc as usize];
        core.steps -= u64::from(instruction.weight);
        core.time += u64::from(instruction.weight);
        let guard = warp.registers[instruction.guard as usize] as u32 ^ instruction.flip;
        let on = path.mask & guard;
        let executed = &mut core.executed[pc as usize];
        executed.warps += 1;
        executed.lanes += u64::from(on.count_ones());
        let go_on = match &instruction.op {
            _ if on == 0 => true,
            Op::Compute(run, slots) => {
                run(&mut warp.registers, slots, on);
                true
            }
            Op::Load(access) => {
                let failed = core.access(warp, Site { pc, base, top }, access, on, &Read);
                failed == 0 || end(core, warp, &cursor(pc), failed)
            }
            Op::Store(access) => {
                let failed = core.access(warp, Site { pc, base, top }, access, on, &Write);
                failed == 0 || end(core, warp, &cursor(pc), failed)
            }
            Op::Branch { target, .. } if on == path.mask => {
                pc = *target;
                continue;
            }
            _ => other(core, warp, &cursor(pc), instruction, on),
        };
        if !go_on {
            return;
        }
        pc += 1;
    }
}

/// Ends lanes of a path for good, and stands it behind its instruction. Always `false`: the path
/// has changed.
fn end(core: &mut Core, warp: &mut Warp, cursor: &Cursor, lanes: u32) -> bool {
    core.report_calls(cursor.site.pc, warp, cursor.at);
    warp.paths[cursor.at].pc = cursor.site.pc + 1;
    warp.exit(core.kernel, cursor.at, lanes);
    false
}

/// The instructions that are rarer. Whether the path simply goes on.
#[inline(never)]
fn other(
    core: &mut Core,
    warp: &mut Warp,
    cursor: &Cursor,
    instruction: &Instruction,
    on: u32,
) -> bool {
    let (pc, at) = (cursor.site.pc, cursor.at);
    match &instruction.op {
        Op::Compute(..) | Op::Load(_) | Op::Store(_) | Op::Nothing => true,
        Op::Atomic(atomic) => {
            let failed = core.access(warp, cursor.site, &atomic.access, on, &**atomic);
            failed == 0 || end(core, warp, cursor, failed)
        }
        Op::Branch { target, meet } => {
            core.executed[pc as usize].divergent += 1;
            let ways = [(pc + 1, cursor.mask & !on), (*target, on)];
            warp.split(core.kernel, at, &ways, *meet);
            false
        }
        Op::Indexed(table) => jump(core, warp, cursor, table, on),
        Op::Call(call) => enter(core, warp, cursor, call, on),
        Op::Return => {
            warp.paths[at].pc = pc + 1;
            warp.leave(core.kernel, at, on);
            false
        }
        Op::Exit => end(core, warp, cursor, on),
        Op::Trap => trap(core, warp, cursor, on),
        Op::Barrier(barrier) => arrive(core, warp, cursor, barrier, on),
        Op::Exchange(exchange) => swap(core, warp, cursor, exchange, on),
        Op::Print(call) => {
            print::printf(core, warp, cursor.site, call, on);
            true
        }
        Op::Assert(call) => {
            let pc = warp.blamed(core.kernel, cursor.at, cursor.site.pc);
            print::assertion(core, warp, Site { pc, ..cursor.site }, call, on);
            core.report_calls(pc, warp, at);
            end(core, warp, cursor, on)
        }
        op => {
            registers::simple(core, warp, cursor.site, op, on, cursor.mask);
            true
        }
    }
}

/// Ends lanes that have found something wrong themselves.
fn trap(core: &mut Core, warp: &mut Warp, cursor: &Cursor, on: u32) -> bool {
    let pc = warp.blamed(core.kernel, cursor.at, cursor.site.pc);
    core.report(Kind::Trap, pc, (warp.number, on), None, |_| "trap was executed".into());
    core.report_calls(pc, warp, cursor.at);
    end(core, warp, cursor, on)
}

/// A jump through a table.
fn jump(core: &mut Core, warp: &mut Warp, cursor: &Cursor, table: &Indexed, on: u32) -> bool {
    let (pc, at) = (cursor.site.pc, cursor.at);
    let index = *lanes::narrow(&warp.registers, table.index);
    let to = |lane: usize| table.targets.get(index[lane] as usize).copied();
    let ways = ways(on, cursor.mask, pc + 1, to);
    let lost = ways.iter().find(|way| way.0 == NOWHERE).map_or(0, |way| way.1);
    if lost != 0 {
        let many = table.targets.len();
        core.report(Kind::OutOfBounds, pc, (warp.number, lost), None, |_| {
            format!("a jump to an entry of a table that has {many}")
        });
        core.report_calls(pc, warp, at);
        warp.paths[at].pc = pc;
        warp.exit(core.kernel, at, lost);
        return false;
    }
    if ways.len() > 1 {
        core.executed[pc as usize].divergent += 1;
    }
    warp.split(core.kernel, at, &ways, table.meet);
    false
}

/// A barrier of the block: waits, or only says that it was here.
fn arrive(core: &mut Core, warp: &mut Warp, cursor: &Cursor, barrier: &Barrier, on: u32) -> bool {
    let (pc, at) = (cursor.site.pc, cursor.at);
    let id = lanes::narrow(&warp.registers, barrier.id)[on.trailing_zeros() as usize] & 15;
    if !barrier.waits {
        core.here.arrived[id as usize][warp.number as usize] |= on;
        return true;
    }
    if on != cursor.mask {
        return part(core, warp, cursor, on, &[(pc + 1, cursor.mask & !on)]);
    }
    warp.paths[at].pc = pc;
    warp.paths[at].state = State::Barrier(id);
    false
}

/// An exchange between lanes, when all that take part are there.
fn swap(core: &mut Core, warp: &mut Warp, cursor: &Cursor, exchange: &Exchange, on: u32) -> bool {
    let (pc, at) = (cursor.site.pc, cursor.at);
    let strangers = exchange::strangers(warp, exchange, on);
    if strangers != 0 && core.check {
        core.report(Kind::InvalidWarpMask, pc, (warp.number, strangers), None, |_| {
            "the mask does not name the lane that executes this".into()
        });
        return end_again(core, warp, cursor, strangers);
    }
    let complete = exchange::together(warp, exchange, on);
    if !complete {
        warp.paths[at].pc = pc;
        warp.paths[at].state = State::Exchange;
    }
    complete
}

/// Ends lanes and lets the others execute the instruction again.
fn end_again(core: &mut Core, warp: &mut Warp, cursor: &Cursor, lanes: u32) -> bool {
    core.report_calls(cursor.site.pc, warp, cursor.at);
    warp.paths[cursor.at].pc = cursor.site.pc;
    warp.exit(core.kernel, cursor.at, lanes);
    false
}

/// The lanes of a path by where they go: those that a jump takes by `to`, the others to `next`.
fn ways(on: u32, path: u32, next: u32, to: impl Fn(usize) -> Option<u32>) -> Vec<(u32, u32)> {
    let mut ways: Vec<(u32, u32)> = Vec::new();
    for lane in lanes_of(path) {
        let pc = if on >> lane & 1 != 0 { to(lane).unwrap_or(NOWHERE) } else { next };
        match ways.iter_mut().find(|way| way.0 == pc) {
            Some(way) => way.1 |= 1 << lane,
            None => ways.push((pc, 1 << lane)),
        }
    }
    ways
}

/// Lets some lanes execute an instruction as a path of their own, others as others, and all meet
/// behind it.
fn part(core: &Core, warp: &mut Warp, cursor: &Cursor, lanes: u32, others: &[(u32, u32)]) -> bool {
    let pc = cursor.site.pc;
    let some = others.iter().filter(|way| way.1 != 0);
    let ways: Vec<_> = some.copied().chain([(pc, lanes)]).collect();
    warp.split(core.kernel, cursor.at, &ways, pc + 1);
    false
}

/// The function of a handle.
fn function_of(handles: &[Option<u32>], handle: u64) -> Option<u32> {
    let at = handle.checked_sub(HANDLES).filter(|at| at.is_multiple_of(HANDLE))? / HANDLE;
    *handles.get(usize::try_from(at).ok()?)?
}

/// A call by the lanes that are switched on; the others of the path wait behind it.
fn enter(core: &mut Core, warp: &mut Warp, cursor: &Cursor, call: &Call, on: u32) -> bool {
    let (pc, at, kernel) = (cursor.site.pc, cursor.at, core.kernel);
    let first = on.trailing_zeros() as usize;
    let (callee, lanes) = match call.callee {
        Callee::Function(function) => (Some(function), on),
        Callee::Handle(slot) => {
            let handles = lanes::wide(&warp.registers, slot);
            let same = |&lane: &usize| handles[lane] == handles[first];
            let lanes = mask_of(lanes_of(on).filter(same));
            (function_of(&kernel.handles, handles[first]), lanes)
        }
        Callee::System => (None, on),
    };
    let Some(callee) = callee else {
        core.report(Kind::OutOfBounds, pc, (warp.number, lanes), None, |_| {
            "a call through a pointer that is not to a function with this signature".into()
        });
        return end_again(core, warp, cursor, lanes);
    };
    if lanes != cursor.mask {
        // Others go elsewhere: these call as a path of their own, the others try again.
        let others = [(pc, on & !lanes), (pc + 1, cursor.mask & !on)];
        return part(core, warp, cursor, lanes, &others);
    }
    warp.paths[at].pc = pc;
    if !call::enter(kernel, warp, at, call, callee, lanes) {
        core.report(Kind::OutOfBounds, pc, (warp.number, lanes), None, |core| {
            let name = &core.kernel.functions[callee as usize].name;
            format!("the call of {name} has no room on the stack: endless recursion?")
        });
        return end_again(core, warp, cursor, lanes);
    }
    false
}
