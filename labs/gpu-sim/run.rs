//! `gpu-sim run`: one launch of one kernel.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use engine_room_sim::exec::{Device, Launch, Options, Report};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx::ast::Module;
use engine_room_sim::ptx::listing::{Listed, type_name};

use crate::argument::{Argument, Buffer};
use crate::{Outcome, json, program, report};

/// What to run, and with what.
#[derive(Args)]
pub struct RunArgs {
    /// A .ptx file, or a .cu file if NVRTC is installed
    file: PathBuf,
    /// The kernel's name in the source or in the PTX; not needed if the file has one kernel
    #[arg(long)]
    kernel: Option<String>,
    /// Blocks: x, or x,y, or x,y,z
    #[arg(long, default_value = "1", value_parser = extent)]
    grid: Extent,
    /// Threads of a block: x, or x,y, or x,y,z
    #[arg(long, default_value = "1", value_parser = extent)]
    block: Extent,
    /// An argument, in the kernel's order: TYPE[N]=INIT is a buffer (TYPE: u8 i32 u32 i64 u64 f16
    /// bf16 f32 f64; INIT: zeros ones iota uninit random:SEED file:PATH, or values with commas),
    /// TYPE=VALUE a number, bytes=HEX a struct
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// Bytes of dynamic shared memory
    #[arg(long, default_value_t = 0)]
    shared: u32,
    /// Shows argument K, counted from 0, after the run
    #[arg(long, value_name = "K")]
    print: Vec<usize>,
    /// Writes argument K, counted from 0, to a file after the run, raw and little-endian
    #[arg(long, value_name = "K=PATH", value_parser = output)]
    out: Vec<(usize, PathBuf)>,
    /// The GPU to simulate: t4, a100, h100 or h200
    #[arg(long, default_value = "a100", value_parser = gpu)]
    gpu: Gpu,
    /// Which accesses to check
    #[arg(long, default_value = "all")]
    check: Check,
    /// Reorders the warps of each block; 0 is the plain order
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Ends the launch after so many instructions of its warps
    #[arg(long)]
    max_instructions: Option<u64>,
    /// Registers of a thread, as `ptxas -v` tells them, for the modelled time
    #[arg(long)]
    registers: Option<u32>,
    /// NVRTC's library, or a folder that has it
    #[arg(long, value_name = "PATH")]
    nvrtc: Option<PathBuf>,
    /// Prints one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Check {
    All,
    None,
}

/// Sizes in x, y and z.
type Extent = [u32; 3];

/// What a run has shown.
pub struct Run<'a> {
    pub program: &'a Path,
    pub kernel: &'a Listed<'a>,
    pub launch: Launch,
    pub gpu: Gpu,
    pub report: Report,
    /// The buffers after the run, with the number of the argument.
    pub buffers: Vec<(usize, Buffer)>,
    pub host_seconds: f64,
}

/// Runs the command.
///
/// # Errors
///
/// In one line, what of the input cannot be used.
pub fn run(args: &RunArgs) -> Outcome {
    let limit = args.gpu.figures().capacity;
    let parse = |(k, text): (usize, &String)| {
        Argument::parse(text, limit).map_err(|e| format!("argument {k} (`{}`): {e}", short(text)))
    };
    let arguments: Vec<Argument> =
        args.arguments.iter().enumerate().map(parse).collect::<Result<_, _>>()?;
    let outs = args.out.iter().map(|(k, _)| k);
    if let Some(k) = args.print.iter().chain(outs).find(|k| !is_buffer(arguments.get(**k))) {
        return Err(format!("argument {k} is no buffer that could be printed or written"));
    }
    let module = Arc::new(program::load(&args.file, args.nvrtc.as_ref(), args.gpu)?);
    let kernel = program::kernel(&module, args.kernel.as_deref())?;
    fit(&kernel, &arguments)?;
    let run = launch(args, &module, &kernel, arguments)?;
    for (k, path) in &args.out {
        let buffer = run.buffers.iter().find(|(number, _)| number == k);
        let bytes = buffer.and_then(|(_, buffer)| buffer.bytes.as_deref()).unwrap_or_default();
        std::fs::write(path, bytes)
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
    }
    if args.json {
        json::print(&run);
    } else {
        report::print(&run, &args.print);
    }
    Ok(run.report.findings.is_empty())
}

fn is_buffer(argument: Option<&Argument>) -> bool {
    matches!(argument, Some(Argument::Buffer(_)))
}

/// At most 60 characters of a text.
fn short(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_string(),
    }
}

/// Whether the arguments are those that the kernel wants: as many, and of the same sizes.
fn fit(kernel: &Listed, arguments: &[Argument]) -> Result<(), String> {
    let (name, params) = (&kernel.function.name, &kernel.function.params);
    if params.len() != arguments.len() {
        let wanted: Vec<String> = params.iter().map(type_name).collect();
        return Err(format!(
            "the kernel {name} takes {} arguments ({}), and {} were given",
            params.len(),
            wanted.join(", "),
            arguments.len()
        ));
    }
    for (k, (param, argument)) in params.iter().zip(arguments).enumerate() {
        let (what, bytes) = match argument {
            Argument::Buffer(buffer) => (format!("a pointer to {}", buffer.dtype.name()), 8),
            Argument::Value(what, bytes) => (what.clone(), bytes.len() as u64),
        };
        if bytes != param.bytes() {
            let (kind, wanted) = (type_name(param), param.bytes());
            return Err(format!(
                "argument {k} is {what} of {bytes} bytes, and the kernel {name} takes {kind} of \
                 {wanted} bytes there"
            ));
        }
    }
    Ok(())
}

fn launch<'a>(
    args: &'a RunArgs,
    module: &Arc<Module>,
    kernel: &'a Listed<'a>,
    arguments: Vec<Argument>,
) -> Result<Run<'a>, String> {
    let mut device = Device::new(args.gpu);
    let program =
        device.load(Arc::clone(module)).map_err(|e| format!("the module's variables: {e}"))?;
    let mut params = vec![0; kernel.parameter_bytes as usize];
    let mut buffers = Vec::new();
    for (k, (argument, offset)) in arguments.into_iter().zip(&kernel.offsets).enumerate() {
        let bytes = match argument {
            Argument::Value(_, bytes) => bytes,
            Argument::Buffer(buffer) => {
                let address =
                    upload(&mut device, &buffer).map_err(|e| format!("argument {k}: {e}"))?;
                buffers.push((k, address, buffer));
                address.to_le_bytes().to_vec()
            }
        };
        params[*offset as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    let launch = Launch {
        kernel: kernel.function.name.clone(),
        grid: args.grid,
        block: args.block,
        shared_bytes: args.shared,
        params,
    };
    let (check, seed, max_instructions) =
        (args.check == Check::All, args.seed, args.max_instructions);
    let lines = !args.json;
    let registers = args.registers;
    let options = Options { check, seed, max_instructions, lines, registers, ..Options::default() };
    let start = Instant::now();
    let report = device.run(&program, &launch, &options);
    let host_seconds = start.elapsed().as_secs_f64();
    let download = |(k, address, mut buffer): (usize, u64, Buffer)| {
        let mut bytes = vec![0; buffer.count * buffer.dtype.bytes()];
        device.read(address, &mut bytes).map_err(|e| format!("argument {k}: {e}"))?;
        buffer.bytes = Some(bytes);
        Ok((k, buffer))
    };
    let buffers = buffers.into_iter().map(download).collect::<Result<_, String>>()?;
    Ok(Run { program: &args.file, kernel, launch, gpu: args.gpu, report, buffers, host_seconds })
}

/// Makes a buffer on the device, and fills it; returns its address.
fn upload(device: &mut Device, buffer: &Buffer) -> Result<u64, String> {
    let bytes = buffer.count as u64 * buffer.dtype.bytes() as u64;
    let address = device.alloc(bytes).map_err(|e| e.to_string())?;
    if let Some(bytes) = &buffer.bytes {
        device.write(address, bytes).map_err(|e| e.to_string())?;
    }
    Ok(address)
}

/// `4`, `4,2` or `4,2,1`.
fn extent(text: &str) -> Result<Extent, String> {
    let mut extent = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("there are three dimensions at most".into());
    }
    for (size, part) in extent.iter_mut().zip(parts) {
        *size = part.trim().parse().map_err(|_| format!("`{part}` is no whole number"))?;
    }
    Ok(extent)
}

/// `0=x.bin`
fn output(text: &str) -> Result<(usize, PathBuf), String> {
    let (k, path) = text.split_once('=').ok_or("K=PATH is wanted")?;
    let k = k.parse().map_err(|_| format!("`{k}` is no number of an argument"))?;
    Ok((k, path.into()))
}

fn gpu(text: &str) -> Result<Gpu, String> {
    let found = Gpu::ALL.into_iter().find(|gpu| gpu.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        format!("the GPUs are {}", Gpu::ALL.map(|gpu| gpu.name().to_lowercase()).join(", "))
    })
}
