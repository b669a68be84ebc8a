//! The committed PTX, and which device has loaded which of it.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::device::Device;
use crate::device::driver::Module;
use crate::error::raise;

/// Every file of `kernels/`, compiled: its name and its PTX.
macro_rules! compiled {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../kernels/ptx/", $name, ".ptx")))),*]
    };
}
const FILES: &[(&str, &str)] = compiled!(
    "arg_reduce" "attention" "binary" "cast" "compare" "fill" "in_place" "index" "layer_norm"
    "matmul" "move" "optimizer" "place" "random" "reduce" "scan" "softmax" "sort" "unary"
);

/// In which file each kernel is: its number in `FILES`.
static KERNELS: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let names = |text: &'static str| {
        let entries = text.split(".entry ").skip(1);
        entries.filter_map(|rest| rest.split(['(', '\n', ' ']).next())
    };
    let files = FILES.iter().enumerate();
    files.flat_map(|(file, (_, text))| names(text).map(move |name| (name, file))).collect()
});

/// The modules that are loaded, by device and number of the file.
static LOADED: LazyLock<Mutex<HashMap<(Device, usize), Module>>> = LazyLock::new(Mutex::default);

/// Whether there is a kernel of that name.
pub(super) fn has_kernel(name: &str) -> bool {
    KERNELS.contains_key(name)
}

/// The module on the device that has the kernel; it is loaded at the first use of one of its
/// kernels, which waits for the device.
///
/// # Panics
/// If there is no kernel of that name.
pub(super) fn module_of(device: Device, kernel: &str) -> Module {
    let file = *KERNELS.get(kernel).unwrap_or_else(|| panic!("there is no kernel {kernel}"));
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(module) = loaded.get(&(device, file)) {
        return *module;
    }
    let (name, text) = FILES[file];
    let module = device.driver().load(&format!("kernels/ptx/{name}.ptx"), text);
    let module = module.unwrap_or_else(|error| raise(error));
    loaded.insert((device, file), module);
    module
}
