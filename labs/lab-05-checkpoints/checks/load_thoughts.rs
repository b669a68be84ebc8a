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
    MissingOnly,
    NamesBeforeShapes,
    ChangesFirst,
    ChangesAll,
    AlwaysStrict,
    NeverStrict,
    MissingAlways,
    UnexpectedAlways,
    ExcusesAll,
    LenientShapes,
    OneBroadcasts,
    SameCount,
    ShapesExchanged,
    DevicesUnseen,
    DevicesStrict,
    SavedDeviceChecked,
    SavedDeviceAsked,
    DevicesOfKnown,
    UnexpectedNotPlaced,
    NoDeviceTwice,
    TableChained,
    TableElseCpu,
    TableElseRefused,
    TableBackwards,
    TableBackwardsLast,
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
        let asked = match thought {
            SavedDeviceChecked | SavedDeviceAsked => &saved.device,
            _ => &device,
        };
        let unseen = match thought {
            DevicesUnseen => true,
            DevicesStrict | ExcusesAll => !case.strict,
            DevicesOfKnown => !in_model,
            _ => false,
        };
        let refused = thought == TableElseRefused && !named(case, saved);
        let absent = !case.here.contains(asked) || refused;
        let name = saved.name.clone();
        let again = || case.file[..i].iter().any(|it| device_of(it, case, thought) == device);
        if !absent || unseen {
            placed.push(Placed { name, device });
        } else if thought == FallsBackToCpu {
            placed.push(Placed { name, device: "cpu".to_string() });
        } else if thought != NoDeviceTwice || !again() {
            let named = if thought == SavedDeviceChecked { saved.device.clone() } else { device };
            complaints.push(Complaint::NoDevice { name, device: named });
        }
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
            LenientShapes | ExcusesAll if !case.strict => true,
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
            let pair = match thought {
                TableBackwards => pairs.iter().find(|(_, to)| to == device).map(|(from, _)| from),
                // A map keeps the last pair with a key.
                TableBackwardsLast => {
                    pairs.iter().rfind(|(_, to)| to == device).map(|(from, _)| from)
                }
                _ => pairs.iter().find(|(from, _)| from == device).map(|(_, to)| to),
            };
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
    (MissingOnly, "5.3-one-kind", MISSING_ONLY),
    (NamesBeforeShapes, "5.3-names-hide-shapes", NAMES_BEFORE_SHAPES),
    (ChangesFirst, "5.3-changed-on-error", CHANGES_FIRST),
    (ChangesAll, "5.3-copied-before-compared", CHANGES_ALL),
    (AlwaysStrict, "5.3-always-strict", ALWAYS_STRICT),
    (NeverStrict, "5.3-never-strict", NEVER_STRICT),
    (MissingAlways, "5.3-missing-always", MISSING_ALWAYS),
    (UnexpectedAlways, "5.3-unexpected-always", UNEXPECTED_ALWAYS),
    (ExcusesAll, "5.3-excuses-all", EXCUSES_ALL),
    (LenientShapes, "5.3-lenient-shapes", LENIENT_SHAPES),
    (OneBroadcasts, "5.3-broadcast", ONE_BROADCASTS),
    (SameCount, "5.3-same-count", SAME_COUNT),
    (ShapesExchanged, "5.3-shapes-exchanged", SHAPES_EXCHANGED),
    (DevicesUnseen, "5.3-devices-unseen", DEVICES_UNSEEN),
    (DevicesStrict, "5.3-devices-if-strict", DEVICES_STRICT),
    (SavedDeviceChecked, "5.3-saved-device-asked", SAVED_DEVICE_CHECKED),
    (SavedDeviceAsked, "5.3-saved-device-asked", SAVED_DEVICE_CHECKED),
    (DevicesOfKnown, "5.3-devices-of-known", DEVICES_OF_KNOWN),
    (UnexpectedNotPlaced, "5.3-unexpected-not-placed", UNEXPECTED_NOT_PLACED),
    (NoDeviceTwice, "5.3-each-device-once", NO_DEVICE_TWICE),
    (TableChained, "5.3-table-chained", TABLE_CHAINED),
    (TableElseCpu, "5.3-table-else-cpu", TABLE_ELSE_CPU),
    (TableElseRefused, "5.3-table-else-refused", TABLE_ELSE_REFUSED),
    (TableBackwards, "5.3-table-backwards", TABLE_BACKWARDS),
    (TableBackwardsLast, "5.3-table-backwards", TABLE_BACKWARDS),
    (FallsBackToCpu, "5.3-falls-back", FALLS_BACK_TO_CPU),
    (MapIgnored, "5.3-map-ignored", MAP_IGNORED),
    (NotCopied, "5.3-not-copied", NOT_COPIED),
    (MatchedByPlace, "5.3-matched-by-place", MATCHED_BY_PLACE),
];

const MISSING_ONLY: &str = "Only one kind of complaints is reported. Missing and unexpected names \
    together show what was renamed.";
const NAMES_BEFORE_SHAPES: &str = "Where a name is wrong the shapes are not compared. The report \
    is of everything.";
const CHANGES_FIRST: &str = "The answer is an error, and what fitted was copied. Half a model of \
    one training and half of another runs without complaint: check all, then copy. PyTorch does \
    not.";
const CHANGES_ALL: &str = "The values were copied before the shapes were compared.";
const ALWAYS_STRICT: &str = "Missing and unexpected names are complaints although strict is false.";
const NEVER_STRICT: &str = "Missing and unexpected names are no complaints although strict is \
    true. The weights stay random then, and nobody is told.";
const MISSING_ALWAYS: &str = "A missing name is a complaint although strict is false.";
const UNEXPECTED_ALWAYS: &str = "An unexpected name is a complaint although strict is false.";
const EXCUSES_ALL: &str = "Nothing is a complaint where strict is false. Strict is about names: a \
    tensor of another shape cannot be copied, and one without a device cannot be read.";
const LENIENT_SHAPES: &str = "A wrong shape is no complaint where strict is false. Strict is \
    about names: the shapes of what is there must be equal.";
const ONE_BROADCASTS: &str = "A single element was taken for any shape. `copy_` would broadcast \
    it without a word: shapes have to be equal.";
const SAME_COUNT: &str = "Shapes with equally many elements were taken for equal. \
    [2, 3] and [3, 2] hold other matrices.";
pub const SHAPES_EXCHANGED: &str = "The two shapes of a mismatch are exchanged.";
const DEVICES_UNSEEN: &str = "It was not asked whether the devices are here. A file saved on a \
    GPU cannot be read onto it where there is none.";
const DEVICES_STRICT: &str = "Devices that are not here are no complaint where strict is false. \
    Strict is about names: a tensor has to be put somewhere.";
const SAVED_DEVICE_CHECKED: &str = "It was asked whether the device is here that a tensor was \
    saved on. What counts is where it goes: that is what `map_location` is for.";
const DEVICES_OF_KNOWN: &str = "Devices were asked for only where the model has the name. The \
    whole file is read before anybody asks for names, so each of its tensors needs a device that \
    is here.";
const UNEXPECTED_NOT_PLACED: &str = "A tensor that the model does not have was not placed. The \
    whole file is read before anybody asks for names, so it needs a device, too.";
const NO_DEVICE_TWICE: &str = "A device that is not here is reported once. Each of its tensors is \
    a complaint.";
const TABLE_CHAINED: &str = "The table was applied to its own result. Where it exchanges two \
    devices, both tensors end on one: each tensor is looked up once.";
const TABLE_ELSE_CPU: &str = "A device that the table does not name was taken for the CPU. It \
    stays as it was saved.";
const TABLE_ELSE_REFUSED: &str = "A device that the table does not name was refused. It stays as \
    it was saved, and is a complaint only if it is not here.";
const TABLE_BACKWARDS: &str = "The table was read from right to left: a pair is from the device \
    in the file, to the device here.";
const FALLS_BACK_TO_CPU: &str = "What goes to a device that is not here was put on the CPU. A \
    model meant for 80 GB of a GPU fills the memory of the host then, and nobody was asked.";
const MAP_IGNORED: &str = "The map was not looked at: the tensors went where they were saved.";
const NOT_COPIED: &str =
    "All fits, and the model is as before: nothing was copied, or into a copy.";
const MATCHED_BY_PLACE: &str = "The tensors were matched by their places. The order of the file \
    is not that of the model: names decide.";
