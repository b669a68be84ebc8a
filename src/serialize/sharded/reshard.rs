//! From one way of holding a state to another: sharding, gathering and loading are this one thing.
//!
//! A rank's part of a tensor is a run of elements, before and after. So each tensor of the target
//! is made once, and the runs in which the two overlap are copied into it, straight from where they
//! are. Nothing else is held meanwhile.

use crate::Tensor;
use crate::device::Device;
use crate::dtype::{DType, Element, with_element};
use crate::error::{Error, misuse};
use crate::memory::{Role, filled};
use crate::nn::Parameter;
use crate::serialize::safetensors::with_packed_bytes;
use crate::serialize::sharded::plan::{Plan, Sharding};
use crate::serialize::sharded::share::{Held, Share, check_complete};
use crate::storage::Storage;

/// Elements that lie side by side, both where they are and where they go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The rank that has them.
    pub rank: usize,
    /// The unit of the source that they belong to.
    pub unit: usize,
    /// Elements before them in the tensor of that rank.
    pub from: usize,
    /// Elements before them in the new tensor.
    pub to: usize,
    pub numel: usize,
}

/// Where the numbers of a state are: in shares, or in files.
pub(super) trait Source {
    /// How it is split.
    fn plan(&self) -> &Plan;

    /// Fills `out` with the bytes of a piece of tensor number `tensor` of its unit.
    fn read(&self, piece: &Piece, tensor: usize, out: &mut [u8]) -> Result<(), Error>;
}

/// The share of `rank` among `world_size` ranks, made from the shares of all ranks of any world.
///
/// # Errors
/// If the shares are not those of all ranks in order, or not of one moment, or if a flat unit would
/// have to hold what is of several types or steps.
///
/// # Panics
/// If there is no such rank.
#[track_caller]
pub fn reshard(
    shares: &[Share],
    sharding: &Sharding,
    rank: usize,
    world_size: usize,
) -> Result<Share, Error> {
    check_rank(rank, world_size);
    check_complete(shares)?;
    let plan = shares[0].plan.resharded(sharding, world_size).map_err(Error::mismatch)?;
    assemble(&shares, plan, rank, shares[0].tensor(0, 0).device())
}

/// The whole state, from the shares of all ranks: each parameter under its name, in its shape.
///
/// # Errors
/// As [`reshard`].
pub fn gather(shares: &[Share]) -> Result<Share, Error> {
    reshard(shares, &Sharding::PerParameter, 0, 1)
}

/// Refuses a rank that cannot be.
#[track_caller]
pub(super) fn check_rank(rank: usize, world_size: usize) {
    if rank >= world_size {
        let message = format!("ranks count from 0; of {world_size} there is no rank {rank}");
        misuse("reshard", &[&rank, &world_size], message);
    }
}

impl Source for &[Share] {
    fn plan(&self) -> &Plan {
        &self[0].plan
    }

    fn read(&self, piece: &Piece, tensor: usize, out: &mut [u8]) -> Result<(), Error> {
        let x = self[piece.rank].tensor(piece.unit, tensor).reshape(&[-1]);
        let x = x.narrow(0, piece.from, piece.numel);
        with_packed_bytes(&x, &mut |bytes| out.copy_from_slice(bytes));
        Ok(())
    }
}

/// Makes the share of a rank, one tensor after the other. With a device that is not the CPU, one
/// tensor at a time is in both memories.
pub(super) fn assemble(
    source: &dyn Source,
    plan: Plan,
    rank: usize,
    device: Device,
) -> Result<Share, Error> {
    let held = (0..plan.units.len()).map(|unit| {
        let pieces = pieces(source.plan(), &plan, unit, rank);
        let shape = plan.held_shape(unit, rank);
        let tensors = plan.spec_of(unit).tensors.iter().enumerate();
        let mut tensors = tensors.map(|(number, &(_, dtype))| {
            let storage = filled_from(source, &pieces, number, dtype, shape.numel())?;
            Ok(Tensor::packed(storage, &shape).to(device))
        });
        let param = Parameter::new(tensors.next().expect("the parameter is the first one")?);
        let state = tensors.collect::<Result<Vec<Tensor>, Error>>()?;
        state.iter().for_each(|x| x.storage().set_role(Role::Optimizer));
        Ok(Held { param, state })
    });
    let held = held.collect::<Result<_, Error>>()?;
    Ok(Share { plan, rank, held })
}

/// The runs of elements that make up what a rank will hold of a unit. What no run fills is padding.
fn pieces(source: &Plan, target: &Plan, unit: usize, rank: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let start = target.held(unit, rank).start;
    for &param in &target.units[unit].members {
        let (wanted, before) = (target.part(param, rank), target.place(param).1);
        let (unit, before_there) = source.place(param);
        for rank in 0..source.world_size {
            let there = source.part(param, rank);
            let (first, end) = (wanted.start.max(there.start), wanted.end.min(there.end));
            if first < end {
                let from = before_there + first - source.held(unit, rank).start;
                let to = before + first - start;
                pieces.push(Piece { rank, unit, from, to, numel: end - first });
            }
        }
    }
    pieces
}

/// A storage of `numel` elements with these pieces, and zeros elsewhere.
fn filled_from(
    source: &dyn Source,
    pieces: &[Piece],
    tensor: usize,
    dtype: DType,
    numel: usize,
) -> Result<Storage, Error> {
    let mut buffer = with_element!(dtype, T => T::into_buffer(filled(T::default(), numel)));
    let bytes: &mut [u8] = buffer.bytes_mut().expect("a parameter is no mask");
    let size = dtype.size();
    for piece in pieces {
        let to = piece.to * size..(piece.to + piece.numel) * size;
        source.read(piece, tensor, &mut bytes[to])?;
    }
    Ok(Storage::of_buffer(buffer, None))
}
