//! What an error code of CUDA means, in a sentence: what happened, and what to do.
//!
//! Source: "CUDA Driver API", "Data types used by CUDA driver", `CUresult`.

/// Codes that the engine itself looks for.
pub(super) const SUCCESS: i32 = 0;
pub(super) const OUT_OF_MEMORY: i32 = 2;
pub(super) const INVALID_DEVICE: i32 = 101;
pub(super) const NOT_READY: i32 = 600;
const NO_BINARY: i32 = 209;
const UNSUPPORTED_PTX: i32 = 222;

/// What the PTX of `kernels/ptx` needs: `.version 8.1`, `.target sm_75`.
const DRIVER: (u32, u32) = (12, 1);
const CAPABILITY: (u32, u32) = (7, 5);

/// A code, its name without `CUDA_ERROR_`, and the sentence.
pub(super) type Row = (i32, &'static str, &'static str);

/// Errors of one call: the device goes on working.
#[rustfmt::skip]
pub(super) const CALL: &[Row] = &[
    (1, "INVALID_VALUE", "the driver refuses an argument, e.g. parameters that the kernel does not \
        have"),
    (OUT_OF_MEMORY, "OUT_OF_MEMORY", "the GPU has too little memory left for this; drop tensors \
        that are no longer needed, or look with nvidia-smi who else uses it"),
    (3, "NOT_INITIALIZED", "the driver was started before this process was forked from another, \
        and does not work in the child; start the GPU's work in the child, or use threads"),
    (4, "DEINITIALIZED", "the program is ending, and the driver has ended already"),
    (34, "STUB_LIBRARY", "the library that was found is the CUDA toolkit's stub, made for linking \
        only; take the folder `stubs` out of LD_LIBRARY_PATH"),
    (46, "DEVICE_UNAVAILABLE", "another process has the GPU for itself; `nvidia-smi -q -d COMPUTE` \
        shows the compute mode"),
    (100, "NO_DEVICE", "the driver finds no NVIDIA GPU; `nvidia-smi -L` lists what there is, and \
        CUDA_VISIBLE_DEVICES may hide it"),
    (INVALID_DEVICE, "INVALID_DEVICE", "there is no GPU of that number"),
    (200, "INVALID_IMAGE", "the driver does not take this for PTX"),
    (201, "INVALID_CONTEXT", "the GPU's context has been destroyed, perhaps by another library in \
        this process"),
    (NO_BINARY, "NO_BINARY_FOR_GPU", "the PTX is for a newer architecture than this GPU has; \
        the engine's is for compute capability 7.5 and later"),
    (218, "INVALID_PTX", "the driver's compiler refuses the PTX"),
    (221, "JIT_COMPILER_NOT_FOUND", "the driver's PTX compiler is missing: \
        libnvidia-ptxjitcompiler.so.1 on Linux; install the driver whole"),
    (UNSUPPORTED_PTX, "UNSUPPORTED_PTX_VERSION", "the PTX is of a newer version than this driver \
        knows; the engine's is 8.1, which takes the driver of CUDA 12.1 (R530) or later"),
    (223, "JIT_COMPILATION_DISABLED", "compiling PTX is switched off; unset CUDA_DISABLE_PTX_JIT"),
    (500, "NOT_FOUND", "the module has no kernel of that name"),
    (NOT_READY, "NOT_READY", "the work before it is not done yet; synchronize first"),
    (701, "LAUNCH_OUT_OF_RESOURCES", "a block of this size needs more registers or shared memory \
        than the GPU has; launch smaller blocks"),
    (712, "HOST_MEMORY_ALREADY_REGISTERED", "a part of this memory is page-locked already"),
    (800, "NOT_PERMITTED", "the driver does not allow this now"),
    (801, "NOT_SUPPORTED", "this GPU or this system cannot do that"),
    (802, "SYSTEM_NOT_READY", "the system is not ready for CUDA: on machines with NVSwitch, \
        nvidia-fabricmanager has to run"),
    (803, "SYSTEM_DRIVER_MISMATCH", "the driver in the kernel and libcuda have different versions; \
        restart the machine after an update of the driver"),
    (804, "COMPAT_NOT_SUPPORTED_ON_DEVICE", "the CUDA compatibility package does not work with \
        this GPU; take its folder out of LD_LIBRARY_PATH, or update the driver"),
];

/// Errors after which a device does nothing any more in this process.
#[rustfmt::skip]
pub(super) const FATAL: &[Row] = &[
    (214, "ECC_UNCORRECTABLE", "the GPU's memory has an error that could not be corrected"),
    (220, "NVLINK_UNCORRECTABLE", "a link between GPUs has an error that could not be corrected"),
    (226, "CONTAINED", "the GPU's memory had an error, and this process was using the place"),
    (700, "ILLEGAL_ADDRESS", "a kernel read or wrote memory that is not allocated"),
    (702, "LAUNCH_TIMEOUT", "a kernel ran longer than the system allows on a GPU with a screen"),
    (710, "ASSERT", "an `assert` in a kernel failed"),
    (714, "HARDWARE_STACK_ERROR", "a kernel's call stack is corrupt or was too small"),
    (715, "ILLEGAL_INSTRUCTION", "a kernel came upon an instruction that is none"),
    (716, "MISALIGNED_ADDRESS", "a kernel read or wrote at an address that is no multiple of the \
        size"),
    (717, "INVALID_ADDRESS_SPACE", "a kernel used an address of another state space"),
    (718, "INVALID_PC", "a kernel jumped to where no code is"),
    (719, "LAUNCH_FAILED", "a kernel failed for a reason that the GPU does not name"),
    (999, "UNKNOWN", "the driver does not know what happened: often the GPU has fallen off the \
        bus; `dmesg` on Linux then has a line with `Xid`"),
];

fn row(code: i32) -> Option<&'static Row> {
    CALL.iter().chain(FATAL).find(|row| row.0 == code)
}

/// Whether the device is lost to this process after that code.
pub(super) fn is_fatal(code: i32) -> bool {
    FATAL.iter().any(|row| row.0 == code)
}

/// Why a call failed: CUDA's name for the code and its number, what that means, and what to do.
/// Of a code that is not in the tables only the name is known, if the driver gives it one: `named`.
pub(super) fn explain(code: i32, named: Option<&str>) -> String {
    let Some((_, name, sentence)) = row(code) else {
        let name = named.unwrap_or("an error without a name");
        return format!("{name} ({code}); NVIDIA's \"CUDA Driver API\" says what it means");
    };
    let lost = match is_fatal(code) {
        true => "; the device is lost to this process: start the program again",
        false => "",
    };
    format!("CUDA_ERROR_{name} ({code}): {sentence}{lost}")
}

/// 12010 is CUDA 12.1 ("CUDA Driver API", `cuDriverGetVersion`).
pub(super) fn version(number: i32) -> (u32, u32) {
    (number as u32 / 1000, number as u32 % 1000 / 10)
}

/// Refuses a driver that does not know the PTX of the engine, before it is given any.
pub(super) fn check_driver(number: i32) -> Result<(), String> {
    let (major, minor) = version(number);
    if (major, minor) >= DRIVER {
        return Ok(());
    }
    let why = explain(UNSUPPORTED_PTX, None);
    Err(format!("{why}; this one is the driver of CUDA {major}.{minor}: update it"))
}

/// Refuses a GPU that is older than the PTX of the engine.
pub(super) fn check_gpu(name: &str, capability: (u32, u32)) -> Result<(), String> {
    if capability >= CAPABILITY {
        return Ok(());
    }
    let (major, minor) = capability;
    Err(format!("{}; {name} has {major}.{minor}", explain(NO_BINARY, None)))
}
