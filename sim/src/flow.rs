//! Where the lanes of a warp meet again after a branch: the immediate post-dominator of its block,
//! the first one that every path from the branch to the end of the function passes.

mod dominators;

use crate::ptx::ast::{Function, Instruction, Operand, Symbol, Table};
use dominators::dominators;

/// Instructions that run one after the other; or none, for a table of labels. A table is a block of
/// its own between a jump and its targets: many jumps may share a table, and there is only one edge
/// for each jump and for each label.
struct Block {
    start: u32,
    /// Behind the last one.
    end: u32,
    /// The blocks that may follow, in order, each once.
    next: Vec<u32>,
    /// Whether the function may end here.
    returns: bool,
    /// Whether the kernel ends here by a `trap`.
    traps: bool,
}

/// For each instruction that branches, the one where its lanes meet again.
///
/// `None` for other instructions, and where lanes meet at the end of the function only. Paths
/// that end in a `trap` do not count: `if (bad) __trap();` does not keep lanes apart behind it.
/// A loop that nothing leaves counts as left by its last block, so that lanes meet inside it.
#[must_use]
pub fn reconvergence(function: &Function) -> Vec<Option<u32>> {
    let blocks = blocks(function);
    let exit = blocks.len() as u32;
    let mut before = vec![Vec::new(); blocks.len() + 1];
    for (number, block) in blocks.iter().enumerate() {
        for next in &block.next {
            before[*next as usize].push(number as u32);
        }
        if block.returns {
            before[exit as usize].push(number as u32);
        }
    }
    leave_loops(&blocks, &mut before);
    let dominators = dominators(&before, exit);
    let mut found = vec![None; function.body.len()];
    for (block, dominator) in blocks.iter().zip(&dominators) {
        let is_table = |number: u32| blocks.get(number as usize).is_some_and(Block::is_table);
        let jumps = block.next.iter().any(|next| is_table(*next));
        if block.is_table() || !jumps && block.next.len() + usize::from(block.returns) < 2 {
            continue;
        }
        let mut meeting = *dominator;
        while is_table(meeting) {
            meeting = dominators[meeting as usize];
        }
        let meeting = blocks.get(meeting as usize);
        found[block.end as usize - 1] = meeting.map(|meeting| meeting.start);
    }
    found
}

impl Block {
    /// A block with what may follow; `None` is the end of the function, where a label may stand.
    fn between(start: u32, end: u32, targets: Vec<Option<u32>>) -> Block {
        let returns = targets.contains(&None);
        let mut next: Vec<u32> = targets.into_iter().flatten().collect();
        next.sort_unstable();
        next.dedup();
        Block { start, end, next, returns, traps: false }
    }

    fn is_table(&self) -> bool {
        self.start == self.end
    }
}

/// The blocks of a function, with what may follow each; behind them its tables.
fn blocks(function: &Function) -> Vec<Block> {
    let length = function.body.len();
    let mut first = vec![false; length + 1];
    first[0] = true;
    for label in &function.labels {
        first[(label.at as usize).min(length)] = true;
    }
    for (at, instruction) in function.body.iter().enumerate() {
        first[at + 1] |= ends_block(instruction);
    }
    let starts: Vec<u32> = (0..length as u32).filter(|at| first[*at as usize]).collect();
    let number = |at: u32| starts.binary_search(&at).ok().map(|number| number as u32);
    let ends = starts.iter().skip(1).copied().chain([length as u32]);
    let tables = starts.len() as u32;
    let mut blocks: Vec<Block> = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| block(function, *start, end, number, tables))
        .collect();
    for table in &function.tables {
        let labels = if let Table::Branches(labels) = table { &labels[..] } else { &[] };
        let targets = labels.iter().map(|label| function.labels[*label as usize].at);
        blocks.push(Block::between(0, 0, targets.map(number).collect()));
    }
    blocks
}

/// One block; `number` says which block begins at an instruction, and the first table is block
/// number `tables`.
fn block(
    function: &Function,
    start: u32,
    end: u32,
    number: impl Fn(u32) -> Option<u32>,
    tables: u32,
) -> Block {
    let last = &function.body[end as usize - 1];
    let name = last.pieces().next().unwrap_or_default();
    let mut targets = Vec::new();
    match (name, last.operands.last()) {
        ("bra", Some(Operand::Symbol(Symbol::Label(label), _))) => {
            targets.push(number(function.labels[*label as usize].at));
        }
        ("brx", Some(Operand::Symbol(Symbol::Table(table), _))) => {
            targets.push(Some(tables + table));
        }
        _ => {}
    }
    if last.guard.is_some() || !ends_block(last) {
        targets.push(number(end));
    }
    let mut block = Block::between(start, end, targets);
    block.returns |= matches!(name, "ret" | "exit");
    block.traps = name == "trap" && last.guard.is_none();
    block
}

fn ends_block(instruction: &Instruction) -> bool {
    matches!(instruction.pieces().next(), Some("bra" | "brx" | "ret" | "exit" | "trap"))
}

/// Lets loops that nothing leaves be left by their last block. `before` has for each block those
/// that it may follow, and at its end those that end the function.
fn leave_loops(blocks: &[Block], before: &mut [Vec<u32>]) {
    let exit = blocks.len() as u32;
    let doomed = doomed(blocks, before);
    let mut ends = vec![false; blocks.len() + 1];
    reach(before, exit, &mut ends);
    for number in (0..exit).rev() {
        if !ends[number as usize] && !doomed[number as usize] {
            before[exit as usize].push(number);
            reach(before, number, &mut ends);
        }
    }
}

/// Marks all blocks from which a block can be reached.
fn reach(before: &[Vec<u32>], from: u32, marked: &mut [bool]) {
    let mut open = vec![from];
    marked[from as usize] = true;
    while let Some(block) = open.pop() {
        for earlier in &before[block as usize] {
            if !std::mem::replace(&mut marked[*earlier as usize], true) {
                open.push(*earlier);
            }
        }
    }
}

/// The blocks from which every path ends in a `trap`.
fn doomed(blocks: &[Block], before: &[Vec<u32>]) -> Vec<bool> {
    let mut ways: Vec<usize> =
        blocks.iter().map(|block| block.next.len() + usize::from(block.returns)).collect();
    let mut doomed: Vec<bool> = blocks.iter().map(|block| block.traps).collect();
    let mut open: Vec<usize> = (0..blocks.len()).filter(|number| doomed[*number]).collect();
    while let Some(number) = open.pop() {
        for earlier in before[number].iter().map(|earlier| *earlier as usize) {
            ways[earlier] -= 1;
            if ways[earlier] == 0 && !doomed[earlier] {
                doomed[earlier] = true;
                open.push(earlier);
            }
        }
    }
    doomed
}
