//! Small graphs for 3.4 whose nodes write down every call of their backward pass.

use std::sync::{Arc, Mutex, PoisonError};

use engine_room::Tensor;
use engine_room::autograd::{Ctx, Node, Op, apply};
use engine_room::rng::Generator;

/// What an operation of a plan takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The result of an earlier operation.
    Op(usize),
    /// A leaf that requires a gradient.
    Leaf(usize),
    /// A tensor that requires none.
    Constant,
}

/// One input of an operation: y = Σ weight · source. An input that is cut off gets no gradient.
#[derive(Debug, Clone, Copy)]
pub struct Input {
    pub source: Source,
    pub weight: f32,
    pub cut: bool,
}

/// The operations of a graph, each with one or two inputs; the last one is the root.
pub type Plan = Vec<Vec<Input>>;

/// An input that passes its gradient on.
pub fn input(source: Source, weight: f32) -> Input {
    Input { source, weight, cut: false }
}

/// A call of a node's backward pass: which operation, with which dy.
#[derive(Debug, Clone)]
pub struct Event {
    pub op: usize,
    pub dy: Vec<f32>,
}

type Log = Arc<Mutex<Vec<Event>>>;

/// y = Σ wᵢ · xᵢ, which logs its backward passes. Shapes: N of one shape → the same.
/// Gradient: dxᵢ = wᵢ · dy. Saves nothing.
struct Mix<const N: usize> {
    op: usize,
    inputs: [Input; N],
    log: Log,
}

impl<const N: usize> Op<N> for Mix<N> {
    fn name(&self) -> &'static str {
        "mix"
    }

    fn forward(&self, _: &mut Ctx, inputs: [&Tensor; N]) -> Tensor {
        let sum = Tensor::zeros(inputs[0].shape());
        for (x, input) in inputs.iter().zip(&self.inputs) {
            sum.add_(x, input.weight);
        }
        sum
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; N] {
        let event = Event { op: self.op, dy: dy.to_vec() };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        // A weight of 1 hands dy itself on, as an addition does: whoever changes it changes all.
        let through = |weight| if weight == 1.0 { dy.clone() } else { dy.mul_scalar(weight) };
        self.inputs.map(|input| (!input.cut).then(|| through(input.weight)))
    }
}

/// A plan made into a graph of the engine.
pub struct Graph {
    pub leaves: Vec<Tensor>,
    pub root: Arc<Node>,
    log: Log,
    /// The results, which keep nothing alive that the root does not.
    _results: Vec<Tensor>,
}

impl Graph {
    /// Builds it. A leaf is made right before the first operation that uses it, so that the ids of
    /// leaves and operations are mixed.
    pub fn build(plan: &Plan) -> Graph {
        let log = Log::default();
        let mut leaves: Vec<Tensor> = Vec::new();
        let mut results: Vec<Tensor> = Vec::new();
        for (op, inputs) in plan.iter().enumerate() {
            let tensors = inputs.iter().map(|input| match input.source {
                Source::Op(earlier) => results[earlier].clone(),
                Source::Constant => Tensor::ones(&[2]),
                Source::Leaf(leaf) => {
                    while leaves.len() <= leaf {
                        leaves.push(Tensor::ones(&[2]).requires_grad_(true));
                    }
                    leaves[leaf].clone()
                }
            });
            let tensors: Vec<Tensor> = tensors.collect();
            let log = Arc::clone(&log);
            results.push(match (&inputs[..], &tensors[..]) {
                (&[one], [x]) => apply(Mix { op, inputs: [one], log }, [x]),
                (&[one, two], [x, y]) => apply(Mix { op, inputs: [one, two], log }, [x, y]),
                _ => unreachable!("an operation of a plan has one or two inputs"),
            });
        }
        let root = results.last().and_then(Tensor::node).expect("a plan's root is recorded");
        Graph { leaves, root, log, _results: results }
    }

    /// The calls of backward passes since the last time this was asked.
    pub fn events(&self) -> Vec<Event> {
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The single gradients that arrive at one place of a plan, newest sender first, and from whom.
pub type Arrivals = Vec<(usize, Vec<f32>)>;

/// What must arrive where: computed from the plan alone, from the root to the leaves.
pub struct Truth {
    /// By operation; the root has one arrival, from itself.
    pub ops: Vec<Arrivals>,
    /// By leaf.
    pub leaves: Vec<Arrivals>,
}

impl Truth {
    pub fn of(plan: &Plan, dy: &[f32]) -> Truth {
        let leaves = plan.iter().flatten().filter_map(|input| match input.source {
            Source::Leaf(leaf) => Some(leaf + 1),
            _ => None,
        });
        let mut truth = Truth {
            ops: vec![Vec::new(); plan.len()],
            leaves: vec![Vec::new(); leaves.max().unwrap_or(0)],
        };
        let root = plan.len() - 1;
        truth.ops[root].push((root, dy.to_vec()));
        for op in (0..plan.len()).rev().filter(|&op| op == root || used(plan, op)) {
            if truth.ops[op].is_empty() {
                continue;
            }
            let whole = total(&truth.ops[op]);
            for input in plan[op].iter().filter(|input| !input.cut) {
                let part = whole.iter().map(|x| x * input.weight).collect();
                match input.source {
                    Source::Op(earlier) => truth.ops[earlier].push((op, part)),
                    Source::Leaf(leaf) => truth.leaves[leaf].push((op, part)),
                    Source::Constant => {}
                }
            }
        }
        truth
    }
}

/// Whether a later operation uses this one's result.
fn used(plan: &Plan, op: usize) -> bool {
    plan[op + 1..].iter().flatten().any(|input| input.source == Source::Op(op))
}

/// The sum of what arrives; zero if nothing does. Exact: all numbers are small integers.
pub fn total(arrivals: &Arrivals) -> Vec<f32> {
    let zero = vec![0.0; 2];
    arrivals.iter().fold(zero, |sum, (_, part)| sum.iter().zip(part).map(|(a, b)| a + b).collect())
}

/// A random plan of so many operations in which every result is used.
pub fn random_plan(rng: &mut Generator, ops: usize) -> Plan {
    let mut plan: Plan = Vec::new();
    for op in 0..ops {
        let weight = |rng: &mut Generator| [-2.0, -1.0, 1.0, 2.0][rng.below(4)];
        let previous = if op == 0 { Source::Leaf(0) } else { Source::Op(op - 1) };
        let mut inputs = vec![input(previous, weight(rng))];
        if rng.below(4) > 0 {
            let source = match rng.below(6) {
                0 => Source::Leaf(rng.below(3)),
                1 => Source::Constant,
                _ if op > 0 => Source::Op(rng.below(op)),
                _ => Source::Leaf(1),
            };
            let cut = rng.below(8) == 0;
            let at = rng.below(2);
            inputs.insert(at, Input { source, weight: weight(rng), cut });
        }
        plan.push(inputs);
    }
    plan
}

/// The plan as a program: `n0 = 2 x0; n1 = 3 n0 - x0`.
pub fn words(plan: &Plan) -> String {
    let name = |source: Source| match source {
        Source::Op(op) => format!("n{op}"),
        Source::Leaf(leaf) => format!("x{leaf}"),
        Source::Constant => "c".to_owned(),
    };
    let mut lines = Vec::new();
    for (op, inputs) in plan.iter().enumerate() {
        let terms = inputs.iter().map(|input| {
            let cut = if input.cut { " (no gradient)" } else { "" };
            format!("{} {}{cut}", input.weight, name(input.source))
        });
        lines.push(format!("n{op} = {}", terms.collect::<Vec<_>>().join(" + ")));
    }
    lines.join("; ")
}
