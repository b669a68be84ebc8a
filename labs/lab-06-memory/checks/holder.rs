//! 6.4: snapshots of programs that are healthy, that keep graphs, and that have run out of memory.

use engine_room::rng::Generator;
use grading::{Check, Diagnosis};

use super::super::table::{Asked, Finding, MemoryTable, Row};
use super::Implementation;
use super::holder_thoughts::{THOUGHTS, Thought, found};
use super::programs::{Keeps, Program, Run, in_pieces, trained};
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
    for _ in 0..4 {
        of_pieces(&mut rng, &mut cases);
    }
    let mut answers = Vec::new();
    for case in &cases {
        answers.push(check.call(called(case), || (imp.find_holder)(&case.table))?);
    }
    let pairs = || cases.iter().zip(&answers);
    let Some((case, answer)) = pairs().find(|(case, answer)| case.want != **answer) else {
        return Ok(());
    };
    let agrees = |thought| pairs().all(|(case, answer)| found(&case.table, thought) == *answer);
    let (key, thought) = explained(THOUGHTS, agrees);
    let right = pairs().filter(|(case, answer)| case.want == **answer).count();
    Err(Diagnosis::new(key)
        .called(called(case))
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
fn of_pieces(rng: &mut Generator, cases: &mut Vec<Case>) {
    let pieces = in_pieces(rng);
    let table = |asked| pieces.run.table(asked);
    let rows = table(Asked::Nobody).rows;
    let free: Vec<u64> = rows.iter().filter(|row| !row.used).map(|row| row.bytes).collect();
    let unused = rows.iter().filter(|row| {
        let same = |other: &&Row| other.segment == row.segment;
        rows.iter().filter(same).all(|other| !other.used)
    });
    let unused: u64 = unused.map(|row| row.bytes).sum();
    let (sum, largest) = (free.iter().sum::<u64>(), free.iter().copied().max().unwrap_or(0));
    let outside = table(Asked::Nobody).outside;
    let edges = [largest, outside, outside + unused, outside + largest, outside + sum, 0];
    let mut sizes: Vec<u64> =
        edges.iter().flat_map(|it| [it / (2 * MIB), it / (2 * MIB) + 1]).collect();
    sizes.sort();
    sizes.dedup();
    for bytes in sizes.into_iter().map(|units| units * 2 * MIB).filter(|&it| it >= 10 * MIB) {
        asked_for(table(Asked::Tensor(bytes)), cases);
    }
    for edge in edges.into_iter().filter(|&edge| edge > 0) {
        asked_for(table(Asked::OtherProgram(edge)), cases);
        asked_for(table(Asked::OtherProgram(edge + 1)), cases);
    }
    // The device itself must say the same, of the largest tensor that gets its memory.
    let units = largest.max(outside + unused) / (2 * MIB) * 2 * MIB;
    assert!(!pieces.gets(units + 2 * MIB) || units + 2 * MIB < 10 * MIB, "it has more");
    assert!(units < 10 * MIB || pieces.gets(units), "it has less");
}

fn asked_for(table: MemoryTable, cases: &mut Vec<Case>) {
    let want = found(&table, Thought::Right);
    cases.push(Case { name: "large tensors, of which some were dropped".to_string(), table, want });
}

fn called(Case { name, table, .. }: &Case) -> String {
    let MemoryTable { rows, outside, step, loss_op, asked } = table;
    let free = rows.iter().filter(|row| !row.used);
    let sizes: Vec<String> = free.map(|row| format!("{:#x}: {}", row.segment, row.bytes)).collect();
    let mut in_use: Vec<u64> = rows.iter().filter(|row| row.used).map(|row| row.segment).collect();
    in_use.dedup();
    let in_use: Vec<String> = in_use.iter().map(|segment| format!("{segment:#x}")).collect();
    format!(
        "find_holder({} rows of {name}; outside {outside}, step {step}, loss_op {loss_op}, asked \
         {asked:?})\nfree, by segment: {}\nsegments in use: {}",
        rows.len(),
        sizes.join(", "),
        in_use.join(", ")
    )
}
