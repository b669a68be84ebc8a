//! Saving a sharded state: every rank its own file, then one of them the index.
//!
//! **A folder without an index is no checkpoint**, whatever lies in it, and a folder that has one
//! is never written to again. So a crash at any moment leaves every older checkpoint as it was, in
//! its own folder, and the new one as a whole or not at all. The index names what the files must
//! have, and is written only after all of them were looked at.

use std::path::Path;

use crate::error::Error;
use crate::nn::StateDict;
use crate::serialize::files::{Files, replace};
use crate::serialize::safetensors::save_with;
use crate::serialize::sharded::index::{INDEX, file_of, written};
use crate::serialize::sharded::load::check_files;
use crate::serialize::sharded::plan::Plan;
use crate::serialize::sharded::share::Share;

/// What the metadata of a rank's file says: whose it is, and of which moment.
pub(super) const RANK: &str = "engine_room.rank";
pub(super) const WORLD_SIZE: &str = "engine_room.world_size";
pub(super) const STEPS: &str = "engine_room.steps";

/// Saves what one rank holds as a file of `folder`, which must be there. The file is a safetensors
/// file; its tensors are `param/NAME`, `exp_avg/NAME` and so on, where NAME is that of the unit. It
/// holds one tensor's packed bytes at a time.
///
/// # Errors
/// If the folder has a checkpoint already, or cannot be written to.
pub fn save_share(files: &dyn Files, folder: &Path, share: &Share) -> Result<(), Error> {
    refuse_second(folder)?;
    let (plan, mut state) = (&share.plan, StateDict::new());
    for unit in 0..plan.units.len() {
        for number in 0..plan.spec_of(unit).tensors.len() {
            state.insert(&stored_name(plan, unit, number), share.tensor(unit, number))?;
        }
    }
    let path = folder.join(file_of(share.rank, plan.world_size));
    save_with(files, &path, &state, &notes(plan, share.rank))
}

/// Makes the files of all ranks a checkpoint. One rank calls it, after all have saved.
///
/// # Errors
/// If a rank's file is missing or is not what the plan says, e.g. because that rank was at another
/// step; or if the folder has a checkpoint already, or cannot be written to.
pub fn save_index(files: &dyn Files, folder: &Path, plan: &Plan) -> Result<(), Error> {
    refuse_second(folder)?;
    let names: Vec<String> =
        (0..plan.world_size).map(|rank| file_of(rank, plan.world_size)).collect();
    check_files(folder, plan, &names)?;
    let text = written(plan);
    replace(files, &folder.join(INDEX), &mut |file| file.write(text.as_bytes()))
}

/// The name under which a tensor of a unit is saved.
pub(super) fn stored_name(plan: &Plan, unit: usize, number: usize) -> String {
    format!("{}/{}", plan.spec_of(unit).tensors[number].0, plan.units[unit].name)
}

/// The metadata of a rank's file.
pub(super) fn notes(plan: &Plan, rank: usize) -> [(&'static str, String); 3] {
    let steps = (0..plan.units.len()).map(|unit| plan.spec_of(unit).step.to_string());
    let steps = steps.collect::<Vec<_>>().join(" ");
    [(RANK, rank.to_string()), (WORLD_SIZE, plan.world_size.to_string()), (STEPS, steps)]
}

fn refuse_second(folder: &Path) -> Result<(), Error> {
    let index = folder.join(INDEX);
    if !index.exists() {
        return Ok(());
    }
    let message = "this folder has a checkpoint, which a crash would leave half replaced; save \
                   into a new folder, and remove this one afterwards";
    Err(Error::file(&index, message))
}
