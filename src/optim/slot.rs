//! What an optimizer keeps for one parameter, and how it follows the parameter.

use std::sync::{Arc, Weak};

use crate::Tensor;
use crate::device::Device;
use crate::dtype::DType;
use crate::memory::Role;
use crate::nn::Parameter;
use crate::optim::state::{MASTER, ParamState};
use crate::storage::Storage;

/// The names of what is kept for each element, in order.
pub(super) type Names = &'static [&'static str];

/// What is kept for one parameter.
pub(super) struct Slot {
    pub parameter: Parameter,
    /// How often it was stepped.
    pub step: u64,
    /// One for each name; none before the first step.
    pub state: Vec<Tensor>,
    /// The parameter in `f32`, if it is of a half type: a step that is too small to change a half
    /// still adds up here.
    pub master: Option<Tensor>,
    /// Storage and version of the parameter after the last step, by which to tell whether somebody
    /// else has changed it since.
    left: Option<(Weak<Storage>, u64)>,
}

impl Slot {
    /// Of a parameter that was not stepped yet.
    pub fn new(parameter: Parameter) -> Slot {
        Slot { parameter, step: 0, state: Vec::new(), master: None, left: None }
    }

    /// Brings the state to where and what the parameter is now: it may be new, or the parameter
    /// may have moved to another device or become of another type.
    pub fn follow(&mut self, x: &Tensor, names: Names, master_weights: bool) {
        let kept = kept_in(x.dtype(), master_weights);
        if self.state.len() != names.len() {
            let zeros = || Tensor::full_on(x.shape(), 0, kept, x.device());
            self.state = names.iter().map(|_| owned(zeros())).collect();
        }
        for state in &mut self.state {
            if (state.dtype(), state.device()) != (kept, x.device()) {
                *state = owned(state.to(x.device()).to(kept));
            }
        }
        self.master = (kept != x.dtype()).then(|| self.master_of(x, kept));
    }

    /// The master copy, made anew if somebody else has given the parameter other numbers.
    fn master_of(&self, x: &Tensor, kept: DType) -> Tensor {
        match &self.master {
            Some(master) if self.was_left(x) || rounds_to(master, x) => {
                owned(master.to(x.device()).to(kept))
            }
            _ => owned(x.to(kept)),
        }
    }

    /// Whether nobody has changed or exchanged the parameter since the last step.
    fn was_left(&self, x: &Tensor) -> bool {
        self.left.as_ref().is_some_and(|(storage, version)| {
            std::ptr::eq(storage.as_ptr(), Arc::as_ptr(x.storage()))
                && *version == x.storage().version()
        })
    }

    /// Counts a step that changed `x`.
    pub fn stepped(&mut self, x: &Tensor) {
        self.step += 1;
        self.left = Some((Arc::downgrade(x.storage()), x.storage().version()));
    }

    /// As it is saved.
    pub fn saved(&self, names: Names) -> ParamState {
        let named = names.iter().zip(&self.state);
        let named = named.map(|(name, state)| (name.to_string(), state.clone()));
        let master = self.master.iter().map(|master| (MASTER.to_string(), master.clone()));
        ParamState { step: self.step, tensors: named.chain(master).collect() }
    }

    /// This slot with what was saved, or what does not fit. The order of the tensors does not
    /// matter: a file has its own.
    pub fn restored(&self, saved: &ParamState, names: Names) -> Result<Slot, String> {
        let mut slot = Slot::new(self.parameter.clone());
        slot.step = saved.step;
        let x = slot.parameter.get();
        let (master, kept): (Vec<_>, Vec<_>) =
            saved.tensors.iter().partition(|(name, _)| name == MASTER);
        if let Some((name, tensor)) = master.first() {
            slot.master = Some(fitting(tensor, &x, name)?);
        }
        let found: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
        let all = names.iter().all(|name| found.contains(name)) && found.len() == names.len();
        if !found.is_empty() && !all {
            return Err(format!("has {found:?}, and this optimizer keeps {names:?}"));
        }
        for name in names {
            for (_, tensor) in kept.iter().filter(|(other, _)| other == name) {
                slot.state.push(fitting(tensor, &x, name)?);
            }
        }
        Ok(slot)
    }
}

/// The type of the state of a parameter: with master weights, `f32` for the half types.
fn kept_in(dtype: DType, master_weights: bool) -> DType {
    if master_weights && dtype.size() < DType::F32.size() { DType::F32 } else { dtype }
}

/// A tensor of the optimizer, under its role in the counters of memory.
fn owned(x: Tensor) -> Tensor {
    x.storage().set_role(Role::Optimizer);
    x
}

/// A copy of a saved tensor, if it has the parameter's shape.
fn fitting(saved: &Tensor, x: &Tensor, name: &str) -> Result<Tensor, String> {
    if saved.shape() != x.shape() || !saved.dtype().is_floating_point() {
        return Err(format!("has {name} of {}, and is {}", saved.brief(), x.brief()));
    }
    Ok(owned(saved.detach().to(x.device()).copy()))
}

/// Whether the master copy, rounded, has the bits of the parameter. A parameter that was moved, or
/// loaded from a checkpoint, still has them.
fn rounds_to(master: &Tensor, x: &Tensor) -> bool {
    let bits = |x: &Tensor| -> Vec<u32> {
        let values = x.to(Device::Cpu).to(DType::F32).to_vec::<f32>();
        values.into_iter().map(f32::to_bits).collect()
    };
    bits(&master.to(Device::Cpu).to(x.dtype())) == bits(x)
}
