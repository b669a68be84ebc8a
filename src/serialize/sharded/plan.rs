//! Who holds what: the two ways to split the state of a model over the ranks of a world.
//!
//! Contract: a plan is a matter of names, shapes and types; it knows no number of a tensor. It has
//! **units**, which are split at once: a parameter, or several that lie one after the other. Of the
//! elements of a unit a rank holds one run, in both ways, and every element belongs to exactly one
//! rank. Whoever moves state from one plan to another asks for [`Plan::part`] and nothing else.

use std::collections::HashMap;
use std::ops::Range;

use crate::dtype::DType;
use crate::error::Quoted;
use crate::shape::Dims;

/// How the state of a model is split over the ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharding {
    /// Flat shards (FSDP1, ZeRO): the parameters of a unit are laid one after the other, and the
    /// whole is padded with zeros to a multiple of the world size and cut into equal parts. A rank
    /// may hold the end of one parameter, another one whole and the beginning of a third.
    ///
    /// A unit is named as a module is, `blocks.0`, and holds the parameters in it. Of units inside
    /// one another the inner one counts. What is in no unit makes one more, without a name; so an
    /// empty list makes the whole model one unit. It is PyTorch's layout without
    /// `use_orig_params`; with it, each parameter begins at a multiple of 16 bytes too.
    Flat {
        /// Names of modules.
        units: Vec<String>,
    },
    /// Per-parameter shards (FSDP2, `fully_shard`): each parameter is cut between the rows of its
    /// first dimension, as `torch.chunk` does. Nothing is padded, and the last ranks may hold
    /// nothing of it. A parameter without dimensions, which PyTorch refuses, is one row.
    PerParameter,
}

/// What is known of a parameter without its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spec {
    pub name: String,
    /// Of the whole parameter.
    pub shape: Dims,
    /// How often the optimizer stepped it.
    pub step: u64,
    /// The parameter itself, and what the optimizer keeps of the same shape.
    pub tensors: Vec<(String, DType)>,
}

/// What is split at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub name: String,
    /// Its parameters, by their places in the plan.
    pub members: Vec<usize>,
    /// Of the whole unit: that of its parameter, or one dimension for all elements.
    shape: Dims,
}

/// How the state of one model is split over some ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(super) sharding: Sharding,
    pub(super) world_size: usize,
    pub(super) specs: Vec<Spec>,
    pub(super) units: Vec<Unit>,
    /// Of each parameter, its unit and the elements of the unit that come before it.
    places: Vec<(usize, usize)>,
}

impl Plan {
    /// The plan for these parameters, or what stands in the way.
    pub(super) fn new(
        specs: Vec<Spec>,
        sharding: Sharding,
        world_size: usize,
    ) -> Result<Plan, String> {
        check_names(&specs)?;
        let units = match &sharding {
            Sharding::PerParameter => (0..specs.len()).map(|at| alone(&specs[at], at)).collect(),
            Sharding::Flat { units } => flat_units(&specs, units)?,
        };
        let mut places = vec![(0, 0); specs.len()];
        for (number, unit) in units.iter().enumerate() {
            let mut before = 0;
            for &member in &unit.members {
                places[member] = (number, before);
                before += specs[member].shape.numel();
            }
        }
        Ok(Plan { sharding, world_size, specs, units, places })
    }

    /// The same parameters, split in another way.
    pub(super) fn resharded(&self, sharding: &Sharding, world_size: usize) -> Result<Plan, String> {
        Plan::new(self.specs.clone(), sharding.clone(), world_size)
    }

    /// Step and tensors of a unit, which all of its parameters have.
    pub(super) fn spec_of(&self, unit: usize) -> &Spec {
        &self.specs[self.units[unit].members[0]]
    }

    /// The elements of a unit that a rank holds, in row-major order.
    pub(super) fn held(&self, unit: usize, rank: usize) -> Range<usize> {
        let shape = &self.units[unit].shape;
        let rows = rows_of(shape);
        let row = shape.numel() / rows.max(1);
        let mine = chunk(rows, rank, self.world_size);
        mine.start * row..mine.end * row
    }

    /// The shape of each tensor that a rank has for a unit.
    pub(super) fn held_shape(&self, unit: usize, rank: usize) -> Dims {
        let mut shape = self.units[unit].shape;
        let rows = rows_of(&shape);
        match &self.sharding {
            // Equal parts, whatever the rank: the padding is behind the elements that it holds.
            Sharding::Flat { .. } => shape[0] = rows.div_ceil(self.world_size),
            Sharding::PerParameter if shape.is_empty() && rank > 0 => shape = Dims::new(&[0]),
            Sharding::PerParameter if shape.is_empty() => {}
            Sharding::PerParameter => shape[0] = chunk(rows, rank, self.world_size).len(),
        }
        shape
    }

    /// Where a parameter lies: its unit, and the elements of the unit that come before it.
    pub(super) fn place(&self, param: usize) -> (usize, usize) {
        self.places[param]
    }

    /// The elements of a parameter that a rank holds.
    pub(super) fn part(&self, param: usize, rank: usize) -> Range<usize> {
        let (unit, before) = self.place(param);
        let (held, end) = (self.held(unit, rank), before + self.specs[param].shape.numel());
        let (first, last) = (held.start.max(before), held.end.min(end));
        if first < last { first - before..last - before } else { 0..0 }
    }
}

/// Part number `rank` of `rows` rows, as `torch.chunk` cuts them: every part has as many rows as
/// the first one, rounded up, until there are none left. So 5 rows on 4 ranks are 2, 2, 1, 0.
pub(super) fn chunk(rows: usize, rank: usize, world_size: usize) -> Range<usize> {
    let size = rows.div_ceil(world_size);
    let start = rank.saturating_mul(size).min(rows);
    start..start.saturating_add(size).min(rows)
}

/// The first dimension; what has none is one row.
fn rows_of(shape: &[usize]) -> usize {
    shape.first().copied().unwrap_or(1)
}

/// A unit of one parameter.
fn alone(spec: &Spec, at: usize) -> Unit {
    Unit { name: spec.name.clone(), members: vec![at], shape: spec.shape }
}

/// The units of flat shards, in the order of their first parameters.
fn flat_units(specs: &[Spec], modules: &[String]) -> Result<Vec<Unit>, String> {
    let mut units: Vec<Unit> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (at, spec) in specs.iter().enumerate() {
        let name = unit_of(&spec.name, modules);
        let unit = *known.entry(name).or_insert_with(|| {
            units.push(Unit { name: name.into(), members: Vec::new(), shape: Dims::new(&[0]) });
            units.len() - 1
        });
        let unit = &mut units[unit];
        unit.members.push(at);
        let numel = unit.shape[0].checked_add(spec.shape.numel());
        let shape = Dims::new(&[numel.unwrap_or(usize::MAX)]);
        shape.checked_numel().ok_or("it has more elements than memory can hold")?;
        unit.shape = shape;
    }
    if let Some(none) = modules.iter().find(|module| !known.contains_key(module.as_str())) {
        let name = Quoted(none);
        return Err(format!(
            "no parameter is in the unit {name} itself; name modules that have some"
        ));
    }
    units.iter().try_for_each(|unit| uniform(unit, specs))?;
    Ok(units)
}

/// The innermost module of the list that a parameter is in.
fn unit_of<'a>(param: &str, modules: &'a [String]) -> &'a str {
    let is_in = |module: &&String| {
        param.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    modules.iter().filter(is_in).max_by_key(|module| module.len()).map_or("", String::as_str)
}

/// Refuses a flat unit that could not be one tensor, stepped at once.
fn uniform(unit: &Unit, specs: &[Spec]) -> Result<(), String> {
    let first = &specs[unit.members[0]];
    let differs = |at: &&usize| {
        let spec = &specs[**at];
        (spec.step, &spec.tensors) != (first.step, &first.tensors)
    };
    let Some(&other) = unit.members.iter().find(differs) else { return Ok(()) };
    Err(format!(
        "{} and {} cannot lie in one flat unit, which is one tensor and stepped at once; make \
         units that do not mix them, or split by parameter (Sharding::PerParameter)",
        described(first),
        described(&specs[other])
    ))
}

/// A parameter as a message names it.
fn described(spec: &Spec) -> String {
    let tensors = spec.tensors.iter().map(|(name, dtype)| format!("{name} {dtype}"));
    let tensors = tensors.collect::<Vec<_>>().join(", ");
    format!("{} (step {}, {tensors})", Quoted(&spec.name), spec.step)
}

/// Refuses names that would overlap, and numbers of elements that cannot be.
fn check_names(specs: &[Spec]) -> Result<(), String> {
    let mut seen = HashMap::new();
    for spec in specs {
        if seen.insert(spec.name.as_str(), ()).is_some() {
            return Err(format!("{} stands there twice; name each once", Quoted(&spec.name)));
        }
        if spec.shape.checked_numel().is_none() {
            let name = Quoted(&spec.name);
            return Err(format!(
                "{name} of {:?} has more elements than memory can hold",
                spec.shape
            ));
        }
    }
    if specs.is_empty() { Err("there are no parameters".to_string()) } else { Ok(()) }
}
