//! 5.1: trees by hand, one for each rule, and random ones.

use engine_room::DType;
use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Death, Diagnosis};

use super::super::tree::{Buffer, Entry, Handle, Node};
use super::Implementation;
use super::flatten_thoughts::{THOUGHTS, Thought, flattened, kind};
use super::thoughts::explained;

/// 5.1
pub fn flatten(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut trees = by_hand(&mut rng);
    trees.extend((0..30).map(|_| random(&mut rng)));
    trees.push(("a chain of 200 modules", chain(200, &mut rng)));
    check.if_it_dies(Death::StackOverflow, "5.1-endless", ENDLESS);
    check.if_it_dies(Death::TimeLimit, "5.1-endless", ENDLESS);
    let mut answers = Vec::new();
    for (what, tree) in &trees {
        answers.push(check.call(words(what, tree), || (imp.flatten)(tree))?);
    }
    let pairs = || trees.iter().zip(&answers);
    let right = |tree: &Node| flattened(tree, Thought::Right);
    let wrong = pairs().filter(|((_, tree), answer)| right(tree) != **answer);
    // The smallest tree is the easiest to follow.
    let Some(((what, tree), answer)) = wrong.min_by_key(|((_, tree), _)| right(tree).len()) else {
        return Ok(());
    };
    let agrees = |thought| pairs().all(|((_, tree), answer)| flattened(tree, thought) == *answer);
    let (key, thought) = match explained(THOUGHTS, agrees) {
        (key::WRONG_VALUE, _) => kind(answer, &right(tree)),
        known => known,
    };
    Err(Diagnosis::new(key)
        .called(words(what, tree))
        .got(shown(answer))
        .expected(shown(&right(tree)))
        .thought(thought))
}

/// A tensor of its own storage.
fn fresh(rng: &mut Generator) -> Handle {
    let shape = vec![1 + rng.below(4), 1 + rng.below(4)];
    let strides = vec![shape[1], 1];
    // Some thirty bits: no two storages of a tree are the same.
    Handle { storage: rng.next_u32().into(), offset: 0, shape, strides, dtype: DType::F32 }
}

fn buffer(name: &str, persistent: bool, tensor: Handle) -> Buffer {
    Buffer { name: name.to_string(), tensor, persistent }
}

fn linear(rng: &mut Generator) -> Node {
    let parameters =
        ["weight", "bias"].map(|name| (name.to_string(), fresh(rng))).into_iter().collect();
    Node { parameters, ..Node::default() }
}

fn batch_norm(rng: &mut Generator) -> Node {
    let buffers = vec![
        buffer("running_mean", true, fresh(rng)),
        buffer("workspace", false, fresh(rng)),
        buffer("running_var", true, fresh(rng)),
    ];
    Node { buffers, ..linear(rng) }
}

fn parent(children: Vec<(&str, Node)>) -> Node {
    let children = children.into_iter().map(|(name, node)| (name.to_string(), node)).collect();
    Node { children, ..Node::default() }
}

/// One tree a rule, the simplest first.
fn by_hand(rng: &mut Generator) -> Vec<(&'static str, Node)> {
    let mut deep = parent(vec![("0", linear(rng)), ("1", batch_norm(rng))]);
    deep.parameters.push(("scale".to_string(), fresh(rng)));
    deep.buffers.push(buffer("positions", true, fresh(rng)));
    let deep = parent(vec![("blocks", deep), ("alias", Node::default()), ("head", linear(rng))]);
    vec![
        ("a module without anything", Node::default()),
        ("one module", linear(rng)),
        ("a batch norm", batch_norm(rng)),
        ("modules in modules", deep),
        ("names that are not in alphabetical order", {
            parent(vec![("norm", batch_norm(rng)), ("10", linear(rng)), ("9", linear(rng))])
        }),
        ("a tie across levels", tied(rng)),
        ("a tensor under three names", three_names(rng)),
        ("a module under two names", {
            let shared = batch_norm(rng);
            parent(vec![("encoder", shared.clone()), ("decoder", shared)])
        }),
        ("equal tensors of two storages", twins(rng)),
        ("windows on one storage", windows(rng)),
        ("a buffer that is not written is a parameter elsewhere", unwritten_first(rng)),
    ]
}

fn tied(rng: &mut Generator) -> Node {
    let embed = Node { parameters: vec![("weight".to_string(), fresh(rng))], ..Node::default() };
    let mut head = linear(rng);
    head.parameters[0].1 = embed.parameters[0].1.clone();
    parent(vec![("body", parent(vec![("embed", embed)])), ("head", head)])
}

fn three_names(rng: &mut Generator) -> Node {
    let mut model = tied(rng);
    let tensor = model.children[1].1.parameters[0].1.clone();
    model.children.push(("extra".to_string(), batch_norm(rng)));
    model.children[2].1.buffers.push(buffer("shadow", true, tensor));
    model
}

/// Equal in everything but the storage.
fn twins(rng: &mut Generator) -> Node {
    let [a, b] = [fresh(rng), fresh(rng)];
    let twin = Handle { storage: b.storage, ..a.clone() };
    let parameters = vec![("a".to_string(), a), ("b".to_string(), twin)];
    Node { parameters, ..Node::default() }
}

/// Tensors of one storage, each of which differs from the first in one thing.
fn windows(rng: &mut Generator) -> Node {
    let whole = Handle { shape: vec![4, 4], strides: vec![4, 1], ..fresh(rng) };
    let others = [
        ("row", Handle { shape: vec![4], strides: vec![1], ..whole.clone() }),
        ("flat", Handle { shape: vec![16], strides: vec![1], ..whole.clone() }),
        ("shifted", Handle { offset: 16, ..whole.clone() }),
        ("transposed", Handle { strides: vec![1, 4], ..whole.clone() }),
        ("bits", Handle { dtype: DType::I32, ..whole.clone() }),
    ];
    let parameters = [("whole", whole)].into_iter().chain(others);
    let parameters = parameters.map(|(name, it)| (name.to_string(), it)).collect();
    Node { parameters, ..Node::default() }
}

fn unwritten_first(rng: &mut Generator) -> Node {
    let mut model = parent(vec![("a", batch_norm(rng)), ("b", linear(rng)), ("c", linear(rng))]);
    let hidden = model.children[0].1.buffers[1].tensor.clone();
    model.children[1].1.parameters[1].1 = hidden.clone();
    model.children[2].1.parameters[0].1 = hidden;
    model
}

/// A tree of up to four levels, in which tensors and whole modules return.
fn random(rng: &mut Generator) -> (&'static str, Node) {
    let mut seen = vec![fresh(rng)];
    ("a random tree", grow(4, &mut seen, rng))
}

fn grow(depth: usize, seen: &mut Vec<Handle>, rng: &mut Generator) -> Node {
    let mut node = Node::default();
    for name in ["weight", "bias"] {
        if rng.below(3) > 0 {
            node.parameters.push((name.to_string(), some(seen, rng)));
        }
    }
    for name in ["mean", "mask"] {
        if rng.below(3) == 0 {
            node.buffers.push(buffer(name, rng.below(3) > 0, some(seen, rng)));
        }
    }
    if depth > 1 {
        let names = ["net", "blocks", "2", "head"];
        for i in rng.permutation(names.len()).into_iter().take(rng.below(4)) {
            node.children.push((names[i].to_string(), grow(depth - 1, seen, rng)));
        }
    }
    node
}

/// A new tensor, or one that was there, or a part of one.
fn some(seen: &mut Vec<Handle>, rng: &mut Generator) -> Handle {
    let old = seen[rng.below(seen.len())].clone();
    let tensor = match rng.below(5) {
        0 => old,
        1 => Handle { offset: old.offset + 1, ..old },
        2 => Handle { shape: vec![1], strides: vec![1], ..old },
        _ => fresh(rng),
    };
    seen.push(tensor.clone());
    tensor
}

fn chain(length: usize, rng: &mut Generator) -> Node {
    let mut node = linear(rng);
    for _ in 0..length {
        node = parent(vec![("next", node)]);
    }
    node
}

/// A tree for people: a line a tensor.
fn words(what: &str, tree: &Node) -> String {
    let mut lines = Vec::new();
    describe(tree, "", &mut lines);
    let more = lines.len().saturating_sub(14);
    lines.truncate(14);
    let more = if more > 0 { format!("\n.. and {more} more") } else { String::new() };
    format!("flatten(root), {what}:\n{}{more}", lines.join("\n"))
}

fn describe(node: &Node, indent: &str, lines: &mut Vec<String>) {
    let handle = |it: &Handle| {
        let Handle { storage, offset, shape, strides, dtype } = it;
        format!("storage {storage} from {offset}, {shape:?}, strides {strides:?}, {dtype:?}")
    };
    for (name, tensor) in &node.parameters {
        lines.push(format!("{indent}parameter {name}: {}", handle(tensor)));
    }
    for Buffer { name, tensor, persistent } in &node.buffers {
        let kind = if *persistent { "buffer" } else { "buffer, not persistent," };
        lines.push(format!("{indent}{kind} {name}: {}", handle(tensor)));
    }
    for (name, child) in &node.children {
        lines.push(format!("{indent}module {name}"));
        if lines.len() < 20 {
            describe(child, &format!("{indent}  "), lines);
        }
    }
}

fn shown(entries: &[Entry]) -> String {
    let line = |Entry { name, alias_of }: &Entry| match alias_of {
        None => format!("{}\n", short(name)),
        Some(other) => format!("{} = {}\n", short(name), short(other)),
    };
    let more = entries.len().saturating_sub(20);
    let more = if more > 0 { format!(".. and {more} more\n") } else { String::new() };
    format!(
        "{} entries:\n{}{more}",
        entries.len(),
        entries.iter().take(20).map(line).collect::<String>()
    )
}

/// The name of a tensor deep down, cut in its middle.
fn short(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= 70 {
        return name.to_string();
    }
    let part = |letters: &[char]| letters.iter().collect::<String>();
    let (head, tail) = (part(&letters[..24]), part(&letters[letters.len() - 24..]));
    format!("{head} .. {tail} ({} letters)", letters.len())
}

const ENDLESS: &str = "The walk does not end. A module is done when its own tensors and all its \
    children are.";
