//! 2.6: the numbers of the block first, then its copies, hidden ones and others.

use engine_room::autograd::Graph;
use engine_room::rng::Generator;
use engine_room::{Tensor, memory};
use grading::{Check, Diagnosis, Idea};

use super::super::attention::{Block, attend_with_copies};
use super::Implementation;

/// Tokens, sequences, heads and width of a head.
type Four = [usize; 4];

/// 2.6
pub fn attend(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let first = [5 + rng.below(3), 3, 2, 4 + rng.below(3)];
    for sizes in [first, [3, 2, 4, 5], [7, 4, 3, 2], [4, 1, 3, 5], [6, 3, 1, 8], [1, 3, 2, 4]] {
        block(imp, check, sizes, &mut rng)?;
    }
    block(imp, check, [40 + rng.below(20), 4, 4, 32], &mut rng)
}

fn block(
    imp: &Implementation,
    check: &mut Check,
    sizes: Four,
    rng: &mut Generator,
) -> Result<(), Diagnosis> {
    let [t, b, heads, d] = sizes;
    let c = heads * d;
    let mut weights =
        |columns: usize| Tensor::randn(&[c, columns], rng).mul_scalar(1.0 / (c as f32).sqrt());
    let block = Block { heads, qkv: weights(3 * c), out: weights(c) };
    let x = Tensor::randn(&[t, b, c], rng).requires_grad_(true);
    let called = format!("attend(x: (T {t}, B {b}, C {c}), block with {heads} heads of {d})");
    let want = attend_with_copies(&x, &block);
    let before = Copies::counted();
    let got = check.call(called.as_str(), || (imp.attend)(&x, &block))?;
    let copies = Copies::counted().since(&before);
    check.tensor("y", &called, &got, &want, 1e-4, &ideas(&x, &block, sizes))?;
    few_copies(&called, sizes, copies.as_ref(), &got)?;
    gradient(check, &called, &x, &got, &want)
}

/// Hidden copies so far: of each operation, how many and how many bytes.
struct Copies(Vec<(&'static str, u64, u64)>);

impl Copies {
    /// One copy is made on purpose, so that a counter that was set to zero shows.
    fn counted() -> Copies {
        Tensor::ones(&[2, 3]).transpose(0, 1).contiguous();
        let listed = memory::hidden_copies();
        Copies(listed.into_iter().map(|entry| (entry.op, entry.count, entry.bytes)).collect())
    }

    /// What has been added; none if the counters began anew.
    fn since(&self, before: &Copies) -> Option<Copies> {
        let mut added = Vec::new();
        for &(op, count, bytes) in &self.0 {
            let earlier = before.0.iter().find(|entry| entry.0 == op);
            let (_, count_then, bytes_then) = *earlier.unwrap_or(&(op, 0, 0));
            // The one that was made on purpose.
            let own = if op == "contiguous" { (1, 24) } else { (0, 0) };
            added.push((
                op,
                count.checked_sub(count_then + own.0)?,
                bytes.checked_sub(bytes_then + own.1)?,
            ));
        }
        added.retain(|entry| entry.1 > 0);
        Some(Copies(added))
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|entry| entry.1).sum()
    }

    fn bytes(&self) -> u64 {
        self.0.iter().map(|entry| entry.2).sum()
    }

    fn bytes_of(&self, op: &str) -> u64 {
        self.0.iter().filter(|entry| entry.0 == op).map(|entry| entry.2).sum()
    }
}

fn few_copies(
    called: &str,
    sizes: Four,
    copies: Option<&Copies>,
    got: &Tensor,
) -> Result<(), Diagnosis> {
    let output = got.nbytes();
    let failed = |key: &str, thought: &str, got: String| {
        let expected = format!("at most one copy, of {output} bytes");
        Err(Diagnosis::new(key).called(called).got(got).expected(expected).thought(thought))
    };
    let Some(copies) = copies else {
        return failed("2.6-counters-reset", RESET, "the counters were set to zero".to_owned());
    };
    let list = copies.0.iter().map(|(op, count, bytes)| format!("{op}: {count} ({bytes} bytes)"));
    let listed = format!("hidden copies: {}", list.collect::<Vec<String>>().join(", "));
    if copies.count() > 1 || copies.bytes() > output {
        let (key, thought) = match copies.count() {
            _ if copies.bytes_of("contiguous") > 0 => ("2.6-contiguous-copies-too", CONTIGUOUS),
            4.. => ("2.6-as-many-as-before", FOUR),
            _ => ("2.6-copies-left", LEFT),
        };
        return failed(key, thought, listed);
    }
    let mut by_hand = by_hand(got);
    // A `contiguous` stands in the graph as the copy that it is, and has been counted above.
    by_hand.joined = by_hand.joined.saturating_sub(copies.bytes_of("contiguous"));
    if copies.bytes() + by_hand.joined > output {
        let got = format!("{listed}; copies written out: {} bytes", by_hand.joined);
        return failed("2.6-copied-by-hand", BY_HAND, got);
    }
    // The scale may be applied to the scores, or to queries and keys.
    let [t, b, heads, _] = sizes;
    let scaled = (4 * b * heads * t * t) as u64;
    if by_hand.computed > scaled.max(2 * output) {
        let got = format!("{} bytes of results of elementwise operations", by_hand.computed);
        return failed("2.6-copied-by-arithmetic", ARITHMETIC, got);
    }
    Ok(())
}

/// Operations whose result is a copy of what they take, or of parts of it. `cat` writes each part
/// with `copy_`.
const COPYING: [&str; 6] = ["copy", "copy_", "index_select", "gather", "flip", "take"];

/// Operations that a copy can hide behind: times 1, plus 0, at most a large number.
const ELEMENTWISE: [&str; 9] =
    ["mul_scalar", "add_scalar", "div_scalar", "mul", "add", "sub", "div", "clamp", "relu"];

/// Bytes of results in the graph.
struct ByHand {
    joined: u64,
    computed: u64,
}

fn by_hand(y: &Tensor) -> ByHand {
    let mut found = ByHand { joined: 0, computed: 0 };
    for node in Graph::of(y).nodes() {
        let bytes = 4 * node.shape.iter().product::<usize>() as u64;
        if COPYING.contains(&node.name) {
            found.joined += bytes;
        }
        // Where two results meet, as in a sum over heads, neither is copied.
        if ELEMENTWISE.contains(&node.name) && node.inputs.len() == 1 {
            found.computed += bytes;
        }
    }
    found
}

fn gradient(
    check: &Check,
    called: &str,
    x: &Tensor,
    got: &Tensor,
    want: &Tensor,
) -> Result<(), Diagnosis> {
    check.require(got.requires_grad(), || {
        Diagnosis::new("2.6-gradient-lost")
            .called(called)
            .got("a result without a gradient")
            .expected("a result through which gradients flow, as the input asks for one")
            .thought(DETACHED)
    })?;
    let gradient = |y: &Tensor| {
        x.zero_grad();
        y.mul(y).sum().backward();
        x.grad().unwrap_or_else(|| Tensor::zeros(&[]))
    };
    let (want, got) = (gradient(want), gradient(got));
    check.tensor("the gradient of x", called, &got, &want, 1e-3, &[])
}

/// Shortcuts that spare a copy and mix numbers, and what else is easily lost.
fn ideas(x: &Tensor, block: &Block, [t, b, h, d]: Four) -> Vec<Idea<Tensor>> {
    let idea = |key, thought, value| Idea { key, thought, value };
    let (c, scale) = (h * d, 1.0 / (d as f32).sqrt());
    let qkv = x.matmul(&block.qkv);
    let part = |i: usize| qkv.narrow(2, i * c, c);
    let grouped = |x: Tensor| x.reshape(&[t, b * h, d]).transpose(0, 1);
    let heads = |i: usize| grouped(part(i));
    let weigh = |q: &Tensor, k: &Tensor, v: &Tensor, scale: f32| {
        q.bmm(&k.transpose(1, 2)).mul_scalar(scale).softmax(-1).bmm(v)
    };
    let merged = |y: &Tensor| y.transpose(0, 1).reshape(&[t, b, c]).matmul(&block.out);
    let (q, k, v) = (heads(0), heads(1), heads(2));
    let mixed = |i: usize| part(i).reshape(&[b * h, t, d]);
    let y = weigh(&q, &k, &v, scale);
    // The rows of (.., H, 3 D): each head has its queries, keys and values side by side.
    let by_head = qkv.reshape(&[t, b * h, 3 * d]).transpose(0, 1);
    let own = |i: usize| by_head.narrow(2, i * d, d);
    let over_queries = q.bmm(&k.transpose(1, 2)).mul_scalar(scale).softmax(-2).bmm(&v);
    vec![
        idea("2.6-heads-not-merged", UNMERGED, y.reshape(&[t, b, c]).matmul(&block.out)),
        idea(
            "2.6-sequences-mixed",
            MIXED,
            weigh(&mixed(0), &mixed(1), &mixed(2), scale).reshape(&[t, b, c]).matmul(&block.out),
        ),
        idea("2.6-sequences-mixed", MIXED, merged(&weigh(&mixed(0), &mixed(1), &mixed(2), scale))),
        idea("2.6-other-columns", COLUMNS, merged(&weigh(&own(0), &own(1), &own(2), scale))),
        idea("2.6-not-scaled", UNSCALED, merged(&weigh(&q, &k, &v, 1.0))),
        idea("2.6-scaled-by-width", WIDTH, merged(&weigh(&q, &k, &v, 1.0 / (c as f32).sqrt()))),
        idea("2.6-softmax-over-queries", QUERIES, merged(&over_queries)),
        idea("2.6-keys-and-queries-swapped", SWAPPED, merged(&weigh(&k, &q, &v, scale))),
        idea("2.6-not-projected", UNPROJECTED, y.transpose(0, 1).reshape(&[t, b, c])),
    ]
}

const RESET: &str = "`memory::reset_hidden_copies()` ran inside the function. It is a tool to \
    look with: take it out again, so that the copies can be counted.";
const CONTIGUOUS: &str = "`contiguous` is the copy, under a name of its own: the reshape behind \
    it finds packed numbers and has nothing left to do. As many bytes move as before.";
const FOUR: &str = "As many copies as before. Moving the transposes around, or reshaping to four \
    dimensions and letting `matmul` do the rest, leaves them: `matmul` makes batch and heads one \
    dimension inside, with the same reshape. Look at the strides of queries, keys and values.";
const LEFT: &str = "Some copies are gone, and more than one is left. Print \
    `memory::hidden_copies()` after each line, and the strides of what is reshaped there.";
const BY_HAND: &str = "The copies are no longer hidden: they are written out. The counter does \
    not list them, and the bytes move all the same. Ask for a tensor that lies right from the \
    beginning.";
const ARITHMETIC: &str = "An operation that changes no number packs the tensor as a side effect. \
    It reads and writes as many bytes as a copy.";
const DETACHED: &str = "The graph was cut, by `detach`, `no_grad` or numbers taken out and put \
    in again. A block that trains has to pass gradients on.";
const UNMERGED: &str = "The last copy was spared, and it is the one that does something. The \
    result lies head by head, and a reshape without the transpose puts numbers of different \
    tokens into one row.";
const MIXED: &str = "A reshape to heads first, without a transpose, needs no copy and mixes \
    tokens, sequences and heads: it cuts memory into pieces in the order in which it lies. Heads \
    come to the front by moving the dimension, not by renaming it.";
const COLUMNS: &str = "The columns were taken as if each head had its queries, keys and values \
    side by side. That layout needs no copy, and some models store their weights so; these have \
    all queries first, then all keys, then all values.";
const UNSCALED: &str = "The scores were not scaled by 1 over the root of the width of a head.";
const WIDTH: &str = "The scores were scaled by the whole width. It is the width of a head that \
    counts.";
const QUERIES: &str = "The softmax runs over the queries. The weights of each query sum to 1, \
    over the keys.";
const SWAPPED: &str = "Queries and keys have changed places. The first C columns make the queries.";
const UNPROJECTED: &str = "The output projection is missing.";
