//! What lab 05 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/file_system.rs"]
mod file_system;
#[path = "checks/flat_thoughts.rs"]
mod flat_thoughts;
#[path = "checks/flatten.rs"]
mod flatten;
#[path = "checks/flatten_thoughts.rs"]
mod flatten_thoughts;
#[path = "checks/header.rs"]
mod header;
#[path = "checks/header_cases.rs"]
mod header_cases;
#[path = "checks/header_files.rs"]
mod header_files;
#[path = "checks/layouts.rs"]
mod layouts;
#[path = "checks/load.rs"]
mod load;
#[path = "checks/load_kinds.rs"]
mod load_kinds;
#[path = "checks/load_thoughts.rs"]
mod load_thoughts;
#[path = "checks/machine.rs"]
mod machine;
#[path = "checks/parameter_thoughts.rs"]
mod parameter_thoughts;
#[path = "checks/reshard.rs"]
mod reshard;
#[path = "checks/resume.rs"]
mod resume;
#[path = "checks/resume_thoughts.rs"]
mod resume_thoughts;
#[path = "checks/run_parts.rs"]
mod run_parts;
#[path = "checks/save.rs"]
mod save;
#[path = "checks/save_thoughts.rs"]
mod save_thoughts;
#[path = "checks/save_words.rs"]
mod save_words;
#[path = "checks/shard.rs"]
mod shard;
#[path = "checks/shard_kinds.rs"]
mod shard_kinds;
#[path = "checks/shard_thoughts.rs"]
mod shard_thoughts;
#[path = "checks/thoughts.rs"]
mod thoughts;

use std::io;
use std::path::Path;

use engine_room::serialize::Files;
use grading::Exercise;

use super::header::{Refusal, TensorInfo};
use super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::reshard::Read;
use super::shards::{Split, Weight};
use super::training_run::{Run, SavedRun};
use super::tree::{Entry, Node};

/// What 5.3 writes.
pub type Load =
    fn(&mut [Slot], &[Saved], &MapLocation, &[String], bool) -> Result<Vec<Placed>, Vec<Complaint>>;

/// What 5.4 writes.
pub type Save = fn(&dyn Files, &Path, &[u8]) -> io::Result<()>;

/// What both functions of 5.6 are.
pub type Reads = fn(&[Vec<usize>], usize, usize, usize) -> Vec<Read>;

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 5.1
    pub flatten: fn(&Node) -> Vec<Entry>,
    /// 5.2
    pub read_header: fn(&[u8]) -> Result<Vec<TensorInfo>, Refusal>,
    /// 5.3
    pub load: Load,
    /// 5.4
    pub save: Save,
    /// 5.5
    pub split_into_shards: fn(&[Weight], u64) -> Split,
    /// 5.6
    pub reads_flat: Reads,
    /// 5.6
    pub reads_per_parameter: Reads,
    /// 5.7
    pub save_run: fn(&Run) -> SavedRun,
    /// 5.7
    pub resume_run: fn(&SavedRun, &mut Run),
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            flatten: $functions::flatten,
            read_header: $functions::read_header,
            load: $functions::load,
            save: $functions::save,
            split_into_shards: $functions::split_into_shards,
            reads_flat: $functions::reads_flat,
            reads_per_parameter: $functions::reads_per_parameter,
            save_run: $functions::save_run,
            resume_run: $functions::resume_run,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] = &[
    Exercise { id: "5.1", check: flatten::flatten },
    Exercise { id: "5.2", check: header::header },
    Exercise { id: "5.3", check: load::load },
    Exercise { id: "5.4", check: save::save },
    Exercise { id: "5.5", check: shard::shard },
    Exercise { id: "5.6", check: reshard::reshard },
    Exercise { id: "5.7", check: resume::resume },
];
