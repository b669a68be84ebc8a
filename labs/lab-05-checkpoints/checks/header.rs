//! 5.2: good files, which must be read, and files that break one rule, which must be refused.

use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis, peak_of};

use super::super::header::{Problem, Refusal, TensorInfo};
use super::Implementation;
use super::header_cases::{self as cases, Bad};
use super::header_files::{self as files, Draft};

type Answer = Result<Vec<TensorInfo>, Refusal>;

/// What reading one of these small files may take.
const MEMORY: usize = 1 << 20;

/// 5.2
pub fn header(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for good in good_ones(&mut rng) {
        read(imp, check, &good)?;
    }
    for bad in cases::all(&mut rng) {
        refuse(imp, check, &bad)?;
    }
    turned_bytes(imp, check, &mut rng)
}

/// A file that must be read.
struct Good {
    what: &'static str,
    draft: Draft,
    /// The key and the words if it is refused.
    refused: (&'static str, &'static str),
}

fn good_ones(rng: &mut Generator) -> Vec<Good> {
    let good = |what, refused, draft| Good { what, draft, refused };
    let one = files::of(&[files::info("a", "F32", &[2], 0, 8)], 8);
    let plain = ("5.2-refuses-all", REFUSES_ALL);
    let mut all = vec![good("one tensor of two F32", plain, one)];
    let kept_back = ("5.2-names-kept-back", KEPT_BACK);
    let named = files::of(&[files::info("__positions__", "I64", &[3], 0, 24)], 24);
    all.push(good("a name with underscores", kept_back, named));
    let order = ("5.2-header-order", HEADER_ORDER);
    all.extend((0..6).map(|_| good("in another order in the header", order, files::random(rng))));
    let scalar = files::info("step", "I64", &[], 0, 8);
    all.push(good("a scalar", ("5.2-scalar-refused", SCALAR), files::of(&[scalar], 8)));
    all.push(good("no tensor", ("5.2-none-refused", NONE), files::of(&[], 0)));
    all.extend(empty_ones(rng));
    let names = ["a\"b", "c\\d", "e\nf", "", "caf\u{e9}"];
    let tensors: Vec<TensorInfo> =
        (0..5).map(|i| files::info(names[i], "U8", &[1], i as u64, i as u64 + 1)).collect();
    all.push(good("names that need care", plain, files::of(&tensors, 5)));
    all
}

/// Tensors without elements, at each place of the row and of the header.
fn empty_ones(rng: &mut Generator) -> Vec<Good> {
    let full = files::info("w", "F16", &[1 + rng.below(5) as u64, 2], 0, 0);
    let bytes = full.shape[0] * 4;
    let [first, second] = [0, bytes].map(|at| TensorInfo {
        name: format!("w{at}"),
        start: at,
        end: at + bytes,
        ..full.clone()
    });
    let mut all = Vec::new();
    for at in [0, bytes, 2 * bytes] {
        for in_front in [true, false] {
            let [a, b] = ["z", "nothing"].map(|name| files::info(name, "F32", &[3, 0], at, at));
            let full = [first.clone(), second.clone()];
            let tensors = if in_front {
                [&[a, b][..], &full].concat()
            } else {
                [&full[..], &[b, a]].concat()
            };
            let refused = match in_front {
                true => ("5.2-empty-refused", EMPTY),
                false => ("5.2-sorted-by-start", SORTED_BY_START),
            };
            let draft = files::of(&tensors, 2 * bytes as usize);
            all.push(Good { what: "empty tensors beside full ones", draft, refused });
        }
    }
    all
}

fn read(imp: &Implementation, check: &mut Check, good: &Good) -> Result<(), Diagnosis> {
    let bytes = good.draft.bytes();
    let called = words(&bytes, good.what);
    check.if_it_dies(Death::Panicked, good.refused.0, good.refused.1);
    let answer = check.call(called.as_str(), || (imp.read_header)(&bytes))?;
    let want = &good.draft.tensors;
    if answer.as_ref() == Ok(want) {
        return Ok(());
    }
    let (key, thought) = explained(good, &answer, bytes.len() - good.draft.data.len());
    let diagnosis = Diagnosis::new(key).called(called).thought(thought);
    Err(diagnosis.got(shown(&answer)).expected(shown(&Ok(want.clone()))))
}

/// Which thought makes this of a good file.
fn explained(good: &Good, answer: &Answer, header: usize) -> (&'static str, &'static str) {
    let want = &good.draft.tensors;
    let by_name = |tensors: &[TensorInfo]| {
        let mut tensors = tensors.to_vec();
        tensors.sort_by(|a, b| a.name.cmp(&b.name));
        tensors
    };
    match answer {
        Err(refusal) if refusal.name == "__metadata__" => ("5.2-metadata-is-a-tensor", METADATA),
        Err(refusal) if good.what.contains("two F32") => match refusal.problem {
            Problem::BadOffsets | Problem::NotInARow | Problem::WrongEnd => {
                ("5.2-offsets-of-the-file", OF_THE_FILE)
            }
            _ => ("5.2-refuses-all", REFUSES_ALL),
        },
        Err(_) => good.refused,
        Ok(got) if got.iter().any(|it| it.name == "__metadata__") => {
            ("5.2-metadata-is-a-tensor", METADATA)
        }
        Ok(got) if by_name(got) == by_name(want) => ("5.2-answer-in-another-order", ANSWER_ORDER),
        Ok(got) => {
            let moved = |(got, want): (&TensorInfo, &TensorInfo)| {
                got.start == want.start + header as u64 && got.end == want.end + header as u64
            };
            let absolute = got.len() == want.len() && got.iter().zip(want).all(moved);
            if absolute && !want.is_empty() {
                return ("5.2-absolute-offsets", ABSOLUTE);
            }
            (grading::diagnosis::key::WRONG_VALUE, "")
        }
    }
}

fn refuse(imp: &Implementation, check: &mut Check, bad: &Bad) -> Result<(), Diagnosis> {
    let called = words(&bad.bytes, &bad.what);
    let (key, thought) = bad.missed;
    check.if_it_dies(Death::Panicked, key, thought);
    check.if_it_dies(Death::MemoryLimit, "5.2-allocates", cases::ALLOCATES);
    let (answer, memory) =
        check.call(called.as_str(), || peak_of(|| (imp.read_header)(&bad.bytes)))?;
    let Some(problem) = bad.right.first() else { return Ok(()) };
    let name = bad.names.first().map_or("", String::as_str);
    let expected = format!("Err: {problem:?}, name {name:?}");
    let diagnosis = |key, thought| {
        let diagnosis = Diagnosis::new(key).called(called.as_str()).thought(thought);
        diagnosis.got(shown(&answer)).expected(expected.as_str())
    };
    check.require(memory <= MEMORY, || {
        let got = format!("{memory} bytes of memory for a file of {}", bad.bytes.len());
        diagnosis("5.2-allocates", cases::ALLOCATES).got(got).expected("at most 1 MiB of memory")
    })?;
    match &answer {
        Ok(_) => Err(diagnosis(key, thought)),
        Err(Refusal { problem: Problem::NotInARow, .. }) if *problem == Problem::Duplicate => {
            Err(diagnosis("5.2-duplicate-in-the-row", IN_THE_ROW))
        }
        Err(refusal) if !bad.right.contains(&refusal.problem) => {
            // A rule was not seen if a later one has caught the file by chance.
            let later = refusal.problem as u8 > *problem as u8;
            Err(if later {
                diagnosis(key, thought)
            } else {
                diagnosis("5.2-another-rule", ANOTHER)
            })
        }
        Err(refusal) if !bad.names.contains(&refusal.name) => {
            Err(diagnosis("5.2-another-name", ANOTHER_NAME))
        }
        Err(_) => Ok(()),
    }
}

/// Good files of which single bytes are turned: no panic, whatever they say then; and where only
/// the data have changed, they are read as before.
fn turned_bytes(
    imp: &Implementation,
    check: &mut Check,
    rng: &mut Generator,
) -> Result<(), Diagnosis> {
    check.if_it_dies(Death::Panicked, "5.2-panics", PANICS);
    for round in 0..400 {
        let draft = files::random(rng);
        let mut bytes = draft.bytes();
        let header = bytes.len() - draft.data.len();
        let place = if round % 8 == 0 { header } else { rng.below(header) };
        bytes[place] = match rng.below(3) {
            0 => b'0' + rng.below(10) as u8,
            1 => bytes[place] ^ 1 << rng.below(8),
            _ => b"\"[]{},:-. "[rng.below(10)],
        };
        let called = words(&bytes, &format!("byte {place} turned"));
        let answer = check.call(called.as_str(), || (imp.read_header)(&bytes))?;
        if place == header && answer.as_ref() != Ok(&draft.tensors) {
            let diagnosis = Diagnosis::new("5.2-looks-at-data").called(called).thought(DATA);
            return Err(diagnosis.got(shown(&answer)).expected(shown(&Ok(draft.tensors))));
        }
    }
    Ok(())
}

/// A file for people: what it is, its length and its header.
fn words(bytes: &[u8], what: &str) -> String {
    let header = bytes.get(8..).unwrap_or_default();
    let length = bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk));
    let shown = header.get(..length.min(1 << 20) as usize).unwrap_or(header);
    let text: String = String::from_utf8_lossy(shown).chars().take(300).collect();
    format!("read_header(file), {what}; {} bytes, header length {length}:\n{text}", bytes.len())
}

fn shown(answer: &Answer) -> String {
    match answer {
        Err(Refusal { problem, name }) => format!("Err: {problem:?}, name {name:?}"),
        Ok(tensors) => {
            let row = |it: &TensorInfo| {
                let TensorInfo { name, dtype, shape, start, end } = it;
                format!("\n{name:?} {dtype} {shape:?} from {start} to {end}")
            };
            format!("Ok:{}", tensors.iter().map(row).collect::<String>())
        }
    }
}

const REFUSES_ALL: &str = "A plain good file was refused. The first 8 bytes are the length of the \
    header with the lowest byte first, and the data begin directly behind the header.";
const OF_THE_FILE: &str = "A plain good file was refused for the place of its tensors. Their \
    offsets count from where the data begin, not from the beginning of the file: the first tensor \
    begins at 0, and the last one ends at the length of the data.";
const IN_THE_ROW: &str = "A name stands twice, and the gap or the overlap that this leaves in the \
    row was named. Whoever mends the offsets has two tensors of one name: the names are compared \
    before the row is, and before they go into a map.";
const HEADER_ORDER: &str = "The tensors were compared with their neighbours in the header. They \
    stand there in any order: sort them by their offsets first.";
const SCALAR: &str = "A scalar was refused. The shape [] is one element: the product of no \
    numbers is 1.";
const NONE: &str = "A file without tensors was refused. Its header is {}, and that breaks no rule.";
const EMPTY: &str = "A tensor with a size of 0 was refused. It has no bytes, and its start is \
    its end.";
const SORTED_BY_START: &str = "An empty tensor begins where a full one begins, and was put \
    behind it. Sort by start and end: the empty one comes first.";
const METADATA: &str = "`__metadata__` was taken for a tensor. It holds what programs write for \
    each other, and is not in the answer.";
const KEPT_BACK: &str = "A tensor was left out for the underscores of its name. One name alone is \
    none of a tensor's: `__metadata__`.";
const ANSWER_ORDER: &str = "All tensors are there, in another order than in the header.";
const ABSOLUTE: &str = "The offsets were counted from the beginning of the file. In the header \
    they count from the end of the header, and so in the answer.";
const ANOTHER: &str = "The file is refused, and another rule is named than the one that it \
    breaks. Who is to mend the file looks at the wrong place then.";
const ANOTHER_NAME: &str = "The rule is right. The name is that of the tensor that breaks it, \
    `__metadata__`, or empty if it is the file as a whole.";
const PANICS: &str = "A single byte of a good file was changed, and reading it panics. Whatever \
    the header says, the answer is `Ok` or `Err`.";
const DATA: &str = "Only a byte of the data was changed. The header says nothing about it.";
