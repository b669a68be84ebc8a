//! 7.2: what a learner may have thought.

use super::super::averages::{Call, Row};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thought {
    Right,
    EveryLevel,
    EveryLevelOfDevice,
    DirectParentOnly,
    Innermost,
    OutermostCounted,
    ByNameAlone,
    ByShapeAlways,
    ShapesIgnored,
    NameIsKey,
    AlwaysByShape,
    FlagTurned,
    ShapesOfFirst,
    NumberOfElements,
    NumbersInARow,
    FirstOperand,
    OnlyNeighbours,
    SelfIsTotal,
    SelfIsSum,
    SelfOfTotals,
    AllDescendants,
    OwnKeyKept,
    DeviceNotCarried,
    DeviceOneLevel,
    DeviceOfOutermost,
    SelfDeviceIsTotal,
    SelfDeviceLessParts,
    DeviceInCpu,
    Means,
}

use Thought::*;

type Key = (String, Vec<Vec<usize>>);

/// Whether shapes are grouped by.
fn groups_by_shape(by_shape: bool, thought: Thought) -> bool {
    match thought {
        ShapesIgnored => false,
        AlwaysByShape => true,
        FlagTurned => !by_shape,
        _ => by_shape,
    }
}

/// What two calls must have in common for one row.
fn row_key(call: &Call, by_shape: bool, thought: Thought) -> Key {
    let shapes = &call.shapes;
    let of_key = match thought {
        NameIsKey => Vec::new(),
        _ if !groups_by_shape(by_shape, thought) => Vec::new(),
        NumberOfElements => shapes.iter().map(|shape| vec![shape.iter().product()]).collect(),
        NumbersInARow => vec![shapes.concat()],
        FirstOperand => shapes.iter().take(1).cloned().collect(),
        _ => shapes.clone(),
    };
    (call.name.clone(), of_key)
}

/// What makes a call one that is inside itself.
fn recursion_key(call: &Call, by_shape: bool, thought: Thought) -> Key {
    match thought {
        ByNameAlone => row_key(call, false, Right),
        ByShapeAlways => row_key(call, true, Right),
        _ => row_key(call, by_shape, thought),
    }
}

/// A call and all that it is inside of, from the inside out.
fn around(calls: &[Call], at: usize) -> Vec<usize> {
    std::iter::successors(Some(at), |&at| calls[at].parent).collect()
}

/// The calls of each row, in the order in which the rows first come up.
fn groups(calls: &[Call], by_shape: bool, thought: Thought) -> Vec<Vec<usize>> {
    let key = |at: usize| row_key(&calls[at], by_shape, thought);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in 0..calls.len() {
        let from = if thought == OnlyNeighbours { groups.len().saturating_sub(1) } else { 0 };
        match groups[from..].iter_mut().find(|group| key(group[0]) == key(at)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// Whether two rows agree in one column.
type Column<'a> = &'a dyn Fn(&Row, &Row) -> bool;

/// Whether each column of the learner's rows is that of a thought, or else the right one. A
/// subtraction may have stopped at 0 or begun anew.
pub fn is_explained(thought: &[Row], right: &[Row], got: &[Row]) -> bool {
    let is = |want: &[Row], same: Column| {
        want.len() == got.len() && want.iter().zip(got).all(|(want, got)| same(want, got))
    };
    let floor = |ns: u64| (ns as i64).max(0) as u64;
    let columns: [Column; 6] = [
        &|a, b| (&a.name, &a.shapes) == (&b.name, &b.shapes),
        &|a, b| a.count == b.count,
        &|a, b| a.cpu_total_ns == b.cpu_total_ns,
        &|a, b| [a.self_cpu_ns, floor(a.self_cpu_ns)].contains(&b.self_cpu_ns),
        &|a, b| a.device_total_ns == b.device_total_ns,
        &|a, b| [a.self_device_ns, floor(a.self_device_ns)].contains(&b.self_device_ns),
    ];
    columns.iter().all(|same| is(thought, same) || is(right, same))
}

pub fn formula(calls: &[Call], by_shape: bool, thought: Thought) -> Vec<Row> {
    let keys: Vec<Key> = calls.iter().map(|call| recursion_key(call, by_shape, thought)).collect();
    let inside = |at: usize| match thought {
        DirectParentOnly => calls[at].parent.is_some_and(|above| keys[above] == keys[at]),
        EveryLevel => false,
        Innermost => (0..calls.len()).any(|other| {
            other != at && keys[other] == keys[at] && around(calls, other).contains(&at)
        }),
        _ => around(calls, at)[1..].iter().any(|&above| keys[above] == keys[at]),
    };
    let groups = groups(calls, by_shape, thought);
    let mut rows: Vec<Row> =
        groups.iter().map(|group| row(calls, group, &inside, thought)).collect();
    if groups_by_shape(by_shape, thought) || thought == ShapesOfFirst {
        for (row, group) in rows.iter_mut().zip(&groups) {
            row.shapes = calls[group[0]].shapes.clone();
        }
    }
    rows
}

fn row(calls: &[Call], group: &[usize], inside: &dyn Fn(usize) -> bool, thought: Thought) -> Row {
    let outermost = || group.iter().copied().filter(|&at| !inside(at));
    let cpu: u64 = outermost().map(|at| calls[at].cpu_ns).sum();
    let device = device_total(calls, group, inside, thought);
    let own_device = group.iter().map(|&at| calls[at].kernels_ns).sum::<u64>();
    let own_device = match thought {
        SelfDeviceIsTotal => device,
        SelfDeviceLessParts => {
            let is_part = |call: &&Call| call.parent.is_some_and(|it| group.contains(&it));
            let parts = calls.iter().filter(is_part).map(|call| call.kernels_ns);
            own_device.wrapping_sub(parts.sum::<u64>())
        }
        _ => own_device,
    };
    let count = if thought == OutermostCounted { outermost().count() } else { group.len() } as u64;
    let mean = if thought == Means { count.max(1) } else { 1 };
    Row {
        name: calls[group[0]].name.clone(),
        shapes: Vec::new(),
        count,
        cpu_total_ns: cpu / mean + if thought == DeviceInCpu { device } else { 0 },
        self_cpu_ns: self_cpu(calls, group, cpu, thought) / mean,
        device_total_ns: device / mean,
        self_device_ns: own_device / mean,
    }
}

/// Of a row; begun anew below 0.
fn self_cpu(calls: &[Call], group: &[usize], total: u64, thought: Thought) -> u64 {
    let in_group = |at: &usize| group.contains(at);
    let is_direct = |at: &usize| calls[*at].parent.is_some_and(|parent| group.contains(&parent));
    let all = || 0..calls.len();
    let sum = |of: &mut dyn Iterator<Item = usize>| of.map(|at| calls[at].cpu_ns).sum::<u64>();
    let of_calls = sum(&mut group.iter().copied());
    match thought {
        SelfIsTotal => total,
        SelfIsSum => of_calls,
        SelfOfTotals => {
            total.wrapping_sub(sum(&mut all().filter(|at| is_direct(at) && !in_group(at))))
        }
        OwnKeyKept => of_calls - sum(&mut all().filter(|at| is_direct(at) && !in_group(at))),
        AllDescendants => {
            let above =
                |&at: &usize| around(calls, at)[1..].iter().filter(|it| in_group(it)).count();
            let of_parts: u64 = all().map(|at| above(&at) as u64 * calls[at].cpu_ns).sum();
            of_calls.wrapping_sub(of_parts)
        }
        _ => of_calls - sum(&mut all().filter(is_direct)),
    }
}

fn device_total(
    calls: &[Call],
    group: &[usize],
    inside: &dyn Fn(usize) -> bool,
    thought: Thought,
) -> u64 {
    let times = |at: usize| {
        let around = around(calls, at);
        let levels = around.iter().filter(|it| group.contains(it)).count();
        match thought {
            EveryLevel | EveryLevelOfDevice => levels,
            DeviceNotCarried => usize::from(group.contains(&at)),
            DeviceOneLevel => usize::from(around.iter().take(2).any(|above| group.contains(above))),
            DeviceOfOutermost => usize::from(group.contains(&at) && !inside(at)),
            // Of the calls that count, those that hold it.
            DirectParentOnly | ByNameAlone | ByShapeAlways | Innermost => {
                around.iter().filter(|it| group.contains(it) && !inside(**it)).count()
            }
            _ => levels.min(1),
        }
    };
    (0..calls.len()).map(|at| times(at) as u64 * calls[at].kernels_ns).sum()
}

/// A key and the words for it.
type Says = (&'static str, &'static str);

pub const DESCENDANTS: Says = ("7.2-all-descendants", DESCENDANT_WORDS);
pub const NEGATIVE: Says = (
    "7.2-below-zero",
    "A subtraction went below 0. A call's direct parts are together at most as long as the call; \
     the parts of a row can be longer than its total, since the total leaves out the calls that \
     are inside others of the row.",
);
pub const ORDER: Says = (
    "7.2-order",
    "The rows are right and stand in another order. They come in the order in which their keys \
     first come up among the calls. Sorting is the table's business, and a map forgets the order.",
);

/// All of them, the plainest first.
pub const THOUGHTS: &[Known<Thought>] = &[
    (EveryLevelOfDevice, "7.2-every-level-of-device", DEVICE_RECURSION),
    (EveryLevel, "7.2-every-level", RECURSION),
    (DirectParentOnly, "7.2-direct-parent-only", BETWEEN),
    (Innermost, "7.2-innermost", INNERMOST),
    (OutermostCounted, "7.2-outermost-counted", COUNT),
    (ByNameAlone, "7.2-inside-by-name", OTHER_KEY),
    (ByShapeAlways, "7.2-inside-by-shape", OTHER_KEY),
    (ShapesIgnored, "7.2-shapes-ignored", SHAPES),
    (NameIsKey, "7.2-name-is-key", SHAPES),
    (AlwaysByShape, "7.2-always-by-shape", ALWAYS),
    (FlagTurned, "7.2-flag-turned", TURNED),
    (ShapesOfFirst, "7.2-shapes-of-first", FIRST),
    (NumberOfElements, "7.2-number-of-elements", ALIKE),
    (NumbersInARow, "7.2-numbers-in-a-row", ALIKE),
    (FirstOperand, "7.2-first-operand", ALIKE),
    (OnlyNeighbours, "7.2-only-neighbours", NEIGHBOURS),
    (SelfIsTotal, "7.2-self-is-total", SELF),
    (SelfIsSum, "7.2-self-is-total", SELF),
    (SelfOfTotals, "7.2-self-of-totals", TOTALS),
    (AllDescendants, "7.2-all-descendants", DESCENDANT_WORDS),
    (OwnKeyKept, "7.2-own-key-kept", OWN_KEY),
    (DeviceNotCarried, "7.2-device-not-carried", CARRIED),
    (DeviceOneLevel, "7.2-device-one-level", ONE_LEVEL),
    (DeviceOfOutermost, "7.2-device-of-outermost", LOST),
    (SelfDeviceIsTotal, "7.2-self-device-is-total", SELF_DEVICE),
    (SelfDeviceLessParts, "7.2-self-device-less-parts", LESS_PARTS),
    (DeviceInCpu, "7.2-device-in-cpu", ADDED),
    (Means, "7.2-means", MEANS),
];

const RECURSION: &str = "A call inside another one of its key was counted again, and its time with \
    it: a function that calls itself ten deep comes to ten times its time. In the total only the \
    outermost counts.";
const DEVICE_RECURSION: &str = "A kernel was counted once for each call of the key around it. It \
    ran once, so each key around it gets its time once.";
const BETWEEN: &str = "Only the direct parent was asked whether it has the same key. A block may \
    call a norm that calls a block: look at everything around a call, up to the root.";
const INNERMOST: &str = "Of calls within each other the innermost was counted. It is the outermost \
    that takes in the time of all of them.";
const COUNT: &str = "Calls inside others of their key are missing in the count. They are left out \
    of the total because their time is in it already; they did happen.";
const OTHER_KEY: &str = "Whether a call is inside another one of its row was decided by a key that \
    is not the row's. Grouped by shape, a call inside one of the same name and other shapes counts \
    in full; grouped by name, shapes do not matter.";
const SHAPES: &str = "Calls of different shapes are in one row although shapes were asked for. A \
    small product and a huge one behind the same name are what this grouping is there to show.";
const ALWAYS: &str = "Calls of one name are in several rows although shapes were not asked for.";
const TURNED: &str = "The rows are those of the other grouping: with `true` the shapes belong to \
    the key.";
const FIRST: &str = "A row has shapes although they were not asked for. They are those of its \
    first call, and the others may have had different ones. Leave the list empty.";
const ALIKE: &str = "Calls with different shapes are in one row. All operands count, each with all \
    of its sizes in their order: [2, 3] and [3] are not [2] and [3, 3], and [3, 2] is not [2, 3].";
const NEIGHBOURS: &str = "A key has a new row each time that it comes up again behind another one. \
    All calls of a key belong to one row, wherever they are in the list.";
const SELF: &str = "The self time on the CPU has the parts still in it. What a direct part takes \
    goes off, whatever its key.";
const TOTALS: &str = "The self time was computed from the row's total. That leaves out calls \
    inside others of the row, and what they did themselves is lost if another call lies between. \
    Take each call's own time less its direct parts, and add these up.";
const DESCENDANT_WORDS: &str = "Everything inside was subtracted from the self time. What lies \
    within a part is in the part's time already. Subtract direct parts only.";
const OWN_KEY: &str = "Parts of the same key were not subtracted. For self times they are parts \
    like any other: their own self times are added to the row as well.";
const CARRIED: &str = "The device total has only the kernels that the calls launched themselves. \
    What their parts launched, at any depth, belongs to it.";
const ONE_LEVEL: &str = "A kernel's time went to the call that launched it and to that call's \
    parent, and no further. It belongs to everything around it, up to the root.";
const LOST: &str = "Kernels of calls inside others of their key are missing in the device total. A \
    call that does not count in the CPU total has launched them all the same.";
const SELF_DEVICE: &str = "The device's self time has the kernels of the parts in it. It is what \
    the calls launched themselves.";
const LESS_PARTS: &str = "The kernels of the parts were taken off the device's self time. \
    `kernels_ns` never had them in it: it is what the call launched itself.";
const ADDED: &str = "The device's time was added to the CPU's. The device runs while the host goes \
    on: the two are times of different clocks, side by side.";
const MEANS: &str = "Times were divided by the count. A row holds sums; a mean of means cannot be \
    made whole again.";
