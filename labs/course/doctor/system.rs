//! What the machine has: cores, memory, disk space, a GPU.

use std::env::consts::OS;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine_room_labs::cell::binary_bytes;
use engine_room_labs::machine::Machine;
use grading::root;

use super::Finding;

const GIB: u64 = 1 << 30;

/// The processor.
pub fn cores() -> Vec<Finding> {
    let machine = Machine::this();
    vec![match machine.cores {
        1 => {
            Finding::note(machine.to_string(), "One core is enough; the first build takes minutes.")
        }
        _ => Finding::ok(machine.to_string()),
    }]
}

/// The memory that is free now, where the system says it.
pub fn memory() -> Vec<Finding> {
    let Some(bytes) = free_memory() else {
        return vec![Finding::note("memory: not looked at on this system", "4 GiB are enough.")];
    };
    let said = format!("memory: {} to use", binary_bytes(bytes));
    let todo = "Close other programs, and build with fewer jobs: cargo test -j 1";
    vec![if bytes < 2 * GIB { Finding::note(said, todo) } else { Finding::ok(said) }]
}

/// What a new program can get without swapping (Linux), or all there is (macOS).
fn free_memory() -> Option<u64> {
    if OS == "macos" {
        return said("sysctl", &["-n", "hw.memsize"])?.trim().parse().ok();
    }
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kib)
}

/// The space where cargo builds.
pub fn disk() -> Vec<Finding> {
    let target = target_folder();
    let Some(bytes) = free_space(&target) else {
        let enough = "2 GiB where cargo builds are enough.";
        return vec![Finding::note("disk: not looked at on this system", enough)];
    };
    let said = format!("disk: {} free where cargo builds", binary_bytes(bytes));
    let todo = "Free some space, or build elsewhere: set CARGO_TARGET_DIR to a folder on another \
                disk.";
    vec![match bytes {
        _ if bytes < GIB / 2 => Finding::fail(said, todo),
        _ if bytes < 2 * GIB => Finding::note(said, todo),
        _ => Finding::ok(said),
    }]
}

/// Where cargo put this program: two folders above it.
pub fn target_folder() -> PathBuf {
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(|path| path.ancestors().nth(2));
    folder.map_or_else(|| root().join("target"), Path::to_path_buf)
}

fn free_space(folder: &Path) -> Option<u64> {
    let folder = folder.to_string_lossy();
    if OS == "windows" {
        let drive = format!("(Get-Item -LiteralPath '{folder}').PSDrive.Free");
        return said("powershell", &["-NoProfile", "-Command", &drive])?.trim().parse().ok();
    }
    let table = said("df", &["-Pk", &folder])?;
    let kib: u64 = table.lines().nth(1)?.split_whitespace().rev().nth(2)?.parse().ok()?;
    Some(1024 * kib)
}

/// The NVIDIA driver's library, which a CUDA device would need.
pub fn gpu() -> Vec<Finding> {
    let Some(library) = cuda_library() else {
        let todo = "Nothing to do: every lab runs on the CPU.";
        return vec![Finding::note("GPU: no NVIDIA driver library on this machine", todo)];
    };
    let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let todo = "Nothing to do: programs with --device use it by --device cuda.";
    let asked = ["--query-gpu=name", "--format=csv,noheader"];
    let found = said("nvidia-smi", &asked).filter(|names| !names.trim().is_empty());
    vec![match found {
        Some(names) => Finding::note(format!("GPU: {} ({name})", names.trim()), todo),
        None => Finding::note(
            format!("GPU: {name} is installed, and the driver names no GPU"),
            "Nothing to do: every lab runs on the CPU. If there is a GPU, ask `nvidia-smi` what \
             keeps it away.",
        ),
    }]
}

fn cuda_library() -> Option<PathBuf> {
    let (name, mut folders) = match OS {
        "windows" => {
            let system = std::env::var_os("SystemRoot").map(PathBuf::from)?;
            ("nvcuda.dll", vec![system.join("System32")])
        }
        "linux" => {
            let fixed =
                ["/usr/lib64", "/usr/lib", "/lib64", "/usr/lib/wsl/lib", "/usr/local/cuda/compat"];
            let triple = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
            let fixed = fixed.into_iter().map(PathBuf::from);
            ("libcuda.so.1", fixed.chain([PathBuf::from(triple)]).collect())
        }
        _ => return None,
    };
    let extra = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&extra));
    folders.into_iter().map(|folder| folder.join(name)).find(|path| path.exists())
}

/// What a program prints, if it succeeds.
fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
