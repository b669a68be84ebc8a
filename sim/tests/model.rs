//! The L2 cache and the modelled time, against what is counted and reckoned by hand.

#[path = "model/cache.rs"]
mod cache;
#[path = "model/occupancy.rs"]
mod occupancy;
#[path = "random.rs"]
mod random;
#[path = "model/rig.rs"]
mod rig;
#[path = "model/times.rs"]
mod times;
#[path = "model/traffic.rs"]
mod traffic;
