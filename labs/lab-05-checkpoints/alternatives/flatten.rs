//! Other right ways to flatten a tree: 5.1.

use std::collections::HashMap;

use super::super::tree::{Entry, Handle, Node};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("5.1", "a stack and a map", |table| table.flatten = with_stack),
        other("5.1", "lists that are joined, ties at the end", |table| table.flatten = joined),
    ]
}

fn with_stack(root: &Node) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut first: HashMap<&Handle, String> = HashMap::new();
    let mut stack = vec![(Vec::new(), root)];
    while let Some((path, node)) = stack.pop() {
        let mut own: Vec<(&str, &Handle)> = Vec::new();
        for (name, tensor) in &node.parameters {
            own.push((name, tensor));
        }
        for buffer in &node.buffers {
            if buffer.persistent {
                own.push((&buffer.name, &buffer.tensor));
            }
        }
        for (name, tensor) in own {
            let name = [path.as_slice(), &[name]].concat().join(".");
            let alias_of = first.get(tensor).cloned();
            first.entry(tensor).or_insert_with(|| name.clone());
            entries.push(Entry { name, alias_of });
        }
        for (name, child) in node.children.iter().rev() {
            stack.push(([path.as_slice(), &[name]].concat(), child));
        }
    }
    entries
}

/// The tensors of a module and of all below, named from here on.
fn below(node: &Node) -> Vec<(String, &Handle)> {
    let mut all: Vec<(String, &Handle)> =
        node.parameters.iter().map(|(name, tensor)| (name.clone(), tensor)).collect();
    let written = node.buffers.iter().filter(|buffer| buffer.persistent);
    all.extend(written.map(|buffer| (buffer.name.clone(), &buffer.tensor)));
    for (name, child) in &node.children {
        for (rest, tensor) in below(child) {
            all.push((name.clone() + "." + &rest, tensor));
        }
    }
    all
}

fn joined(root: &Node) -> Vec<Entry> {
    let all = below(root);
    let entry = |(name, tensor): &(String, &Handle)| {
        let first = all.iter().find(|(_, other)| other == tensor).map(|(name, _)| name.clone());
        Entry { name: name.clone(), alias_of: first.filter(|first| first != name) }
    };
    all.iter().map(entry).collect()
}
