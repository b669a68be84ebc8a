//! What the lab binaries share: arguments, tables, plots, data, a progress bar, captured output.
//!
//! A lab's `main.rs` is its experiments and one call of [`lab_main`].

mod args;
mod axis;
pub mod capture;
pub mod cell;
mod data;
pub mod diagram;
mod drawing;
pub mod grid;
pub mod handout;
pub mod machine;
pub mod memory_line;
pub mod memory_map;
pub mod metrics;
mod output;
mod plot;
mod progress;
pub mod roofline;
mod table;
mod timing;
pub mod triangle;

pub use args::{DeviceName, Experiment, LabArgs, lab_main};
pub use cell::Cell;
pub use data::{Digits, Split};
pub use output::{Output, amount, compact, exit_code, pretty, print};
pub use plot::Plot;
pub use progress::Progress;
pub use table::Table;
pub use timing::{median_seconds, shortest_seconds};
