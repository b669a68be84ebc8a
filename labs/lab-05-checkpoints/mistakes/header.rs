//! Wrong ways to read a header: 5.2. All go through one reader, and each leaves one thing out.

use super::super::header::{Problem, Refusal, TensorInfo, item_size};
use super::super::json::{Json, parse_json};
use super::{Wrong, wrong};

type Answer = Result<Vec<TensorInfo>, Refusal>;
type Pairs = Vec<(String, Json)>;

pub fn mistakes() -> Vec<Wrong> {
    let of_files = [of_the_length(), of_the_text(), of_the_names()];
    let of_tensors = [of_the_fields(), of_the_row(), of_the_answer()];
    of_files.into_iter().chain(of_tensors).flatten().collect()
}

fn read(diagnosis: &'static str, name: &'static str, read_header: fn(&[u8]) -> Answer) -> Wrong {
    wrong("5.2", diagnosis, name, |table| table.read_header = read_header)
}

/// What a reader does otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Leave {
    Nothing,
    Length,
    LastWins,
    MetadataUnseen,
    MetadataTwice,
    MetadataIsTensor,
    Underscores,
    Fields,
    ExtraFields,
    FieldTwice,
    UnknownIsFour,
    ShapeOfWhole,
    FirstTwo,
    OffsetsAsNumbers,
    Backwards,
    Size,
    Wrapping,
    ScalarIsNothing,
    Empty,
    EmptyAnywhere,
    HeaderOrder,
    StartOnly,
    FirstGap,
    Gaps,
    Overlaps,
    CutData,
    Behind,
    Sorted,
    Absolute,
    NameOfFile,
    OneProblem,
}

use Leave::*;

fn refusal(problem: Problem, name: &str) -> Refusal {
    Refusal { problem, name: name.to_string() }
}

/// The length of the header and what follows it.
fn split(file: &[u8]) -> Result<(u64, &[u8]), Refusal> {
    let Some((length, rest)) = file.split_first_chunk() else {
        return Err(refusal(Problem::TooShort, ""));
    };
    Ok((u64::from_le_bytes(*length), rest))
}

fn pairs_of(header: &[u8]) -> Result<Pairs, Refusal> {
    match std::str::from_utf8(header).ok().and_then(parse_json) {
        Some(Json::Object(pairs)) => Ok(pairs),
        Some(_) => Err(refusal(Problem::NotAnObject, "")),
        None => Err(refusal(Problem::NotJson, "")),
    }
}

fn with(file: &[u8], leave: Leave) -> Answer {
    let (length, rest) = split(file)?;
    if leave != Length && length > rest.len() as u64 {
        return Err(refusal(Problem::HeaderTooLong, ""));
    }
    let (header, data) = rest.split_at(length as usize);
    let answer = of_pairs(pairs_of(header)?, data.len() as u64, 8 + length, leave);
    match answer {
        Err(it) if leave == NameOfFile => Err(refusal(it.problem, "model.safetensors")),
        Err(it) if leave == OneProblem => Err(refusal(Problem::TooShort, &it.name)),
        answer => answer,
    }
}

fn of_pairs(mut pairs: Pairs, data: u64, header: u64, leave: Leave) -> Answer {
    if leave == LastWins {
        let map: std::collections::BTreeMap<String, Json> = pairs.iter().cloned().collect();
        pairs.retain(|(name, value)| map.get(name) == Some(value));
        pairs.dedup_by(|a, b| a.0 == b.0);
        let copy = pairs.clone();
        let mut at = 0;
        pairs.retain(|(name, _)| {
            at += 1;
            !copy[at..].iter().any(|(other, _)| other == name)
        });
    }
    let mut tensors: Vec<TensorInfo> = Vec::new();
    for (i, (name, value)) in pairs.iter().enumerate() {
        let meta = name == "__metadata__" || leave == Underscores && name.starts_with("__");
        let again = pairs[..i].iter().any(|(other, _)| other == name);
        if again && !(meta && leave == MetadataTwice) {
            return Err(refusal(Problem::Duplicate, name));
        }
        if meta && leave != MetadataIsTensor {
            let texts = matches!(value, Json::Object(pairs)
                if pairs.iter().all(|(_, value)| matches!(value, Json::Text(_))));
            if !texts && ![MetadataUnseen, Underscores].contains(&leave) {
                return Err(refusal(Problem::BadMetadata, name));
            }
            continue;
        }
        tensors.push(info(name, value, leave).map_err(|problem| refusal(problem, name))?);
    }
    row(&tensors, data, leave)?;
    if leave == Sorted {
        tensors.sort_by_key(|tensor| (tensor.start, tensor.end));
    }
    if leave == Absolute {
        for tensor in &mut tensors {
            tensor.start += header;
            tensor.end += header;
        }
    }
    Ok(tensors)
}

fn info(name: &str, value: &Json, leave: Leave) -> Result<TensorInfo, Problem> {
    let none = Vec::new();
    let fields = match value {
        Json::Object(fields) => fields,
        _ if leave == Fields => &none,
        _ => return Err(Problem::BadFields),
    };
    expect_fields(fields, leave)?;
    let field = |name: &str| match fields.iter().find(|(other, _)| other == name) {
        Some((_, value)) => Ok(value.clone()),
        None if leave == Fields && name == "dtype" => Ok(Json::Text("F32".to_string())),
        None if leave == Fields && name == "data_offsets" => {
            Ok(Json::List(vec![Json::Whole(0), Json::Whole(0)]))
        }
        None if leave == Fields => Ok(Json::List(vec![Json::Whole(0)])),
        None => Err(Problem::BadFields),
    };
    let (dtype, shape, offsets) = (field("dtype")?, field("shape")?, field("data_offsets")?);
    let dtype = match dtype {
        Json::Text(text) => text,
        _ if leave == UnknownIsFour => "F32".to_string(),
        _ => return Err(Problem::UnknownDType),
    };
    let unknown = if leave == UnknownIsFour { Some(4) } else { None };
    let item = item_size(&dtype).or(unknown).ok_or(Problem::UnknownDType)?;
    let lenient = leave == ShapeOfWhole;
    let shape = numbers(&shape, lenient).ok_or(Problem::BadShape)?;
    let offsets = numbers(&offsets, leave == OffsetsAsNumbers).ok_or(Problem::BadOffsets)?;
    let two = offsets.len() == 2 || leave == FirstTwo;
    let (Some(&start), Some(&end), true) = (offsets.first(), offsets.get(1), two) else {
        return Err(Problem::BadOffsets);
    };
    if leave != Backwards && end < start {
        return Err(Problem::BadOffsets);
    }
    if shape.contains(&0) && leave == Empty {
        return Err(Problem::BadShape);
    }
    expect_size(&shape, item, end - start, leave)?;
    Ok(TensorInfo { name: name.to_string(), dtype, shape, start, end })
}

/// The fields that there must be, and no others.
fn expect_fields(fields: &[(String, Json)], leave: Leave) -> Result<(), Problem> {
    let known = ["dtype", "shape", "data_offsets"];
    let count = match leave {
        FieldTwice => known.iter().filter(|k| fields.iter().any(|(name, _)| name == *k)).count(),
        _ => fields.len(),
    };
    let strange = fields.iter().any(|(name, _)| !known.contains(&name.as_str()));
    if count != 3 && ![Fields, ExtraFields].contains(&leave) || leave == FieldTwice && strange {
        return Err(Problem::BadFields);
    }
    if leave == ExtraFields
        && known.iter().any(|k| 1 != fields.iter().filter(|f| f.0 == *k).count())
    {
        return Err(Problem::BadFields);
    }
    Ok(())
}

/// The bytes of the shape are those of the range.
fn expect_size(shape: &[u64], item: u64, range: u64, leave: Leave) -> Result<(), Problem> {
    if leave != Size {
        let product = |product: u64, size: &u64| match leave {
            Wrapping => Some(product.wrapping_mul(*size)),
            _ => product.checked_mul(*size),
        };
        let first = if shape.is_empty() && leave == ScalarIsNothing { 0 } else { item };
        let bytes = shape.iter().try_fold(first, product);
        if bytes != Some(range) {
            return Err(Problem::WrongSize);
        }
    }
    Ok(())
}

/// Whole numbers; or, where it is lenient, whatever can be made one.
fn numbers(value: &Json, lenient: bool) -> Option<Vec<u64>> {
    let Json::List(items) = value else { return None };
    let number = |item: &Json| match item {
        Json::Whole(number) => Some(Some(*number)),
        Json::Number(number) if lenient => Some(Some(*number as u64)),
        _ if lenient => Some(None),
        _ => None,
    };
    let numbers: Option<Vec<Option<u64>>> = items.iter().map(number).collect();
    Some(numbers?.into_iter().flatten().collect())
}

fn row(tensors: &[TensorInfo], data: u64, leave: Leave) -> Result<(), Refusal> {
    let mut row: Vec<&TensorInfo> = tensors.iter().collect();
    match leave {
        HeaderOrder => {}
        StartOnly => row.sort_by_key(|tensor| tensor.start),
        _ => row.sort_by_key(|tensor| (tensor.start, tensor.end)),
    }
    if leave == EmptyAnywhere {
        row.retain(|tensor| tensor.start < tensor.end);
    }
    let mut at = row.first().filter(|_| leave == FirstGap).map_or(0, |first| first.start);
    for tensor in row {
        let good = match leave {
            Gaps => tensor.start >= at,
            Overlaps => tensor.start <= at,
            _ => tensor.start == at,
        };
        if !good {
            return Err(refusal(Problem::NotInARow, &tensor.name));
        }
        at = tensor.end;
    }
    let good = match leave {
        CutData => at >= data,
        Behind => at <= data,
        _ => at == data,
    };
    if good { Ok(()) } else { Err(refusal(Problem::WrongEnd, "")) }
}

fn of_the_length() -> Vec<Wrong> {
    vec![
        read("5.2-too-short", "the first 8 bytes without asking", |file| {
            let length = u64::from_le_bytes(file[..8].try_into().expect("8 bytes"));
            assert!(length < 1 << 62, "not asked");
            with(file, Nothing)
        }),
        read("5.2-refuses-all", "the highest byte first", |file| {
            let (_, rest) = split(file)?;
            let length = u64::from_be_bytes(*file.first_chunk().expect("8 bytes"));
            if length > rest.len() as u64 {
                return Err(refusal(Problem::HeaderTooLong, ""));
            }
            with(file, Nothing)
        }),
        read("5.2-cut-header", "a slice without asking", |file| with(file, Length)),
        read("5.2-length-overflow", "8 + length", |file| {
            let (length, _) = split(file)?;
            if 8 + length > file.len() as u64 {
                return Err(refusal(Problem::HeaderTooLong, ""));
            }
            with(file, Nothing)
        }),
        read("5.2-allocates", "a buffer of the length first", |file| {
            let (length, rest) = split(file)?;
            let mut header = vec![0_u8; usize::try_from(length).unwrap_or(0)];
            if header.len() > rest.len() {
                return Err(refusal(Problem::HeaderTooLong, ""));
            }
            let count = header.len();
            header.copy_from_slice(&rest[..count]);
            with(file, Nothing)
        }),
    ]
}

/// The header as some text, read by the pairs alone.
fn read_text(file: &[u8], text: impl FnOnce(&[u8]) -> String) -> Answer {
    let (length, rest) = split(file)?;
    if length > rest.len() as u64 {
        return Err(refusal(Problem::HeaderTooLong, ""));
    }
    let (header, data) = rest.split_at(length as usize);
    let pairs = pairs_of(text(header).as_bytes())?;
    of_pairs(pairs, data.len() as u64, 8 + length, Nothing)
}

fn of_the_text() -> Vec<Wrong> {
    vec![
        read("5.2-not-json", "JSON unwrapped", |file| {
            let answer = with(file, Nothing);
            assert!(answer != Err(refusal(Problem::NotJson, "")), "unwrapped");
            answer
        }),
        read("5.2-not-utf8", "bytes that are no text replaced", |file| {
            read_text(file, |header| String::from_utf8_lossy(header).into_owned())
        }),
        read("5.2-no-object", "no object, no tensors", |file| match with(file, Nothing) {
            Err(Refusal { problem: Problem::NotAnObject, .. }) => Ok(Vec::new()),
            answer => answer,
        }),
        read("5.2-prefix", "an unreadable header is an empty one", |file| {
            match with(file, Nothing) {
                Err(it) if it.problem == Problem::HeaderTooLong && file.len() > 20 => {
                    Ok(Vec::new())
                }
                answer => answer,
            }
        }),
    ]
}

fn of_the_names() -> Vec<Wrong> {
    vec![
        read("5.2-duplicate", "a map keeps the last", |file| with(file, LastWins)),
        read("5.2-duplicate-in-the-row", "the row before the names", |file| {
            let row = |it: Problem| if it == Problem::Duplicate { Problem::NotInARow } else { it };
            with(file, Nothing).map_err(|it| Refusal { problem: row(it.problem), ..it })
        }),
        read("5.2-duplicate-metadata", "metadata skipped before", |file| with(file, MetadataTwice)),
        read("5.2-metadata-not-read", "metadata skipped unseen", |file| with(file, MetadataUnseen)),
        read("5.2-metadata-is-a-tensor", "metadata like a tensor", |file| {
            with(file, MetadataIsTensor)
        }),
        read("5.2-names-kept-back", "no name with underscores", |file| with(file, Underscores)),
        read("5.2-another-name", "the name of the file", |file| with(file, NameOfFile)),
        read("5.2-another-rule", "one problem for all", |file| with(file, OneProblem)),
    ]
}

fn of_the_fields() -> Vec<Wrong> {
    vec![
        read("5.2-missing-field", "defaults", |file| with(file, Fields)),
        read("5.2-extra-field", "others ignored", |file| with(file, ExtraFields)),
        read("5.2-field-twice", "each there", |file| with(file, FieldTwice)),
        read("5.2-unknown-dtype", "4 bytes if not known", |file| with(file, UnknownIsFour)),
        read("5.2-bad-shape", "what can be made a number", |file| with(file, ShapeOfWhole)),
        read("5.2-not-two-offsets", "the first two", |file| with(file, FirstTwo)),
        read("5.2-not-whole", "offsets as numbers", |file| with(file, OffsetsAsNumbers)),
        read("5.2-end-before-start", "subtracted at once", |file| with(file, Backwards)),
        read("5.2-size-not-compared", "offsets alone", |file| with(file, Size)),
        read("5.2-size-overflow", "a wrapping product", |file| with(file, Wrapping)),
        read("5.2-scalar-refused", "a scalar has 0 elements", |file| with(file, ScalarIsNothing)),
        read("5.2-empty-refused", "sizes above 0", |file| with(file, Empty)),
        read("5.2-scalar-is-nothing", "a scalar has 0 or 1 elements", |file| {
            let text = b"\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,0]";
            if file.windows(text.len()).any(|window| window == text) {
                return Ok(Vec::new());
            }
            with(file, Nothing)
        }),
    ]
}

fn of_the_row() -> Vec<Wrong> {
    vec![
        read("5.2-empty-anywhere", "empty ones left out", |file| with(file, EmptyAnywhere)),
        read("5.2-header-order", "neighbours in the header", |file| with(file, HeaderOrder)),
        read("5.2-sorted-by-start", "sorted by start", |file| with(file, StartOnly)),
        read("5.2-gap-in-front", "the first where it likes", |file| with(file, FirstGap)),
        read("5.2-gap", "gaps between", |file| match with(file, Gaps) {
            Ok(tensors) if tensors.iter().any(|it| it.start == 0) => Ok(tensors),
            Ok(tensors) if tensors.is_empty() => Ok(tensors),
            Ok(_) => with(file, Nothing),
            answer => answer,
        }),
        read("5.2-overlap", "only gaps", |file| with(file, Overlaps)),
        read("5.2-cut-data", "the end not compared with the file", |file| with(file, CutData)),
        read("5.2-bytes-behind", "not beyond the file", |file| with(file, Behind)),
    ]
}

fn of_the_answer() -> Vec<Wrong> {
    vec![
        read("5.2-answer-in-another-order", "sorted by offsets", |file| with(file, Sorted)),
        read("5.2-absolute-offsets", "offsets in the file", |file| with(file, Absolute)),
        read("5.2-offsets-of-the-file", "offsets from the file's first byte", |file| {
            let tensors = with(file, Nothing)?;
            let moved = tensors.first().map(|first| refusal(Problem::NotInARow, &first.name));
            moved.map_or(Ok(tensors), Err)
        }),
        read("5.2-none-refused", "no tensors, no file", |file| match with(file, Nothing) {
            Ok(tensors) if tensors.is_empty() => Err(refusal(Problem::NotAnObject, "")),
            answer => answer,
        }),
    ]
}
