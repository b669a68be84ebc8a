//! 5.3 with one thing thought otherwise.

use super::super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::load::Case;
use super::thoughts::Known;

/// What came of a case: the answer, and the model afterwards.
#[derive(Debug, PartialEq)]
pub struct Loaded {
    pub answer: Result<Vec<Placed>, Vec<Complaint>>,
    pub model: Vec<Slot>,
}

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    Right,
    FirstOnly,
    MissingOnly,
    NamesBeforeShapes,
    ChangesFirst,
    ChangesAll,
    AlwaysStrict,
    NeverStrict,
    MissingAlways,
    UnexpectedAlways,
    LenientShapes,
    OneBroadcasts,
    SameCount,
    ShapesExchanged,
    DevicesUnseen,
    DevicesStrict,
    SavedDeviceChecked,
    UnexpectedNotPlaced,
    NoDeviceTwice,
    TableChained,
    TableElseCpu,
    TableElseRefused,
    TableBackwards,
    FallsBackToCpu,
    MapIgnored,
    NotCopied,
    MatchedByPlace,
}

use Thought::*;

/// What a case comes to.
pub fn loaded(case: &Case, thought: Thought) -> Loaded {
    let mut model = case.model.clone();
    let mut complaints = of_names(case, thought);
    let names_wrong = !complaints.is_empty();
    if !(names_wrong && thought == NamesBeforeShapes) {
        complaints.extend(of_shapes(case, thought));
    }
    let mut placed = Vec::new();
    for (i, saved) in case.file.iter().enumerate() {
        let in_model = case.model.iter().any(|slot| slot.name == saved.name);
        if thought == UnexpectedNotPlaced && !in_model {
            continue;
        }
        let device = device_of(saved, case, thought);
        let asked = if thought == SavedDeviceChecked { &saved.device } else { &device };
        let unseen = thought == DevicesUnseen || (thought == DevicesStrict && !case.strict);
        let refused = thought == TableElseRefused && !named(case, saved);
        let absent = !case.here.contains(asked) || refused;
        let name = saved.name.clone();
        let again = || case.file[..i].iter().any(|it| device_of(it, case, thought) == device);
        if !absent || unseen {
            placed.push(Placed { name, device });
        } else if thought == FallsBackToCpu {
            placed.push(Placed { name, device: "cpu".to_string() });
        } else if thought != NoDeviceTwice || !again() {
            complaints.push(Complaint::NoDevice { name, device: asked.clone() });
        }
    }
    if thought == FirstOnly {
        complaints.truncate(1);
    }
    let good = complaints.is_empty();
    if (good && thought != NotCopied) || thought == ChangesFirst || thought == ChangesAll {
        copy(&mut model, case, thought);
    }
    if thought == MissingOnly && !good {
        // The one kind that is found first hides the others.
        let missing = |it: &Complaint| matches!(it, Complaint::Missing(_));
        if complaints.iter().any(missing) {
            complaints.retain(missing);
        }
    }
    Loaded { answer: if good { Ok(placed) } else { Err(complaints) }, model }
}

fn named(case: &Case, saved: &Saved) -> bool {
    match &case.map {
        MapLocation::Table(pairs) => pairs.iter().any(|(from, _)| *from == saved.device),
        _ => true,
    }
}

fn of_names(case: &Case, thought: Thought) -> Vec<Complaint> {
    let strict = match thought {
        AlwaysStrict => true,
        NeverStrict => false,
        _ => case.strict,
    };
    let mut complaints = Vec::new();
    if strict || thought == MissingAlways {
        let missing =
            case.model.iter().filter(|slot| !case.file.iter().any(|it| it.name == slot.name));
        complaints.extend(missing.map(|slot| Complaint::Missing(slot.name.clone())));
    }
    if strict || thought == UnexpectedAlways {
        let unexpected =
            case.file.iter().filter(|it| !case.model.iter().any(|slot| slot.name == it.name));
        complaints.extend(unexpected.map(|it| Complaint::Unexpected(it.name.clone())));
    }
    complaints
}

fn of_shapes(case: &Case, thought: Thought) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for slot in &case.model {
        let Some(saved) = case.file.iter().find(|it| it.name == slot.name) else { continue };
        let fits = match thought {
            LenientShapes if !case.strict => true,
            OneBroadcasts => saved.values.len() == 1 || saved.shape == slot.shape,
            SameCount => saved.values.len() == slot.values.len(),
            _ => saved.shape == slot.shape,
        };
        if !fits {
            let (mut model, mut file) = (slot.shape.clone(), saved.shape.clone());
            if thought == ShapesExchanged {
                (model, file) = (file, model);
            }
            complaints.push(Complaint::Mismatch { name: slot.name.clone(), model, file });
        }
    }
    complaints
}

fn device_of(saved: &Saved, case: &Case, thought: Thought) -> String {
    let device = &saved.device;
    match &case.map {
        _ if thought == MapIgnored => device.clone(),
        MapLocation::Saved => device.clone(),
        MapLocation::Device(to) => to.clone(),
        MapLocation::Table(pairs) if thought == TableChained => {
            let mut device = device.clone();
            for (from, to) in pairs {
                if *from == device {
                    device = to.clone();
                }
            }
            device
        }
        MapLocation::Table(pairs) => {
            let pair = pairs.iter().find_map(|(from, to)| match thought {
                TableBackwards => (to == device).then_some(from),
                _ => (from == device).then_some(to),
            });
            let other = match thought {
                TableElseCpu => "cpu".to_string(),
                _ => device.clone(),
            };
            pair.cloned().unwrap_or(other)
        }
    }
}

fn copy(model: &mut [Slot], case: &Case, thought: Thought) {
    for (i, slot) in model.iter_mut().enumerate() {
        let found = match thought {
            MatchedByPlace => case.file.get(i),
            _ => case.file.iter().find(|it| it.name == slot.name),
        };
        let Some(saved) = found else { continue };
        if saved.shape == slot.shape || thought == ChangesAll {
            slot.values.clone_from(&saved.values);
        } else if thought == OneBroadcasts && saved.values.len() == 1 {
            slot.values.fill(saved.values[0]);
        } else if thought == SameCount && saved.values.len() == slot.values.len() {
            slot.values.clone_from(&saved.values);
        }
    }
}

/// What each thought is called, and what is true instead.
pub const THOUGHTS: &[Known<Thought>] = &[
    (
        FirstOnly,
        "5.3-first-only",
        "Only the first complaint is reported. Who mends a renamed \
        layer wants all names at once, and not one more with every run.",
    ),
    (
        MissingOnly,
        "5.3-one-kind",
        "Only one kind of complaints is reported. Missing and \
        unexpected names together show what was renamed.",
    ),
    (
        NamesBeforeShapes,
        "5.3-names-hide-shapes",
        "Where a name is wrong the shapes are not \
        compared. The report is of everything.",
    ),
    (
        ChangesFirst,
        "5.3-changed-on-error",
        "The answer is an error, and what fitted was copied. \
        Half a model of one training and half of another runs without complaint: check all, then \
        copy. PyTorch does not.",
    ),
    (
        ChangesAll,
        "5.3-copied-before-compared",
        "The values were copied before the shapes were \
        compared.",
    ),
    (
        AlwaysStrict,
        "5.3-always-strict",
        "Missing and unexpected names are complaints although \
        strict is false.",
    ),
    (
        NeverStrict,
        "5.3-never-strict",
        "Missing and unexpected names are no complaints although \
        strict is true. The weights stay random then, and nobody is told.",
    ),
    (
        MissingAlways,
        "5.3-missing-always",
        "A missing name is a complaint although strict is \
        false.",
    ),
    (
        UnexpectedAlways,
        "5.3-unexpected-always",
        "An unexpected name is a complaint although \
        strict is false.",
    ),
    (
        LenientShapes,
        "5.3-lenient-shapes",
        "A wrong shape is no complaint where strict is false. \
        Strict is about names: the shapes of what is there must be equal.",
    ),
    (
        OneBroadcasts,
        "5.3-broadcast",
        "A single element was taken for any shape. `copy_` would \
        broadcast it without a word: shapes have to be equal.",
    ),
    (
        SameCount,
        "5.3-same-count",
        "Shapes with equally many elements were taken for equal. \
        [2, 3] and [3, 2] hold other matrices.",
    ),
    (ShapesExchanged, "5.3-shapes-exchanged", "The two shapes of a mismatch are exchanged."),
    (
        DevicesUnseen,
        "5.3-devices-unseen",
        "It was not asked whether the devices are here. A file \
        saved on a GPU cannot be read onto it where there is none.",
    ),
    (
        DevicesStrict,
        "5.3-devices-if-strict",
        "Devices that are not here are no complaint where \
        strict is false. Strict is about names: a tensor has to be put somewhere.",
    ),
    (
        SavedDeviceChecked,
        "5.3-saved-device-asked",
        "It was asked whether the device is here that \
        a tensor was saved on. What counts is where it goes: that is what `map_location` is for.",
    ),
    (
        UnexpectedNotPlaced,
        "5.3-unexpected-not-placed",
        "A tensor that the model does not have was \
        not placed. The whole file is read before anybody asks for names, so it needs a device, \
        too.",
    ),
    (
        NoDeviceTwice,
        "5.3-each-device-once",
        "A device that is not here is reported once. Each of \
        its tensors is a complaint.",
    ),
    (
        TableChained,
        "5.3-table-chained",
        "The table was applied to its own result. Where it \
        exchanges two devices, both tensors end on one: each tensor is looked up once.",
    ),
    (
        TableElseCpu,
        "5.3-table-else-cpu",
        "A device that the table does not name was taken for the \
        CPU. It stays as it was saved.",
    ),
    (
        TableElseRefused,
        "5.3-table-else-refused",
        "A device that the table does not name was \
        refused. It stays as it was saved, and is a complaint only if it is not here.",
    ),
    (
        TableBackwards,
        "5.3-table-backwards",
        "The table was read from right to left: a pair is \
        from the device in the file, to the device here.",
    ),
    (
        FallsBackToCpu,
        "5.3-falls-back",
        "What goes to a device that is not here was put on the \
        CPU. A model meant for 80 GB of a GPU fills the memory of the host then, and nobody was \
        asked.",
    ),
    (
        MapIgnored,
        "5.3-map-ignored",
        "The map was not looked at: the tensors went where they were \
        saved.",
    ),
    (
        NotCopied,
        "5.3-not-copied",
        "All fits, and the model is as before: nothing was copied, or \
        into a copy.",
    ),
    (
        MatchedByPlace,
        "5.3-matched-by-place",
        "The tensors were matched by their places. The order \
        of the file is not that of the model: names decide.",
    ),
];
