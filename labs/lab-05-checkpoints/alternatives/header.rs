//! Other right ways to read a header: 5.2.

use std::collections::{BTreeMap, HashSet};

use super::super::header::{Problem, Refusal, TensorInfo, item_size};
use super::super::json::{Json, parse_json};
use super::{Other, other};

type Answer = Result<Vec<TensorInfo>, Refusal>;

pub fn alternatives() -> Vec<Other> {
    vec![
        other("5.2", "a set of names, a map by offsets", |table| table.read_header = by_map),
        other("5.2", "all names first, products in 128 bits", |table| table.read_header = in_turns),
    ]
}

fn refused<T>(problem: Problem, name: &str) -> Result<T, Refusal> {
    Err(Refusal { problem, name: name.to_string() })
}

/// The header as a value, and the bytes behind it.
fn parts(file: &[u8]) -> Result<(Vec<(String, Json)>, u64), Refusal> {
    if file.len() < 8 {
        return refused(Problem::TooShort, "");
    }
    let mut length: u64 = 0;
    for i in (0..8).rev() {
        length = length * 256 + u64::from(file[i]);
    }
    let rest = &file[8..];
    let Some(header) = usize::try_from(length).ok().and_then(|length| rest.get(..length)) else {
        return refused(Problem::HeaderTooLong, "");
    };
    let Ok(text) = String::from_utf8(header.to_vec()) else {
        return refused(Problem::NotJson, "");
    };
    match parse_json(&text) {
        Some(Json::Object(pairs)) => Ok((pairs, rest.len() as u64 - length)),
        None => refused(Problem::NotJson, ""),
        _ => refused(Problem::NotAnObject, ""),
    }
}

fn by_map(file: &[u8]) -> Answer {
    let (pairs, data) = parts(file)?;
    let mut names = HashSet::new();
    let mut tensors: Vec<TensorInfo> = Vec::new();
    let mut row = BTreeMap::new();
    for (name, value) in pairs {
        if !names.insert(name.clone()) {
            return refused(Problem::Duplicate, &name);
        }
        if name == "__metadata__" {
            let texts = |pairs: &[(String, Json)]| {
                pairs.iter().all(|(_, value)| matches!(value, Json::Text(_)))
            };
            match value {
                Json::Object(pairs) if texts(&pairs) => continue,
                _ => return refused(Problem::BadMetadata, &name),
            }
        }
        match described(&name, &value) {
            Ok(info) => {
                if row.insert((info.start, info.end, tensors.len()), name.clone()).is_some() {
                    return refused(Problem::NotInARow, &name);
                }
                tensors.push(info);
            }
            Err(problem) => return refused(problem, &name),
        }
    }
    let mut at = 0;
    for ((start, end, _), name) in &row {
        if *start != at {
            return refused(Problem::NotInARow, name);
        }
        at = *end;
    }
    if at == data { Ok(tensors) } else { refused(Problem::WrongEnd, "") }
}

/// Field by field, each looked at when it comes.
fn described(name: &str, value: &Json) -> Result<TensorInfo, Problem> {
    let Json::Object(fields) = value else { return Err(Problem::BadFields) };
    let mut sorted: Vec<&(String, Json)> = fields.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let [(a, offsets), (b, dtype), (c, shape)] = sorted[..] else { return Err(Problem::BadFields) };
    if (a.as_str(), b.as_str(), c.as_str()) != ("data_offsets", "dtype", "shape") {
        return Err(Problem::BadFields);
    }
    let dtype = match dtype {
        Json::Text(text) if item_size(text).is_some() => text.clone(),
        _ => return Err(Problem::UnknownDType),
    };
    let numbers = |value: &Json, problem| match value {
        Json::List(items) => items
            .iter()
            .map(|item| if let Json::Whole(number) = item { Ok(*number) } else { Err(problem) })
            .collect::<Result<Vec<u64>, Problem>>(),
        _ => Err(problem),
    };
    let shape = numbers(shape, Problem::BadShape)?;
    let offsets = numbers(offsets, Problem::BadOffsets)?;
    if offsets.len() != 2 || offsets[0] > offsets[1] {
        return Err(Problem::BadOffsets);
    }
    let elements = shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
    let bytes = elements.and_then(|count| count.checked_mul(item_size(&dtype)?));
    if bytes != Some(offsets[1] - offsets[0]) {
        return Err(Problem::WrongSize);
    }
    Ok(TensorInfo { name: name.to_string(), dtype, shape, start: offsets[0], end: offsets[1] })
}

/// Each rule for all tensors before the next rule.
fn in_turns(file: &[u8]) -> Answer {
    let (pairs, data) = parts(file)?;
    let mut names: Vec<&String> = pairs.iter().map(|(name, _)| name).collect();
    names.sort();
    if let Some(two) = names.windows(2).find(|two| two[0] == two[1]) {
        return refused(Problem::Duplicate, two[0]);
    }
    let mut tensors = Vec::new();
    for (name, value) in &pairs {
        match (name.as_str(), value) {
            ("__metadata__", Json::Object(inner)) => {
                if !inner.iter().all(|(_, value)| matches!(value, Json::Text(_))) {
                    return refused(Problem::BadMetadata, name);
                }
            }
            ("__metadata__", _) => return refused(Problem::BadMetadata, name),
            _ => match described(name, value) {
                Ok(info) => tensors.push(info),
                Err(problem) => return refused(problem, name),
            },
        }
    }
    let mut left: Vec<TensorInfo> = tensors.clone();
    let mut at = 0;
    while !left.is_empty() {
        // An empty one first, since it does not move the place.
        let next = left.iter().enumerate().filter(|(_, it)| it.start == at);
        let Some((i, _)) = next.min_by_key(|(_, it)| it.end) else {
            let first = left.iter().min_by_key(|it| (it.start, it.end));
            return refused(Problem::NotInARow, first.map_or("", |it| it.name.as_str()));
        };
        at = left.remove(i).end;
    }
    if at != data {
        return refused(Problem::WrongEnd, "");
    }
    Ok(tensors)
}
