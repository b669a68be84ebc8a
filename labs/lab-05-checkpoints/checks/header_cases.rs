//! Files for 5.2 that break one rule, each with what it means if the rule is not seen.

use engine_room::rng::Generator;

use super::super::header::{Problem, TensorInfo};
use super::header_files::{self as files, Draft};

/// A file that must be refused.
pub struct Bad {
    /// What is wrong with it, for people.
    pub what: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Refusals that name a rule that it breaks.
    pub right: Vec<Problem>,
    /// Whose name may stand in the refusal.
    pub names: Vec<String>,
    /// The key and the words if it is accepted, or if reading it does not end well.
    pub missed: (&'static str, &'static str),
}

/// All of them, the plainest first.
pub fn all(rng: &mut Generator) -> Vec<Bad> {
    let mut all = lengths(rng);
    all.extend(texts(rng));
    all.extend(fields(rng));
    all.extend(numbers(rng));
    all.extend(sizes(rng));
    all.extend(rows(rng));
    all.extend(ends(rng));
    all
}

fn bad(what: &str, problem: Problem, missed: (&'static str, &'static str), bytes: Vec<u8>) -> Bad {
    let what = what.to_string();
    Bad { what, bytes, right: vec![problem], names: vec![String::new()], missed }
}

/// A good file of which one tensor is changed.
fn broken(
    rng: &mut Generator,
    what: &str,
    problem: Problem,
    missed: (&'static str, &'static str),
    change: impl FnOnce(&mut Draft, usize),
) -> Bad {
    let mut draft = files::random(rng);
    let i = rng.below(draft.tensors.len());
    let name = draft.tensors[i].name.clone();
    change(&mut draft, i);
    let what = format!("{what}, tensor {name}");
    Bad { names: vec![name], ..bad(&what, problem, missed, draft.bytes()) }
}

fn lengths(rng: &mut Generator) -> Vec<Bad> {
    let short = |n: usize| {
        let bytes = vec![2; n];
        bad(&format!("{n} bytes in all"), Problem::TooShort, ("5.2-too-short", TOO_SHORT), bytes)
    };
    let long = |length: u64| {
        let what = format!("a length of {length}, and 2 bytes behind it");
        let missed = match length {
            0..1000 => ("5.2-cut-header", CUT_HEADER),
            1000..0x7fff_ffff_ffff_0000 => ("5.2-allocates", ALLOCATES),
            _ => ("5.2-length-overflow", LENGTH_OVERFLOW),
        };
        bad(&what, Problem::HeaderTooLong, missed, files::raw(length, b"{}", &[]))
    };
    let one_more = 3 + rng.below(90) as u64;
    let mut all: Vec<Bad> = [0, 7, 1 + rng.below(6)].map(short).into();
    all.extend([3, one_more, 90_000_000, 100_000_001, 1 << 40, 1 << 63].map(long));
    all.extend([u64::MAX, u64::MAX - 4, u64::MAX - 7, u64::MAX - 8].map(long));
    all
}

fn texts(rng: &mut Generator) -> Vec<Bad> {
    let not_json = ("5.2-not-json", NOT_JSON);
    let no_object = ("5.2-no-object", NO_OBJECT);
    let mut all = Vec::new();
    let good = files::random(rng).bytes();
    let length = u64::from_le_bytes(*good.first_chunk().expect("a good file has its length"));
    let end = 8 + length as usize;
    let header = String::from_utf8_lossy(&good[8..end]).into_owned();
    let mut cut = good.clone();
    cut[..8].copy_from_slice(&(length - 1).to_le_bytes());
    all.push(bad("a length that is 1 too small", Problem::NotJson, not_json, cut));
    for (what, text) in [
        ("a header of 0 bytes", String::new()),
        ("a comma behind the last pair", header.replacen("}}", "},}", 1)),
        ("a header in single quotes", header.replace('"', "'")),
        ("a header that is twice there", format!("{header}{header}")),
        ("10,000 lists in each other", "[".repeat(10_000)),
    ] {
        all.push(bad(what, Problem::NotJson, not_json, files::bytes(&text, &good[end..])));
    }
    let mut latin = good.clone();
    let letter = header.find("pt").expect("the metadata have a text");
    latin[8 + letter] = 0xff;
    let no_text = ("5.2-not-utf8", NOT_UTF8);
    all.push(bad("a byte 0xff in a text", Problem::NotJson, no_text, latin));
    for text in ["[]", "null", "17", r#""{}""#] {
        let what = format!("the header {text}");
        all.push(bad(&what, Problem::NotAnObject, no_object, files::bytes(text, &[])));
    }
    all
}

fn fields(rng: &mut Generator) -> Vec<Bad> {
    let missing = ("5.2-missing-field", MISSING_FIELD);
    let extra = ("5.2-extra-field", EXTRA_FIELD);
    let mut all = Vec::new();
    for field in ["dtype", "shape", "data_offsets"] {
        let other = format!("\"no_{field}\":");
        let what = format!("no {field}");
        all.push(broken(rng, &what, Problem::BadFields, missing, |draft, i| {
            draft.swap(i, &format!("\"{field}\":"), &other);
        }));
    }
    for value in ["null", "[1,2]", r#""F32""#, "{}"] {
        let what = format!("{value} instead of its description");
        all.push(broken(rng, &what, Problem::BadFields, missing, |draft, i| {
            draft.replace(i, value);
        }));
    }
    all.push(broken(rng, "a fourth field", Problem::BadFields, extra, |draft, i| {
        draft.swap(i, "{", r#"{"strides":[1],"#);
    }));
    for field in ["dtype", "shape", "data_offsets"] {
        let twice = ("5.2-field-twice", FIELD_TWICE);
        let what = format!("{field} twice");
        all.push(broken(rng, &what, Problem::BadFields, twice, |draft, i| {
            let value = match field {
                "dtype" => format!("\"{}\"", draft.tensors[i].dtype),
                "shape" => format!("{:?}", draft.tensors[i].shape),
                _ => format!("[{},{}]", draft.tensors[i].start, draft.tensors[i].end),
            };
            draft.swap(i, "{", &format!("{{\"{field}\":{value},"));
        }));
    }
    all.extend(metadata(rng));
    all.extend(twice(rng));
    all
}

fn metadata(rng: &mut Generator) -> Vec<Bad> {
    let mut all = Vec::new();
    for value in [r#"{"format":"pt","step":3}"#, r#"{"format":null}"#, "[]", r#""pt""#] {
        let mut draft = files::random(rng);
        draft.pairs[0] = files::metadata(value);
        let missed = ("5.2-metadata-not-read", METADATA);
        let what = format!("__metadata__ is {value}");
        let names = vec![draft.pairs[0].0.clone()];
        all.push(Bad { names, ..bad(&what, Problem::BadMetadata, missed, draft.bytes()) });
    }
    all
}

fn twice(rng: &mut Generator) -> Vec<Bad> {
    let duplicate = ("5.2-duplicate", DUPLICATE);
    let mut all = Vec::new();
    all.push(broken(rng, "described twice alike", Problem::Duplicate, duplicate, |draft, i| {
        let pair = draft.pairs[i + 1].clone();
        // Tensor i stands at i + 1, behind the metadata.
        draft.pairs.push(pair);
    }));
    all.push(broken(rng, "a name for two tensors", Problem::Duplicate, duplicate, |draft, i| {
        let mut second = draft.tensors[i].clone();
        let bytes = second.end - second.start;
        let end = draft.data.len() as u64;
        (second.start, second.end) = (end, end + bytes);
        draft.data.extend(vec![7; bytes as usize]);
        draft.pairs.extend(files::of(&[second], 0).pairs);
    }));
    let mut draft = files::random(rng);
    draft.pairs.push(files::metadata("{}"));
    let what = "__metadata__ twice";
    let names = vec!["__metadata__".to_string()];
    let missed = ("5.2-duplicate-metadata", DUPLICATE_METADATA);
    all.push(Bad { names, ..bad(what, Problem::Duplicate, missed, draft.bytes()) });
    all
}

fn numbers(rng: &mut Generator) -> Vec<Bad> {
    use Problem::{BadOffsets, BadShape, UnknownDType};
    let dtype = ("5.2-unknown-dtype", UNKNOWN_DTYPE);
    let shape = ("5.2-bad-shape", BAD_SHAPE);
    let pair = ("5.2-not-two-offsets", NOT_TWO);
    let whole = ("5.2-not-whole", NOT_WHOLE);
    let backwards = ("5.2-end-before-start", BACKWARDS);
    let mut all = Vec::new();
    for value in [r#""F33""#, r#""f32""#, r#""""#, "32", "null"] {
        let what = format!("the dtype {value}");
        let set = |draft: &mut Draft, i| draft.set(i, "dtype", value);
        all.push(broken(rng, &what, UnknownDType, dtype, set));
    }
    let beyond = "[18446744073709551616]";
    for value in ["4", "null", r#"["2"]"#, "[-1,-2]", "[2.0]", beyond, "[null]"] {
        let what = format!("the shape {value}");
        all.push(broken(rng, &what, BadShape, shape, |draft, i| draft.set(i, "shape", value)));
    }
    for value in ["[0]", "[]", "[0,4,8]", "null"] {
        let what = format!("the offsets {value}");
        let set = |draft: &mut Draft, i| draft.set(i, "data_offsets", value);
        all.push(broken(rng, &what, BadOffsets, pair, set));
    }
    for value in ["[-8,0]", "[0.0,8.0]", r#"["0","8"]"#, "[0,1e1]"] {
        let what = format!("the offsets {value}");
        let set = |draft: &mut Draft, i| draft.set(i, "data_offsets", value);
        all.push(broken(rng, &what, BadOffsets, whole, set));
    }
    all.push(broken(rng, "an end before its start", BadOffsets, backwards, |draft, i| {
        let TensorInfo { start, end, .. } = draft.tensors[i];
        draft.set(i, "data_offsets", &format!("[{end},{start}]"));
    }));
    all
}

fn sizes(rng: &mut Generator) -> Vec<Bad> {
    let size = ("5.2-size-not-compared", SIZE);
    let overflow = ("5.2-size-overflow", SIZE_OVERFLOW);
    let mut all = Vec::new();
    all.push(broken(rng, "one element too many in its shape", Problem::WrongSize, size, {
        |draft, i| {
            let mut shape = draft.tensors[i].shape.clone();
            shape[0] += 1;
            draft.set(i, "shape", &format!("{shape:?}"));
        }
    }));
    all.push(broken(rng, "the shape [1000, 1000]", Problem::WrongSize, size, |draft, i| {
        draft.set(i, "shape", "[1000,1000]");
    }));
    // Products that are 0 in 64 bits; the last with the bytes of an element.
    for (dtype, shape) in [
        ("U8", vec![1 << 32, 1 << 32]),
        ("F32", vec![1 << 30, 1 << 32]),
        ("I64", vec![1 << 61]),
        ("F32", vec![3, 1 << 62]),
    ] {
        let what = format!("{dtype} of the shape {shape:?} in 0 bytes");
        let tensor = files::info("head.weight", dtype, &shape, 0, 0);
        let names = vec![tensor.name.clone()];
        let bytes = files::of(&[tensor], 0).bytes();
        all.push(Bad { names, ..bad(&what, Problem::WrongSize, overflow, bytes) });
    }
    let scalar = files::info("step", "F32", &[], 0, 0);
    let missed = ("5.2-scalar-is-nothing", SCALAR);
    let bytes = files::of(&[scalar], 0).bytes();
    let names = vec!["step".to_string()];
    let what = "an F32 of the shape [] in 0 bytes";
    all.push(Bad { names, ..bad(what, Problem::WrongSize, missed, bytes) });
    all
}

fn rows(rng: &mut Generator) -> Vec<Bad> {
    let first_gap = ("5.2-gap-in-front", FIRST_GAP);
    let gap = ("5.2-gap", GAP);
    let overlap = ("5.2-overlap", OVERLAP);
    let mut all = Vec::new();
    for (from, missed) in [(0, first_gap), (1, gap)] {
        let mut draft = files::random(rng);
        let by = 1 + rng.below(9) as u64;
        let name = draft.tensors[draft.by_data(from)].name.clone();
        let moved: Vec<usize> =
            (from..draft.tensors.len()).map(|place| draft.by_data(place)).collect();
        for i in moved {
            draft.describe(i, |tensor| {
                tensor.start += by;
                tensor.end += by;
            });
        }
        draft.data.extend(vec![0; by as usize]);
        let what = format!("{by} bytes that are no tensor's before {name}");
        let names = vec![name];
        all.push(Bad { names, ..bad(&what, Problem::NotInARow, missed, draft.bytes()) });
    }
    for distance in 0..2 {
        let [first, second] = [("lm.weight", 0), ("embed.weight", 4 * distance)];
        let tensors = [first, second].map(|(name, at)| files::info(name, "F32", &[2], at, at + 8));
        let draft = files::of(&[tensors[1].clone(), tensors[0].clone()], 8 + 4 * distance as usize);
        let mut names = vec![second.0.to_string()];
        if distance == 0 {
            names.push(first.0.to_string());
        }
        let what = format!("two tensors of 8 bytes, the second from {}", second.1);
        all.push(Bad { names, ..bad(&what, Problem::NotInARow, overlap, draft.bytes()) });
    }
    all.extend(empty_ones());
    all
}

/// Without an element there is nothing to read, and still a place.
fn empty_ones() -> Vec<Bad> {
    let missed = ("5.2-empty-anywhere", EMPTY_ANYWHERE);
    let [full, inside] = [("w", &[2], 0, 8), ("z", &[0], 4, 4)]
        .map(|(name, shape, start, end)| files::info(name, "F32", shape, start, end));
    let alone = files::info("z", "F32", &[0], 9, 9);
    [
        ("an empty tensor at 4, inside another", files::of(&[full, inside], 8), None),
        ("an empty tensor at 9, in a file without data", files::of(&[alone], 0), {
            Some(Problem::WrongEnd)
        }),
    ]
    .map(|(what, draft, other)| {
        let mut bad = bad(what, Problem::NotInARow, missed, draft.bytes());
        bad.names = vec!["z".to_string()];
        if let Some(other) = other {
            bad.right.push(other);
            bad.names.push(String::new());
        }
        bad
    })
    .into()
}

fn ends(rng: &mut Generator) -> Vec<Bad> {
    let draft = files::random(rng);
    let cut = ("5.2-cut-data", CUT_DATA);
    let more = ("5.2-bytes-behind", BEHIND);
    let good = draft.bytes();
    let without_last = good[..good.len() - 1].to_vec();
    let one_more = [&good[..], &[0]].concat();
    let mut all = vec![
        bad("the last byte of the file is missing", Problem::WrongEnd, cut, without_last),
        bad("one byte behind the last tensor", Problem::WrongEnd, more, one_more),
        bad("a byte of data, and no tensor", Problem::WrongEnd, more, files::bytes("{}", &[0])),
    ];
    for length in 0..good.len() {
        let header = good.len() - draft.data.len();
        let problem = match length {
            0..8 => Problem::TooShort,
            _ if length < header => Problem::HeaderTooLong,
            _ => Problem::WrongEnd,
        };
        let what = format!("the first {length} of {} bytes of a file", good.len());
        all.push(bad(&what, problem, ("5.2-prefix", PREFIX), good[..length].to_vec()));
    }
    all
}

const TOO_SHORT: &str = "The first 8 bytes were read without asking whether they are there.";
const CUT_HEADER: &str = "The header is longer than what is left of the file, as it is when a \
    download has stopped. The length has to be compared with the file before it is used.";
pub const ALLOCATES: &str = "Memory was asked for because a number in the file said so. 8 bytes \
    that anybody can write must not decide that: compare the length with the file first.";
const LENGTH_OVERFLOW: &str = "8 + the length is more than 64 bits hold, so the sum panics or \
    begins anew at 0. Compare the length with what is left behind the first 8 bytes instead.";
const NOT_JSON: &str = "The header is not JSON, and the answer is `NotJson`, not a panic: \
    `parse_json` gives `None`.";
const NOT_UTF8: &str = "The bytes of the header are not UTF-8. `String::from_utf8_lossy` hides \
    that behind a replacement character; `unwrap` makes a panic of it.";
const NO_OBJECT: &str = "The header is JSON, and no object. That is an answer of its own.";
const MISSING_FIELD: &str = "A description lacks a field, or is no object. A default in its place \
    makes a tensor of a file that describes none.";
const EXTRA_FIELD: &str = "A description has a field more than the three. Whoever wrote it meant \
    something by it, and it would be read without that.";
const FIELD_TWICE: &str = "A field of a description stands twice. Two readers would take two \
    different ones.";
const METADATA: &str = "The metadata were skipped unseen. They are an object whose values are \
    texts, and programs rely on that.";
const DUPLICATE: &str = "A name stands twice, and one of the two descriptions was taken. A map \
    keeps the last of two equal keys without a word: compare the names before they go into one.";
const DUPLICATE_METADATA: &str = "`__metadata__` stands twice. It is a name of the header like \
    all others.";
const UNKNOWN_DTYPE: &str = "The type is none that is known, and a size was guessed for it or \
    asked for with `unwrap`.";
const BAD_SHAPE: &str = "Every size is a whole number, `Json::Whole`. What is negative, has a \
    point, or does not fit into 64 bits is none, and no element of the list may be left out.";
const NOT_TWO: &str = "The offsets are a list of exactly two numbers.";
const NOT_WHOLE: &str = "An offset that is no `Json::Whole` was converted or left out. -8 becomes \
    a number near 2^64, or 0.";
const BACKWARDS: &str = "The end lies before the start, and `end - start` panics or begins anew \
    at 2^64. Compare before you subtract.";
const SIZE: &str = "The shape says more or fewer bytes than lie between the offsets. Who reads \
    1000 x 1000 elements from 4 bytes reads the memory behind them.";
const SIZE_OVERFLOW: &str = "The product of the shape does not fit into 64 bits. What is left of \
    it can be any number, also the right one: multiply with `checked_mul`.";
const SCALAR: &str = "The shape [] is one element: the product of no numbers is 1.";
const FIRST_GAP: &str = "The first tensor does not begin at 0. Bytes that belong to no tensor can \
    hold anything: another file, or what was in memory when this one was written.";
const GAP: &str = "Between two tensors lie bytes that belong to none. They can hold anything: \
    another file, or what was in memory when this one was written.";
const OVERLAP: &str = "Two tensors have bytes in common. Where each is tried alone against the \
    file both are right.";
const EMPTY_ANYWHERE: &str = "An empty tensor was not asked for its place. It has no byte, but \
    its offsets stand in the row like all others.";
const CUT_DATA: &str = "The file ends before its last tensor. The loader would read behind the \
    end, or fill up with what is there.";
const BEHIND: &str = "Bytes follow behind the last tensor. Every byte of the data belongs to one.";
const PREFIX: &str = "A beginning of a good file is none: this is what a crash leaves.";
