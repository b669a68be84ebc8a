//! `kernels counts`: what every kernel does on a simulated A100, counted.
//!
//! The engine's own calls launch the kernels, with the memory checks on: a finding ends the command
//! with an error. Nothing is timed, so that a run gives the same text on every computer.

mod case;
mod elementwise;
mod irregular;
mod matmuls;
mod operands;
mod page;
mod rows;

use clap::Args;
use engine_room::catch;
use engine_room::sim::{self, Gpu, Launches};
use engine_room_labs::{Cell, Table, pretty, print};
use serde_json::{Map, Value};

use case::Case;
use operands::Operands;

/// How to show the counts.
#[derive(Args)]
pub struct CountsArgs {
    /// Prints one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Writes the tables into kernels/README.md; run it in the repository's root
    #[arg(long, conflicts_with = "json")]
    write: bool,
}

/// The cases of each file of `kernels/`, in the order in which they are read.
const FILES: [(&str, &[Case]); 18] = [
    ("binary", elementwise::BINARY),
    ("unary", elementwise::UNARY),
    ("compare", elementwise::COMPARE),
    ("cast", elementwise::CAST),
    ("move", elementwise::MOVE),
    ("fill", elementwise::FILL),
    ("in_place", elementwise::IN_PLACE),
    ("optimizer", elementwise::OPTIMIZER),
    ("random", elementwise::RANDOM),
    ("index", irregular::INDEX),
    ("place", irregular::PLACE),
    ("reduce", rows::REDUCE),
    ("arg_reduce", rows::ARG_REDUCE),
    ("softmax", rows::SOFTMAX),
    ("layer_norm", rows::LAYER_NORM),
    ("scan", rows::SCAN),
    ("sort", rows::SORT),
    ("attention", irregular::ATTENTION),
];

/// Runs the command.
///
/// # Errors
///
/// In one line, what the memory checks found, or why the page cannot be written.
pub fn run(args: &CountsArgs) -> Result<bool, String> {
    let (files, products) = catch(measure).map_err(|error| error.to_string())?;
    if args.json {
        let rows = files.iter().map(|(file, table)| (file.to_string(), table.json()));
        let rows: Map<String, Value> = rows.chain([("matmul".into(), products.json())]).collect();
        print(&pretty(&rows));
        return Ok(true);
    }
    let sections = files.iter().map(|(file, table)| format!("### {file}.cu\n\n{}\n", table.text()));
    let text = format!("{}### matmul.cu\n\n{}", sections.collect::<String>(), products.text());
    match args.write {
        true => page::write(&text)?,
        false => print(&text),
    }
    Ok(true)
}

/// A table for each file, and the one of the matrix products.
fn measure() -> (Vec<(&'static str, Table)>, Table) {
    sim::select_gpu(0, Gpu::A100);
    let operands = Operands::new();
    let files = FILES.map(|(file, cases)| (file, table(cases, &operands)));
    (files.into(), matmuls::table())
}

fn table(cases: &[Case], operands: &Operands) -> Table {
    let mut table = Table::new()
        .column("kernel", "kernel", "")
        .column("of", "of", "")
        .column("launches", "launches", "")
        .column("warp_instructions_for_32", "instructions", "")
        .column("sectors_per_load", "load", "")
        .column("least_per_load", "least", "")
        .column("sectors_per_store", "store", "")
        .column("least_per_store", "least", "")
        .column("conflicts_per_shared", "conflicts", "")
        .column("dram", "DRAM", "bytes")
        .column("of_needed", "of needed", "");
    for case in cases {
        table.row(row(case, &launched(case, operands)));
    }
    table
}

/// Runs a case.
///
/// # Panics
/// If its call does not launch its kernel.
fn launched(case: &Case, operands: &Operands) -> Launches {
    sim::reset(0);
    (case.call)(operands);
    let launches = sim::launches_of(0, case.kernel);
    assert!(launches.count > 0, "{} was not launched", case.kernel);
    launches
}

fn row(case: &Case, launches: &Launches) -> [Cell; 11] {
    let counters = &launches.counters;
    let (loads, stores) = (counters.global_load_requests, counters.global_store_requests);
    [
        Cell::from(case.kernel),
        Cell::from(case.of),
        Cell::Count(launches.count),
        // A warp does 32 elements at once.
        Cell::Number(32.0 * counters.warp_instructions as f64 / case.elements as f64),
        share(counters.global_load_sectors, loads),
        share(counters.global_load_least, loads),
        share(counters.global_store_sectors, stores),
        share(counters.global_store_least, stores),
        share(counters.shared_bank_conflicts, counters.shared_requests),
        Cell::Bytes(counters.dram_bytes),
        Cell::Ratio(counters.dram_bytes as f64 / case.bytes as f64),
    ]
}

/// How many of something each request has; nothing if there are no requests.
fn share(count: u64, requests: u64) -> Cell {
    match requests {
        0 => Cell::Missing,
        _ => Cell::Number(count as f64 / requests as f64),
    }
}
