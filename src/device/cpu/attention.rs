//! Attention, a block of queries at a time: the weights of a block are the only ones that exist at
//! a moment, so memory grows with the number of keys and not with its square.
//!
//! Source: T. Dao et al., "FlashAttention", 2022, for what is saved and how the weights come back.
//! A row of scores is complete before its softmax here, so no running maximum is needed.

use std::borrow::Cow;
use std::ops::Range;

use crate::device::cpu::matmul::{Matrix, Product, WORTH, multiply};
use crate::device::cpu::parallel::{Loop, share, vectorized};
use crate::device::cpu::softmax::{largest, sum_of};
use crate::device::cpu::walk::map;
use crate::device::cpu::{elements, operand};
use crate::device::{Attended, View};
use crate::dtype::{Buffer, Element, Float, Scalar};
use crate::layout::Layout;
use crate::memory::filled;
use crate::storage::Storage;

/// Queries whose weights exist at one time.
const BLOCK: usize = 64;

/// y and, for each query, the logarithm of its sum of exponentials: `(.., L, V)` and `(.., L)`.
pub fn attention<T: Element<Compute: Product>>(x: Attended) -> [Storage; 2] {
    let reads = [x.q, x.k, x.v].map(|x| x.storage.read(OP));
    let mask_read = x.mask.map(|mask| mask.storage.read(OP));
    let heads =
        Heads::<T::Compute>::new::<T>(&x, [&reads[0], &reads[1], &reads[2]], mask_read.as_deref());
    let [queries, _, width] = heads.sizes();
    let count = heads.q.starts.len();
    let mut y = filled(T::default(), count * queries * width);
    let mut sums = filled(T::Compute::default(), count * queries);
    let outputs = y.chunks_mut(queries * width).zip(sums.chunks_mut(queries));
    share(outputs.enumerate(), heads.cost(), |(head, (y, sums))| {
        for block in blocks(queries) {
            let (weights, keys) = heads.weights(head, block.clone(), |i, row| {
                sums[i] = vectorized(Soften { row });
            });
            let mut mixed = filled(T::Compute::default(), block.len() * width);
            let weights = Matrix::packed(&weights, block.len(), keys);
            multiply(weights, heads.v.of(head).rows(0..keys), 1.0, &mut mixed, false);
            let y = &mut y[block.start * width..block.end * width];
            y.iter_mut().zip(mixed).for_each(|(y, x)| *y = T::of_compute(x));
        }
    });
    [Storage::new(y), Storage::new(sums)]
}

/// The gradients of q, k and v, from that of y and what the forward pass has left of each query's
/// sum. p = exp(z − ln Σ eᶻ) comes back from the scores; then dv = pᵀ · dy, dp = dy · vᵀ,
/// dz = p · (dp − Σ p · dp), dq = dz · k · scale and dk = dzᵀ · q · scale.
pub fn attention_backward<T: Element<Compute: Product>>(
    x: Attended,
    log_sums: View,
    dy: View,
) -> [Storage; 3] {
    let reads = [x.q, x.k, x.v, dy].map(|x| x.storage.read(OP));
    let mask_read = x.mask.map(|mask| mask.storage.read(OP));
    let heads =
        Heads::<T::Compute>::new::<T>(&x, [&reads[0], &reads[1], &reads[2]], mask_read.as_deref());
    let dy = Side::new::<T>(&reads[3], dy);
    let sums_read = log_sums.storage.read(OP);
    let sums = &elements::<T::Compute>(&sums_read)[log_sums.layout.offset()..];
    let ([queries, keys, width], depth) = (heads.sizes(), heads.q.sizes[1]);
    let zeros = |len: usize| filled(T::Compute::default(), heads.q.starts.len() * len);
    let lens = [queries * depth, keys * depth, keys * width];
    let [mut dq, mut dk, mut dv] = lens.map(zeros);
    let outputs = dq.chunks_mut(lens[0]).zip(dk.chunks_mut(lens[1]).zip(dv.chunks_mut(lens[2])));
    share(outputs.enumerate(), 2 * heads.cost(), |(head, (dq, (dk, dv)))| {
        for block in blocks(queries) {
            let sums = &sums[head * queries..];
            let of_block = heads.backward(head, block.clone(), &dy, sums, dk, dv);
            dq[block.start * depth..block.end * depth].copy_from_slice(&of_block);
        }
    });
    [dq, dk, dv].map(|x| Storage::new(x.into_iter().map(T::of_compute).collect::<Vec<T>>()))
}

const OP: &str = "scaled_dot_product_attention";

fn blocks(queries: usize) -> impl Iterator<Item = Range<usize>> {
    (0..queries).step_by(BLOCK).map(move |start| start..(start + BLOCK).min(queries))
}

/// One of q, k, v: a matrix for each head, in the type that is computed with.
struct Side<'a, C: Clone> {
    values: Cow<'a, [C]>,
    /// Where each head's matrix begins.
    starts: Vec<usize>,
    sizes: [usize; 2],
    steps: [usize; 2],
}

impl<'a, C: Float> Side<'a, C> {
    fn new<T: Element<Compute = C>>(buffer: &'a Buffer, x: View<'a>) -> Side<'a, C> {
        let (values, layout) = match T::as_computed(elements::<T>(buffer)) {
            Some(values) => (Cow::Borrowed(values), *x.layout),
            None => {
                let wide = map(operand::<T>(buffer, x), T::to_compute);
                (Cow::Owned(wide), Layout::contiguous(x.layout.shape()))
            }
        };
        let rank = layout.shape().len();
        let (heads, _) = layout.split(|dim| dim + 2 >= rank);
        let last = |dims: &[usize]| [dims[rank - 2], dims[rank - 1]];
        let starts = heads.positions().collect();
        Side { values, starts, sizes: last(layout.shape()), steps: last(layout.strides()) }
    }

    fn of(&self, head: usize) -> Matrix<'_, C> {
        Matrix::new(&self.values, self.starts[head], self.sizes, self.steps)
    }
}

/// All that the scores come from.
struct Heads<'a, C: Clone> {
    q: Side<'a, C>,
    k: Side<'a, C>,
    v: Side<'a, C>,
    mask: Option<Side<'a, C>>,
    causal: bool,
    scale: f64,
}

impl<'a, C: Product> Heads<'a, C> {
    fn new<T: Element<Compute = C>>(
        x: &Attended<'a>,
        [q, k, v]: [&'a Buffer; 3],
        mask: Option<&'a Buffer>,
    ) -> Heads<'a, C> {
        let mask = mask.zip(x.mask).map(|(buffer, mask)| Side::new::<T>(buffer, mask));
        let (q, k) = (Side::new::<T>(q, x.q), Side::new::<T>(k, x.k));
        let v = Side::new::<T>(v, x.v);
        Heads { q, k, v, mask, causal: x.causal, scale: x.scale }
    }

    /// Queries, keys, and the width of a value.
    fn sizes(&self) -> [usize; 3] {
        [self.q.sizes[0], self.k.sizes[0], self.v.sizes[1]]
    }

    /// Elements that the products of all heads are worth.
    fn cost(&self) -> usize {
        let [queries, keys, width] = self.sizes();
        self.q.starts.len() * queries * keys * (self.q.sizes[1] + width) / WORTH
    }

    /// The weights of a block of queries over the keys that some of them may see: the scores, of
    /// which `weigh` makes weights where a query (by its number) sees the keys. Also the number of
    /// these keys.
    fn weights(
        &self,
        head: usize,
        block: Range<usize>,
        mut weigh: impl FnMut(usize, &mut [C]),
    ) -> (Vec<C>, usize) {
        let all = self.k.sizes[0];
        let keys = if self.causal { all.min(block.end) } else { all };
        let mut scores = filled(C::default(), block.len() * keys);
        let (q, k) = (self.q.of(head).rows(block.clone()), self.k.of(head).rows(0..keys));
        multiply(q, k.turned(), self.scale, &mut scores, false);
        for (i, row) in block.zip(scores.chunks_mut(keys)) {
            if let Some(mask) = &self.mask {
                let first = mask.starts[head] + i * mask.steps[0];
                for (j, z) in row.iter_mut().enumerate() {
                    *z = z.add(mask.values[first + j * mask.steps[1]]);
                }
            }
            let (seen, later) = row.split_at_mut(if self.causal { keys.min(i + 1) } else { keys });
            weigh(i, seen);
            later.fill(C::default());
        }
        (scores, keys)
    }

    /// dq of a block of queries; its share of dk and dv is added.
    fn backward(
        &self,
        head: usize,
        block: Range<usize>,
        dy: &Side<C>,
        sums: &[C],
        dk: &mut [C],
        dv: &mut [C],
    ) -> Vec<C> {
        let (rows, [_, depth], width) = (block.len(), self.q.sizes, self.v.sizes[1]);
        let (p, keys) = self.weights(head, block.clone(), |i, row| {
            vectorized(Weigh { row, log_sum: sums[i] });
        });
        let dy = dy.of(head).rows(block.clone());
        multiply(Matrix::packed(&p, rows, keys).turned(), dy, 1.0, &mut dv[..keys * width], true);
        let mut dz = filled(C::default(), rows * keys);
        multiply(dy, self.v.of(head).rows(0..keys).turned(), 1.0, &mut dz, false);
        for (dz, p) in dz.chunks_mut(keys).zip(p.chunks(keys)) {
            vectorized(Centre { dz, p });
        }
        let dz = Matrix::packed(&dz, rows, keys);
        let q = self.q.of(head).rows(block);
        multiply(dz.turned(), q, self.scale, &mut dk[..keys * depth], true);
        let mut dq = filled(C::default(), rows * depth);
        multiply(dz, self.k.of(head).rows(0..keys), self.scale, &mut dq, false);
        dq
    }
}

fn number<C: Float>(x: f64) -> C {
    C::from_scalar(Scalar::Float(x))
}

/// Makes weights of a row of scores, and returns ln Σ eᶻ. Where every score is −∞ all weights are
/// 0: the query sees nothing.
struct Soften<'a, C> {
    row: &'a mut [C],
}

impl<C: Float> Loop for Soften<'_, C> {
    type Output = C;

    #[inline(always)]
    fn run(self) -> C {
        let (max, lowest) = (largest(self.row), number::<C>(f64::NEG_INFINITY));
        let shift = if max == lowest { C::default() } else { max };
        for z in self.row.iter_mut() {
            *z = z.sub(shift).exp();
        }
        let sum = sum_of(self.row, |x| x);
        let scale = number::<C>(if sum == 0.0 { 0.0 } else { 1.0 / sum });
        for z in self.row.iter_mut() {
            *z = z.mul(scale);
        }
        shift.add(number(sum.ln()))
    }
}

/// Makes the same weights of a row of scores whose ln Σ eᶻ is known.
struct Weigh<'a, C> {
    row: &'a mut [C],
    log_sum: C,
}

impl<C: Float> Loop for Weigh<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let blind = self.log_sum == number(f64::NEG_INFINITY);
        let shift = if blind { C::default() } else { self.log_sum };
        for z in self.row.iter_mut() {
            *z = z.sub(shift).exp();
        }
    }
}

/// dz = p · (dp − Σ p · dp), where dz holds dp at first.
struct Centre<'a, C> {
    dz: &'a mut [C],
    p: &'a [C],
}

impl<C: Float> Loop for Centre<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (dz, &p) in self.dz.iter_mut().zip(self.p) {
            *dz = dz.mul(p);
        }
        let mean = number::<C>(sum_of(self.dz, |x| x));
        for (dz, &p) in self.dz.iter_mut().zip(self.p) {
            *dz = dz.sub(p.mul(mean));
        }
    }
}
