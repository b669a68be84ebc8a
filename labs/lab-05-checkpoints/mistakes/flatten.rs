//! Wrong ways to flatten a tree: 5.1.

use std::collections::{BTreeMap, VecDeque};

use super::super::solution::flatten as right;
use super::super::tree::{Buffer, Entry, Handle, Node};
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_order();
    all.extend(of_the_choice());
    all.extend(of_the_names());
    all.extend(of_ties());
    all.extend(of_handles());
    all.extend(of_aliases());
    all.extend(of_first_names());
    all
}

fn flat(diagnosis: &'static str, name: &'static str, flatten: fn(&Node) -> Vec<Entry>) -> Wrong {
    wrong("5.1", diagnosis, name, |table| table.flatten = flatten)
}

/// Names and tensors without ties.
type Lines = Vec<(String, Handle)>;

fn parameters(node: &Node, prefix: &str) -> Lines {
    let all = node.parameters.iter();
    all.map(|(name, tensor)| (format!("{prefix}{name}"), tensor.clone())).collect()
}

fn buffers(node: &Node, prefix: &str) -> Lines {
    let all = node.buffers.iter().filter(|buffer| buffer.persistent);
    all.map(|buffer| (format!("{prefix}{}", buffer.name), buffer.tensor.clone())).collect()
}

/// The right walk, as what is done for a module and what its children are called.
fn walk(node: &Node, prefix: &str, child: fn(&str, &str) -> String, lines: &mut Lines) {
    lines.extend(ordered(node, prefix, "pb"));
    for (name, node) in &node.children {
        walk(node, &child(prefix, name), child, lines);
    }
}

fn lines(root: &Node) -> Lines {
    ordered(root, "", "pbc")
}

fn named(root: &Node, child: fn(&str, &str) -> String) -> Vec<Entry> {
    let mut lines = Vec::new();
    walk(root, "", child, &mut lines);
    tied(&lines, |a, b| a == b)
}

/// Each tensor is an alias of the first line that is the same.
fn tied(lines: &Lines, same: fn(&Handle, &Handle) -> bool) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (i, (name, tensor)) in lines.iter().enumerate() {
        let first = lines[..i].iter().find(|(_, other)| same(other, tensor));
        let alias_of = first.map(|(name, _)| name.clone());
        entries.push(Entry { name: name.clone(), alias_of });
    }
    entries
}

fn exactly(lines: &Lines) -> Vec<Entry> {
    tied(lines, |a, b| a == b)
}

/// The walk in another order: `p` for a module's parameters, `b` for its buffers, `c` for its
/// children.
fn ordered(node: &Node, prefix: &str, order: &str) -> Lines {
    let mut lines = Vec::new();
    for part in order.chars() {
        match part {
            'p' => lines.extend(parameters(node, prefix)),
            'b' => lines.extend(buffers(node, prefix)),
            _ => {
                for (name, child) in &node.children {
                    lines.extend(ordered(child, &format!("{prefix}{name}."), order));
                }
            }
        }
    }
    lines
}

/// A module that waits for its turn, with the prefix of its names.
type Waiting<'a> = VecDeque<(String, &'a Node)>;

/// The walk without a function that calls itself.
fn waiting(root: &Node, next: for<'a> fn(&mut Waiting<'a>) -> Option<(String, &'a Node)>) -> Lines {
    let mut modules = Waiting::from([(String::new(), root)]);
    let mut lines = Vec::new();
    while let Some((prefix, node)) = next(&mut modules) {
        lines.extend(ordered(node, &prefix, "pb"));
        for (name, child) in &node.children {
            modules.push_back((format!("{prefix}{name}."), child));
        }
    }
    lines
}

fn of_the_order() -> Vec<Wrong> {
    vec![
        flat("5.1-children-first", "own tensors behind", |root| exactly(&ordered(root, "", "cpb"))),
        flat("5.1-children-between", "buffers behind the children", |root| {
            exactly(&ordered(root, "", "pcb"))
        }),
        flat("5.1-buffers-first", "buffers before parameters", |root| {
            exactly(&ordered(root, "", "bpc"))
        }),
        flat("5.1-all-parameters-first", "named_parameters, then named_buffers", |root| {
            exactly(&[ordered(root, "", "pc"), ordered(root, "", "bc")].concat())
        }),
        flat("5.1-level-by-level", "a queue", |root| {
            exactly(&waiting(root, |modules| modules.pop_front()))
        }),
        flat("5.1-last-child-first", "a stack", |root| {
            exactly(&waiting(root, |modules| modules.pop_back()))
        }),
        flat("5.1-sorted", "a map that sorts", |root| {
            let map: BTreeMap<String, Handle> = lines(root).into_iter().collect();
            exactly(&map.into_iter().collect())
        }),
    ]
}

/// The tree with other buffers.
fn with_buffers(node: &Node, change: fn(&Buffer) -> Option<Buffer>) -> Node {
    Node {
        parameters: node.parameters.clone(),
        buffers: node.buffers.iter().filter_map(change).collect(),
        children: node
            .children
            .iter()
            .map(|(name, child)| (name.clone(), with_buffers(child, change)))
            .collect(),
    }
}

fn of_the_choice() -> Vec<Wrong> {
    vec![
        flat("5.1-not-persistent", "all buffers", |root| {
            right(&with_buffers(root, |buffer| Some(Buffer { persistent: true, ..buffer.clone() })))
        }),
        flat("5.1-no-buffers", "parameters only", |root| right(&with_buffers(root, |_| None))),
        flat("5.1-one-level", "no walk", |root| {
            let mut lines = ordered(root, "", "pb");
            for (name, child) in &root.children {
                lines.extend(ordered(child, &format!("{name}."), "pb"));
            }
            exactly(&lines)
        }),
        flat("5.1-endless", "the root instead of the child", |root| {
            fn visit(node: &Node, depth: u64) -> u64 {
                let below = node.children.iter().map(|_| visit(node, depth + 1));
                below.sum::<u64>() + std::hint::black_box(depth)
            }
            std::hint::black_box(visit(root, 0));
            right(root)
        }),
        flat("5.1-aliases-left-out", "each tensor once", |root| {
            right(root).into_iter().filter(|entry| entry.alias_of.is_none()).collect()
        }),
    ]
}

/// The right entries under other names.
fn renamed(root: &Node, name: fn(&str) -> String) -> Vec<Entry> {
    let other =
        |it: Entry| Entry { name: name(&it.name), alias_of: it.alias_of.as_deref().map(name) };
    right(root).into_iter().map(other).collect()
}

/// One prefix, which nobody shortens again.
fn growing(node: &Node, prefix: &mut String, lines: &mut Lines) {
    lines.extend(ordered(node, prefix, "pb"));
    let own = prefix.clone();
    for (name, child) in &node.children {
        prefix.push_str(&format!("{name}."));
        growing(child, &mut prefix.clone(), lines);
    }
    *prefix = own;
}

fn of_the_names() -> Vec<Wrong> {
    vec![
        flat("5.1-parent-only", "the name of the module", |root| {
            named(root, |_, name| format!("{name}."))
        }),
        flat("5.1-no-prefix", "names in their modules", |root| named(root, |_, _| String::new())),
        flat("5.1-leading-dot", "a dot in front of each name", |root| {
            renamed(root, |name| format!(".{name}"))
        }),
        flat("5.1-no-dots", "names one behind the other", |root| {
            named(root, |prefix, name| format!("{prefix}{name}"))
        }),
        flat("5.1-growing-prefix", "one prefix for all children", |root| {
            let mut lines = Vec::new();
            growing(root, &mut String::new(), &mut lines);
            exactly(&lines)
        }),
        flat("5.1-other-names", "underscores", |root| renamed(root, |name| name.replace('.', "_"))),
        flat("5.1-another-order", "pushed in front", |root| {
            right(root).into_iter().rev().collect()
        }),
        flat("5.1-entries-too-many", "an entry for the model", |root| {
            let model = Entry { name: "model".to_string(), alias_of: None };
            right(root).into_iter().chain([model]).collect()
        }),
        flat("5.1-entries-lack", "not under a third name", |root| {
            let mut seen = Vec::new();
            let mut all = right(root);
            all.retain(|it| {
                it.alias_of.is_none() || {
                    seen.push(it.alias_of.clone());
                    seen.iter().filter(|other| **other == it.alias_of).count() < 2
                }
            });
            all
        }),
        flat("5.1-slashes", "a path", |root| {
            named(root, |prefix, name| format!("{prefix}{name}/"))
        }),
        flat("5.1-local-name", "alias_of without its modules", |root| {
            let last = |name: String| name.split('.').next_back().unwrap_or_default().to_string();
            let local = |it: Entry| Entry { alias_of: it.alias_of.map(last), ..it };
            right(root).into_iter().map(local).collect()
        }),
    ]
}

fn visit_hidden(node: &Node, prefix: &str, hidden: &mut Vec<(String, Handle, bool)>) {
    for (name, tensor) in &node.parameters {
        hidden.push((format!("{prefix}{name}"), tensor.clone(), true));
    }
    for buffer in &node.buffers {
        hidden.push((format!("{prefix}{}", buffer.name), buffer.tensor.clone(), buffer.persistent));
    }
    for (name, child) in &node.children {
        visit_hidden(child, &format!("{prefix}{name}."), hidden);
    }
}

fn per_module(node: &Node, prefix: &str, entries: &mut Vec<Entry>) {
    entries.extend(exactly(&ordered(node, prefix, "pb")));
    for (name, child) in &node.children {
        per_module(child, &format!("{prefix}{name}."), entries);
    }
}

/// The names of all parameters.
fn is_parameter(root: &Node) -> Vec<String> {
    ordered(root, "", "pc").into_iter().map(|(name, _)| name).collect()
}

fn of_ties() -> Vec<Wrong> {
    vec![
        flat("5.1-ties-unseen", "no ties", |root| tied(&lines(root), |_, _| false)),
        flat("5.1-ties-in-a-module", "a new list for each module", |root| {
            let mut entries = Vec::new();
            per_module(root, "", &mut entries);
            entries
        }),
        flat("5.1-ties-of-parameters", "buffers are never tied", |root| {
            let parameters = is_parameter(root);
            let lines = lines(root);
            let mut entries = Vec::new();
            for (i, (name, tensor)) in lines.iter().enumerate() {
                let tied = |(other, one): &&(String, Handle)| {
                    one == tensor && parameters.contains(other) && parameters.contains(name)
                };
                let alias_of = lines[..i].iter().find(tied).map(|(name, _)| name.clone());
                entries.push(Entry { name: name.clone(), alias_of });
            }
            entries
        }),
    ]
}

fn of_handles() -> Vec<Wrong> {
    vec![
        flat("5.1-same-storage", "one storage, one tensor", |root| {
            tied(&lines(root), |a, b| a.storage == b.storage)
        }),
        flat("5.1-same-start", "data_ptr", |root| {
            tied(&lines(root), |a, b| (a.storage, a.offset) == (b.storage, b.offset))
        }),
        flat("5.1-same-shape", "the storage not asked", |root| {
            tied(&lines(root), |a, b| *a == Handle { storage: a.storage, ..b.clone() })
        }),
        flat("5.1-no-tie", "storage, shape, dtype", |root| {
            tied(&lines(root), |a, b| {
                let key = |it: &Handle| (it.storage, it.shape.clone(), it.dtype);
                key(a) == key(b)
            })
        }),
        flat("5.1-strides-unseen", "storage, offset, shape, dtype", |root| {
            tied(&lines(root), |a, b| {
                let key = |it: &Handle| (it.storage, it.offset, it.shape.clone(), it.dtype);
                key(a) == key(b)
            })
        }),
        flat("5.1-dtypes-unseen", "storage, offset, shape, strides", |root| {
            tied(&lines(root), |a, b| {
                let key =
                    |it: &Handle| (it.storage, it.offset, it.shape.clone(), it.strides.clone());
                key(a) == key(b)
            })
        }),
    ]
}

fn of_aliases() -> Vec<Wrong> {
    vec![
        flat("5.1-tie-not-seen", "ties under equal names", |root| {
            let lines = lines(root);
            let own = |name: &str| name.split('.').next_back().map(str::to_string);
            let mut entries = exactly(&lines);
            entries.iter_mut().for_each(|it| {
                it.alias_of.take_if(|first| own(first) != own(&it.name));
            });
            entries
        }),
        flat("5.1-alias-of-itself", "noted before it is looked for", |root| {
            let own = |it: Entry| Entry { alias_of: it.alias_of.or(Some(it.name.clone())), ..it };
            right(root).into_iter().map(own).collect()
        }),
        flat("5.1-alias-of-another", "the shortest name", |root| {
            let mut entries = right(root);
            for at in 0..entries.len() {
                let first = entries[at].alias_of.clone();
                let same =
                    entries[..at].iter().filter(|it| first.is_some() && it.alias_of == first);
                let shorter = same.map(|it| it.name.clone()).min_by_key(String::len);
                entries[at].alias_of = shorter.or(first);
            }
            entries
        }),
    ]
}

fn of_first_names() -> Vec<Wrong> {
    vec![
        flat("5.1-last-name", "the last name", |root| {
            let lines = lines(root);
            let mut entries = Vec::new();
            for (i, (name, tensor)) in lines.iter().enumerate() {
                let later = lines[i + 1..].iter().rfind(|(_, other)| other == tensor);
                let alias_of = later.map(|(name, _)| name.clone());
                entries.push(Entry { name: name.clone(), alias_of });
            }
            entries
        }),
        flat("5.1-previous-name", "a map that is overwritten", |root| {
            let mut names = std::collections::HashMap::new();
            let line = |(name, tensor): (String, Handle)| {
                let alias_of = names.insert(tensor, name.clone());
                Entry { name, alias_of }
            };
            lines(root).into_iter().map(line).collect()
        }),
        flat("5.1-hidden-first", "left out at the end", |root| {
            let mut all = Vec::new();
            visit_hidden(root, "", &mut all);
            let lines =
                all.iter().map(|(name, tensor, _)| (name.clone(), tensor.clone())).collect();
            let entries = exactly(&lines);
            let kept = entries.into_iter().zip(&all).filter(|(_, (_, _, written))| *written);
            kept.map(|(entry, _)| entry).collect()
        }),
    ]
}
