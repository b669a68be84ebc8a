//! Executes kernels whose results, counts and faults are known: control flow at several levels of
//! optimisation, counters against counts by hand, one faulty kernel for each kind of finding.

#[path = "exec/banks.rs"]
mod banks;
#[path = "exec/control.rs"]
mod control;
#[path = "exec/counts.rs"]
mod counts;
#[path = "exec/faults.rs"]
mod faults;
#[path = "exec/launches.rs"]
mod launches;
#[path = "exec/order.rs"]
mod order;
#[path = "exec/rig.rs"]
mod rig;
#[path = "exec/sectors.rs"]
mod sectors;
#[path = "exec/spaces.rs"]
mod spaces;
#[path = "exec/waits.rs"]
mod waits;
#[path = "exec/warps.rs"]
mod warps;
