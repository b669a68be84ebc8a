//! A run as one JSON object.

use engine_room_sim::counters::Counters;
use engine_room_sim::exec::{Finding, Place};
use engine_room_sim::model::{Model, Occupancy};
use serde::{Serialize, Serializer};

use crate::argument::Buffer;
use crate::run::Run;

#[derive(Serialize)]
struct Document<'a> {
    kernel: &'a str,
    gpu: String,
    outputs: Vec<Output<'a>>,
    errors: Vec<Error>,
    stdout: &'a str,
    #[serde(serialize_with = "in_order")]
    counters: [(&'static str, u64); 10],
    modelled_ns: u64,
    host_seconds: f64,
    model: Modelled,
}

/// What the modelled time comes from.
#[derive(Serialize)]
struct Modelled {
    blocks_per_multiprocessor: u32,
    warps_per_multiprocessor: u32,
    most_warps: u32,
    limited_by: String,
    registers_known: bool,
    waves: u64,
    /// Nanoseconds of each part, the longest first.
    #[serde(serialize_with = "in_order")]
    parts: Vec<(&'static str, f64)>,
}

#[derive(Serialize)]
struct Output<'a> {
    arg: usize,
    dtype: &'static str,
    #[serde(serialize_with = "elements")]
    values: &'a Buffer,
}

#[derive(Serialize)]
struct Error {
    kind: String,
    file: Option<String>,
    line: Option<u32>,
    block: [u32; 3],
    thread: [u32; 3],
    address: Option<u64>,
    message: String,
}

/// Prints a run.
pub fn print(run: &Run) {
    let document = Document {
        kernel: &run.kernel.function.name,
        gpu: run.gpu.name().to_lowercase(),
        outputs: run.buffers.iter().map(|(arg, buffer)| output(*arg, buffer)).collect(),
        errors: run.report.findings.iter().map(error).collect(),
        stdout: &run.report.stdout,
        counters: named(&run.report.counters),
        modelled_ns: run.report.modelled_ns,
        host_seconds: run.host_seconds,
        model: modelled(&run.report.model),
    };
    engine_room_labs::print(&engine_room_labs::compact(&document));
}

fn modelled(model: &Model) -> Modelled {
    let Occupancy { blocks, warps, most_warps, limit, registers_known } = model.occupancy;
    Modelled {
        blocks_per_multiprocessor: blocks,
        warps_per_multiprocessor: warps,
        most_warps,
        limited_by: limit.to_string(),
        registers_known,
        waves: model.waves,
        parts: model.parts.iter().map(|(part, ns)| (part.name(), *ns)).collect(),
    }
}

fn output(arg: usize, values: &Buffer) -> Output<'_> {
    Output { arg, dtype: values.dtype.name(), values }
}

/// Writes the elements of a buffer as a list.
fn elements<S: Serializer>(buffer: &Buffer, to: S) -> Result<S::Ok, S::Error> {
    let bytes = buffer.bytes.as_deref().unwrap_or_default();
    to.collect_seq(bytes.chunks(buffer.dtype.bytes()).map(|element| buffer.dtype.json(element)))
}

fn error(finding: &Finding) -> Error {
    let place = finding.places.first();
    Error {
        kind: finding.kind.to_string(),
        file: place.map(|place| place.file.clone()),
        line: place.map(|place| place.line),
        block: finding.block,
        thread: finding.thread,
        address: finding.address,
        message: message(finding),
    }
}

/// What a finding says, with the lines inlined into the reader's and those of the calls around it.
pub fn message(finding: &Finding) -> String {
    let inlined: Vec<String> = finding.places.iter().skip(1).map(place).collect();
    match &inlined[..] {
        [] => finding.message.clone(),
        lines => format!("{} (also {})", finding.message, lines.join(", ")),
    }
}

/// `add.cu:7`
pub fn place(place: &Place) -> String {
    format!("{}:{}", place.file, place.line)
}

/// The counters by name, in the order in which they are shown.
pub fn named(counters: &Counters) -> [(&'static str, u64); 10] {
    [
        ("lane_instructions", counters.lane_instructions),
        ("warp_instructions", counters.warp_instructions),
        ("global_load_requests", counters.global_load_requests),
        ("global_load_sectors", counters.global_load_sectors),
        ("global_store_requests", counters.global_store_requests),
        ("global_store_sectors", counters.global_store_sectors),
        ("shared_bank_conflicts", counters.shared_bank_conflicts),
        ("divergent_branches", counters.divergent_branches),
        ("flops", counters.flops),
        ("dram_bytes", counters.dram_bytes),
    ]
}

/// Writes numbers with names as an object that keeps their order.
fn in_order<N, S>(numbers: &[(&'static str, N)], to: S) -> Result<S::Ok, S::Error>
where
    N: Serialize + Copy,
    S: Serializer,
{
    to.collect_map(numbers.iter().copied())
}
