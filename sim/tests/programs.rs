//! CUDA programs against models on the host: each kernel of `sim/programs/*.cu` runs in the PTX of
//! four compilations (optimised, with fast mathematics, unoptimised, and for debuggers), with the
//! warps in different orders.

#[path = "programs/harness.rs"]
mod harness;

#[path = "programs/control.rs"]
mod control;
#[path = "programs/counting.rs"]
mod counting;
#[path = "programs/halves.rs"]
mod halves;
#[path = "programs/layout.rs"]
mod layout;
#[path = "programs/numbers.rs"]
mod numbers;
#[path = "programs/printing.rs"]
mod printing;
#[path = "programs/rows.rs"]
mod rows;
#[path = "programs/scans.rs"]
mod scans;
#[path = "programs/sorts.rs"]
mod sorts;
#[path = "programs/teams.rs"]
mod teams;
