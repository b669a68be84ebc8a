//! Autograd: records what was computed, and walks the record backwards for gradients.
//!
//! `op.rs` is the door that every operation goes through, `node.rs` what it leaves behind,
//! `backward.rs` the walk, `mode.rs` the switches of a thread, `in_place.rs` what a change in place
//! does to the graph, `recompute.rs` parts of it that keep less and run twice, `graph.rs` a picture
//! of what is recorded and what it holds in memory, `gradcheck.rs` the judge. No file here names an
//! operation.

mod backward;
mod ctx;
mod gradcheck;
mod graph;
mod in_place;
mod mode;
mod node;
mod op;
mod recompute;

pub use backward::{Keep, backward, grad};
pub use ctx::Ctx;
pub use gradcheck::{GradcheckError, gradcheck};
pub use graph::{Graph, GraphNode, SavedTensor};
pub use in_place::apply_in_place;
pub(crate) use in_place::{add_at, node_of_view};
pub(crate) use mode::{AutocastGuard, set_autocast};
pub use mode::{
    autocast_dtype, enable_grad, inference_mode, is_grad_enabled, is_inference_mode, no_grad,
};
pub use node::Node;
pub use op::{Op, apply};
pub(crate) use recompute::is_recomputing;
pub use recompute::recompute;
