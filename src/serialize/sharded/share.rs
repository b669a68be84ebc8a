//! What one rank holds, as training sees it: parameters, and what an optimizer keeps for them.

use crate::Tensor;
use crate::dtype::DType;
use crate::error::{Error, Quoted};
use crate::nn::{Parameter, StateDict};
use crate::optim::{Optimizer, OptimizerState, ParamState};
use crate::serialize::sharded::plan::{Plan, Sharding, Spec, Unit};
use crate::shape::Dims;

/// What one rank holds of the parameters of a model and of its optimizer's state.
///
/// The optimizer of a rank is made of [`parameters`](Share::parameters). AdamW and SGD compute each
/// element from itself alone, so their steps on the shares are, bit for bit, the step on the whole;
/// clipping by a norm is not of this kind.
///
/// Buffers of a model are not sharded, here as in FSDP: every rank has them all. Nor are the
/// learning rates of the optimizer's groups, which are a matter of the program.
#[derive(Debug, Clone)]
pub struct Share {
    pub(super) plan: Plan,
    pub(super) rank: usize,
    /// One for each unit.
    pub(super) held: Vec<Held>,
}

/// What a rank holds of one unit.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub param: Parameter,
    /// What the optimizer keeps, in the order of the plan.
    pub state: Vec<Tensor>,
}

/// The name of the parameter itself among the tensors of a unit.
pub(super) const PARAM: &str = "param";

impl Share {
    /// All of a model's parameters as the share of the only rank, without an optimizer's state:
    /// [`keep_state_of`](Share::keep_state_of) adds it. It has handles on the parameters, no
    /// copies. `Module::named_parameters` lists a tied parameter once, and so is it saved.
    ///
    /// # Errors
    /// If there is no parameter, or one has the name of another.
    pub fn whole(params: &[(String, Parameter)]) -> Result<Share, Error> {
        let spec = |(name, param): &(String, Parameter)| {
            let x = param.get();
            let tensors = vec![(PARAM.to_string(), x.dtype())];
            Spec { name: name.clone(), shape: Dims::new(x.shape()), step: 0, tensors }
        };
        let plan = Plan::new(params.iter().map(spec).collect(), Sharding::PerParameter, 1);
        let held = params.iter().map(|(_, it)| Held { param: it.clone(), state: Vec::new() });
        Ok(Share { plan: plan.map_err(Error::mismatch)?, rank: 0, held: held.collect() })
    }

    /// How the state is split.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The parameters, one for each unit, to be stepped by an optimizer of this rank.
    pub fn parameters(&self) -> Vec<Parameter> {
        self.held.iter().map(|held| held.param.clone()).collect()
    }

    /// The parameters by the names of the units; of the whole, what a model loads.
    pub fn state_dict(&self) -> StateDict {
        let mut state = StateDict::new();
        for (unit, held) in self.plan.units.iter().zip(&self.held) {
            let inserted = state.insert(&unit.name, held.param.get().detach());
            inserted.expect("no two units have one name");
        }
        state
    }

    /// Takes over what an optimizer keeps for these parameters: handles, no copies.
    pub fn keep_state_of(&mut self, optimizer: &dyn Optimizer) {
        let params = optimizer.groups().iter().flat_map(|group| &group.params);
        for (param, saved) in params.zip(optimizer.state_dict().params) {
            let Some(unit) = self.unit_of(param) else { continue };
            let dtypes = saved.tensors.iter().map(|(name, x)| (name.clone(), x.dtype()));
            let own = (PARAM.to_string(), param.get().dtype());
            let tensors: Vec<(String, DType)> = [own].into_iter().chain(dtypes).collect();
            for &member in &self.plan.units[unit].members {
                let spec = &mut self.plan.specs[member];
                (spec.step, spec.tensors) = (saved.step, tensors.clone());
            }
            self.held[unit].state = saved.tensors.into_iter().map(|(_, x)| x).collect();
        }
    }

    /// Gives an optimizer of these parameters the state that is kept here, as a copy. Its learning
    /// rates and weight decays stay.
    ///
    /// # Errors
    /// If it has a parameter that is not one of this share, or keeps other things. Nothing is
    /// changed then.
    pub fn load_state_into(&self, optimizer: &mut dyn Optimizer) -> Result<(), Error> {
        let groups = optimizer.groups();
        let params = groups.iter().flat_map(|group| &group.params).enumerate();
        let params = params.map(|(number, param)| {
            let unit = self.unit_of(param).ok_or_else(|| {
                let shape = param.get().brief();
                let what = format!("parameter {number} of the optimizer, {shape}, is none of this");
                Error::mismatch(format!("{what} share; make the optimizer of Share::parameters"))
            })?;
            Ok(self.state_of(unit))
        });
        let params = params.collect::<Result<_, Error>>()?;
        let groups = groups.iter().map(|group| (group.lr, group.weight_decay)).collect();
        optimizer.load_state_dict(&OptimizerState { groups, params })
    }

    fn state_of(&self, unit: usize) -> ParamState {
        let spec = self.plan.spec_of(unit);
        let names = spec.tensors[1..].iter().map(|(name, _)| name.clone());
        let tensors = names.zip(self.held[unit].state.iter().cloned()).collect();
        ParamState { step: spec.step, tensors }
    }

    fn unit_of(&self, param: &Parameter) -> Option<usize> {
        self.held.iter().position(|held| held.param.is(param))
    }

    /// Tensor number `number` of a unit: the parameter, or one of the optimizer's.
    pub(super) fn tensor(&self, unit: usize, number: usize) -> Tensor {
        match number {
            0 => self.held[unit].param.get().detach(),
            _ => self.held[unit].state[number - 1].clone(),
        }
    }
}

/// Refuses shares that are not all the ranks of one world, in order.
pub(super) fn check_complete(shares: &[Share]) -> Result<(), Error> {
    let Some(first) = shares.first() else {
        return Err(Error::mismatch("there are no shares; pass those of all ranks".to_string()));
    };
    let ranks: Vec<usize> = shares.iter().map(|share| share.rank).collect();
    let world_size = first.plan.world_size;
    if !ranks.iter().copied().eq(0..world_size) {
        return Err(Error::mismatch(format!(
            "the shares are those of the ranks {ranks:?}; pass those of all {world_size} ranks in \
             order, each once"
        )));
    }
    let Some(other) = shares.iter().find(|share| share.plan != first.plan) else {
        return shares.iter().try_for_each(check_types);
    };
    let pairs = first.plan.specs.iter().zip(&other.plan.specs);
    let differs = pairs.into_iter().find(|(a, b)| a != b).map_or("", |(spec, _)| &spec.name);
    Err(Error::mismatch(format!(
        "rank {} is at another step, keeps other tensors or splits otherwise than rank 0 (first at \
         {}); gather shares of one moment",
        other.rank,
        Quoted(differs)
    )))
}

/// Refuses a share whose parameters were converted since its state was taken.
fn check_types(share: &Share) -> Result<(), Error> {
    for (unit, Unit { name, .. }) in share.plan.units.iter().enumerate() {
        for (number, (tensor, dtype)) in share.plan.spec_of(unit).tensors.iter().enumerate() {
            let x = share.tensor(unit, number);
            if x.dtype() != *dtype {
                let (tensor, name, found) = (Quoted(tensor), Quoted(name), x.dtype());
                return Err(Error::mismatch(format!(
                    "{tensor} of {name} was {dtype} when the state was taken and is {found} now; \
                     call Share::keep_state_of after the step, or take the whole anew"
                )));
            }
        }
    }
    Ok(())
}
