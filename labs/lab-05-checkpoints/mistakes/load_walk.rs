//! Wrong ways to load that are written as one walk through the file and one through the model: 5.3.

use super::super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::{Wrong, wrong};

/// What a walk does otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    ReturnsAtOnce,
    NoDeviceEnds,
    ExcusesAll,
    Exchanges,
    Strips,
    AsksOfKnown,
    PlacesKnown,
    SavesByName,
    AsksOfSaved,
    LastPair,
    RefusesUnmapped,
    OneIsEnough,
    ModelOnly,
    FileOnly,
    ComparesLater,
    KeepsOld,
}

use Other::*;

type Answer = Result<Vec<Placed>, Vec<Complaint>>;

/// Where the device is, and what of it is asked for: none where it is refused.
fn device(saved: &Saved, map: &MapLocation, other: Other) -> Option<String> {
    match map {
        MapLocation::Saved => Some(saved.device.clone()),
        MapLocation::Device(to) => Some(to.clone()),
        MapLocation::Table(pairs) => {
            let pair = match other {
                LastPair => {
                    let pair = pairs.iter().rfind(|(_, to)| *to == saved.device);
                    pair.map(|(from, _)| from)
                }
                _ => pairs.iter().find(|(from, _)| *from == saved.device).map(|(_, to)| to),
            };
            let as_saved = (other != RefusesUnmapped).then_some(&saved.device);
            pair.or(as_saved).cloned()
        }
    }
}

fn files(
    (model, file): (&[Slot], &[Saved]),
    (map, here, strict): (&MapLocation, &[String], bool),
    other: Other,
) -> (Vec<Placed>, Vec<Complaint>) {
    let (mut placed, mut complaints) = (Vec::new(), Vec::new());
    for saved in file {
        let known = model.iter().any(|slot| slot.name == saved.name);
        let found = device(saved, map, other);
        let asked = if other == AsksOfSaved { Some(&saved.device) } else { found.as_ref() };
        let present = asked.is_some_and(|it| here.contains(it));
        let (name, device) = (saved.name.clone(), found.unwrap_or(saved.device.clone()));
        if present || other == AsksOfKnown && !known {
            if known || other != PlacesKnown {
                placed.push(Placed { name, device });
            }
        } else {
            complaints.push(Complaint::NoDevice { name, device });
            if other == NoDeviceEnds {
                continue;
            }
        }
        if strict && !known && other != ModelOnly {
            complaints.push(match other {
                Exchanges => Complaint::Missing(saved.name.clone()),
                _ => Complaint::Unexpected(saved.name.clone()),
            });
        }
    }
    (placed, complaints)
}

fn walks(
    model: &mut [Slot],
    file: &[Saved],
    how: (&MapLocation, &[String], bool),
    other: Other,
) -> Answer {
    let (placed, mut complaints) = files((model, file), how, other);
    for slot in model.iter() {
        let Some(saved) = file.iter().find(|it| it.name == slot.name) else {
            let name = slot.name.clone();
            if how.2 && other != FileOnly {
                let missing = Complaint::Missing(name.clone());
                complaints.push(if other == Exchanges {
                    Complaint::Unexpected(name)
                } else {
                    missing
                });
            }
            continue;
        };
        let fits = saved.shape == slot.shape
            || other == OneIsEnough && saved.values.len() == 1
            || other == SavesByName && !how.2
            || other == ComparesLater && !complaints.is_empty();
        if !fits {
            let (name, model, file) = (slot.name.clone(), slot.shape.clone(), saved.shape.clone());
            complaints.push(Complaint::Mismatch { name, model, file });
        }
    }
    if other == ReturnsAtOnce {
        complaints.truncate(1);
    }
    if !complaints.is_empty() && (how.2 || other != ExcusesAll) {
        return Err(complaints);
    }
    for slot in model {
        if let Some(saved) = file.iter().find(|it| it.name == slot.name) {
            if other != KeepsOld || slot.shape.len() == 2 {
                slot.values = saved.values.clone();
            }
        }
    }
    Ok(placed)
}

/// A name without the module that DataParallel puts in front of it.
fn stripped(file: &[Saved]) -> Vec<Saved> {
    let strip = |name: &str| name.strip_prefix("module.").unwrap_or(name).to_string();
    file.iter().map(|it| Saved { name: strip(&it.name), ..it.clone() }).collect()
}

/// `walk!(key, name, other)`.
macro_rules! walk {
    ($diagnosis:literal, $name:literal, $other:expr) => {
        wrong("5.3", $diagnosis, $name, |table| {
            table.load = |model, file, map, here, strict| {
                let file = if $other == Strips { stripped(file) } else { file.to_vec() };
                walks(model, &file, (map, here, strict), $other)
            };
        })
    };
}

pub fn mistakes() -> Vec<Wrong> {
    vec![
        walk!("5.3-first-only", "returns at once", ReturnsAtOnce),
        walk!("5.3-no-device-hides", "continue after the device", NoDeviceEnds),
        walk!("5.3-excuses-all", "complaints if strict", ExcusesAll),
        walk!("5.3-names-exchanged", "the one for the other", Exchanges),
        walk!("5.3-prefix-stripped", "names as without DataParallel", Strips),
        walk!("5.3-devices-of-known", "devices of known names", AsksOfKnown),
        walk!("5.3-not-all-placed", "places known names", PlacesKnown),
        walk!("5.3-lenient-shapes", "no shapes if not strict", SavesByName),
        walk!("5.3-saved-device-asked", "here has the saved one", AsksOfSaved),
        walk!("5.3-table-backwards", "a map from right to left", LastPair),
        walk!("5.3-table-else-refused", "no pair, no device", RefusesUnmapped),
        walk!("5.3-broadcast", "a whole clone of one element", OneIsEnough),
        walk!("5.3-unexpected-lacks", "the model only", ModelOnly),
        walk!("5.3-missing-lacks", "the file only", FileOnly),
        walk!("5.3-mismatch-lacks", "shapes if all else is right", ComparesLater),
        walk!("5.3-other-values", "matrices only", KeepsOld),
    ]
}
