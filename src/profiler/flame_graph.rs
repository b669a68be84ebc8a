//! The flame graph: which call inside which takes the time, all rounds of a loop together.
//!
//! B. Gregg, "The Flame Graph", Communications of the ACM 59 (6), 2016. A frame is as wide as the
//! time that it takes; upon it stand the frames that are its parts, those of one name as one.

use std::collections::BTreeMap;

use crate::device::driver::Nanoseconds;
use crate::profiler::event::{Event, Kind};
use crate::profiler::profile::Profile;

/// Whose time a flame graph shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlameTime {
    /// The host's: all its spans, threads together.
    Host,
    /// The devices': a kernel or a copy stands upon the spans of the host that asked for it.
    Device,
}

/// Spans with one name inside one and the same frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Their name.
    pub name: String,
    /// What the first one is a span of.
    pub kind: Kind,
    /// How many frames this one stands upon.
    pub depth: usize,
    /// How many spans of the host; of devices' time, how many pieces of work.
    pub calls: u64,
    /// The times of all frames to its left.
    pub start_ns: Nanoseconds,
    /// Its time with its parts: never less than theirs.
    pub total_ns: Nanoseconds,
    /// Its time without its parts.
    pub self_ns: Nanoseconds,
}

/// The frames of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct FlameGraph {
    /// Each frame before its parts, and these in the order in which their names first came up.
    pub frames: Vec<Frame>,
    /// The time of all frames.
    pub total_ns: Nanoseconds,
    pub(super) modelled: Option<String>,
}

/// A frame while the tree grows. A parent comes before its parts.
struct Node<'a> {
    event: &'a Event,
    parent: Option<usize>,
    parts: Vec<usize>,
    calls: u64,
    self_ns: Nanoseconds,
}

impl Profile {
    /// The frames: every span of the host or every piece of work of the devices.
    pub fn flame_graph(&self, time: FlameTime) -> FlameGraph {
        let mut tree = Tree::default();
        let times = self.self_times();
        for (at, event) in self.events().iter().enumerate() {
            let on_device = event.kind.is_on_device();
            if on_device != (time == FlameTime::Device) {
                continue;
            }
            let shown =
                |&above: &usize| !on_device || !matches!(self.events()[above].kind, Kind::Call(_));
            let mut path: Vec<usize> = self.ancestors(at).filter(shown).collect();
            path.reverse();
            let place = tree.place(path.into_iter().map(|at| &self.events()[at]));
            tree.nodes[place].self_ns += if on_device { event.duration_ns() } else { times[at] };
            tree.nodes[place].calls += 1;
        }
        let (frames, total_ns) = tree.frames(time);
        FlameGraph { frames, total_ns, modelled: self.modelled().map(str::to_string) }
    }
}

#[derive(Default)]
struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    places: BTreeMap<(Option<usize>, &'a str), usize>,
}

impl<'a> Tree<'a> {
    /// The node at the end of a path from the outside in.
    fn place(&mut self, path: impl Iterator<Item = &'a Event>) -> usize {
        let mut above = None;
        for event in path {
            let next = self.nodes.len();
            let place = *self.places.entry((above, &event.name)).or_insert(next);
            if place == next {
                let (parts, calls, self_ns) = (Vec::new(), 0, 0);
                self.nodes.push(Node { event, parent: above, parts, calls, self_ns });
                if let Some(above) = above {
                    self.nodes[above].parts.push(place);
                }
            }
            above = Some(place);
        }
        above.expect("a path holds at least the event itself")
    }

    /// All of them from the left to the right, and their time.
    fn frames(mut self, time: FlameTime) -> (Vec<Frame>, Nanoseconds) {
        let mut totals: Vec<Nanoseconds> = self.nodes.iter().map(|node| node.self_ns).collect();
        for at in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[at].parent {
                totals[parent] += totals[at];
                let work = if time == FlameTime::Device { self.nodes[at].calls } else { 0 };
                self.nodes[parent].calls += work;
            }
        }
        let is_root = |&at: &usize| self.nodes[at].parent.is_none();
        let roots: Vec<usize> = (0..self.nodes.len()).filter(is_root).collect();
        let all = roots.iter().map(|&root| totals[root]).sum();
        let mut frames = Vec::new();
        // What is still to be shown, the next one last: place, depth, start.
        let mut open: Vec<(usize, usize, Nanoseconds)> = beside(&roots, 0, 0, &totals);
        while let Some((at, depth, start_ns)) = open.pop() {
            let Node { event, parts, calls, self_ns, .. } = &self.nodes[at];
            let (name, kind) = (event.name.clone(), event.kind);
            let (calls, total_ns, self_ns) = (*calls, totals[at], *self_ns);
            frames.push(Frame { name, kind, depth, calls, start_ns, total_ns, self_ns });
            open.extend(beside(parts, depth + 1, start_ns, &totals));
        }
        (frames, all)
    }
}

/// Frames side by side from `start` on, the last one first.
fn beside(
    places: &[usize],
    depth: usize,
    mut start: Nanoseconds,
    totals: &[Nanoseconds],
) -> Vec<(usize, usize, Nanoseconds)> {
    let mut all = Vec::with_capacity(places.len());
    for &at in places {
        all.push((at, depth, start));
        start += totals[at];
    }
    all.reverse();
    all
}

impl FlameGraph {
    /// The frames as folded stacks, for flamegraph.pl, inferno and speedscope: a line `a;b;c 123`
    /// for each frame with time of its own, in nanoseconds. A `;` in a name becomes `:`, and what
    /// is no character of a line becomes a blank.
    pub fn folded(&self) -> String {
        let mut stack: Vec<String> = Vec::new();
        let mut out = String::new();
        for frame in &self.frames {
            stack.truncate(frame.depth);
            stack.push(folded_name(&frame.name));
            if frame.self_ns > 0 {
                out += &format!("{} {}\n", stack.join(";"), frame.self_ns);
            }
        }
        out
    }
}

fn folded_name(name: &str) -> String {
    let plain = |c: char| match c {
        ';' => ':',
        '\u{2028}' | '\u{2029}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    };
    match name {
        "" => "(no name)".to_string(),
        name => name.chars().map(plain).collect(),
    }
}
