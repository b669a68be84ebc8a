//! What lab 02 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/attend.rs"]
mod attend;
#[path = "checks/bytes.rs"]
mod bytes;
#[path = "checks/expand.rs"]
mod expand;
#[path = "checks/foretold.rs"]
mod foretold;
#[path = "checks/gather.rs"]
mod gather;
#[path = "checks/headers.rs"]
mod headers;
#[path = "checks/permute.rs"]
mod permute;
#[path = "checks/shapes.rs"]
mod shapes;
#[path = "checks/strides.rs"]
mod strides;
#[path = "checks/view.rs"]
mod view;

use engine_room::Tensor;
use grading::Exercise;

use super::attention::{Block, Sizes};
use super::cache::Memory;
use super::header::Header;

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 2.1
    pub contiguous_strides: fn(&[usize]) -> Vec<usize>,
    /// 2.1
    pub position: fn(&Header, &[usize]) -> usize,
    /// 2.2
    pub permute: fn(&Header, &[usize]) -> Header,
    /// 2.2
    pub narrow: fn(&Header, usize, usize, usize) -> Header,
    /// 2.3
    pub expand: fn(&Header, &[usize]) -> Option<Header>,
    /// 2.4
    pub view_strides: fn(&Header, &[usize]) -> Option<Vec<usize>>,
    /// 2.5
    pub gather: fn(&mut Memory, &Header),
    /// 2.6
    pub attend: fn(&Tensor, &Block) -> Tensor,
    /// 2.7
    pub copied_bytes: fn(&Sizes) -> u64,
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            contiguous_strides: $functions::contiguous_strides,
            position: $functions::position,
            permute: $functions::permute,
            narrow: $functions::narrow,
            expand: $functions::expand,
            view_strides: $functions::view_strides,
            gather: $functions::gather,
            attend: $functions::attend,
            copied_bytes: $functions::copied_bytes,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] = &[
    Exercise { id: "2.1", check: strides::strides },
    Exercise { id: "2.2", check: permute::permute },
    Exercise { id: "2.3", check: expand::expand },
    Exercise { id: "2.4", check: view::view },
    Exercise { id: "2.5", check: gather::gather },
    Exercise { id: "2.6", check: attend::attend },
    Exercise { id: "2.7", check: bytes::bytes },
];
