//! Recomputation: a part of the graph that keeps its inputs only, and runs again in the backward
//! pass for the rest ("activation checkpointing").
//!
//! Nodes are made as always, so the backward pass adds up gradients in the same order and to the
//! same bits. Only what they save is left out: in its place stands a slot. The first slot that the
//! backward pass asks for runs the part again, with gradients, and this time each tensor that is
//! saved goes into the slot with the same number. As PyTorch's `torch.utils.checkpoint` does it
//! with `use_reentrant=False`. Source: T. Chen et al., "Training Deep Nets with Sublinear Memory
//! Cost", 2016.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::Tensor;
use crate::autograd::mode::{autocast_dtype, enable_grad, is_grad_enabled, set_autocast};
use crate::autograd::node::Node;
use crate::dtype::DType;
use crate::error::misuse;
use crate::memory::{self, Role};
use crate::rng::{self, GeneratorState};
use crate::shape::Dims;

/// Computes f(inputs), and keeps for the backward pass only the inputs: f runs a second time when
/// its gradients are asked for. The results and all gradients are those of a plain call, bit for
/// bit on the CPU. It costs one more forward pass of f.
///
/// The second run starts from the random state and the autocast type of the first, and leaves the
/// random state as it found it. f may use parameters that it captured, and recompute parts of
/// itself in turn. What f changes outside itself, such as the averages of a batch norm, is changed
/// twice. Where nothing is recorded, f is simply called. The second run goes to the end of f, while
/// PyTorch leaves f as soon as the last tensor that is needed has been saved.
///
/// # Panics
/// In the backward pass: if an input was changed in place meanwhile, or if the second run does not
/// save tensors of the same number, shapes and types as the first. Also if f itself asks for a
/// gradient of what it computes.
pub fn recompute<T>(f: impl Fn(&[Tensor]) -> T + Send + Sync + 'static, inputs: &[&Tensor]) -> T {
    let inputs: Vec<Tensor> = inputs.iter().map(|&x| x.clone()).collect();
    if !is_grad_enabled() {
        return f(&inputs);
    }
    let f = Arc::new(f);
    let again = f.clone();
    let region = Arc::new(Region {
        run: Box::new(move |inputs| drop(again(inputs))),
        inputs: inputs.iter().map(|x| keep(x.snapshot(), x.storage().version())).collect(),
        slots: Mutex::default(),
        is_complete: AtomicBool::new(false),
        random: rng::get_state(),
        autocast: autocast_dtype(),
        module: memory::current_module(),
    });
    let active = Active::push(Run::First(region.clone()));
    let y = f(&inputs);
    drop(active);
    region.complete();
    y
}

/// What a graph keeps of a tensor.
pub(super) enum Kept {
    /// The tensor, and the version that its numbers had.
    Tensor(Tensor, u64),
    /// Where it will be when the region has run again.
    Slot(InSlot),
}

/// A tensor that is computed again when it is asked for.
pub(super) struct InSlot {
    region: Arc<Region>,
    slot: Arc<Slot>,
    /// The node that the tensor had, for gradients of gradients.
    node: Option<Arc<Node>>,
}

/// The place of one saved tensor of a region.
struct Slot {
    shape: Dims,
    dtype: DType,
    /// The tensor of the second run, and the version that its numbers had when it was saved.
    tensor: Mutex<Option<(Tensor, u64)>>,
}

/// Runs f on inputs and drops the result.
type Again = dyn Fn(&[Tensor]) + Send + Sync;

/// One call of [`recompute`]; it lives as long as one of its slots.
struct Region {
    run: Box<Again>,
    /// If a region around this one is recomputed too, that one keeps them.
    inputs: Vec<Kept>,
    /// In the order in which the first run saved; a slot is gone when its node was released.
    slots: Mutex<Vec<Weak<Slot>>>,
    /// Whether the first run has come to its end.
    is_complete: AtomicBool,
    random: GeneratorState,
    autocast: Option<DType>,
    module: &'static str,
}

/// The regions that this thread runs, the innermost last.
enum Run {
    First(Arc<Region>),
    /// And how many tensors this run has saved so far.
    Again(Arc<Region>, usize),
}

thread_local! {
    static RUNS: RefCell<Vec<Run>> = const { RefCell::new(Vec::new()) };
}

/// The innermost run of a region; it ends when this is dropped, also if f panics.
struct Active;

impl Active {
    fn push(run: Run) -> Active {
        RUNS.with_borrow_mut(|runs| runs.push(run));
        Active
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        drop(RUNS.with_borrow_mut(Vec::pop));
    }
}

/// Whether what runs now has run before.
pub(crate) fn is_recomputing() -> bool {
    RUNS.with_borrow(|runs| matches!(runs.last(), Some(Run::Again(..))))
}

/// What is kept of a tensor that was saved at a version: itself, or a slot while a region runs
/// first.
pub(super) fn keep(tensor: Tensor, version: u64) -> Kept {
    let number = RUNS.with_borrow_mut(|runs| match runs.last_mut() {
        None => None,
        Some(Run::First(region)) => Some((region.clone(), None)),
        Some(Run::Again(region, saved)) => {
            *saved += 1;
            Some((region.clone(), Some(*saved - 1)))
        }
    });
    match number {
        Some((region, None)) => Kept::Slot(region.new_slot(&tensor)),
        Some((region, Some(number))) => {
            region.fill(number, &tensor, version);
            Kept::Tensor(tensor, version)
        }
        None => Kept::Tensor(tensor, version),
    }
}

impl Kept {
    /// The tensor and the version that it was saved at; computed again if need be.
    pub(super) fn get(&self) -> (Tensor, u64) {
        match self {
            Kept::Tensor(tensor, version) => (tensor.clone(), *version),
            Kept::Slot(slot) => slot.get(),
        }
    }

    /// The tensors that are kept alive now.
    pub(super) fn tensors(&self) -> Vec<Tensor> {
        match self {
            Kept::Tensor(tensor, _) => vec![tensor.clone()],
            Kept::Slot(InSlot { region, slot, .. }) => {
                let mut tensors: Vec<Tensor> =
                    region.inputs.iter().flat_map(Kept::tensors).collect();
                tensors.extend(lock(&slot.tensor).as_ref().map(|(tensor, _)| tensor.clone()));
                tensors
            }
        }
    }
}

impl InSlot {
    fn get(&self) -> (Tensor, u64) {
        let filled = || lock(&self.slot.tensor).clone();
        let (tensor, version) = filled().unwrap_or_else(|| {
            self.region.run_again();
            filled().expect("every slot was filled")
        });
        let restored = tensor.detach();
        restored.set_node(self.node.clone());
        (restored, version)
    }
}

/// An input of a region, as it was.
fn unchanged(input: &Kept) -> Tensor {
    let (tensor, version) = input.get();
    if tensor.storage().version() != version {
        let message = format!(
            "this input was changed in place since, last by {}, so it cannot be computed with \
             again; change a copy instead",
            tensor.storage().last_writer()
        );
        misuse("recompute", &[&tensor.brief()], message);
    }
    tensor
}

impl Region {
    fn new_slot(self: &Arc<Region>, tensor: &Tensor) -> InSlot {
        let (shape, dtype) = (*tensor.layout().shape(), tensor.dtype());
        let slot = Arc::new(Slot { shape, dtype, tensor: Mutex::default() });
        lock(&self.slots).push(Arc::downgrade(&slot));
        InSlot { region: self.clone(), slot, node: tensor.node() }
    }

    /// The first run has ended. If it has saved anything, the inputs live for the backward pass.
    fn complete(&self) {
        self.is_complete.store(true, Ordering::Release);
        if lock(&self.slots).is_empty() {
            return;
        }
        for input in &self.inputs {
            if let Kept::Tensor(tensor, _) = input
                && tensor.storage().role() == Role::Other
            {
                tensor.storage().set_role(Role::Activation);
            }
        }
    }

    /// Runs f with gradients, in the state of the first run; every slot that is left gets its
    /// tensor.
    fn run_again(self: &Arc<Region>) {
        if !self.is_complete.load(Ordering::Acquire) {
            let message = "f asks for a gradient of what it computes while it is recomputed; take \
                           that gradient outside f, or call f without recompute";
            misuse("recompute", &[], message.to_string());
        }
        let inputs: Vec<Tensor> = self.inputs.iter().map(unchanged).collect();
        let _active = Active::push(Run::Again(self.clone(), 0));
        let _random = RandomState::set(self.random);
        let _autocast = set_autocast(self.autocast);
        let _outside = memory::outside_operations();
        let _module = memory::inside_module(self.module);
        enable_grad(|| (self.run)(&inputs));
        let saved = RUNS.with_borrow(|runs| match runs.last() {
            Some(Run::Again(_, saved)) => *saved,
            _ => unreachable!("it was pushed above"),
        });
        let expected = lock(&self.slots).len();
        if saved != expected {
            differs(format!("it saved {saved} tensors for backward, and {expected} before"));
        }
    }

    /// Puts what the second run saves as number `number` where the first run left room for it.
    fn fill(&self, number: usize, tensor: &Tensor, version: u64) {
        let slot = match lock(&self.slots).get(number) {
            Some(slot) => slot.upgrade(),
            None => differs(format!("it saved more tensors for backward than the {number} before")),
        };
        let Some(slot) = slot else { return };
        if tensor.layout().shape() != &slot.shape || tensor.dtype() != slot.dtype {
            differs(format!(
                "as number {number} it saved {}, where it was {} {:?} before",
                tensor.brief(),
                slot.dtype,
                slot.shape
            ));
        }
        *lock(&slot.tensor) = Some((tensor.detach(), version));
    }
}

fn differs(what: String) -> ! {
    let message = format!(
        "the second run of f is not the first one again: {what}; f must compute the same from the \
         same inputs, whatever else has changed meanwhile"
    );
    misuse("recompute", &[], message)
}

/// Puts this thread's generator somewhere, and back where it was when this is dropped.
struct RandomState(GeneratorState);

impl RandomState {
    fn set(state: GeneratorState) -> RandomState {
        let before = rng::get_state();
        rng::set_state(state);
        RandomState(before)
    }
}

impl Drop for RandomState {
    fn drop(&mut self) {
        rng::set_state(self.0);
    }
}

/// Held for a moment only.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
