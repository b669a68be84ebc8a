//! Where NVRTC and the toolkit's headers are looked for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names that the system's loader may know, newest first.
const LINUX: [&str; 4] = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"];
const WINDOWS: [&str; 3] = ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"];

/// Where a library lies below the folder of a toolkit, or below Python's `site-packages`.
const FOLDERS: [&str; 11] = [
    "",
    "lib64",
    "lib",
    "bin",
    "bin/x64",
    "lib/x64",
    "targets/x86_64-linux/lib",
    "nvidia/cu13/lib",
    "nvidia/cu13/bin/x86_64",
    "nvidia/cuda_nvrtc/lib",
    "nvidia/cuda_nvrtc/bin",
];

/// What to try to load, the likeliest first.
pub fn candidates(path: Option<&Path>) -> Vec<PathBuf> {
    if let Some(path) = path {
        return if path.is_dir() { below(path) } else { vec![path.to_path_buf()] };
    }
    let mut roots: Vec<PathBuf> = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"]
        .iter()
        .filter_map(|name| std::env::var_os(name).map(PathBuf::from))
        .collect();
    roots.push("/usr/local/cuda".into());
    let mut found: Vec<PathBuf> = roots.iter().flat_map(|root| below(root)).collect();
    let names = if cfg!(windows) { &WINDOWS[..] } else { &LINUX };
    found.extend(names.iter().map(PathBuf::from));
    found.extend(python_folders().iter().flat_map(|root| below(root)));
    found
}

/// The libraries of NVRTC in the folders below a root.
fn below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        let mut here: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        here.retain(|path| is_nvrtc(path));
        here.sort();
        found.extend(here);
    }
    found
}

fn is_nvrtc(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let windows = name.starts_with("nvrtc64_") && name.ends_with(".dll");
    let other = name.starts_with("libnvrtc.so");
    (windows || other) && !name.contains("builtins") && !name.contains(".alt.")
}

/// Where Python looks for packages: `pip install nvidia-cuda-nvrtc-cu12` puts NVRTC there.
fn python_folders() -> Vec<PathBuf> {
    let program = if cfg!(windows) { "python" } else { "python3" };
    let printed = Command::new(program)
        .args(["-c", "import sys; print('\\n'.join(sys.path))"])
        .stderr(Stdio::null())
        .output();
    let printed = printed.map(|printed| printed.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&printed);
    text.lines().filter(|line| line.ends_with("-packages")).map(PathBuf::from).collect()
}

/// The headers that belong to a library: of its toolkit, or of the wheel beside its own.
pub fn headers(library: &Path) -> Option<PathBuf> {
    let library = library.canonicalize().ok()?;
    let folders = ["include", "cuda_runtime/include", "cu13/include"];
    let roots = library.ancestors().skip(1).take(4);
    let mut found = roots.flat_map(|root| folders.map(|folder| root.join(folder)));
    found.find(|folder| folder.join("cuda_runtime.h").is_file())
}
