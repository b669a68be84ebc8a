//! From a file to a module, and from a name to one of its kernels.

use std::path::{Path, PathBuf};

use engine_room_sim::gpu::Gpu;
use engine_room_sim::nvrtc::Nvrtc;
use engine_room_sim::ptx::ast::Module;
use engine_room_sim::ptx::listing::{Listed, kernels};
use engine_room_sim::ptx::parse;

/// Reads a `.ptx` file, or compiles a `.cu` file for a GPU.
///
/// # Errors
///
/// In one line, what is wrong with the file, or how to get the compiler.
pub fn load(path: &Path, nvrtc: Option<&PathBuf>, gpu: Gpu) -> Result<Module, String> {
    let shown = path.display();
    let text = std::fs::read(path).map_err(|e| format!("{shown} cannot be read: {e}"))?;
    let is_source = path.extension().is_some_and(|ending| ending == "cu");
    let name = path.display().to_string();
    if !is_source {
        return parse(&name, &text).map_err(|error| error.to_string());
    }
    let compiler = Nvrtc::find(nvrtc.map(PathBuf::as_path))?;
    let ptx = compiler.compile(path, &text, architecture(gpu), &[]);
    let ptx = ptx.map_err(|log| first_error(&log))?;
    let mut module = parse(&format!("{name} as PTX"), &ptx).map_err(|error| error.to_string())?;
    // NVRTC writes whole paths: the source is called what the command line calls it.
    let whole = std::path::absolute(path).unwrap_or_default().display().to_string();
    for file in module.files.iter_mut().filter(|file| **file == whole) {
        file.clone_from(&name);
    }
    Ok(module)
}

/// The compute capability to compile for, as NVRTC writes it.
fn architecture(gpu: Gpu) -> u32 {
    match gpu {
        Gpu::T4 => 75,
        Gpu::A100 => 80,
        Gpu::H100 | Gpu::H200 => 90,
    }
}

/// The first error of a compiler's log.
fn first_error(log: &str) -> String {
    let is_error = |line: &&str| line.contains("error");
    let first = log.lines().find(is_error).or_else(|| log.lines().next()).unwrap_or_default();
    match log.lines().filter(is_error).count() {
        0 | 1 => first.to_string(),
        // The last line that says "error" counts them.
        count => format!("{first} (the first of {})", count.saturating_sub(1).max(1)),
    }
}

/// The kernel of a name: as in the PTX, or as in the C++ source; without a name, the only one.
///
/// # Errors
///
/// In one line, the kernels that there are.
pub fn kernel<'a>(module: &'a Module, name: Option<&str>) -> Result<Listed<'a>, String> {
    let mut all = kernels(module);
    let names: Vec<&str> = all.iter().map(|kernel| kernel.function.name.as_str()).collect();
    let fits = |at: &usize| name.is_none_or(|name| source_name(names[*at]) == Some(name));
    let exact = names.iter().position(|found| Some(*found) == name);
    let fitting: Vec<usize> = match exact {
        Some(at) => vec![at],
        None => (0..names.len()).filter(fits).collect(),
    };
    let path = &module.path;
    match (&fitting[..], name) {
        ([at], _) => Ok(all.swap_remove(*at)),
        ([], _) if names.is_empty() => Err(format!("{path} has no kernel")),
        ([], name) => {
            let name = name.unwrap_or_default();
            Err(format!("{path} has no kernel `{name}`; it has {}", names.join(", ")))
        }
        (several, _) => {
            let several: Vec<&str> = several.iter().map(|at| names[*at]).collect();
            Err(format!("--kernel must say which of {}", several.join(", ")))
        }
    }
}

/// The name of a function in its C++ source: `add` for `_Z3addPfi`, and for `_ZN4math3addIfEEvPf`.
/// It follows the Itanium C++ ABI as far as names of functions in namespaces go.
fn source_name(mangled: &str) -> Option<&str> {
    let rest = mangled.strip_prefix("_Z")?;
    let mut rest = rest.strip_prefix('N').unwrap_or(rest);
    let mut name = None;
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[..digits].parse().ok()?;
        name = rest.get(digits..digits.checked_add(length)?);
        let nested = mangled.starts_with("_ZN");
        rest = rest.get(digits + length..).filter(|_| nested).unwrap_or_default();
    }
    name
}
