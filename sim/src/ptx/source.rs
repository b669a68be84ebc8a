//! Which line of the CUDA source a reader looks for.

use super::ast::{Module, Position};

/// Headers of the CUDA toolkit by how their names begin, without the ending.
const HEADERS: [&str; 30] = [
    "__nv_nvrtc_builtin_header",
    "common_functions",
    "cooperative_groups",
    "cuComplex",
    "cuda_awbarrier",
    "cuda_bf16",
    "cuda_fp",
    "cuda_pipeline",
    "cuda_runtime",
    "curand_",
    "device_atomic_functions",
    "device_double_functions",
    "device_functions",
    "host_defines",
    "math_constants",
    "math_functions",
    "mma.h",
    "sm_20_",
    "sm_30_",
    "sm_32_",
    "sm_35_",
    "sm_60_",
    "sm_61_",
    "sm_70_",
    "sm_80_",
    "sm_90_",
    "surface_",
    "texture_",
    "vector_functions",
    "vector_types",
];
/// Folders of the CUDA toolkit's headers.
const FOLDERS: [&str; 8] = [
    "/include/cccl/",
    "/include/cooperative_groups/",
    "/include/crt/",
    "/include/cub/",
    "/include/cuda/",
    "/include/cute/",
    "/include/nv/",
    "/include/thrust/",
];

/// The most positions of a chain: no compiler inlines so deep, but a text may say so.
const DEEPEST: usize = 32;

/// The positions that an instruction has at the same time: its own line, the line into which that
/// was inlined, and so on, outwards.
pub fn chain(module: &Module, position: Option<u32>) -> impl Iterator<Item = &Position> {
    let at = move |number: u32| module.positions.get(number as usize);
    let outwards = move |position: &&Position| position.inlined_at.and_then(at);
    std::iter::successors(position.and_then(at), outwards).take(DEEPEST)
}

/// Whether a source file belongs to the CUDA toolkit: readers look for the line that called it.
#[must_use]
pub fn is_toolkit(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or(&path);
    HEADERS.iter().any(|header| name.starts_with(header))
        && [".h", ".hpp"].iter().any(|ending| name.ends_with(ending))
        || FOLDERS.iter().any(|folder| path.contains(folder))
}
