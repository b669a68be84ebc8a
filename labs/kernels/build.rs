//! `kernels build`: from `kernels/NAME.cu` to `kernels/ptx/NAME.ptx`.

use std::path::{Path, PathBuf};

use clap::Args;
use engine_room_sim::nvrtc::{Nvrtc, stamp};

use crate::registers;

/// The compiler that the committed PTX comes from. An old one on purpose: a driver refuses PTX of
/// a newer version than its own, and runs that of an older one.
const NVRTC: (i32, i32) = (12, 1);

/// The oldest architecture that the PTX is for (T4); newer GPUs run it too.
const ARCHITECTURE: u32 = 75;

/// A product and a sum stay two roundings, unless the source says `fmaf`: so that results can be
/// compared bit by bit.
const OPTIONS: [&str; 1] = ["--fmad=false"];

/// How to build.
#[derive(Args)]
pub struct BuildArgs {
    /// NVRTC's library, or a folder that has it
    #[arg(long, value_name = "PATH")]
    nvrtc: Option<PathBuf>,
    /// The program ptxas, for each kernel's registers; without it they stay as they are
    #[arg(long, value_name = "PATH")]
    ptxas: Option<PathBuf>,
    /// Write nothing: fail if a committed file is not what the sources give
    #[arg(long)]
    check: bool,
}

/// Runs the command; `false` if a committed file differs.
///
/// # Errors
///
/// In one line, why the kernels cannot be built.
pub fn run(args: &BuildArgs) -> Result<bool, String> {
    let compiler = Nvrtc::find(args.nvrtc.as_deref())?;
    let version = compiler.version()?;
    if version != NVRTC {
        return Err(format!(
            "this is NVRTC {}.{}, and the committed PTX comes from {}.{}: `pip install \
             nvidia-cuda-nvrtc-cu12==12.1.105` gets it, --nvrtc PATH says where it is",
            version.0, version.1, NVRTC.0, NVRTC.1
        ));
    }
    let sources = sources()?;
    let mut same = true;
    for source in &sources {
        let ptx = compile(&compiler, source)?;
        same &= place(&target_of(source), &ptx, args.check)?;
    }
    if let Some(ptxas) = &args.ptxas {
        let targets: Vec<PathBuf> = sources.iter().map(|source| target_of(source)).collect();
        let table = registers::table(ptxas, &targets)?;
        same &= place(Path::new("kernels/ptx/registers.tsv"), &table, args.check)?;
    }
    let done = if args.check { "checked" } else { "built" };
    engine_room_labs::print(&format!("{done}: {} files in kernels/ptx\n", sources.len()));
    Ok(same)
}

/// The files `kernels/*.cu`, in the order of their names.
fn sources() -> Result<Vec<PathBuf>, String> {
    let here = "run this in the root of the repository";
    let entries = std::fs::read_dir("kernels").map_err(|e| format!("kernels: {e}; {here}"))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "cu"));
    paths.sort();
    Ok(paths)
}

fn target_of(source: &Path) -> PathBuf {
    let name = source.file_stem().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("kernels/ptx/{name}.ptx"))
}

/// The text of a file, with one kind of line end on every system.
fn read(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(text.replace("\r\n", "\n"))
}

/// The PTX of a source, with a heading that says what it was made of.
fn compile(compiler: &Nvrtc, source: &Path) -> Result<String, String> {
    let text = read(source)?;
    let ptx = compiler.compile(source, text.as_bytes(), ARCHITECTURE, &OPTIONS)?;
    let ptx = String::from_utf8(ptx).map_err(|e| format!("{}: {e}", source.display()))?;
    let inputs = stamp::of(&text, |name| read(&Path::new("kernels").join(name)))?;
    let options = OPTIONS.join(" ");
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let heading = format!(
        "// kernels/{name} by NVRTC {}.{} --gpu-architecture=compute_{ARCHITECTURE} {options}\n\
         // Made by `cargo run --bin kernels -- build`; source and headers: {inputs}\n",
        NVRTC.0, NVRTC.1,
    );
    Ok(heading + &tidied(&ptx))
}

/// The PTX without the path of this machine, and without the constants of NVRTC's built-in header,
/// which no kernel reads.
fn tidied(ptx: &str) -> String {
    let root = std::env::current_dir().unwrap_or_default();
    let root = format!("\"{}/", root.display().to_string().replace('\\', "/"));
    let lines = ptx.trim_end_matches('\n').lines();
    let unread = |line: &&str| line.starts_with(".global") && line.contains("nv6target");
    let lines = lines.filter(|line| !unread(line)).map(|line| {
        if line.trim_start().starts_with(".file") { line.replace(&root, "\"") } else { line.into() }
    });
    lines.flat_map(|line| [line.trim_end().to_string(), "\n".to_string()]).collect()
}

/// Writes a file, or compares it with the one that is there.
fn place(path: &Path, text: &str, check: bool) -> Result<bool, String> {
    if !check {
        return std::fs::write(path, text)
            .map(|()| true)
            .map_err(|e| format!("{}: {e}", path.display()));
    }
    let same = read(path).is_ok_and(|found| found == text);
    if !same {
        eprintln!("{} is not what the sources give; build it anew", path.display());
    }
    Ok(same)
}
