//! 6.4: snapshots of programs that are healthy, that keep graphs, and that have run out of memory.

use engine_room::memory::Role;
use engine_room::rng::Generator;
use grading::{Check, Diagnosis};

use super::super::table::{Asked, Finding, MemoryTable, Row};
use super::Implementation;
use super::holder_thoughts::{THOUGHTS, Thought, found};
use super::programs::{
    Keeps, Pieces, Program, Run, in_pieces, one_survivor, trained, two_cached, two_holes,
};
use super::thoughts::explained;

const MIB: u64 = 1 << 20;

/// A table, what it is of, and what is to be found.
struct Case {
    name: String,
    table: MemoryTable,
    want: Finding,
}

/// 6.4
pub fn holder(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut cases = Vec::new();
    of_trainings(&mut rng, &mut cases);
    for tensors in [3, 6, 100] {
        of_pieces(&in_pieces(tensors, &mut rng), &mut cases);
    }
    of_pieces(&one_survivor(&mut rng), &mut cases);
    of_pieces(&two_cached(&mut rng), &mut cases);
    of_pieces(&two_holes(&mut rng), &mut cases);
    let mut answers = Vec::new();
    for case in &cases {
        let of_graphs = is_graph(case.want);
        answers.push(check.call(called(case, of_graphs), || (imp.find_holder)(&case.table))?);
    }
    let pairs = || cases.iter().zip(&answers);
    let Some((case, answer)) = pairs().find(|(case, answer)| case.want != **answer) else {
        return Ok(());
    };
    let agrees = |thought| pairs().all(|(case, answer)| found(&case.table, thought) == *answer);
    let (mut key, mut thought) = explained(THOUGHTS, agrees);
    let of_graphs = is_graph(case.want) || is_graph(*answer);
    if thought.is_empty() && case.table.asked == Asked::Nobody && !of_graphs {
        (key, thought) = ("6.4-nobody-asks", NOBODY);
    }
    let right = pairs().filter(|(case, answer)| case.want == **answer).count();
    Err(Diagnosis::new(key)
        .called(called(case, of_graphs))
        .got(format!("{answer:?}\n{right} of {} answers are right", cases.len()))
        .expected(format!("{:?}", case.want))
        .thought(thought))
}

/// Trainings, each asked about with and without somebody who wants memory.
fn of_trainings(rng: &mut Generator, cases: &mut Vec<Case>) {
    for (keeps, [mse, images_stay, in_the_middle, loss_alive]) in PROGRAMS {
        let steps = 2 + rng.below(4);
        let program = Program { keeps, mse, images_stay, in_the_middle, loss_alive, steps };
        let run = trained(program, rng);
        of_training(program, &run, rng, cases);
    }
}

/// What is kept, and the four switches of a [`Program`] in their order.
const PROGRAMS: [(Keeps, [bool; 4]); 13] = [
    (Keeps::Losses, [false, false, false, false]),
    (Keeps::Mean, [false, true, false, false]),
    (Keeps::Nothing, [false, true, true, false]),
    (Keeps::Numbers, [true, false, false, false]),
    (Keeps::Mean, [true, false, false, true]),
    (Keeps::Losses, [true, true, true, false]),
    (Keeps::Nothing, [true, true, false, true]),
    (Keeps::Numbers, [false, true, true, false]),
    (Keeps::Outputs, [false, false, false, false]),
    (Keeps::Gradients, [true, false, false, true]),
    (Keeps::Mean, [false, false, true, false]),
    (Keeps::Sum, [false, false, false, true]),
    (Keeps::Sum, [true, true, true, false]),
];

fn of_training(program: Program, run: &Run, rng: &mut Generator, cases: &mut Vec<Case>) {
    let cause = match program.keeps {
        Keeps::Losses => Some(Finding::LossesKept),
        Keeps::Mean | Keeps::Sum => Some(Finding::MetricKeepsGraphs),
        _ => None,
    };
    let name = format!("a training of {} steps that keeps {:?}", program.steps, program.keeps);
    let all = run.capacity;
    let asked =
        [Asked::Nobody, Asked::Tensor(all), Asked::OtherProgram(all + rng.below(99) as u64)];
    for asked in asked {
        let table = run.table(asked);
        let right = found(&table, Thought::Right);
        let want = cause.unwrap_or(if asked == Asked::Nobody { Finding::Healthy } else { right });
        assert_eq!(right, want, "{program:?}, {asked:?}");
        cases.push(Case { name: name.clone(), table, want });
    }
}

/// A device in pieces, asked for sizes on both sides of every boundary.
fn of_pieces(pieces: &Pieces, cases: &mut Vec<Case>) {
    let mut reach = 0;
    for moment in &pieces.moments {
        reach = of_moment(moment, cases);
    }
    // The device itself must say the same, of the largest tensor that gets its memory.
    let units = reach / (2 * MIB) * 2 * MIB;
    assert!(!pieces.gets(units + 2 * MIB) || units + 2 * MIB < 10 * MIB, "it has more");
    assert!(units < 10 * MIB || pieces.gets(units), "it has less");
}

/// Returns the bytes that a tensor can get at most.
fn of_moment(moment: &Run, cases: &mut Vec<Case>) -> u64 {
    let table = |asked| moment.table(asked);
    let MemoryTable { rows, outside, .. } = table(Asked::Nobody);
    let free: Vec<&Row> = rows.iter().filter(|row| !row.used).collect();
    let in_use = |segment| rows.iter().any(|row| row.used && row.segment == segment);
    let unused: u64 = free.iter().filter(|row| !in_use(row.segment)).map(|row| row.bytes).sum();
    let sum: u64 = free.iter().map(|row| row.bytes).sum();
    let largest = free.iter().map(|row| row.bytes).max().unwrap_or(0);
    let edges = [largest, outside, outside + unused, outside + largest, outside + sum];
    let units = |bytes: &u64| [bytes / (2 * MIB), bytes / (2 * MIB) + 1].map(|n| n * 2 * MIB);
    let mut sizes: Vec<u64> = edges.iter().flat_map(units).filter(|&it| it >= 10 * MIB).collect();
    sizes.sort();
    sizes.dedup();
    asked_for(table(Asked::Nobody), cases);
    for bytes in sizes {
        asked_for(table(Asked::Tensor(bytes)), cases);
    }
    for edge in edges.into_iter().filter(|&edge| edge > 0) {
        asked_for(table(Asked::OtherProgram(edge)), cases);
        asked_for(table(Asked::OtherProgram(edge + 1)), cases);
    }
    largest.max(outside + unused)
}

fn asked_for(table: MemoryTable, cases: &mut Vec<Case>) {
    let want = found(&table, Thought::Right);
    cases.push(Case { name: "large tensors, of which some were dropped".to_string(), table, want });
}

fn is_graph(finding: Finding) -> bool {
    matches!(finding, Finding::LossesKept | Finding::MetricKeepsGraphs)
}

/// The call, and what of its table decides: about graphs, or else about what is asked for.
fn called(Case { name, table, .. }: &Case, of_graphs: bool) -> String {
    let MemoryTable { rows, outside, step, loss_op, asked } = table;
    format!(
        "find_holder({} rows of {name}; outside {outside}, step {step}, loss_op {loss_op}, asked \
         {asked:?})\n{}",
        rows.len(),
        if of_graphs { by_step(table) } else { by_segment(rows) }
    )
}

fn by_step(table: &MemoryTable) -> String {
    let alive = |which: &dyn Fn(&Row) -> bool| {
        let count = |step| {
            let of_step = |row: &&Row| row.used && row.step == step && which(row);
            (step, table.rows.iter().filter(of_step).count())
        };
        let counts = (0..=table.step).map(count).filter(|(_, count)| *count > 0);
        let words: Vec<String> =
            counts.map(|(step, count)| format!("{count} of step {step}")).collect();
        if words.is_empty() { "none".to_string() } else { words.join(", ") }
    };
    let activations = alive(&|row| row.role == Role::Activation);
    let losses = alive(&|row| row.op == table.loss_op);
    format!("activations alive: {activations}\nlosses alive: {losses}")
}

fn by_segment(rows: &[Row]) -> String {
    let free = rows.iter().filter(|row| !row.used);
    let sizes: Vec<String> = free.map(|row| format!("{:#x}: {}", row.segment, row.bytes)).collect();
    let mut in_use: Vec<u64> = rows.iter().filter(|row| row.used).map(|row| row.segment).collect();
    in_use.dedup();
    let in_use: Vec<String> = in_use.iter().map(|segment| format!("{segment:#x}")).collect();
    format!("free, by segment: {}\nsegments in use: {}", sizes.join(", "), in_use.join(", "))
}

const NOBODY: &str = "Nobody asks for memory, so nothing is missing: `Healthy`. Free blocks and \
    cached segments are what the next tensors get theirs from.";
