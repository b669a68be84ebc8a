//! 5.6: plans for many models and worlds, each carried out on the files that its layout gives.

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Death, Diagnosis};

use super::super::reshard::Read;
use super::Implementation;
use super::flat_thoughts;
use super::layouts::{Case, Cell, Fault, Layout, carried_out};
use super::parameter_thoughts;
use super::thoughts::Known;

/// Old and new worlds: four on three first.
const WORLDS: [(usize, usize); 10] =
    [(4, 3), (3, 4), (4, 4), (1, 3), (3, 1), (5, 2), (2, 5), (4, 6), (8, 3), (6, 4)];

/// A plan that the learner has made.
struct Planned {
    case: Case,
    called: String,
    got: Vec<Read>,
}

impl Planned {
    fn fault(&self, layout: Layout) -> Option<Fault> {
        carried_out(&self.got, &self.case, layout)
    }
}

/// 5.6
pub fn reshard(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for layout in [Layout::Flat, Layout::PerParameter] {
        let models = [ordinary(&mut rng, layout), ordinary(&mut rng, layout)];
        judge(planned(imp, check, &models, layout)?, layout)?;
        check.if_it_dies(Death::Panicked, "5.6-empty-share", EMPTY_SHARE);
        let models = small(&mut rng, layout);
        judge(planned(imp, check, &models, layout)?, layout)?;
        check.if_it_dies(Death::Panicked, key::PANICKED, "");
    }
    Ok(())
}

/// Parameters of which every rank of any world has a part.
fn ordinary(rng: &mut Generator, layout: Layout) -> Vec<Vec<usize>> {
    let mut side = |from: usize, most: usize| from + rng.below(most);
    // Rows of which the last rank of every world has some, though fewer than the others.
    let rows = match layout {
        Layout::Flat => [side(3, 8), side(3, 8), side(3, 8)],
        Layout::PerParameter => [[31, 47][side(0, 2)], 23, [39, 55][side(0, 2)]],
    };
    vec![
        vec![rows[0], side(2, 4)],
        vec![rows[1]],
        vec![rows[2], side(2, 2), side(2, 3)],
        vec![23, 1 + side(1, 3)],
    ]
}

/// Models with fewer rows, or fewer elements, than there are ranks; and without any.
fn small(rng: &mut Generator, layout: Layout) -> Vec<Vec<Vec<usize>>> {
    let mut side = |most: usize| 1 + rng.below(most);
    let mut models = vec![
        vec![vec![5, side(3)], vec![2], vec![side(4) + 2, 3]],
        vec![vec![1, 1 + side(4)], vec![side(3)], vec![9, 2]],
        vec![vec![side(2)]],
        vec![vec![4, side(3)], vec![3, 0], vec![0, 2], vec![12, side(3)]],
        vec![vec![0, 3]],
        Vec::new(),
    ];
    if layout == Layout::Flat {
        // A scalar is a parameter, too; FSDP2 refuses it.
        models.push(vec![vec![side(3), 2], Vec::new(), vec![3, side(3)]]);
    }
    models
}

/// All ranks of all worlds.
fn planned(
    imp: &Implementation,
    check: &mut Check,
    models: &[Vec<Vec<usize>>],
    layout: Layout,
) -> Result<Vec<Planned>, Diagnosis> {
    let (name, plan) = match layout {
        Layout::Flat => ("reads_flat", imp.reads_flat),
        Layout::PerParameter => ("reads_per_parameter", imp.reads_per_parameter),
    };
    let mut all = Vec::new();
    for shapes in models {
        for (old, new) in WORLDS {
            for rank in 0..new {
                let case = Case { shapes: shapes.clone(), old, new, rank };
                let called =
                    format!("{name}({shapes:?}, old_world: {old}, new_world: {new}, rank: {rank})");
                let got = check.call(called.as_str(), || plan(shapes, old, new, rank))?;
                all.push(Planned { case, called, got });
            }
        }
    }
    Ok(all)
}

fn judge(all: Vec<Planned>, layout: Layout) -> Result<(), Diagnosis> {
    let faults = all.iter().filter_map(|it| Some((it, it.fault(layout)?)));
    let wrong: Vec<(&Planned, Fault)> = faults.collect();
    // A read that cannot be carried out says more than a wrong element.
    let vague = |(_, fault): &&(&Planned, Fault)| fault.key == key::WRONG_VALUE;
    let Some((first, fault)) = wrong.iter().min_by_key(vague) else { return Ok(()) };
    let (key, thought) = match layout {
        Layout::Flat => explained(&all, flat_thoughts::THOUGHTS, flat_thoughts::cells),
        Layout::PerParameter => {
            explained(&all, parameter_thoughts::THOUGHTS, parameter_thoughts::cells)
        }
    }
    .unwrap_or((fault.key, fault.thought));
    let right = all.len() - wrong.len();
    Err(Diagnosis::new(key)
        .called(first.called.as_str())
        .got(format!(
            "{}\n{}\n{right} of {} plans are right",
            words(&first.got),
            fault.got,
            all.len()
        ))
        .expected(fault.expected.as_str())
        .thought(thought))
}

/// The thought that gives every element from where the learner's plans give it.
fn explained<T: Copy>(
    all: &[Planned],
    known: &[Known<T>],
    cells: fn(&Case, T) -> Option<Vec<Cell>>,
) -> Option<(&'static str, &'static str)> {
    let agrees = |thought: T| {
        all.iter().all(|it| {
            let thought = cells(&it.case, thought);
            thought.is_some() && thought == Cell::all_of(&it.got)
        })
    };
    // Where every element comes from the right place, what is wrong is how it is asked for.
    let found = known.iter().find(|(thought, ..)| agrees(*thought));
    found.map(|&(_, key, words)| (key, words))
}

fn words(reads: &[Read]) -> String {
    const SHOWN: usize = 6;
    let one = |it: &Read| {
        let end = it.from.saturating_add(it.count);
        format!("file {}: {}..{end} to {}", it.file, it.from, it.to)
    };
    let more = reads.len().saturating_sub(SHOWN);
    let shown: Vec<String> = reads.iter().take(SHOWN).map(one).collect();
    match (shown.len(), more) {
        (0, _) => "no reads".to_owned(),
        (_, 0) => shown.join(", "),
        _ => format!("{}, and {more} more reads", shown.join(", ")),
    }
}

const EMPTY_SHARE: &str = "A rank can have nothing: with 5 rows on 4 ranks the shares are 2, 2, 1 \
    and 0 rows, and the share of the last rank would begin behind the last row. Take the smaller \
    one of where a share would begin and where the parameter ends, before you subtract, and mind a \
    share of size 0 before you divide.";
