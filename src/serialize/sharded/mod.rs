//! Training state that is split over ranks: sharding, gathering, and files for any number of ranks.
//!
//! `plan.rs` says who holds what, in two layouts; `share.rs` is what one rank has; `reshard.rs`
//! moves numbers from one split to another. `save.rs` and `index.rs` write a folder with one file a
//! rank and an index, `load.rs` checks and reads it. A rank and the size of its world are numbers
//! here: who they come from, and how ranks wait for one another, is not known in this module.

mod index;
mod load;
mod plan;
mod reshard;
mod save;
mod share;

pub use load::load_share;
pub use plan::{Plan, Sharding};
pub use reshard::{gather, reshard};
pub use save::{save_index, save_share};
pub use share::Share;
