//! 5.1 with one thing thought otherwise.

use super::super::tree::{Entry, Handle, Node};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    Right,
    ChildrenFirst,
    ChildrenBetween,
    BuffersFirst,
    ByKind,
    Breadth,
    Alphabetical,
    AllBuffers,
    NoBuffers,
    ParentOnly,
    OneLevel,
    NoNames,
    LeadingDot,
    LeadingDotBelow,
    NoDots,
    Growing,
    Slashes,
    AliasesLeftOut,
    TiesUnseen,
    TiesInModule,
    TiesOfParameters,
    SameStorage,
    SameStart,
    SameShape,
    StridesUnseen,
    DtypesUnseen,
    LastName,
    PreviousName,
    HiddenFirst,
    LocalName,
    Itself,
    ReverseChildren,
}

use Thought::*;

/// A tensor with its whole name: and whether it is a parameter, whether it is written, its module.
#[derive(Clone)]
struct Line {
    name: String,
    local: String,
    module: usize,
    parameter: bool,
    written: bool,
    tensor: Handle,
}

/// What comes of a tree.
pub fn flattened(root: &Node, thought: Thought) -> Vec<Entry> {
    let mut lines = Vec::new();
    let mut modules = 0;
    match thought {
        Breadth => breadth(root, &mut lines),
        _ => walk(root, "", thought, &mut modules, &mut lines),
    }
    match thought {
        ByKind => lines.sort_by_key(|line| !line.parameter),
        Alphabetical => lines.sort_by(|a, b| a.name.cmp(&b.name)),
        _ => {}
    }
    entries(&lines, thought)
}

fn entries(lines: &[Line], thought: Thought) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        if !line.written {
            continue;
        }
        let others = match thought {
            LastName => &lines[i + 1..],
            _ => &lines[..i],
        };
        let mut same = others.iter().filter(|other| {
            (other.written || thought == HiddenFirst)
                && one(&other.tensor, &line.tensor, thought)
                && (thought != TiesInModule || other.module == line.module)
                && (thought != TiesOfParameters || (other.parameter && line.parameter))
        });
        let first = match thought {
            TiesUnseen => None,
            Itself => same.next().or(Some(line)),
            LastName | PreviousName => same.next_back(),
            _ => same.next(),
        };
        if thought == AliasesLeftOut && first.is_some() {
            continue;
        }
        let whole = |line: &Line| match thought {
            LeadingDot => format!(".{}", line.name),
            LeadingDotBelow if line.name.contains('.') => format!(".{}", line.name),
            _ => line.name.clone(),
        };
        let name_of =
            |line: &Line| if thought == LocalName { line.local.clone() } else { whole(line) };
        entries.push(Entry { name: whole(line), alias_of: first.map(name_of) });
    }
    entries
}

/// Whether two handles are taken for one tensor.
fn one(a: &Handle, b: &Handle, thought: Thought) -> bool {
    let alike = a.shape == b.shape && a.strides == b.strides && a.dtype == b.dtype;
    match thought {
        SameStorage => a.storage == b.storage,
        SameStart => a.storage == b.storage && a.offset == b.offset,
        SameShape => a.offset == b.offset && alike,
        StridesUnseen => *a == Handle { strides: a.strides.clone(), ..b.clone() },
        DtypesUnseen => *a == Handle { dtype: a.dtype, ..b.clone() },
        _ => a == b,
    }
}

/// What a module holds itself, parameters first.
fn own(node: &Node, prefix: &str, module: usize, thought: Thought) -> Vec<Line> {
    let line = |local: &str, parameter, written, tensor: &Handle| Line {
        name: format!("{prefix}{local}"),
        local: local.to_string(),
        module,
        parameter,
        written,
        tensor: tensor.clone(),
    };
    let parameters = node.parameters.iter().map(|(name, tensor)| line(name, true, true, tensor));
    let buffers = node.buffers.iter().map(|buffer| {
        let written = buffer.persistent || thought == AllBuffers;
        line(&buffer.name, false, written && thought != NoBuffers, &buffer.tensor)
    });
    match thought {
        BuffersFirst => buffers.chain(parameters).collect(),
        _ => parameters.chain(buffers).collect(),
    }
}

fn walk(node: &Node, prefix: &str, thought: Thought, modules: &mut usize, lines: &mut Vec<Line>) {
    *modules += 1;
    let own = own(node, prefix, *modules, thought);
    let (before, behind) = match thought {
        ChildrenFirst => (Vec::new(), own),
        ChildrenBetween => own.into_iter().partition(|line| line.parameter),
        _ => (own, Vec::new()),
    };
    lines.extend(before);
    let mut grown = prefix.to_string();
    let depth = prefix.matches('.').count();
    let mut children: Vec<&(String, Node)> = node.children.iter().collect();
    if thought == ReverseChildren {
        children.reverse();
    }
    for (name, child) in children {
        let below = match thought {
            NoNames => String::new(),
            ParentOnly => format!("{name}."),
            NoDots => format!("{prefix}{name}"),
            Growing => {
                grown += &format!("{name}.");
                grown.clone()
            }
            Slashes => format!("{prefix}{name}/"),
            _ => format!("{prefix}{name}."),
        };
        if thought != OneLevel || depth == 0 {
            walk(child, &below, thought, modules, lines);
        }
    }
    lines.extend(behind);
}

/// Level by level.
fn breadth(root: &Node, lines: &mut Vec<Line>) {
    let mut level = vec![(String::new(), root)];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (prefix, node) in level {
            lines.extend(own(node, &prefix, 0, Right));
            let below = node.children.iter();
            next.extend(below.map(|(name, child)| (format!("{prefix}{name}."), child)));
        }
        level = next;
    }
}

/// What each thought is called, and what is true instead.
pub const THOUGHTS: &[Known<Thought>] = &[
    (ChildrenFirst, "5.1-children-first", CHILDREN_FIRST),
    (ChildrenBetween, "5.1-children-between", CHILDREN_BETWEEN),
    (BuffersFirst, "5.1-buffers-first", BUFFERS_FIRST),
    (ByKind, "5.1-all-parameters-first", BY_KIND),
    (Breadth, "5.1-level-by-level", BREADTH),
    (Alphabetical, "5.1-sorted", ALPHABETICAL),
    (ReverseChildren, "5.1-last-child-first", REVERSE_CHILDREN),
    (AllBuffers, "5.1-not-persistent", ALL_BUFFERS),
    (NoBuffers, "5.1-no-buffers", NO_BUFFERS),
    (ParentOnly, "5.1-parent-only", PARENT_ONLY),
    (OneLevel, "5.1-one-level", ONE_LEVEL),
    (NoNames, "5.1-no-prefix", NO_NAMES),
    (LeadingDot, "5.1-leading-dot", LEADING_DOT),
    (LeadingDotBelow, "5.1-leading-dot", LEADING_DOT),
    (NoDots, "5.1-no-dots", NO_DOTS),
    (Growing, "5.1-growing-prefix", GROWING),
    (Slashes, "5.1-slashes", SLASHES),
    (AliasesLeftOut, "5.1-aliases-left-out", ALIASES_LEFT_OUT),
    (TiesUnseen, "5.1-ties-unseen", TIES_UNSEEN),
    (TiesInModule, "5.1-ties-in-a-module", TIES_IN_MODULE),
    (TiesOfParameters, "5.1-ties-of-parameters", TIES_OF_PARAMETERS),
    (SameStorage, "5.1-same-storage", SAME_STORAGE),
    (SameStart, "5.1-same-start", SAME_START),
    (SameShape, "5.1-same-shape", SAME_SHAPE),
    (StridesUnseen, "5.1-strides-unseen", STRIDES_UNSEEN),
    (DtypesUnseen, "5.1-dtypes-unseen", DTYPES_UNSEEN),
    (LastName, "5.1-last-name", LAST_NAME),
    (PreviousName, "5.1-previous-name", PREVIOUS_NAME),
    (HiddenFirst, "5.1-hidden-first", HIDDEN_FIRST),
    (LocalName, "5.1-local-name", LOCAL_NAME),
    (Itself, "5.1-alias-of-itself", ITSELF),
];

const CHILDREN_FIRST: &str = "The children come before their module's own tensors. In a state \
    dict a module's own parameters and buffers come first.";
const CHILDREN_BETWEEN: &str = "The children come between a module's parameters and its buffers. \
    All that is its own comes first, then the children.";
const BUFFERS_FIRST: &str = "The buffers of a module come before its parameters. PyTorch writes a \
    module's parameters first, then its buffers.";
const BY_KIND: &str = "All parameters of the model come before all buffers. Parameters and \
    buffers are written module by module.";
const BREADTH: &str = "The modules come level by level. PyTorch goes down into the first child \
    before it comes to the second: depth first.";
const ALPHABETICAL: &str = "The entries are sorted by name, perhaps by a map that sorts. Their \
    order is that of registration: blocks.9 before blocks.10.";
const REVERSE_CHILDREN: &str = "The last child comes first. A stack hands out what was put on it \
    last: put the children on it from the last to the first.";
const ALL_BUFFERS: &str = "Buffers that are not persistent are written. They can be computed \
    again, and PyTorch leaves them out.";
const NO_BUFFERS: &str = "The buffers are missing. Without the running means of a batch norm a \
    loaded model computes something else, and nothing complains.";
const PARENT_ONLY: &str = "A name begins with the last module only. It has the names of all \
    modules from the root down to the tensor.";
const ONE_LEVEL: &str = "Only the children of the root were visited. A child has children, so the \
    walk calls itself.";
const NO_NAMES: &str =
    "The names lack their modules, and tensors of two modules have the same name.";
const LEADING_DOT: &str = "A dot too many: it stands between two names, and the root has none.";
const NO_DOTS: &str = "There is no dot between the name of a module and what is in it. Two \
    modules can give one name then: `ab` with `c` and `a` with `bc`.";
const GROWING: &str = "A child's names begin with those of the children before it. The prefix has \
    grown with each of them: every child begins with the prefix of its own parent.";
const SLASHES: &str = "Names are joined by dots, not slashes.";
const ALIASES_LEFT_OUT: &str = "The other names of a tensor are left out. Who loads the file \
    strictly misses them: they are entries, too, only without numbers of their own.";
const TIES_UNSEEN: &str = "A tensor that two modules share is written twice. The file grows, and \
    after loading the two are no longer one tensor.";
const TIES_IN_MODULE: &str = "Ties are seen within a module only. What is written already has to \
    be known in the whole walk: an embedding and a head are two modules.";
const TIES_OF_PARAMETERS: &str = "Ties are seen among parameters only. A buffer can be the same \
    tensor as a parameter.";
const SAME_STORAGE: &str = "Two tensors of one storage were taken for one. A view is another \
    tensor: other elements, or the same ones in another order.";
const SAME_START: &str = "Tensors that begin at the same address were taken for one. That is what \
    comparing `data_ptr` does: a row begins where its matrix begins.";
const SAME_SHAPE: &str = "Tensors of different storages were taken for one because all else is \
    equal. Equal shapes, or equal numbers, are no tie.";
const STRIDES_UNSEEN: &str = "A square matrix and its transpose were taken for one tensor: \
    storage, offset and shape are equal, the strides are not.";
const DTYPES_UNSEEN: &str = "Two tensors of one storage with different types were taken for one. \
    The same bits are other numbers.";
const LAST_NAME: &str = "The tensor is written under its last name. The first one is written, and \
    the later ones refer to it.";
const PREVIOUS_NAME: &str = "An alias refers to the name before it, which is an alias itself. All \
    refer to the name under which the tensor is written.";
const HIDDEN_FIRST: &str = "An alias refers to a buffer that is not persistent, so the tensor is \
    written nowhere. What is left out is no first name.";
const LOCAL_NAME: &str = "`alias_of` has the name in its module. It is the whole name, as it \
    stands in its entry.";
const ITSELF: &str = "The first name of a tensor is an alias of itself. What is written there is \
    no alias: `None`. Look for the tensor before it is noted as written.";

/// What kind of wrong a list is, where no thought gives all lists.
pub fn kind(got: &[Entry], want: &[Entry]) -> (&'static str, &'static str) {
    let names = |entries: &[Entry]| entries.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let (came, right) = (names(got), names(want));
    let beyond =
        |a: &[String], b: &[String]| a.len() > b.len() || a.iter().any(|it| !b.contains(it));
    if came != right {
        return match (beyond(&right, &came), beyond(&came, &right)) {
            (true, true) => ("5.1-other-names", OTHER_NAMES),
            (true, false) => ("5.1-entries-lack", ENTRIES_LACK),
            (false, true) => ("5.1-entries-too-many", TOO_MANY),
            (false, false) => ("5.1-another-order", ORDER),
        };
    }
    let pair = got.iter().zip(want).find(|(got, want)| got != want);
    match pair.map(|(got, want)| (&got.alias_of, &want.alias_of)) {
        Some((None, Some(_))) => ("5.1-tie-not-seen", NOT_SEEN),
        Some((Some(_), None)) => ("5.1-no-tie", NO_TIE),
        _ => ("5.1-alias-of-another", ANOTHER),
    }
}

const OTHER_NAMES: &str = "Some names are others. A name is the names of all modules on the way \
    down and the tensor's own, with one dot between any two and none in front.";
const ENTRIES_LACK: &str = "Entries are lacking. Each name of each parameter and of each \
    persistent buffer has one, also in a module that the walk has met under another name.";
const TOO_MANY: &str = "There are entries too many. Parameters and persistent buffers have one \
    for each of their names, and nothing else has one.";
const ORDER: &str = "The names are right and stand in another order: a module's parameters, its \
    persistent buffers, then child by child all that is below it, each list as it is.";
const NOT_SEEN: &str = "A tie was not seen: the same whole handle stands under an earlier name, \
    somewhere in the tree. All entries before this one count.";
const NO_TIE: &str = "Two tensors were taken for one, and their handles differ. Storage, offset, \
    shape, strides and type must all be equal: `a == b` compares them.";
const ANOTHER: &str = "An alias has another name than the first one under which its tensor stands \
    in the list.";
