//! What all optimizers do alike: they gather what a step needs, hand it to the kernel in as few
//! calls as possible, and keep the state.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Tensor;
use crate::autograd::no_grad;
use crate::device::{Backend, Device, Update};
use crate::dtype::DType;
use crate::error::{Error, misuse};
use crate::memory::running;
use crate::nn::Parameter;
use crate::optim::group::{ParamGroup, check, non_negative};
use crate::optim::slot::{Names, Slot};
use crate::optim::state::OptimizerState;
use crate::profiler::{Kind, span};
use crate::storage::Storage;

/// The parameters of an optimizer and what it keeps for them.
pub(super) struct Slots {
    op: &'static str,
    pub groups: Vec<ParamGroup>,
    /// One for each parameter, in the order of the groups.
    slots: Vec<Slot>,
    pub master_weights: bool,
}

/// A step of one parameter, as the rule of the optimizer is asked for it.
pub(super) struct Turn<'a> {
    pub group: &'a ParamGroup,
    /// Which step of the parameter it is, from 1 on.
    pub step: u64,
    /// Whether its state is new.
    pub first: bool,
}

/// Handles on all that the kernel needs for one parameter.
struct Ready<R> {
    slot: usize,
    x: Tensor,
    /// The numbers of x side by side: x itself, or a copy.
    packed: Tensor,
    grad: Tensor,
    state: Vec<Tensor>,
    master: Option<Tensor>,
    rule: R,
}

impl Slots {
    /// For the optimizer `op`, if the groups are such as it can work on.
    #[track_caller]
    pub fn new(op: &'static str, groups: Vec<ParamGroup>) -> Slots {
        check(op, &groups);
        let params = groups.iter().flat_map(|group| &group.params);
        let slots = params.map(|parameter| Slot::new(parameter.clone())).collect();
        Slots { op, groups, slots, master_weights: true }
    }

    /// Of every group.
    #[track_caller]
    pub fn set_weight_decay(&mut self, weight_decay: f64) {
        non_negative(self.op, "weight decay", weight_decay);
        self.groups.iter_mut().for_each(|group| group.weight_decay = weight_decay);
    }

    /// One step of every parameter that has a gradient.
    #[track_caller]
    pub fn step<R: Copy>(
        &mut self,
        names: Names,
        rule: impl Fn(Turn) -> R,
        run: impl Fn(&dyn Backend, &[Update<R>]),
    ) {
        self.check_params();
        let (_running, _span) = (running(self.op, false), span(Kind::Op, self.op));
        no_grad(|| {
            for batch in batches(self.ready(names, rule)) {
                let updates: Vec<Update<R>> = batch.iter().map(Ready::update).collect();
                run(batch[0].x.device().backend(), &updates);
                for ready in batch {
                    if !ready.x.is_contiguous() {
                        ready.x.copy_(&ready.packed);
                    }
                    self.slots[ready.slot].stepped(&ready.x);
                }
            }
        });
    }

    fn ready<R>(&mut self, names: Names, rule: impl Fn(Turn) -> R) -> Vec<Ready<R>> {
        let groups = self.groups.iter().flat_map(|group| group.params.iter().map(move |_| group));
        let mut all = Vec::new();
        for (at, (group, slot)) in groups.zip(&mut self.slots).enumerate() {
            let x = slot.parameter.get();
            let Some(grad) = x.grad() else { continue };
            let (x, first) = (x.detach(), slot.state.len() != names.len());
            slot.follow(&x, names, self.master_weights);
            all.push(Ready {
                slot: at,
                packed: x.contiguous(),
                grad: grad.detach().contiguous(),
                state: slot.state.clone(),
                master: slot.master.clone(),
                rule: rule(Turn { group, step: slot.step + 1, first }),
                x,
            });
        }
        all
    }

    /// The state is kept by place, so the places of the parameters must not change.
    #[track_caller]
    fn check_params(&self) {
        let params: Vec<&Parameter> = self.groups.iter().flat_map(|group| &group.params).collect();
        let same = |(param, slot): (&&Parameter, &Slot)| param.is(&slot.parameter);
        if params.len() != self.slots.len() || !params.iter().zip(&self.slots).all(same) {
            let message = "the parameters of its groups were changed, and its state belongs to \
                           those that it was made with; make a new optimizer";
            misuse(self.op, &[], message.to_string());
        }
    }

    /// As it is saved.
    pub fn state_dict(&self, names: Names) -> OptimizerState {
        OptimizerState {
            groups: self.groups.iter().map(|group| (group.lr, group.weight_decay)).collect(),
            params: self.slots.iter().map(|slot| slot.saved(names)).collect(),
        }
    }

    /// Goes on from what was saved; nothing is changed if it does not fit.
    pub fn load_state_dict(&mut self, state: &OptimizerState, names: Names) -> Result<(), Error> {
        let op = self.op;
        let _running = running(op, false);
        let differs = |what: &str, saved: usize, own: usize| Error::Mismatch {
            message: format!(
                "{op}: the saved state has {saved} {what}, and this optimizer {own}; build the \
                 model and the groups as they were when it was saved"
            ),
        };
        if state.groups.len() != self.groups.len() {
            return Err(differs("groups", state.groups.len(), self.groups.len()));
        }
        if state.params.len() != self.slots.len() {
            return Err(differs("parameters", state.params.len(), self.slots.len()));
        }
        let restored = |(at, (slot, saved)): (usize, (&Slot, _))| {
            no_grad(|| slot.restored(saved, names)).map_err(|fault| Error::Mismatch {
                message: format!("{op}: in the saved state, parameter {at} {fault}"),
            })
        };
        let pairs = self.slots.iter().zip(&state.params).enumerate();
        self.slots = pairs.map(restored).collect::<Result<_, _>>()?;
        for (group, &(lr, weight_decay)) in self.groups.iter_mut().zip(&state.groups) {
            (group.lr, group.weight_decay) = (lr, weight_decay);
        }
        Ok(())
    }
}

impl<R: Copy> Ready<R> {
    fn update(&self) -> Update<'_, R> {
        Update {
            param: self.packed.view_of(),
            grad: self.grad.view_of(),
            master: self.master.as_ref().map(Tensor::view_of),
            state: self.state.iter().map(Tensor::view_of).collect(),
            rule: self.rule,
        }
    }
}

/// Those that one call of a kernel can take: of one device and one type, and no storage twice,
/// since parameters that are parts of one storage cannot be written at once.
fn batches<R>(all: Vec<Ready<R>>) -> Vec<Vec<Ready<R>>> {
    struct Batch<R> {
        kind: (Device, DType),
        storages: HashSet<*const Storage>,
        members: Vec<Ready<R>>,
    }
    let mut batches: Vec<Batch<R>> = Vec::new();
    for ready in all {
        let kind = (ready.x.device(), ready.x.dtype());
        let storage = Arc::as_ptr(ready.packed.storage());
        let fits = |batch: &&mut Batch<R>| batch.kind == kind && !batch.storages.contains(&storage);
        match batches.iter_mut().find(fits) {
            Some(batch) => {
                batch.storages.insert(storage);
                batch.members.push(ready);
            }
            None => {
                let storages = HashSet::from([storage]);
                batches.push(Batch { kind, storages, members: vec![ready] });
            }
        }
    }
    batches.into_iter().map(|batch| batch.members).collect()
}
