//! 5.3: models and files by hand, one for each rule, and random ones.

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Death, Diagnosis};

use super::super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::Implementation;
use super::load_kinds::{self, Judged};
use super::load_thoughts::{Loaded, THOUGHTS, Thought, loaded};
use super::thoughts::explained;

/// What is loaded, and how.
#[derive(Clone)]
pub struct Case {
    pub what: &'static str,
    pub model: Vec<Slot>,
    pub file: Vec<Saved>,
    pub map: MapLocation,
    pub here: Vec<String>,
    pub strict: bool,
}

/// 5.3
pub fn load(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut cases = by_hand(&mut rng);
    cases.extend((0..60).map(|_| random(&mut rng)));
    let mut answers = Vec::new();
    for case in &cases {
        check.if_it_dies(Death::Panicked, "5.3-panics", PANICS);
        let mut model = case.model.clone();
        let answer = check.call(words(case), || {
            (imp.load)(&mut model, &case.file, &case.map, &case.here, case.strict)
        })?;
        answers.push(sorted(Loaded { answer, model }));
    }
    let right = |case| sorted(loaded(case, Thought::Right));
    let judged = |(case, got)| Judged { case, got, want: right(case) };
    judge(&cases.iter().zip(&answers).map(judged).collect::<Vec<_>>())
}

fn judge(all: &[Judged]) -> Result<(), Diagnosis> {
    let wrong = all.iter().filter(|it| *it.got != it.want);
    // The first of the smallest is the easiest to follow.
    let Some(first) = wrong.min_by_key(|it| it.case.file.len() + it.case.model.len()) else {
        return Ok(());
    };
    let agrees = |thought| all.iter().all(|it| sorted(loaded(it.case, thought)) == *it.got);
    let (key, thought) = match explained(THOUGHTS, agrees) {
        (key::WRONG_VALUE, _) => load_kinds::explained(all, first),
        known => known,
    };
    Err(Diagnosis::new(key)
        .called(words(first.case))
        .got(shown(first.got, &first.case.model))
        .expected(shown(&first.want, &first.case.model))
        .thought(thought))
}

/// Complaints and places in any order are right.
fn sorted(mut loaded: Loaded) -> Loaded {
    match &mut loaded.answer {
        Ok(placed) => placed.sort_by(|a, b| (&a.name, &a.device).cmp(&(&b.name, &b.device))),
        Err(complaints) => complaints.sort(),
    }
    loaded
}

fn slot(name: &str, shape: &[usize], rng: &mut Generator) -> Slot {
    let values = (0..shape.iter().product()).map(|_| rng.normal()).collect();
    Slot { name: name.to_string(), shape: shape.to_vec(), values }
}

fn saved(name: &str, shape: &[usize], device: &str, rng: &mut Generator) -> Saved {
    let Slot { name, shape, values } = slot(name, shape, rng);
    Saved { name, shape, device: device.to_string(), values }
}

fn devices(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn table(pairs: &[(&str, &str)]) -> MapLocation {
    let pair = |(from, to): &(&str, &str)| (from.to_string(), to.to_string());
    MapLocation::Table(pairs.iter().map(pair).collect())
}

/// A model of two tensors and a file that fits, saved on two GPUs.
fn fitting(what: &'static str, rng: &mut Generator) -> Case {
    let model = vec![slot("weight", &[2, 3], rng), slot("bias", &[3], rng)];
    // In another order than in the model.
    let file = vec![saved("bias", &[3], "cuda:1", rng), saved("weight", &[2, 3], "cuda:0", rng)];
    let (map, here) = (MapLocation::Saved, devices(&["cpu", "cuda:0", "cuda:1"]));
    Case { what, model, file, map, here, strict: true }
}

fn by_hand(rng: &mut Generator) -> Vec<Case> {
    let mut cases = vec![fitting("all fits", rng)];
    let mut add = |what, change: &dyn Fn(&mut Case, &mut Generator)| {
        let mut case = fitting(what, rng);
        change(&mut case, rng);
        for strict in [true, false] {
            cases.push(Case { strict, ..case.clone() });
        }
    };
    add("nothing to load, nothing to load into", &|case, _| {
        case.model.clear();
        case.file.clear();
    });
    of_names(&mut add);
    of_devices(&mut add);
    cases
}

type Add<'a> = dyn FnMut(&'static str, &dyn Fn(&mut Case, &mut Generator)) + 'a;

fn of_names(add: &mut Add) {
    add("one is missing", &|case, _| {
        case.file.remove(0);
    });
    add("one is unexpected", &|case, rng| case.file.push(saved("scale", &[1], "cpu", rng)));
    add("all names are others", &|case, _| {
        for saved in &mut case.file {
            saved.name = format!("module.{}", saved.name);
        }
    });
    for (what, shape) in [
        ("[1] for [3]", &[1][..]),
        ("a scalar for [3]", &[]),
        ("[3, 1] for [3]", &[3, 1]),
        ("[1, 3] for [3]", &[1, 3]),
        ("[5] for [3]", &[5]),
        ("no element for [3]", &[0]),
    ] {
        add(what, &|case, rng| case.file[0] = saved("bias", shape, "cuda:1", rng));
    }
    add("[3, 2] for [2, 3]", &|case, rng| {
        case.file[1] = saved("weight", &[3, 2], "cuda:0", rng);
    });
    add("[3] for a scalar", &|case, rng| case.model[1] = slot("bias", &[], rng));
    add("one fits, one does not, one is missing, one is unexpected", &|case, rng| {
        case.model.push(slot("norm", &[4], rng));
        case.file[0] = saved("bias", &[6], "cpu", rng);
        case.file.push(saved("extra", &[2], "cpu", rng));
    });
}

fn of_devices(add: &mut Add) {
    add("saved on a device that is not here", &|case, _| case.here = devices(&["cpu"]));
    add("an unexpected one from a device that is not here", &|case, rng| {
        case.file.push(saved("scale", &[1], "cuda:7", rng));
    });
    add("two unexpected ones from a device that is not here", &|case, rng| {
        let two = ["scale", "shift"].map(|name| saved(name, &[1], "cuda:7", rng));
        case.file.extend(two);
    });
    add("one of another shape from a device that is not here", &|case, rng| {
        case.file[0] = saved("bias", &[4], "cuda:7", rng);
    });
    add("all to the CPU, the only device here", &|case, _| {
        case.map = MapLocation::Device("cpu".to_string());
        case.here = devices(&["cpu"]);
    });
    add("all to a device that is not here", &|case, _| {
        case.map = MapLocation::Device("cuda:2".to_string());
    });
    add("a table that names one of two devices", &|case, _| {
        case.map = table(&[("cuda:1", "cpu")]);
    });
    add("a table that names one of two devices, and the other is not here", &|case, _| {
        case.map = table(&[("cuda:1", "cpu")]);
        case.here = devices(&["cpu"]);
    });
    add("a table that exchanges two devices", &|case, _| {
        case.map = table(&[("cuda:0", "cuda:1"), ("cuda:1", "cuda:0")]);
    });
    add("a table to a device that is not here", &|case, _| {
        case.map = table(&[("cuda:0", "cuda:3"), ("cuda:1", "cuda:0")]);
    });
    add("an empty table", &|case, _| case.map = table(&[]));
}

const NAMES: [&str; 6] = ["embed.weight", "head.weight", "norm.bias", "scale", "step", "w"];
const DEVICES: [&str; 4] = ["cpu", "cuda:0", "cuda:1", "cuda:2"];
const SHAPES: [&[usize]; 6] = [&[], &[1], &[2], &[2, 1], &[1, 2], &[2, 3]];

fn random(rng: &mut Generator) -> Case {
    let some = |rng: &mut Generator| {
        let count = 1 + rng.below(NAMES.len());
        rng.permutation(NAMES.len()).into_iter().take(count).collect::<Vec<usize>>()
    };
    let good = rng.below(2) == 0;
    let chosen = some(rng);
    let model: Vec<Slot> =
        chosen.iter().map(|&i| slot(NAMES[i], SHAPES[rng.below(6)], rng)).collect();
    let mut in_file = if good { chosen.clone() } else { some(rng) };
    let turn = rng.below(in_file.len());
    in_file.rotate_left(turn);
    let mut file = Vec::new();
    for i in in_file {
        let same = model.iter().find(|slot| slot.name == NAMES[i]);
        let own = same.map(|slot| slot.shape.clone()).filter(|_| good || rng.below(4) > 0);
        let shape = own.unwrap_or_else(|| SHAPES[rng.below(6)].to_vec());
        file.push(saved(NAMES[i], &shape, DEVICES[rng.below(4)], rng));
    }
    let to = |rng: &mut Generator| DEVICES[rng.below(4)].to_string();
    let map = match rng.below(3) {
        0 => MapLocation::Saved,
        1 => MapLocation::Device(to(rng)),
        _ => {
            let from = rng.permutation(4).into_iter().take(1 + rng.below(3));
            MapLocation::Table(from.map(|i| (DEVICES[i].to_string(), to(rng))).collect())
        }
    };
    let missing = if rng.below(2) == 0 { 4 } else { 1 + rng.below(3) };
    let here = (0..4).filter(|&i| i != missing).map(|i| DEVICES[i].to_string()).collect();
    Case { what: "at random", model, file, map, here, strict: rng.below(2) == 0 }
}

/// A case for people.
fn words(Case { what, model, file, map, here, strict }: &Case) -> String {
    let slots: Vec<String> =
        model.iter().map(|slot| format!("{} {:?}", slot.name, slot.shape)).collect();
    let tensors: Vec<String> = file
        .iter()
        .map(|saved| format!("{} {:?} of {}", saved.name, saved.shape, saved.device))
        .collect();
    format!(
        "load(model, file, map, here, {strict}), {what}\nmodel: {}\nfile: {}\n\
         map: {map:?}\nhere: {}",
        slots.join(", "),
        tensors.join(", "),
        here.join(", ")
    )
}

fn shown(Loaded { answer, model }: &Loaded, before: &[Slot]) -> String {
    let answer = match answer {
        Ok(placed) => {
            let place = |it: &Placed| format!(" {} on {}", it.name, it.device);
            format!("Ok:{}", placed.iter().map(place).collect::<Vec<_>>().join(","))
        }
        Err(complaints) => {
            let lines = complaints.iter().map(|it: &Complaint| format!("\n{it:?}"));
            format!("Err:{}", lines.collect::<String>())
        }
    };
    let changed: Vec<String> = model
        .iter()
        .zip(before)
        .filter(|(now, before)| now != before)
        .map(|(now, _)| format!("{} {:?} {:?}", now.name, now.shape, now.values))
        .collect();
    let changed = if changed.is_empty() { "nothing".to_string() } else { changed.join(", ") };
    format!("{answer}\nchanged in the model: {changed}")
}

const PANICS: &str = "A file that does not fit is an answer, not a panic: `copy_from_slice` asks \
    for equal lengths, and what is not found is a complaint.";
