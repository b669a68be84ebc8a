//! `gpu-sim ptx`: the kernels of a file.

use std::path::PathBuf;

use clap::Args;
use engine_room_labs::{Cell, Table};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx::ast::Bounds;
use engine_room_sim::ptx::listing::{Listed, kernels, type_name};

use crate::{Outcome, program};

/// Which file.
#[derive(Args)]
pub struct PtxArgs {
    /// A .ptx file, or a .cu file if NVRTC is installed
    file: PathBuf,
    /// NVRTC's library, or a folder that has it
    #[arg(long, value_name = "PATH")]
    nvrtc: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// In one line, what is wrong with the file.
pub fn run(args: &PtxArgs) -> Outcome {
    let module = program::load(&args.file, args.nvrtc.as_ref(), Gpu::A100)?;
    let (major, minor) = module.version;
    let kernels = kernels(&module);
    engine_room_labs::print(&format!(
        "{}: PTX {major}.{minor} for {}, kernels: {}\n",
        module.path,
        module.target,
        kernels.len()
    ));
    for kernel in &kernels {
        engine_room_labs::print(&text(kernel));
    }
    Ok(true)
}

fn text(kernel: &Listed) -> String {
    let mut table = Table::new()
        .column("argument", "argument", "")
        .column("type", "type", "")
        .column("offset", "offset", "bytes")
        .column("size", "size", "bytes")
        .column("name", "name", "");
    let params = &kernel.function.params;
    for (k, (param, offset)) in params.iter().zip(&kernel.offsets).enumerate() {
        table.row([
            Cell::Count(k as u64),
            Cell::Text(type_name(param)),
            Cell::Bytes(*offset),
            Cell::Bytes(param.bytes()),
            Cell::from(param.name.as_str()),
        ]);
    }
    let dynamic = if kernel.dynamic_shared { ", and what --shared says" } else { "" };
    let params = if params.is_empty() { "no arguments\n".to_string() } else { table.text() };
    format!(
        "\n{}\nshared memory: {} bytes{dynamic}{}\n{params}",
        kernel.function.name,
        kernel.shared_bytes,
        bounds(&kernel.function.bounds)
    )
}

fn bounds(bounds: &Bounds) -> String {
    let extent = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let mut text = String::new();
    if let Some(exactly) = bounds.reqntid {
        text += &format!("; a block has exactly {} threads", extent(exactly));
    }
    if let Some(most) = bounds.maxntid {
        text += &format!("; a block has at most {} threads", extent(most));
    }
    text
}
