//! A simulated GPU: it reads CUDA's PTX, runs it warp by warp on the host's cores, checks every
//! access to memory, counts what a programmer of kernels wants to know, and models the time.

pub mod alu;
pub mod counters;
pub mod decode;
pub mod exec;
pub mod flow;
pub mod gpu;
pub mod l2;
pub mod memory;
pub mod model;
pub mod nvrtc;
pub mod ptx;
pub mod timeline;
