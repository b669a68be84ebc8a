//! A picture of the graph behind a tensor: which nodes there are, and what they hold in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use crate::Tensor;
use crate::autograd::node::Node;
use crate::memory::Role;

/// The recorded history of a tensor, as it is when the picture is taken.
#[derive(Debug, Clone)]
pub struct Graph {
    nodes: Vec<GraphNode>,
}

/// One node of the picture.
#[derive(Debug, Clone)]
pub struct GraphNode {
    /// Its place in [`Graph::nodes`].
    pub place: usize,
    /// The operation's name, or "leaf".
    pub name: &'static str,
    /// The shape of what it computed.
    pub shape: Vec<usize>,
    /// What it saved for its backward pass.
    pub saved: Vec<SavedTensor>,
    /// Places of the nodes of its inputs, without inputs that require no gradient.
    pub inputs: Vec<usize>,
}

/// A tensor that a node keeps alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedTensor {
    /// Its shape.
    pub shape: Vec<usize>,
    /// Bytes of its whole storage.
    pub bytes: u64,
    /// The same number for tensors that share a storage.
    pub storage: usize,
    /// What the storage counts as.
    pub role: Role,
}

impl Graph {
    /// The graph of everything that `tensor` was computed from; empty if nothing was recorded.
    pub fn of(tensor: &Tensor) -> Graph {
        let mut found = BTreeMap::new();
        let mut waiting: Vec<Arc<Node>> = tensor.node().into_iter().collect();
        while let Some(node) = waiting.pop() {
            if found.contains_key(&node.id()) {
                continue;
            }
            waiting.extend(node.edges().iter().flatten().cloned());
            found.insert(node.id(), node);
        }
        let places: BTreeMap<u64, usize> = found.keys().copied().zip(0..).collect();
        let nodes = found.values().map(|node| GraphNode::of(node, &places)).collect();
        Graph { nodes }
    }

    /// The nodes, oldest first.
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }

    /// Bytes of all storages that the graph keeps alive, each once, parameters included.
    pub fn saved_bytes(&self) -> u64 {
        self.bytes_where(|_| true)
    }

    /// Bytes of the storages that live only for the backward pass: all but the parameters, which
    /// would be there anyway. Each storage counts once, however many nodes saved it.
    pub fn activation_bytes(&self) -> u64 {
        self.bytes_where(|saved| saved.role != Role::Parameter)
    }

    fn bytes_where(&self, counts: impl Fn(&SavedTensor) -> bool) -> u64 {
        let saved = self.nodes.iter().flat_map(|node| &node.saved).filter(|saved| counts(saved));
        let storages: BTreeSet<_> = saved.map(|saved| (saved.storage, saved.bytes)).collect();
        storages.iter().map(|(_, bytes)| bytes).sum()
    }

    /// The graph in DOT, for Graphviz. Arrows point from an input to what was computed from it.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph {\n  rankdir=LR;\n");
        for node in &self.nodes {
            let shape = if node.name == "leaf" { "ellipse" } else { "box" };
            let label = node.label("\\n");
            writeln!(out, "  n{} [label=\"{label}\", shape={shape}];", node.place)
                .expect("a String");
        }
        self.write_edges(&mut out, |from, to| format!("  n{from} -> n{to};"));
        out + "}\n"
    }

    /// The graph in Mermaid's flowchart language.
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for node in &self.nodes {
            let (open, close) = if node.name == "leaf" { ("([", "])") } else { ("[", "]") };
            let label = node.label("<br>");
            writeln!(out, "  n{}{open}\"{label}\"{close}", node.place).expect("a String");
        }
        self.write_edges(&mut out, |from, to| format!("  n{from} --> n{to}"));
        out
    }

    fn write_edges(&self, out: &mut String, edge: impl Fn(usize, usize) -> String) {
        for node in &self.nodes {
            for &input in &node.inputs {
                writeln!(out, "{}", edge(input, node.place)).expect("a String");
            }
        }
    }
}

impl GraphNode {
    fn of(node: &Node, places: &BTreeMap<u64, usize>) -> GraphNode {
        let saved = node.saved_tensors();
        GraphNode {
            place: places[&node.id()],
            name: node.name(),
            shape: node.shape().to_vec(),
            saved: saved.iter().map(SavedTensor::of).collect(),
            inputs: node.edges().iter().flatten().map(|edge| places[&edge.id()]).collect(),
        }
    }

    /// Name, shape and saved bytes, each on a line of its own.
    fn label(&self, line_break: &str) -> String {
        let mut lines = vec![self.name.to_string(), format!("{:?}", self.shape)];
        if !self.saved.is_empty() {
            let shapes: Vec<String> = self.saved.iter().map(|s| format!("{:?}", s.shape)).collect();
            lines.push(format!("saves {}", shapes.join(" ")));
        }
        lines.join(line_break)
    }
}

impl SavedTensor {
    fn of(tensor: &Tensor) -> SavedTensor {
        let storage = tensor.storage();
        SavedTensor {
            shape: tensor.shape().to_vec(),
            bytes: storage.nbytes(),
            storage: Arc::as_ptr(storage) as usize,
            role: storage.role(),
        }
    }
}
