//! Where lanes meet again: by hand on what compilers write, and against the definition of a
//! post-dominator on random graphs.

mod random;

use engine_room_sim::flow::reconvergence;
use engine_room_sim::ptx::ast::{Function, Module};
use engine_room_sim::ptx::parse;
use random::Random;

fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.1\n.target sm_80\n.address_size 64\n.entry k()\n{{\n.reg .pred %p<9>;\n\
         .reg .b32 %r<9>;\n{body}\n}}\n"
    );
    parse("test.ptx", text.as_bytes()).expect("the test's PTX is right")
}

/// The meeting points of a body, as "branch -> meeting point" by instruction.
fn meetings(body: &str) -> Vec<(usize, Option<u32>)> {
    let module = module(body);
    let function = &module.functions[0];
    let found = reconvergence(function);
    let branches = |at: &usize| {
        let name = function.body[*at].pieces().next();
        function.body[*at].guard.is_some() || name == Some("brx")
    };
    (0..found.len()).filter(branches).map(|at| (at, found[at])).collect()
}

#[test]
fn an_if_meets_behind_its_body() {
    let body = "@%p1 bra L;\n add.s32 %r1, %r1, 1;\nL: add.s32 %r2, %r2, 1;\n ret;";
    assert_eq!(meetings(body), [(0, Some(2))]);
}

#[test]
fn if_and_else_meet_behind_both() {
    let body = "@%p1 bra ELSE;\n mov.u32 %r1, 1;\n bra END;\nELSE: mov.u32 %r1, 2;\nEND: ret;";
    assert_eq!(meetings(body), [(0, Some(4))]);
}

#[test]
fn lanes_that_return_early_do_not_keep_the_others_apart() {
    // `if (i >= n) return;` with one return at the end, and with one of its own.
    assert_eq!(meetings("@%p1 bra END;\n mov.u32 %r1, 1;\nEND: ret;"), [(0, Some(2))]);
    assert_eq!(meetings("@%p1 bra GO;\n ret;\nGO: mov.u32 %r1, 1;\n ret;"), [(0, None)]);
}

#[test]
fn a_loop_meets_behind_its_end() {
    let body = "L: add.s32 %r1, %r1, 1;\n @%p1 bra L;\n ret;";
    assert_eq!(meetings(body), [(1, Some(2))]);
}

#[test]
fn a_break_meets_behind_the_loop() {
    let body = "L: @%p1 bra OUT;\n @%p2 bra L;\nOUT: ret;";
    assert_eq!(meetings(body), [(0, Some(2)), (1, Some(2))]);
}

#[test]
fn a_trap_is_no_other_way_out() {
    let body = "@%p1 bra BAD;\n mov.u32 %r1, 1;\n bra END;\nBAD: trap;\nEND: ret;";
    assert_eq!(meetings(body), [(0, Some(1))]);
}

#[test]
fn a_loop_without_an_end_meets_inside() {
    let body = "L: @%p1 bra M;\n mov.u32 %r1, 1;\nM: mov.u32 %r2, 1;\n bra L;";
    assert_eq!(meetings(body), [(0, Some(2))]);
}

#[test]
fn a_jump_table_meets_behind_its_cases() {
    let body = "T: .branchtargets A, B, C;\n brx.idx %r1, T;\nA: mov.u32 %r1, 1;\n bra END;\n\
                B: mov.u32 %r1, 2;\n bra END;\nC: mov.u32 %r1, 3;\nEND: ret;";
    assert_eq!(meetings(body), [(0, Some(6))]);
}

#[test]
fn many_jumps_through_one_large_table_take_no_time() {
    // An edge for each jump and label would be 400 million.
    let labels: Vec<String> = (0..20_000).map(|label| format!("L{label}")).collect();
    let mut body = format!("T: .branchtargets {};\n", labels.join(", "));
    labels.iter().for_each(|label| body += &format!("{label}: @%p1 brx.idx %r1, T;\n"));
    let found = meetings(&format!("{body}END: ret;"));
    // The only way out is behind the last jump.
    let (last, others) = found.split_last().expect("there are jumps");
    assert!(others.iter().all(|(_, meeting)| *meeting == Some(19_999)));
    assert_eq!(last.1, Some(20_000));
}

#[test]
fn random_graphs_agree_with_the_definition() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let count = 2 + random.below(12);
        let mut body = String::new();
        for block in 0..count {
            let target = random.below(count);
            let line = match random.below(4) {
                0 => format!("bra L{target};"),
                1 => "mov.u32 %r1, 1;".to_string(),
                _ => format!("@%p1 bra L{target};"),
            };
            body += &format!("L{block}: {line}\n");
        }
        body += "ret;";
        let module = module(&body);
        let function = &module.functions[0];
        let found = reconvergence(function);
        assert_eq!(found.len(), function.body.len());
        for (at, &found) in found.iter().enumerate() {
            let Some(expected) = by_definition(function, at) else { continue };
            assert_eq!(found, expected, "seed {seed}, instruction {at} of\n{body}");
        }
    }
}

/// The meeting point of a branch by the definition: the nearest instruction without which the end
/// cannot be reached. `None` where the rule says nothing: no branch, or a branch after which the
/// end cannot be reached.
fn by_definition(function: &Function, at: usize) -> Option<Option<u32>> {
    let next = |at: usize| -> Vec<usize> {
        let instruction = &function.body[at];
        let target = instruction.operands.first().map(|_| label(function, at));
        match instruction.pieces().next() {
            Some("ret") => vec![],
            Some("bra") if instruction.guard.is_some() => vec![target.unwrap_or(0), at + 1],
            Some("bra") => vec![target.unwrap_or(0)],
            _ => vec![at + 1],
        }
    };
    let ways = next(at);
    if ways.len() < 2 || ways[0] == ways[1] {
        return None;
    }
    let end = function.body.len() - 1;
    let reaches = |from: usize, without: Option<usize>| {
        let (mut seen, mut open) = (vec![false; function.body.len()], vec![from]);
        while let Some(here) = open.pop() {
            if Some(here) != without && !std::mem::replace(&mut seen[here], true) {
                open.extend(next(here));
            }
        }
        seen[end]
    };
    if !reaches(at, None) || (0..function.body.len()).any(|from| !reaches(from, None)) {
        return None;
    }
    let passed: Vec<usize> =
        (0..=end).filter(|point| *point != at && !reaches(at, Some(*point))).collect();
    // The nearest is the one that all the others post-dominate.
    let nearest = passed.iter().find(|point| {
        passed.iter().all(|other| other == *point || !reaches(**point, Some(*other)))
    });
    Some(nearest.map(|point| *point as u32))
}

/// The instruction that a `bra` names.
fn label(function: &Function, at: usize) -> usize {
    use engine_room_sim::ptx::ast::{Operand, Symbol};
    match function.body[at].operands.first() {
        Some(Operand::Symbol(Symbol::Label(label), _)) => {
            function.labels[*label as usize].at as usize
        }
        _ => 0,
    }
}
