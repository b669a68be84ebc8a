//! 5.5: small models whose right answers huggingface_hub has given, and random ones that are
//! compared with a second way of splitting.

use std::collections::BTreeMap;

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Diagnosis};

use super::super::shards::{Index, Shard, Split, Weight};
use super::Implementation;
use super::shard_kinds::{Words, kinds};
use super::shard_thoughts::{REVERSED, THOUGHTS, Thought, split_as};
use super::thoughts::explained;

/// A model, the limit, and what came.
struct Case {
    weights: Vec<Weight>,
    max_bytes: u64,
    got: Split,
    want: Split,
}

/// 5.5
pub fn shard(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut models = Vec::new();
    for (weights, max_bytes, files, total_size) in PUBLISHED {
        let (weights, want) = published(weights, files, *total_size);
        let second = split_as(&weights, *max_bytes, Thought::Right);
        assert!(sorted(second) == sorted(want), "the second way is wrong");
        models.push((weights, *max_bytes));
    }
    // Many small ones: what is wrong is seen in four weights, if it shows there.
    for count in (0..60).map(|i| 2 + i % 6).chain([8, 10, 12, 16, 24, 40]) {
        models.push(random(&mut rng, count));
    }
    let mut cases = Vec::new();
    for (weights, max_bytes) in models {
        let got = check
            .call(called(&weights, max_bytes), || (imp.split_into_shards)(&weights, max_bytes))?;
        let want = sorted(split_as(&weights, max_bytes, Thought::Right));
        cases.push(Case { weights, max_bytes, got: sorted(got), want });
    }
    judge(&cases)
}

/// Explains the smallest wrong answer by what explains all answers.
fn judge(cases: &[Case]) -> Result<(), Diagnosis> {
    let wrong = cases.iter().filter(|case| case.got != case.want);
    let Some(case) = wrong.min_by_key(|case| case.weights.len()) else { return Ok(()) };
    let agrees = |thought| {
        cases
            .iter()
            .all(|case| sorted(split_as(&case.weights, case.max_bytes, thought)) == case.got)
    };
    let (key, thought) = match is_reversed(&case.got) {
        true => ("5.5-map-reversed", REVERSED),
        false => match explained(THOUGHTS, agrees) {
            (key::WRONG_VALUE, _) => kind(cases, case),
            known => known,
        },
    };
    let right = cases.iter().filter(|case| case.got == case.want).count();
    let got = words(&case.got, &case.want, &case.weights);
    Err(Diagnosis::new(key)
        .called(called(&case.weights, case.max_bytes))
        .got(format!("{got}{right} of {} models are split as they should be", cases.len()))
        .expected(words(&case.want, &case.got, &case.weights))
        .thought(thought))
}

/// What may be wrong with the one that is shown, and with all others that are wrong.
fn kind(cases: &[Case], shown: &Case) -> Words {
    let of = |case: &Case| kinds(&case.weights, case.max_bytes, &case.got, &case.want);
    let mine = of(shown);
    let others: Vec<Vec<Words>> = cases.iter().map(of).filter(|it| !it.is_empty()).collect();
    let of_all = mine.iter().find(|words| others.iter().all(|it| it.contains(words)));
    *of_all.or(mine.last()).expect("a wrong split breaks a rule")
}

/// Whether the index leads from files to weights. Which weight of a file it names is of no account.
fn is_reversed(split: &Split) -> bool {
    let Some(index) = &split.index else { return false };
    let is_file = |name: &String| split.shards.iter().any(|shard| shard.file == *name);
    !index.weight_map.is_empty() && index.weight_map.keys().all(is_file)
}

/// The order of the names in a file means nothing.
fn sorted(mut split: Split) -> Split {
    split.shards.iter_mut().for_each(|shard| shard.names.sort());
    split
}

fn called(weights: &[Weight], max_bytes: u64) -> String {
    let first_of = |at: usize| {
        weights[..at].iter().find(|it| it.storage == weights[at].storage).map(|it| &it.name)
    };
    let word = |(at, weight): (usize, &Weight)| match first_of(at) {
        Some(first) => format!("{} = {first}", weight.name),
        None => format!("{} {}", weight.name, weight.bytes),
    };
    const SHOWN: usize = 10;
    let mut all: Vec<String> = weights.iter().enumerate().take(SHOWN).map(word).collect();
    if weights.len() > SHOWN {
        all.push(format!(".. and {} more", weights.len() - SHOWN));
    }
    format!("split_into_shards([{}], {max_bytes})", all.join(", "))
}

/// The files with their weights, and of the index what differs from the other one.
fn words(split: &Split, other: &Split, weights: &[Weight]) -> String {
    let mut text = String::new();
    for Shard { file, names } in &split.shards {
        let of_file = weights.iter().filter(|weight| names.contains(&weight.name));
        let mut bytes: Vec<(u64, u64)> = of_file.map(|it| (it.storage, it.bytes)).collect();
        bytes.sort();
        bytes.dedup();
        let bytes: u64 = bytes.iter().map(|(_, bytes)| bytes).sum();
        text += &format!("{file}: {} ({bytes} bytes)\n", names.join(", "));
    }
    if split.shards.is_empty() {
        text += "no file\n";
    }
    let Some(index) = &split.index else { return text + "no index\n" };
    text += &format!("an index with total_size {}", index.total_size);
    let known = other.index.as_ref().map(|index| &index.weight_map);
    let is_news = |name: &String, file: &String| known.is_some_and(|it| it.get(name) != Some(file));
    let news = index.weight_map.iter().filter(|(name, file)| is_news(name, file)).take(3);
    let news: Vec<String> = news.map(|(name, file)| format!("{name}: {file}")).collect();
    if !news.is_empty() && split.shards == other.shards {
        text += &format!(" and {}", news.join(", "));
    } else if known.is_some_and(|it| it.len() != index.weight_map.len()) {
        text += &format!(" and {} names", index.weight_map.len());
    }
    text + "\n"
}

/// Weights as name, bytes, storage; the limit; the names in each file; the total size.
type Published =
    (&'static [(&'static str, u64, u64)], u64, &'static [&'static [&'static str]], u64);

/// What `split_state_dict_into_shards_factory` of huggingface_hub 2.4.0 returns.
const PUBLISHED: &[Published] = &[
    (&[("wte", 6, 0), ("wpe", 3, 1), ("head", 6, 0)], 10, &[&["wte", "wpe", "head"]], 9),
    (&[("wte", 20, 0)], 10, &[&["wte"]], 20),
    (&[("wte", 20, 0), ("head", 20, 0)], 10, &[&["wte", "head"]], 20),
    (&[], 10, &[], 0),
    (&[("a", 5, 0), ("b", 5, 1), ("c", 1, 2)], 10, &[&["a", "b"], &["c"]], 11),
    (&[("a", 1, 0), ("b", 20, 1), ("c", 1, 2)], 10, &[&["b"], &["a", "c"]], 22),
    (&[("a", 20, 0), ("b", 1, 1)], 10, &[&["a"], &["b"]], 21),
    (
        &[("a", 6, 0), ("b", 6, 1), ("c", 2, 2), ("d", 6, 3), ("e", 2, 4), ("f", 2, 5)],
        10,
        &[&["a"], &["b", "c"], &["d", "e", "f"]],
        24,
    ),
    (&[("a", 5, 0), ("b", 6, 1), ("c", 5, 0), ("d", 4, 3)], 10, &[&["a", "c"], &["b", "d"]], 15),
    (&[("a", 0, 0), ("b", 20, 1), ("c", 0, 2)], 10, &[&["b"], &["a", "c"]], 20),
    (&[("a", 0, 0), ("b", 20, 1), ("c", 0, 2)], 0, &[&["b"], &["a", "c"]], 20),
];

fn published(
    weights: &[(&str, u64, u64)],
    files: &[&[&str]],
    total_size: u64,
) -> (Vec<Weight>, Split) {
    let weight = |&(name, bytes, storage): &(&str, u64, u64)| {
        let name = name.to_string();
        Weight { name, bytes, storage }
    };
    let mut weight_map = BTreeMap::new();
    let mut shards = Vec::new();
    for (number, names) in (1..).zip(files) {
        let file = match files.len() {
            1 => "model.safetensors".to_string(),
            count => format!("model-0000{number}-of-0000{count}.safetensors"),
        };
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        weight_map.extend(names.iter().map(|name| (name.clone(), file.clone())));
        shards.push(Shard { file, names });
    }
    let index = (files.len() > 1).then_some(Index { total_size, weight_map });
    (weights.iter().map(weight).collect(), Split { shards, index })
}

/// A model with ties, empty weights and some that are too large. Few sizes, so that files are
/// often exactly full.
fn random(rng: &mut Generator, count: usize) -> (Vec<Weight>, u64) {
    let max_bytes = 6 + rng.below(6) as u64;
    let mut weights: Vec<Weight> = Vec::new();
    for at in 0..count {
        // Sorted by name, they stand in another order.
        let name = format!("h.{}.w", (at * 7 + count) % 97);
        let storage = 1000 - at as u64;
        let weight = match rng.below(10) {
            0 | 1 if at > 0 => Weight { name, ..weights[rng.below(at)].clone() },
            2 => Weight { name, bytes: max_bytes + 1 + rng.below(9) as u64, storage },
            3 => Weight { name, bytes: 0, storage },
            4 => Weight { name, bytes: max_bytes, storage },
            _ => Weight { name, bytes: 1 + rng.below(max_bytes as usize) as u64, storage },
        };
        weights.push(weight);
    }
    (weights, max_bytes)
}
