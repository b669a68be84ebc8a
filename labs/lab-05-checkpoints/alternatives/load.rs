//! Other right ways to load: 5.3.

use std::collections::{BTreeMap, HashMap};

use super::super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::{Other, other};

type Answer = Result<Vec<Placed>, Vec<Complaint>>;

pub fn alternatives() -> Vec<Other> {
    vec![
        other("5.3", "maps by name", |table| table.load = with_maps),
        other("5.3", "a new model, taken over at the end", |table| table.load = with_copy),
    ]
}

fn with_maps(
    model: &mut [Slot],
    file: &[Saved],
    map: &MapLocation,
    here: &[String],
    strict: bool,
) -> Answer {
    let by_name: BTreeMap<&str, &Saved> = file.iter().map(|it| (it.name.as_str(), it)).collect();
    let slots: BTreeMap<&str, &Slot> = model.iter().map(|it| (it.name.as_str(), it)).collect();
    let mut complaints = Vec::new();
    for (name, saved) in &by_name {
        match slots.get(name) {
            Some(slot) if slot.shape == saved.shape => {}
            Some(slot) => complaints.push(Complaint::Mismatch {
                name: name.to_string(),
                model: slot.shape.clone(),
                file: saved.shape.clone(),
            }),
            None if strict => complaints.push(Complaint::Unexpected(name.to_string())),
            None => {}
        }
    }
    if strict {
        let missing = slots.keys().filter(|name| !by_name.contains_key(*name));
        complaints.extend(missing.map(|name| Complaint::Missing(name.to_string())));
    }
    let table = places(file, map);
    let mut placed = Vec::new();
    for (name, saved) in &by_name {
        let to = *table.get(&saved.device).unwrap_or(&&saved.device);
        let (name, device) = (name.to_string(), to.clone());
        if here.iter().any(|it| it == to) {
            placed.push(Placed { name, device });
        } else {
            complaints.push(Complaint::NoDevice { name, device });
        }
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    for slot in model.iter_mut() {
        if let Some(saved) = by_name.get(slot.name.as_str()) {
            slot.values.copy_from_slice(&saved.values);
        }
    }
    Ok(placed)
}

/// The new device of each device in the file that gets another one.
fn places<'a>(file: &'a [Saved], map: &'a MapLocation) -> HashMap<&'a String, &'a String> {
    match map {
        MapLocation::Table(pairs) => pairs.iter().map(|(from, to)| (from, to)).collect(),
        MapLocation::Device(to) => file.iter().map(|it| (&it.device, to)).collect(),
        MapLocation::Saved => HashMap::new(),
    }
}

fn with_copy(
    model: &mut [Slot],
    file: &[Saved],
    map: &MapLocation,
    here: &[String],
    strict: bool,
) -> Answer {
    let mut next = model.to_vec();
    let mut left = Vec::new();
    let mut placed = Vec::new();
    let mut found = vec![false; model.len()];
    for saved in file {
        let (name, device) = (saved.name.clone(), place_of(saved, map));
        match here.contains(&device) {
            true => placed.push(Placed { name, device }),
            false => left.push(Complaint::NoDevice { name, device }),
        }
        let Some(i) = model.iter().position(|slot| slot.name == saved.name) else {
            if strict {
                left.push(Complaint::Unexpected(saved.name.clone()));
            }
            continue;
        };
        found[i] = true;
        let (name, model, file) = (saved.name.clone(), next[i].shape.clone(), saved.shape.clone());
        if model == file {
            next[i].values.clone_from(&saved.values);
        } else {
            left.push(Complaint::Mismatch { name, model, file });
        }
    }
    for (slot, found) in model.iter().zip(found) {
        if strict && !found {
            left.push(Complaint::Missing(slot.name.clone()));
        }
    }
    if left.is_empty() {
        model.clone_from_slice(&next);
        return Ok(placed);
    }
    Err(left)
}

fn place_of(saved: &Saved, map: &MapLocation) -> String {
    let mut device = saved.device.as_str();
    if let MapLocation::Device(to) = map {
        device = to;
    }
    if let MapLocation::Table(pairs) = map {
        for (from, to) in pairs {
            if *from == saved.device {
                device = to;
            }
        }
    }
    device.to_string()
}
