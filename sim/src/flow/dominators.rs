//! Immediate dominators, by Lengauer and Tarjan's algorithm ("A fast algorithm for finding
//! dominators in a flowgraph", 1979) in its simple form: O(m log n), whatever the graph.
//! Post-dominators are the dominators of the reversed graph.

/// "No vertex": of one that the root does not reach, and of the root.
const NONE: u32 = u32::MAX;

/// A walk over a graph in depth. Its vertices are numbered as they are met: the root is 0, and
/// all the lists below are by these numbers.
struct Walk {
    /// The vertex in the graph.
    vertex: Vec<u32>,
    /// From where it was met first.
    parent: Vec<usize>,
    /// By vertex in the graph; [`NONE`] if it was not met.
    number: Vec<u32>,
}

/// The immediate dominator of each vertex of a graph, given as lists of what follows each.
pub fn dominators(next: &[Vec<u32>], root: u32) -> Vec<u32> {
    let walk = walk(next, root);
    let count = walk.vertex.len();
    let mut before = vec![Vec::new(); count];
    for (number, vertex) in walk.vertex.iter().enumerate() {
        for follower in &next[*vertex as usize] {
            before[walk.number[*follower as usize] as usize].push(number);
        }
    }
    let mut forest = Forest::new(count);
    let mut dominator = vec![0; count];
    let mut waiting = vec![Vec::new(); count];
    for number in (1..count).rev() {
        for earlier in &before[number] {
            let best = forest.best(*earlier);
            forest.semi[number] = forest.semi[number].min(forest.semi[best]);
        }
        waiting[forest.semi[number]].push(number);
        let parent = walk.parent[number];
        forest.ancestor[number] = Some(parent);
        for vertex in std::mem::take(&mut waiting[parent]) {
            let best = forest.best(vertex);
            let smaller = forest.semi[best] < forest.semi[vertex];
            dominator[vertex] = if smaller { best } else { parent };
        }
    }
    let mut found = vec![NONE; next.len()];
    for number in 1..count {
        if dominator[number] != forest.semi[number] {
            dominator[number] = dominator[dominator[number]];
        }
        found[walk.vertex[number] as usize] = walk.vertex[dominator[number]];
    }
    found
}

fn walk(next: &[Vec<u32>], root: u32) -> Walk {
    let number = vec![NONE; next.len()];
    let mut walk = Walk { vertex: Vec::new(), parent: Vec::new(), number };
    let mut open = vec![(root, 0)];
    while let Some((vertex, parent)) = open.pop() {
        if walk.number[vertex as usize] != NONE {
            continue;
        }
        let number = walk.vertex.len();
        walk.number[vertex as usize] = number as u32;
        walk.vertex.push(vertex);
        walk.parent.push(parent);
        open.extend(next[vertex as usize].iter().rev().map(|follower| (*follower, number)));
    }
    walk
}

/// The part of the walk's tree that was looked at, with paths shortened.
struct Forest {
    ancestor: Vec<Option<usize>>,
    /// The vertex with the least semidominator between a vertex and where its ancestor stands.
    label: Vec<usize>,
    semi: Vec<usize>,
}

impl Forest {
    fn new(count: usize) -> Forest {
        let numbers: Vec<usize> = (0..count).collect();
        Forest { ancestor: vec![None; count], label: numbers.clone(), semi: numbers }
    }

    /// The vertex with the least semidominator on the path up from this one.
    fn best(&mut self, vertex: usize) -> usize {
        let mut path = Vec::new();
        let mut top = vertex;
        while let Some(ancestor) = self.ancestor[top] {
            path.push(top);
            top = ancestor;
        }
        // The vertex right below the root of the tree keeps its ancestor.
        path.pop();
        for below in path.into_iter().rev() {
            if let Some(ancestor) = self.ancestor[below] {
                if self.semi[self.label[ancestor]] < self.semi[self.label[below]] {
                    self.label[below] = self.label[ancestor];
                }
                self.ancestor[below] = self.ancestor[ancestor];
            }
        }
        self.label[vertex]
    }
}
