//! How many registers each kernel takes on each chip: what `ptxas` says.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compute capabilities: T4, A100, H100 and H200.
const CHIPS: [u32; 3] = [75, 80, 90];

/// A line for each kernel: its file, its name, and its registers on each of the chips.
///
/// # Errors
///
/// If ptxas cannot be run or refuses a file.
pub fn table(ptxas: &Path, files: &[PathBuf]) -> Result<String, String> {
    let mut text = "file\tkernel\tsm_75\tsm_80\tsm_90\n".to_string();
    for file in files {
        let columns: Vec<Vec<(String, u32)>> =
            CHIPS.iter().map(|chip| of_chip(ptxas, file, *chip)).collect::<Result<_, _>>()?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        for (row, (kernel, _)) in columns[0].iter().enumerate() {
            let registers = columns.iter().map(|column| column[row].1.to_string());
            let registers: Vec<String> = registers.collect();
            text += &format!("{name}\t{kernel}\t{}\n", registers.join("\t"));
        }
    }
    Ok(text)
}

/// Kernels and their registers, in the order of their names.
fn of_chip(ptxas: &Path, file: &Path, chip: u32) -> Result<Vec<(String, u32)>, String> {
    let object = std::env::temp_dir().join(format!("kernels-{}.cubin", std::process::id()));
    let done = Command::new(ptxas)
        .arg(format!("--gpu-name=sm_{chip}"))
        .arg("--verbose")
        .arg(file)
        .arg("--output-file")
        .arg(&object)
        .output()
        .map_err(|e| format!("{} cannot be run: {e}", ptxas.display()))?;
    // It may not be there, if ptxas failed.
    let _ = std::fs::remove_file(&object);
    let log = String::from_utf8_lossy(&done.stderr) + String::from_utf8_lossy(&done.stdout);
    if !done.status.success() {
        return Err(format!("ptxas on {}: {}", file.display(), log.lines().next().unwrap_or("")));
    }
    let mut found = read(&log);
    found.sort();
    Ok(found)
}

/// Reads `Compiling entry function 'add_f32' for 'sm_75'` and, further on, `Used 16 registers`.
fn read(log: &str) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let mut kernel = None;
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            kernel = rest.split('\'').next().map(String::from);
        }
        let used = line.split("Used ").nth(1).and_then(|rest| rest.split(' ').next());
        if let Some(registers) = used.and_then(|count| count.parse().ok()) {
            found.extend(kernel.take().map(|kernel| (kernel, registers)));
        }
    }
    found
}
