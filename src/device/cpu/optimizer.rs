//! Kernels of the optimizers: parameter, gradient and state are read once and written once.
//!
//! A call takes many parameters, and cuts all of them into stretches for the threads: a model of
//! hundreds of small tensors is one piece of work. Every element is computed by itself, so the
//! bits are the same however it is cut. The operations and their order are PyTorch's.

use crate::device::cpu::parallel::{CHUNK, Loop, share, vectorized};
use crate::device::cpu::{elements, elements_mut};
use crate::device::{AdamwRule, SgdRule, Update, View};
use crate::dtype::{Element, Float, with_element};
use crate::storage::{Reading, Writing};

/// One step of AdamW of each parameter.
pub fn adamw(updates: &[Update<AdamwRule>]) {
    run("adamw_step", updates);
}

/// One step of SGD of each parameter.
pub fn sgd(updates: &[Update<SgdRule>]) {
    match updates.first().is_some_and(|update| update.state.is_empty()) {
        true => run::<_, 0>("sgd_step", updates),
        false => run::<_, 1>("sgd_step", updates),
    }
}

/// What a rule does to a block: from the parameters, the gradients and the N lists of state to the
/// new parameters and state. `C` is the type that is computed with.
trait Step<C, const N: usize>: Copy + Sync + Send {
    fn apply(self, p: &mut Block<C>, g: &Block<C>, state: &mut [Block<C>; N]);
}

/// Numbers that are brought together on the stack. There the compiler knows that no two lists
/// overlap, which it must know to compute several numbers with one instruction.
type Block<C> = [C; BLOCK];

const BLOCK: usize = 64;

/// A rule whose numbers are rounded to the type that is computed with, once for all elements.
trait Rounded<const N: usize> {
    fn rounded<C: Float>(&self) -> impl Step<C, N>;
}

fn number<C: Float>(x: f64) -> C {
    C::from_scalar(x.into())
}

#[derive(Clone, Copy)]
struct Adamw<C> {
    factor: C,
    keep: C,
    /// β₁, and 1 − β₁ with whether it is below a half.
    beta1: C,
    weight: (C, bool),
    beta2: C,
    square_weight: C,
    root_correction: C,
    eps: C,
    step_size: C,
}

impl Rounded<2> for AdamwRule {
    fn rounded<C: Float>(&self) -> impl Step<C, 2> {
        let (beta1, beta2) = self.betas;
        let corrections = [beta1, beta2].map(|beta| 1.0 - beta.powf(self.step as f64));
        Adamw {
            factor: number::<C>(self.factor),
            keep: number(1.0 - self.lr * self.weight_decay),
            beta1: number::<C>(1.0).sub(number(1.0 - beta1)),
            weight: (number(1.0 - beta1), 1.0 - beta1 < 0.5),
            beta2: number(beta2),
            square_weight: number(1.0 - beta2),
            root_correction: number(corrections[1].sqrt()),
            eps: number(self.eps),
            step_size: number(-(self.lr / corrections[0])),
        }
    }
}

impl<C: Float> Step<C, 2> for Adamw<C> {
    #[inline(always)]
    fn apply(self, p: &mut Block<C>, g: &Block<C>, [m, v]: &mut [Block<C>; 2]) {
        for i in 0..BLOCK {
            let g = g[i].mul(self.factor);
            // From the nearer end, as PyTorch's lerp: from the other one it is rounded more.
            m[i] = match self.weight {
                (weight, true) => weight.mul_add(g.sub(m[i]), m[i]),
                (_, false) => m[i].sub(g).mul_add(self.beta1, g),
            };
            v[i] = self.square_weight.mul(g).mul_add(g, v[i].mul(self.beta2));
            let size = v[i].sqrt().div(self.root_correction).add(self.eps);
            p[i] = p[i].mul(self.keep).add(self.step_size.mul(m[i]).div(size));
        }
    }
}

#[derive(Clone, Copy)]
struct Sgd<C> {
    factor: C,
    lr: C,
    momentum: C,
    /// What of the old buffer, and of the gradient, makes up the new one.
    share: C,
    nesterov: bool,
    weight_decay: C,
    decays: bool,
}

impl SgdRule {
    fn of_type<C: Float>(&self) -> Sgd<C> {
        Sgd {
            factor: number(self.factor),
            lr: number(-self.lr),
            momentum: number(self.momentum),
            // The first buffer is the gradient, undampened. Before it, the buffer is 0.
            share: number(if self.first { 1.0 } else { 1.0 - self.dampening }),
            nesterov: self.nesterov,
            weight_decay: number(self.weight_decay),
            decays: self.weight_decay != 0.0,
        }
    }
}

impl Rounded<0> for SgdRule {
    fn rounded<C: Float>(&self) -> impl Step<C, 0> {
        self.of_type::<C>()
    }
}

impl Rounded<1> for SgdRule {
    fn rounded<C: Float>(&self) -> impl Step<C, 1> {
        self.of_type::<C>()
    }
}

impl<C: Float> Sgd<C> {
    #[inline(always)]
    fn slope(self, p: C, g: C) -> C {
        let g = g.mul(self.factor);
        // Not 0 · p: that is NaN where the parameter is infinite.
        if self.decays { self.weight_decay.mul_add(p, g) } else { g }
    }
}

impl<C: Float> Step<C, 0> for Sgd<C> {
    #[inline(always)]
    fn apply(self, p: &mut Block<C>, g: &Block<C>, _: &mut [Block<C>; 0]) {
        for i in 0..BLOCK {
            p[i] = self.lr.mul_add(self.slope(p[i], g[i]), p[i]);
        }
    }
}

impl<C: Float> Step<C, 1> for Sgd<C> {
    #[inline(always)]
    fn apply(self, p: &mut Block<C>, g: &Block<C>, [b]: &mut [Block<C>; 1]) {
        for i in 0..BLOCK {
            let g = self.slope(p[i], g[i]);
            b[i] = self.share.mul_add(g, b[i].mul(self.momentum));
            let d = if self.nesterov { self.momentum.mul_add(b[i], g) } else { b[i] };
            p[i] = self.lr.mul_add(d, p[i]);
        }
    }
}

/// Tells the types apart: that of the parameters, and that of the state.
fn run<R: Rounded<N>, const N: usize>(op: &'static str, updates: &[Update<R>]) {
    let Some(first) = updates.first() else { return };
    let dtype = first.param.dtype();
    let like_param = first.state.first().is_none_or(|state| state.dtype() == dtype);
    with_element!(dtype, float P => match like_param {
        true => run_in::<P, P, R, N>(op, updates),
        false => run_in::<P, <P as Element>::Compute, R, N>(op, updates),
    })
}

/// `P` is the parameters' type, `S` that of the state; both are computed with in one type.
fn run_in<P, S, R, const N: usize>(op: &'static str, updates: &[Update<R>])
where
    P: Element<Compute: Float>,
    S: Element<Compute = P::Compute>,
    R: Rounded<N>,
{
    let mut held: Vec<Held<N>> = updates.iter().map(|update| Held::new(op, update)).collect();
    let wholes: Vec<_> = held
        .iter_mut()
        .zip(updates)
        .map(|(held, update)| {
            (held.stretch::<P, S, R>(update), update.rule.rounded::<P::Compute>())
        })
        .collect();
    let numel = wholes.iter().map(|(whole, _)| whole.param.len()).sum();
    let pieces = wholes.into_iter().flat_map(|(mut whole, rule)| {
        std::iter::from_fn(move || whole.cut().map(|stretch| Along { stretch, rule }))
    });
    share(pieces, numel, vectorized);
}

/// The borrows of one parameter and all that belongs to it.
struct Held<'a, const N: usize> {
    param: Writing<'a>,
    grad: Reading<'a>,
    master: Option<Writing<'a>>,
    state: [Writing<'a>; N],
}

impl<'a, const N: usize> Held<'a, N> {
    fn new<R>(op: &'static str, update: &Update<'a, R>) -> Held<'a, N> {
        Held {
            param: update.param.storage.write(op),
            grad: update.grad.storage.read(op),
            master: update.master.map(|master| master.storage.write(op)),
            state: std::array::from_fn(|i| update.state[i].storage.write(op)),
        }
    }

    /// All elements of the parameter.
    fn stretch<P: Element, S: Element, R>(&mut self, update: &Update<R>) -> Stretch<'_, P, S, N> {
        let mut views = update.state.iter();
        Stretch {
            param: shown_mut(&mut self.param, update.param),
            grad: shown(&self.grad, update.grad),
            master: self
                .master
                .as_mut()
                .zip(update.master)
                .map(|(held, view)| shown_mut(held, view)),
            state: self.state.each_mut().map(|held| {
                shown_mut(held, *views.next().expect("there is a view for each borrow"))
            }),
        }
    }
}

fn shown<'a, T: Element>(held: &'a Reading, view: View) -> &'a [T] {
    let first = view.layout.offset();
    &elements(held)[first..first + view.layout.shape().numel()]
}

fn shown_mut<'a, T: Element>(held: &'a mut Writing, view: View) -> &'a mut [T] {
    let first = view.layout.offset();
    &mut elements_mut(held)[first..first + view.layout.shape().numel()]
}

/// Some elements of a parameter and of all that belongs to it.
struct Stretch<'a, P: Element, S, const N: usize> {
    param: &'a mut [P],
    grad: &'a [P],
    master: Option<&'a mut [P::Compute]>,
    state: [&'a mut [S]; N],
}

impl<'a, P: Element, S, const N: usize> Stretch<'a, P, S, N> {
    /// Cuts the next chunk off, if anything is left.
    fn cut(&mut self) -> Option<Stretch<'a, P, S, N>> {
        let len = self.param.len().min(CHUNK);
        if len == 0 {
            return None;
        }
        let all = "the parts of an update have one length";
        Some(Stretch {
            param: self.param.split_off_mut(..len)?,
            grad: self.grad.split_off(..len)?,
            master: self.master.as_mut().map(|master| master.split_off_mut(..len).expect(all)),
            state: self.state.each_mut().map(|state| state.split_off_mut(..len).expect(all)),
        })
    }
}

/// A rule along a stretch.
struct Along<'a, P: Element, S, R, const N: usize> {
    stretch: Stretch<'a, P, S, N>,
    rule: R,
}

impl<P, S, R, const N: usize> Loop for Along<'_, P, S, R, N>
where
    P: Element<Compute: Float>,
    S: Element<Compute = P::Compute>,
    R: Step<P::Compute, N>,
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (Stretch { param, grad, mut master, state }, rule) = (self.stretch, self.rule);
        for start in (0..param.len()).step_by(BLOCK) {
            let at = start..param.len().min(start + BLOCK);
            let mut p = match &master {
                Some(master) => brought(&master[at.clone()]),
                None => brought(&param[at.clone()]),
            };
            let g = brought(&grad[at.clone()]);
            let mut kept = [[P::Compute::default(); BLOCK]; N];
            for n in 0..N {
                kept[n] = brought(&state[n][at.clone()]);
            }
            rule.apply(&mut p, &g, &mut kept);
            if let Some(master) = &mut master {
                deliver(&p, &mut master[at.clone()]);
            }
            deliver(&p, &mut param[at.clone()]);
            for n in 0..N {
                deliver(&kept[n], &mut state[n][at.clone()]);
            }
        }
    }
}

/// Some elements, at most a block. What is beyond them in the block is computed, but not delivered.
#[inline(always)]
fn brought<T: Element>(x: &[T]) -> Block<T::Compute> {
    let mut block = [T::Compute::default(); BLOCK];
    for i in 0..x.len().min(BLOCK) {
        block[i] = x[i].to_compute();
    }
    block
}

#[inline(always)]
fn deliver<T: Element>(block: &Block<T::Compute>, out: &mut [T]) {
    for i in 0..out.len().min(BLOCK) {
        out[i] = T::of_compute(block[i]);
    }
}
