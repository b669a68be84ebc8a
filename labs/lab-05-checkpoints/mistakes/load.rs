//! Wrong ways to load: 5.3. All go through one loader, and each does one thing otherwise.

use super::super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::{Wrong, wrong};

/// What a loader does otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    ReturnsAtOnce,
    MissingHides,
    NamesHide,
    NoDeviceEnds,
    ExcusesAll,
    AlwaysStrict,
    NeverStrict,
    MissingAlways,
    UnexpectedAlways,
    Exchanges,
    Strips,
    ModelOnly,
    FileOnly,
    ShapesIfStrict,
    ShapesExchanged,
    OneIsEnough,
    SameCount,
    ComparesLater,
    DevicesUnseen,
    DevicesIfStrict,
    AsksOfKnown,
    AsksOfSaved,
    PlacesKnown,
    SkipsUnexpected,
    EachDeviceOnce,
    FallsBack,
    MapIgnored,
    Backwards,
    Chained,
    ElseCpu,
    ElseRefused,
    CopiesFitting,
    CopiesFirst,
    CopiesNothing,
    CopiesByPlace,
    CopiesMatrices,
    CopiesSlices,
}

use Other::*;

type Answer = Result<Vec<Placed>, Vec<Complaint>>;
type How<'a> = (&'a MapLocation, &'a [String], bool);

/// Where a tensor goes; none where that is refused.
fn device(saved: &Saved, map: &MapLocation, other: Other) -> Option<String> {
    let device = &saved.device;
    let pairs = match map {
        _ if other == MapIgnored => return Some(device.clone()),
        MapLocation::Saved => return Some(device.clone()),
        MapLocation::Device(to) => return Some(to.clone()),
        MapLocation::Table(pairs) => pairs,
    };
    if other == Chained {
        let step = |device: String, (from, to): &(String, String)| {
            if *from == device { to.clone() } else { device }
        };
        return Some(pairs.iter().fold(device.clone(), step));
    }
    let pair = match other {
        // A map keeps the last pair with a key.
        Backwards => pairs.iter().rfind(|(_, to)| to == device).map(|(from, _)| from),
        _ => pairs.iter().find(|(from, _)| from == device).map(|(_, to)| to),
    };
    match other {
        ElseRefused => pair.cloned(),
        ElseCpu => Some(pair.map_or("cpu", |to| to).to_string()),
        _ => Some(pair.unwrap_or(device).clone()),
    }
}

/// The walk through the file.
fn through_file(
    (model, file): (&[Slot], &[Saved]),
    (map, here, strict): How,
    other: Other,
) -> (Vec<Placed>, Vec<Complaint>) {
    let (mut placed, mut complaints) = (Vec::new(), Vec::new());
    for saved in file {
        let known = model.iter().any(|slot| slot.name == saved.name);
        let found = device(saved, map, other);
        let asked = if other == AsksOfSaved { Some(&saved.device) } else { found.as_ref() };
        let present = asked.is_some_and(|it| here.contains(it));
        let unseen = match other {
            DevicesUnseen | FallsBack => true,
            DevicesIfStrict => !strict,
            AsksOfKnown => !known,
            _ => false,
        };
        let (name, mut device) = (saved.name.clone(), found.unwrap_or(saved.device.clone()));
        if other == FallsBack && !present {
            device = "cpu".to_string();
        }
        let again =
            |it: &Complaint| matches!(it, Complaint::NoDevice { device: it, .. } if *it == device);
        let skipped = match other {
            SkipsUnexpected => !known,
            PlacesKnown => !known && present,
            EachDeviceOnce => !present && complaints.iter().any(again),
            _ => false,
        };
        if !skipped && (present || unseen) {
            placed.push(Placed { name, device });
        } else if !skipped {
            complaints.push(Complaint::NoDevice { name, device });
            if other == NoDeviceEnds {
                continue;
            }
        }
        if (strict || other == UnexpectedAlways) && !known && other != ModelOnly {
            let name = saved.name.clone();
            let unexpected = Complaint::Unexpected(name.clone());
            complaints.push(if other == Exchanges { Complaint::Missing(name) } else { unexpected });
        }
    }
    (placed, complaints)
}

/// The walk through the model.
fn through_model(
    (model, file): (&[Slot], &[Saved]),
    strict: bool,
    other: Other,
    complaints: &mut Vec<Complaint>,
) {
    for slot in model {
        let name = slot.name.clone();
        let Some(saved) = file.iter().find(|it| it.name == slot.name) else {
            if (strict || other == MissingAlways) && other != FileOnly {
                let missing = Complaint::Missing(name.clone());
                let exchanged = other == Exchanges;
                complaints.push(if exchanged { Complaint::Unexpected(name) } else { missing });
            }
            continue;
        };
        let fits = match other {
            OneIsEnough => saved.values.len() == 1,
            SameCount => saved.values.len() == slot.values.len(),
            ShapesIfStrict => !strict,
            ComparesLater => !complaints.is_empty(),
            _ => false,
        };
        if !fits && saved.shape != slot.shape {
            let (mut model, mut file) = (slot.shape.clone(), saved.shape.clone());
            if other == ShapesExchanged {
                (model, file) = (file, model);
            }
            complaints.push(Complaint::Mismatch { name, model, file });
        }
    }
}

/// What is left of the report.
fn hide(complaints: &mut Vec<Complaint>, other: Other) {
    let missing = |it: &Complaint| matches!(it, Complaint::Missing(_));
    let named = |it: &Complaint| missing(it) || matches!(it, Complaint::Unexpected(_));
    match other {
        ReturnsAtOnce => complaints.truncate(1),
        MissingHides if complaints.iter().any(missing) => complaints.retain(missing),
        NamesHide if complaints.iter().any(named) => {
            complaints.retain(|it| !matches!(it, Complaint::Mismatch { .. }));
        }
        _ => {}
    }
}

fn copy(model: &mut [Slot], file: &[Saved], other: Other) {
    for (i, slot) in model.iter_mut().enumerate() {
        let own = file.iter().find(|it| it.name == slot.name);
        let found = match other {
            CopiesByPlace => file.get(i).filter(|it| it.shape == slot.shape),
            CopiesFitting => own.filter(|it| it.shape == slot.shape),
            CopiesMatrices => own.filter(|_| slot.shape.len() == 2),
            CopiesNothing => None,
            _ => own,
        };
        match found {
            Some(saved) if other == CopiesSlices => slot.values.copy_from_slice(&saved.values),
            Some(saved) => slot.values.clone_from(&saved.values),
            None => {}
        }
    }
}

fn loads(model: &mut [Slot], file: &[Saved], (map, here, strict): How, other: Other) -> Answer {
    let strict = (strict || other == AlwaysStrict) && other != NeverStrict;
    let (placed, mut complaints) = through_file((model, file), (map, here, strict), other);
    through_model((model, file), strict, other, &mut complaints);
    hide(&mut complaints, other);
    if matches!(other, CopiesFitting | CopiesFirst | CopiesSlices) {
        copy(model, file, other);
    }
    if !complaints.is_empty() && (strict || other != ExcusesAll) {
        return Err(complaints);
    }
    copy(model, file, other);
    Ok(placed)
}

/// A name without the module that DataParallel puts in front of it.
fn stripped(file: &[Saved]) -> Vec<Saved> {
    let strip = |name: &str| name.strip_prefix("module.").unwrap_or(name).to_string();
    file.iter().map(|it| Saved { name: strip(&it.name), ..it.clone() }).collect()
}

/// `one!(key, name, other)`.
macro_rules! one {
    ($diagnosis:literal, $name:literal, $other:expr) => {
        wrong("5.3", $diagnosis, $name, |table| {
            table.load = |model, file, map, here, strict| {
                let file = if $other == Strips { stripped(file) } else { file.to_vec() };
                loads(model, &file, (map, here, strict), $other)
            };
        })
    };
}

pub fn mistakes() -> Vec<Wrong> {
    vec![
        one!("5.3-first-only", "returns at once", ReturnsAtOnce),
        one!("5.3-one-kind", "missing ones returned at once", MissingHides),
        one!("5.3-names-hide-shapes", "names returned at once", NamesHide),
        one!("5.3-no-device-hides", "continue after the device", NoDeviceEnds),
        one!("5.3-excuses-all", "complaints if strict", ExcusesAll),
        one!("5.3-always-strict", "strict not looked at", AlwaysStrict),
        one!("5.3-never-strict", "names are nobody's concern", NeverStrict),
        one!("5.3-missing-always", "missing ones always", MissingAlways),
        one!("5.3-unexpected-always", "unexpected ones always", UnexpectedAlways),
        one!("5.3-names-exchanged", "the one for the other", Exchanges),
        one!("5.3-prefix-stripped", "names as without DataParallel", Strips),
        one!("5.3-unexpected-lacks", "the model only", ModelOnly),
        one!("5.3-missing-lacks", "the file only", FileOnly),
        one!("5.3-lenient-shapes", "shapes if strict", ShapesIfStrict),
        one!("5.3-shapes-exchanged", "file and model", ShapesExchanged),
        one!("5.3-broadcast", "one element fits all", OneIsEnough),
        one!("5.3-same-count", "as many elements", SameCount),
        one!("5.3-mismatch-lacks", "shapes if all else is right", ComparesLater),
        one!("5.3-devices-unseen", "no device asked for", DevicesUnseen),
        one!("5.3-devices-if-strict", "devices if strict", DevicesIfStrict),
        one!("5.3-devices-of-known", "devices of known names", AsksOfKnown),
        one!("5.3-saved-device-asked", "here has the saved one", AsksOfSaved),
        one!("5.3-not-all-placed", "places known names", PlacesKnown),
        one!("5.3-unexpected-not-placed", "only what is needed", SkipsUnexpected),
        one!("5.3-each-device-once", "a set of devices", EachDeviceOnce),
        one!("5.3-falls-back", "else the CPU", FallsBack),
        one!("5.3-map-ignored", "where they were saved", MapIgnored),
        one!("5.3-table-backwards", "a map from right to left", Backwards),
        one!("5.3-table-chained", "each pair in turn", Chained),
        one!("5.3-table-else-cpu", "others to the CPU", ElseCpu),
        one!("5.3-table-else-refused", "no pair, no device", ElseRefused),
        one!("5.3-changed-on-error", "copied on the way", CopiesFitting),
        one!("5.3-copied-before-compared", "copied by name", CopiesFirst),
        one!("5.3-not-copied", "into a copy of the model", CopiesNothing),
        one!("5.3-matched-by-place", "zip", CopiesByPlace),
        one!("5.3-other-values", "matrices only", CopiesMatrices),
        one!("5.3-panics", "copy_from_slice", CopiesSlices),
    ]
}
