//! 3.4: the backward walk, judged by what each node was called with, and when.

use std::collections::{BTreeMap, HashMap};

use engine_room::Tensor;
use grading::{Check, Death, Diagnosis};

use super::Implementation;
use super::graphs::{
    Arrivals, Event, Graph, Input, Plan, Source, Truth, input, random_plan, total, words,
};

/// Nodes of the deep chain.
const DEEP: usize = 100_000;
/// Levels of `x = x + x`: 2^40 paths.
const LEVELS: usize = 40;

/// What a wrong walk over this plan means if the walk itself shows no known reason.
type Otherwise = (&'static str, &'static str);

/// 3.4
pub fn walk(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    check.if_it_dies(Death::TimeLimit, "3.4-never-ends", NEVER_ENDS);
    check.if_it_dies(Death::StackOverflow, "3.4-recursion", RECURSION);
    for plan in plain_plans() {
        on_plan(imp, check, &plan, GENERIC)?;
    }
    root_is_leaf(imp, check)?;
    mixed(imp, check)?;
    on_plan(imp, check, &vec![vec![input(Source::Constant, 2.0), input(X0, 5.0)]], MISALIGNED)?;
    check.if_it_dies(Death::Panicked, "3.4-none-unwrapped", UNWRAPPED);
    for plan in cut_plans() {
        on_plan(imp, check, &plan, GENERIC)?;
    }
    check.if_it_dies(Death::Panicked, "panicked", "");
    let mut rng = check.rng();
    for ops in [4, 6, 8, 10, 10, 10] {
        on_plan(imp, check, &random_plan(&mut rng, ops), GENERIC)?;
    }
    check.if_it_dies(Death::TimeLimit, "3.4-every-path", EVERY_PATH);
    on_plan(imp, check, &doubled(LEVELS), GENERIC)?;
    check.if_it_dies(Death::TimeLimit, "3.4-searches-all", SEARCHES);
    deep_chain(imp, check)
}

const X0: Source = Source::Leaf(0);
const X1: Source = Source::Leaf(1);
const N0: Source = Source::Op(0);
const N1: Source = Source::Op(1);
const N2: Source = Source::Op(2);

/// From one node to graphs in which results are used again later.
fn plain_plans() -> Vec<Plan> {
    let one = |source, weight| vec![input(source, weight)];
    let two = |a, v, b, w| vec![input(a, v), input(b, w)];
    vec![
        vec![one(X0, 3.0)],
        vec![two(X0, 1.0, X1, 1.0), two(N0, 1.0, X0, 1.0)],
        vec![two(X0, 2.0, X1, 5.0)],
        vec![one(X0, 2.0), one(N0, 3.0)],
        vec![two(X0, 2.0, X0, 5.0)],
        vec![one(X0, 2.0), two(N0, 3.0, N0, 5.0)],
        vec![one(X0, 2.0), two(N0, 3.0, X0, -1.0)],
        vec![one(X0, 2.0), two(X0, 5.0, N0, 3.0)],
        vec![one(X0, 2.0), one(N0, 3.0), two(N0, 5.0, N1, 1.0)],
        vec![one(X0, 2.0), one(N0, 3.0), two(N1, 5.0, N0, 1.0)],
        vec![one(X0, 2.0), one(X1, 3.0), one(N0, 5.0), two(N2, 2.0, N1, 3.0)],
        vec![two(X0, 2.0, X1, 1.0), one(N0, 3.0), one(N1, 2.0), two(N2, 1.0, N0, 5.0)],
        vec![two(X0, 2.0, X1, 1.0), one(N0, 3.0), one(N1, 2.0), two(N0, 1.0, N2, 5.0)],
    ]
}

/// Operations that hand no gradient to one of their inputs.
fn cut_plans() -> Vec<Plan> {
    let cut = |source, weight| Input { source, weight, cut: true };
    vec![
        vec![vec![cut(X0, 2.0), input(X1, 5.0)]],
        vec![vec![input(X0, 2.0)], vec![cut(N0, 3.0), input(X0, 5.0)]],
        vec![vec![input(X0, 2.0)], vec![input(N0, 3.0)], vec![cut(N0, 5.0), input(N1, 2.0)]],
        vec![vec![input(X0, 2.0)], vec![cut(N0, 3.0)], vec![input(N0, 5.0), input(N1, 2.0)]],
        vec![vec![cut(X0, 2.0)]],
    ]
}

fn doubled(levels: usize) -> Plan {
    let source = |level: usize| if level == 0 { X0 } else { Source::Op(level - 1) };
    (0..levels).map(|level| vec![input(source(level), 1.0); 2]).collect()
}

/// Runs the learner's walk over one plan and explains what is wrong with it.
fn on_plan(
    imp: &Implementation,
    check: &mut Check,
    plan: &Plan,
    otherwise: Otherwise,
) -> Result<(), Diagnosis> {
    let graph = Graph::build(plan);
    let dy = vec![3.0, -7.0];
    let called = match plan.len() {
        LEVELS.. => format!("backward_walk(root of {LEVELS} times x = x + x, dy {dy:?})"),
        _ => format!("backward_walk(root of {}, dy {dy:?})", words(plan)),
    };
    let seed = Tensor::from_vec(dy.clone(), &[2]);
    let got = check.call(called.as_str(), || (imp.backward_walk)(&graph.root, seed))?;
    let truth = Truth::of(plan, &dy);
    let case = Case { plan, called: &called, truth: &truth, otherwise };
    case.judge_nodes(&graph.events())?;
    case.judge_leaves(&graph, &got)
}

struct Case<'a> {
    plan: &'a Plan,
    called: &'a str,
    truth: &'a Truth,
    otherwise: Otherwise,
}

impl Case<'_> {
    /// Each node once, with its whole gradient.
    fn judge_nodes(&self, events: &[Event]) -> Result<(), Diagnosis> {
        for (at, event) in events.iter().enumerate() {
            if events[..at].iter().any(|earlier| earlier.op == event.op) {
                return Err(self.twice(events, event.op));
            }
        }
        for (at, event) in events.iter().enumerate() {
            let arrivals = &self.truth.ops[event.op];
            if event.dy != total(arrivals) {
                return Err(self.wrong_dy(&events[at..], event, arrivals));
            }
        }
        let called = |op: &usize| events.iter().any(|event| event.op == *op);
        let reached = (0..self.plan.len()).filter(|&op| !self.truth.ops[op].is_empty());
        match reached.into_iter().find(|op| !called(op)) {
            None => Ok(()),
            Some(op) => Err(self
                .diagnosis("3.4-node-skipped", SKIPPED)
                .got(format!("Node::backward of n{op} was never called"))
                .expected("one call for each node that is not a leaf")),
        }
    }

    fn diagnosis(&self, key: &str, thought: &str) -> Diagnosis {
        Diagnosis::new(key).called(self.called).thought(thought)
    }

    fn twice(&self, events: &[Event], op: usize) -> Diagnosis {
        let calls = events.iter().filter(|event| event.op == op);
        let dys: Vec<String> = calls.map(|event| format!("{:?}", event.dy)).collect();
        let (key, thought) = self
            .out_of_order(events, op)
            .unwrap_or_else(|| ("3.4-every-path", EVERY_PATH.to_owned()));
        self.diagnosis(key, &thought)
            .got(format!("Node::backward of n{op} was called with {}", dys.join(", then ")))
            .expected(format!("one call, with {:?}", total(&self.truth.ops[op])))
    }

    /// Whether all that had arrived was added up, and the node's turn came before all had arrived.
    fn out_of_order(&self, events: &[Event], op: usize) -> Option<(&'static str, String)> {
        let first = events.iter().position(|event| event.op == op)?;
        let (before, waiting) = (&events[..first], self.waiting(&events[..first]));
        let arrived: Arrivals = waiting.iter().filter(|(to, _)| *to == op).cloned().collect();
        let ran = |sender: usize| before.iter().any(|event| event.op == sender);
        let late = self.truth.ops[op].iter().find(|(sender, _)| !ran(*sender));
        let (late, _) = late.filter(|_| total(&arrived) == events[first].dy)?;
        let is_newest = waiting.last().is_some_and(|(to, _)| *to == op);
        let (key, served) = match is_newest && arrived.len() < waiting.len() {
            true => ("3.4-stack-order", STACK),
            false => ("3.4-queue-order", QUEUE),
        };
        let users = format!("n{op} was run before n{late}, which uses n{op}, had run");
        Some((key, format!("What arrives is added up, and the order is wrong: {users}. {served}")))
    }

    /// What these calls have sent to operations that have not run since, in order of arrival.
    fn waiting(&self, events: &[Event]) -> Arrivals {
        let mut waiting = Arrivals::new();
        for event in events {
            waiting.retain(|(to, _)| *to != event.op);
            for input in self.plan[event.op].iter().filter(|input| !input.cut) {
                if let Source::Op(to) = input.source {
                    waiting.push((to, event.dy.iter().map(|x| x * input.weight).collect()));
                }
            }
        }
        waiting
    }

    /// Why a node was called with a gradient that is not its own.
    fn wrong_dy(&self, from_here: &[Event], event: &Event, arrivals: &Arrivals) -> Diagnosis {
        let is_root = event.op + 1 == self.plan.len();
        let waits =
            |(sender, _): &(usize, Vec<f32>)| from_here[1..].iter().any(|e| e.op == *sender);
        let (key, thought) = if is_root {
            ("3.4-dy-ignored", IGNORED)
        } else if arrivals.iter().any(waits) {
            ("3.4-too-early", TOO_EARLY)
        } else {
            self.lost(&event.dy, arrivals)
        };
        self.diagnosis(key, thought)
            .got(format!("Node::backward of n{} was called with {:?}", event.op, event.dy))
            .expected(format!("dy = {:?}{}", total(arrivals), sum_in_words(arrivals)))
    }

    /// What came if it is one of several arrivals: the others were lost.
    fn lost(&self, got: &[f32], arrivals: &Arrivals) -> Otherwise {
        let one_of_several = arrivals.len() > 1 && arrivals.iter().any(|(_, part)| part == got);
        if one_of_several { ("3.4-overwritten", OVERWRITTEN) } else { self.otherwise }
    }

    /// Each leaf that a gradient reaches, and nothing else.
    fn judge_leaves(&self, graph: &Graph, got: &HashMap<u64, Tensor>) -> Result<(), Diagnosis> {
        let mut got: BTreeMap<u64, Vec<f32>> =
            got.iter().map(|(&id, gradient)| (id, gradient.to_vec())).collect();
        for (leaf, (tensor, arrivals)) in graph.leaves.iter().zip(&self.truth.leaves).enumerate() {
            let id = tensor.node().map_or(0, |node| node.id());
            let want = total(arrivals);
            let expected = format!("the gradient of x{leaf} = {want:?}{}", sum_in_words(arrivals));
            match got.remove(&id) {
                Some(gradient) if gradient == want => {}
                None if arrivals.is_empty() => {}
                None => {
                    return Err(self
                        .diagnosis("3.4-leaf-missing", MISSING)
                        .got(format!("the map has no gradient of x{leaf}"))
                        .expected(expected));
                }
                Some(gradient) => {
                    let (key, thought) = self.lost(&gradient, arrivals);
                    let got = format!("the gradient of x{leaf} = {gradient:?}");
                    return Err(self.diagnosis(key, thought).got(got).expected(expected));
                }
            }
        }
        match got.keys().next() {
            None => Ok(()),
            Some(id) => Err(self
                .diagnosis("3.4-not-only-leaves", NOT_LEAVES)
                .got(format!("the map also holds {id}, which is the id of no leaf"))
                .expected("the ids of leaves, and no others")),
        }
    }
}

/// ` = [6, -14] + [3, -7]`, or nothing for a single arrival.
fn sum_in_words(arrivals: &Arrivals) -> String {
    let parts: Vec<String> = arrivals.iter().map(|(_, part)| format!("{part:?}")).collect();
    if parts.len() < 2 { String::new() } else { format!(" = {}", parts.join(" + ")) }
}

/// Operations of the engine, whose results have other shapes than their inputs.
fn mixed(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let leaf = |shape: &[usize]| Tensor::ones(shape).requires_grad_(true);
    let (x, w, b) = (leaf(&[2, 3]), leaf(&[3, 4]), leaf(&[4]));
    let y = x.matmul(&w).add(&b).add(&b);
    let index = Tensor::from_vec(vec![0i64, 1], &[2, 1]);
    let src = leaf(&[2, 1]);
    let z = y.scatter_add(1, &index, &src);
    let root = z.node().expect("recorded");
    let called = "backward_walk(root of scatter_add(x . w + b + b, index, src), dy of ones)";
    let got = check.call(called, || (imp.backward_walk)(&root, Tensor::ones(&[2, 4])))?;
    for (leaf, want) in [(&x, 4.0), (&w, 2.0), (&b, 4.0), (&src, 1.0)] {
        let gradient = got.get(&leaf.node().expect("a leaf has a node").id());
        let gradient = gradient.map(|g| (g.shape().to_vec(), g.to_vec::<f32>()));
        let want = Some((leaf.shape().to_vec(), vec![want; leaf.numel()]));
        check.equal("shape and gradient of a leaf", called, &gradient, &want, &[])?;
    }
    Ok(())
}

fn root_is_leaf(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let leaf = Tensor::ones(&[2]).requires_grad_(true);
    let node = leaf.node().expect("a leaf that requires a gradient has a node");
    let called = "backward_walk(root is a leaf, dy [3, -7])";
    let dy = Tensor::from_vec(vec![3.0f32, -7.0], &[2]);
    let got = check.call(called, || (imp.backward_walk)(&node, dy))?;
    let gradient = got.get(&node.id()).map(|gradient| gradient.to_vec::<f32>());
    check.require(got.len() == 1 && gradient.as_deref() == Some(&[3.0, -7.0]), || {
        Diagnosis::new("3.4-root-is-leaf")
            .called(called)
            .got(format!("{} gradients; that of the leaf: {gradient:?}", got.len()))
            .expected("one: the leaf's, which is dy itself")
            .thought(
                "The walk may end where it begins. A leaf has no edges, and its gradient is what \
                 arrives at it: here dy.",
            )
    })
}

fn deep_chain(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let leaf = Tensor::scalar(1.0).requires_grad_(true);
    let mut x = leaf.clone();
    for _ in 0..DEEP {
        x = x.add_scalar(1.0);
    }
    let called = format!("backward_walk(root of a chain of {DEEP} additions, dy 2)");
    let root = x.node().expect("the chain is recorded");
    let got = check.call(called.as_str(), || (imp.backward_walk)(&root, Tensor::scalar(2.0)))?;
    let id = leaf.node().map_or(0, |node| node.id());
    let gradient = got.get(&id).map(Tensor::item);
    check.equal("the leaf's gradient", &called, &gradient, &Some(2.0), &[])
}

const GENERIC: Otherwise = ("wrong-value", "");
const MISALIGNED: Otherwise = (
    "3.4-edges-misaligned",
    "The leaf was given the gradient of another input. An edge is None where an input needs no \
     gradient, and the gradients come in the order of all inputs: pair edges and gradients first, \
     leave out the Nones after that.",
);
const NEVER_ENDS: &str = "The walk does not end. Each round of the loop has to take a node out \
    of those that wait, and a node may never be put back to wait for a gradient that nobody will \
    send: an operation may have none for one of its inputs.";
const RECURSION: &str = "One call inside another for each node of a chain fills the stack. Keep \
    the nodes that wait in a collection of your own and take them out in a loop.";
const EVERY_PATH: &str = "Nodes are run once for each path that leads to them. In x = x + x each \
    level doubles the paths: 40 levels have 2^40. Add up what arrives at a node first, and run \
    its backward pass once, with the sum.";
const QUEUE: &str = "In the order of arrival, as in a queue, a node can have its turn while \
    another one that uses it still waits. Take the waiting node that was made last (the largest \
    id): all that use it were made later, and have run.";
const STACK: &str = "What arrived last, as on a stack, is not what was made last: another node \
    that uses it still waits. Take the waiting node with the largest id: all that use it were \
    made later, and have run.";
const TOO_EARLY: &str = "The node was run before all of its gradient had arrived: another node \
    that used its result ran later. The order of arrival is not enough. Among the nodes that \
    wait, the one made last (the largest id) is complete.";
const OVERWRITTEN: &str = "That is one of the gradients that arrive there, and the others are \
    lost. Each use of a result is a way in which it acts on the loss, and ways add up: the first \
    gradient is stored, later ones are added to it.";
const IGNORED: &str = "The walk begins with another gradient than the one it was given. dy is \
    the gradient of the result; it is 1 only if the result is the loss itself.";
const SKIPPED: &str = "A gradient arrives at this node, and its own backward pass has to hand it \
    on to its inputs.";
const MISSING: &str = "A gradient arrives at this leaf. Leaves are where the walk ends: what has \
    arrived there in the end is the answer.";
const NOT_LEAVES: &str = "Gradients of intermediate results are needed only during the walk. \
    Returning them would keep their memory alive.";
const UNWRAPPED: &str = "Both an edge and a gradient may be None: an input that needs no \
    gradient has no edge, and an operation may return no gradient for an input that has one. \
    Then there is nothing to hand on.";
const SEARCHES: &str = "The walk is right on small graphs, and here it looks through a growing \
    collection at every node: 100,000 nodes make 10^10 steps. A map or a set finds an id without \
    looking at the others.";
