//! Everything that the simulator does with a text that somebody wrote: read it, load it, run it.
//!
//! Shared by the test of damaged files and by the fuzz target, `fuzz/fuzz_targets/ptx.rs`.

use engine_room_sim::exec::{Device, Launch, Options};
use engine_room_sim::flow::reconvergence;
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx::ast::Module;
use engine_room_sim::ptx::listing::{Listed, kernels};
use engine_room_sim::ptx::parse;

/// Bytes of the device's memory: a text may ask for more than the host has.
const CAPACITY: u64 = 64 << 20;
/// Instructions of warps that a launch may take: endless loops are common.
const INSTRUCTIONS: u64 = 3_000;
/// Most kernels of a text that are run.
const KERNELS: usize = 8;

/// Reads a text, and runs its kernels if it is PTX.
pub fn exercise(text: &[u8]) {
    let Ok(module) = parse("any.ptx", text) else { return };
    module.functions.iter().for_each(|function| drop(reconvergence(function)));
    for kernel in kernels(&module).iter().take(KERNELS) {
        run(&module, kernel, text.len() as u64);
    }
}

/// Runs a kernel with a buffer for each parameter that can be a pointer, and a small number for
/// each other one. `choice` is any number: how the launch looks follows from it.
fn run(module: &Module, kernel: &Listed, choice: u64) {
    let mut device = Device::new(Gpu::ALL[choice as usize % Gpu::ALL.len()]);
    device.memory.set_capacity(CAPACITY);
    let (Ok(program), Ok(buffer)) = (device.load(module.clone()), device.alloc(4096)) else {
        return;
    };
    if kernel.parameter_bytes > 4096 || device.write(buffer, &[1; 4096]).is_err() {
        return;
    }
    let mut params = vec![0; kernel.parameter_bytes as usize];
    for (param, offset) in kernel.function.params.iter().zip(&kernel.offsets) {
        let word = if param.bytes() == 8 { buffer } else { 16 };
        let bytes = (param.bytes() as usize).min(8);
        params[*offset as usize..][..bytes].copy_from_slice(&word.to_le_bytes()[..bytes]);
    }
    let launch = Launch {
        kernel: kernel.function.name.clone(),
        grid: [1 + choice as u32 % 2, 1, 1],
        block: [[32, 1, 1], [64, 1, 1], [7, 3, 1]][choice as usize % 3],
        shared_bytes: 1024,
        params,
    };
    let options = Options {
        check: choice % 4 != 3,
        seed: choice % 5,
        max_instructions: Some(INSTRUCTIONS),
        threads: 1,
        lines: choice.is_multiple_of(7),
        registers: choice.is_multiple_of(3).then_some(choice as u32),
    };
    drop(device.run(&program, &launch, &options));
}
