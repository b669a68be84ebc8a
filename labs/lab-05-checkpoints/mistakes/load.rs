//! Wrong ways to load: 5.3. Each is the right one with a step of it changed.

use std::collections::BTreeSet;

use super::super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::super::solution::load as right;
use super::{Wrong, wrong};

type Answer = Result<Vec<Placed>, Vec<Complaint>>;
type Load = fn(&mut [Slot], &[Saved], &MapLocation, &[String], bool) -> Answer;

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_report();
    all.extend(of_the_kinds());
    all.extend(of_the_copy());
    all.extend(of_strict());
    all.extend(of_shapes());
    all.extend(of_devices());
    all.extend(of_places());
    all.extend(of_the_table());
    all
}

fn loads(diagnosis: &'static str, name: &'static str, load: Load) -> Wrong {
    wrong("5.3", diagnosis, name, |table| table.load = load)
}

/// The complaints of the right answer, without changing anything.
fn complaints(
    model: &[Slot],
    file: &[Saved],
    map: &MapLocation,
    here: &[String],
    strict: bool,
) -> Vec<Complaint> {
    right(&mut model.to_vec(), file, map, here, strict).err().unwrap_or_default()
}

fn is_name(complaint: &Complaint) -> bool {
    matches!(complaint, Complaint::Missing(_) | Complaint::Unexpected(_))
}

fn has(here: &[String], device: &str) -> bool {
    here.iter().any(|it| it == device)
}

/// Loads where the complaints that are left are none.
fn unless(left: Vec<Complaint>, model: &mut [Slot], file: &[Saved], map: &MapLocation) -> Answer {
    if !left.is_empty() {
        return Err(left);
    }
    copy_fitting(model, file);
    Ok(places(file, map))
}

fn places(file: &[Saved], map: &MapLocation) -> Vec<Placed> {
    let place = |saved: &Saved| Placed { name: saved.name.clone(), device: target(saved, map) };
    file.iter().map(place).collect()
}

fn target(saved: &Saved, map: &MapLocation) -> String {
    match map {
        MapLocation::Saved => saved.device.clone(),
        MapLocation::Device(to) => to.clone(),
        MapLocation::Table(pairs) => {
            let pair = pairs.iter().find(|(from, _)| *from == saved.device);
            pair.map_or(saved.device.clone(), |(_, to)| to.clone())
        }
    }
}

fn copy_fitting(model: &mut [Slot], file: &[Saved]) {
    for slot in model {
        for saved in file {
            if saved.name == slot.name && saved.shape == slot.shape {
                slot.values = saved.values.clone();
            }
        }
    }
}

fn of_the_report() -> Vec<Wrong> {
    vec![loads(
        "5.3-one-kind",
        "missing ones returned at once",
        |model, file, map, here, strict| {
            right(model, file, map, here, strict).map_err(|all| {
                let missing = |it: &Complaint| matches!(it, Complaint::Missing(_));
                let some = all.iter().any(missing);
                all.into_iter().filter(|it| !some || missing(it)).collect()
            })
        },
    )]
}

fn of_the_kinds() -> Vec<Wrong> {
    vec![
        loads(
            "5.3-names-hide-shapes",
            "names returned at once",
            |model, file, map, here, strict| {
                right(model, file, map, here, strict).map_err(|all| {
                    let some = all.iter().any(is_name);
                    let shape = |it: &Complaint| matches!(it, Complaint::Mismatch { .. });
                    all.into_iter().filter(|it| !some || !shape(it)).collect()
                })
            },
        ),
        loads("5.3-shapes-exchanged", "file and model", |model, file, map, here, strict| {
            let exchanged = |it| match it {
                Complaint::Mismatch { name, model, file } => {
                    Complaint::Mismatch { name, model: file, file: model }
                }
                it => it,
            };
            right(model, file, map, here, strict)
                .map_err(|all| all.into_iter().map(exchanged).collect())
        }),
    ]
}

fn of_the_copy() -> Vec<Wrong> {
    vec![
        loads("5.3-changed-on-error", "copied on the way", |model, file, map, here, strict| {
            let answer = right(&mut model.to_vec(), file, map, here, strict);
            copy_fitting(model, file);
            answer
        }),
        loads("5.3-copied-before-compared", "copied by name", |model, file, map, here, strict| {
            let answer = right(&mut model.to_vec(), file, map, here, strict);
            for slot in model {
                if let Some(saved) = file.iter().find(|saved| saved.name == slot.name) {
                    slot.values.clone_from(&saved.values);
                }
            }
            answer
        }),
        loads("5.3-not-copied", "into a copy of the model", |model, file, map, here, strict| {
            right(&mut model.to_vec(), file, map, here, strict)
        }),
        loads("5.3-matched-by-place", "zip", |model, file, map, here, strict| {
            let before = model.to_vec();
            let answer = right(model, file, map, here, strict)?;
            for (i, slot) in model.iter_mut().enumerate() {
                slot.values.clone_from(&before[i].values);
                if let Some(saved) = file.get(i).filter(|saved| saved.shape == slot.shape) {
                    slot.values.clone_from(&saved.values);
                }
            }
            Ok(answer)
        }),
        loads("5.3-panics", "copy_from_slice", |model, file, map, here, strict| {
            for slot in model.to_vec().iter_mut() {
                if let Some(saved) = file.iter().find(|saved| saved.name == slot.name) {
                    slot.values.copy_from_slice(&saved.values);
                }
            }
            right(model, file, map, here, strict)
        }),
    ]
}

fn of_strict() -> Vec<Wrong> {
    vec![
        loads("5.3-always-strict", "strict not looked at", |model, file, map, here, _| {
            right(model, file, map, here, true)
        }),
        loads("5.3-never-strict", "names are nobody's concern", |model, file, map, here, _| {
            right(model, file, map, here, false)
        }),
        loads("5.3-missing-always", "missing ones always", |model, file, map, here, strict| {
            let mut left = complaints(model, file, map, here, true);
            left.retain(|it| strict || !matches!(it, Complaint::Unexpected(_)));
            unless(left, model, file, map)
        }),
        loads(
            "5.3-unexpected-always",
            "unexpected ones always",
            |model, file, map, here, strict| {
                let mut left = complaints(model, file, map, here, true);
                left.retain(|it| strict || !matches!(it, Complaint::Missing(_)));
                unless(left, model, file, map)
            },
        ),
        loads("5.3-devices-if-strict", "devices if strict", |model, file, map, here, strict| {
            let mut left = complaints(model, file, map, here, strict);
            left.retain(|it| strict || !matches!(it, Complaint::NoDevice { .. }));
            unless(left, model, file, map)
        }),
    ]
}

/// Compares shapes otherwise, and copies what is taken for equal.
fn by(
    fits: fn(&Slot, &Saved) -> bool,
    model: &mut [Slot],
    file: &[Saved],
    (map, here, strict): (&MapLocation, &[String], bool),
) -> Answer {
    let mut left = complaints(model, file, map, here, strict);
    let pair = |name: &String| {
        let slot = model.iter().find(|slot| slot.name == *name);
        slot.zip(file.iter().find(|saved| saved.name == *name))
    };
    left.retain(|it| match it {
        Complaint::Mismatch { name, .. } => !pair(name).is_some_and(|(a, b)| fits(a, b)),
        _ => true,
    });
    if !left.is_empty() {
        return Err(left);
    }
    for slot in model {
        if let Some(saved) = file.iter().find(|saved| saved.name == slot.name) {
            if saved.values.len() == slot.values.len() {
                slot.values.clone_from(&saved.values);
            } else {
                slot.values.fill(saved.values[0]);
            }
        }
    }
    Ok(places(file, map))
}

fn of_shapes() -> Vec<Wrong> {
    vec![loads("5.3-same-count", "as many elements", |model, file, map, here, strict| {
        let same = |slot: &Slot, saved: &Saved| slot.values.len() == saved.values.len();
        by(same, model, file, (map, here, strict))
    })]
}

fn of_devices() -> Vec<Wrong> {
    vec![
        loads("5.3-devices-unseen", "no device asked for", |model, file, map, here, strict| {
            let mut left = complaints(model, file, map, here, strict);
            left.retain(|it| !matches!(it, Complaint::NoDevice { .. }));
            unless(left, model, file, map)
        }),
        loads(
            "5.3-unexpected-not-placed",
            "only what is needed",
            |model, file, map, here, strict| {
                let known: Vec<Saved> = file
                    .iter()
                    .filter(|saved| model.iter().any(|slot| slot.name == saved.name))
                    .cloned()
                    .collect();
                let unexpected = file.iter().filter(|saved| !known.contains(saved));
                let unexpected = unexpected.map(|it| Complaint::Unexpected(it.name.clone()));
                let mut left = complaints(model, &known, map, here, strict);
                if strict {
                    left.extend(unexpected);
                }
                unless(left, model, &known, map)
            },
        ),
    ]
}

fn of_places() -> Vec<Wrong> {
    vec![
        loads("5.3-each-device-once", "a set of devices", |model, file, map, here, strict| {
            let mut seen = BTreeSet::new();
            right(model, file, map, here, strict).map_err(|mut all| {
                all.retain(|it| match it {
                    Complaint::NoDevice { device, .. } => seen.insert(device.clone()),
                    _ => true,
                });
                all
            })
        }),
        loads("5.3-falls-back", "else the CPU", |model, file, map, here, strict| {
            let mut left = complaints(model, file, map, here, strict);
            left.retain(|it| !matches!(it, Complaint::NoDevice { .. }));
            let mut placed = unless(left, model, file, map)?;
            for place in &mut placed {
                if !has(here, &place.device) {
                    place.device = "cpu".to_string();
                }
            }
            Ok(placed)
        }),
        loads("5.3-map-ignored", "where they were saved", |model, file, _, here, strict| {
            right(model, file, &MapLocation::Saved, here, strict)
        }),
    ]
}

/// Each tensor with the device that a table gives it.
fn moved(
    file: &[Saved],
    map: &MapLocation,
    to: fn(&[(String, String)], &str) -> String,
) -> Vec<Saved> {
    let MapLocation::Table(pairs) = map else { return file.to_vec() };
    let moved = |saved: &Saved| Saved { device: to(pairs, &saved.device), ..saved.clone() };
    file.iter().map(moved).collect()
}

fn after(map: &MapLocation) -> MapLocation {
    if let MapLocation::Table(_) = map { MapLocation::Saved } else { map.clone() }
}

fn of_the_table() -> Vec<Wrong> {
    vec![
        loads("5.3-table-chained", "each pair in turn", |model, file, map, here, strict| {
            let moved = moved(file, map, |pairs, device| {
                let step = |device: String, (from, to): &(String, String)| {
                    if *from == device { to.clone() } else { device }
                };
                pairs.iter().fold(device.to_string(), step)
            });
            right(model, &moved, &after(map), here, strict)
        }),
        loads("5.3-table-else-cpu", "others to the CPU", |model, file, map, here, strict| {
            let moved = moved(file, map, |pairs, device| {
                let pair = pairs.iter().find(|(from, _)| from == device);
                pair.map_or("cpu".to_string(), |(_, to)| to.clone())
            });
            right(model, &moved, &after(map), here, strict)
        }),
    ]
}
