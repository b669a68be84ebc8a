//! NVIDIA's matrix product, as a peer: only on request, and only if the library is there.

#![allow(unsafe_code)] // Calls into a C library.

use std::ffi::{c_int, c_void};

use engine_room::Tensor;
use libloading::{Library, Symbol};

/// `cublasStatus_t`: 0 is success.
type Status = c_int;
type Create = unsafe extern "C" fn(*mut *mut c_void) -> Status;
type Gemm = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    u64,
    c_int,
    u64,
    c_int,
    *const f32,
    u64,
    c_int,
) -> Status;

/// cuBLAS, ready for the GPU of this thread. It lives until the program ends.
pub struct Cublas {
    library: Library,
    handle: *mut c_void,
}

impl Cublas {
    /// Loads the library, the newest that is there.
    pub fn load() -> Result<Cublas, String> {
        let names = match cfg!(windows) {
            true => ["cublas64_13.dll", "cublas64_12.dll", "cublas64_11.dll"],
            false => ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"],
        };
        // SAFETY: a library runs code of its own when it is loaded; these are NVIDIA's names.
        let found = names.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
        let library = found.ok_or_else(|| format!("none of {} is there", names.join(", ")))?;
        let mut handle = std::ptr::null_mut();
        {
            let create: Symbol<Create> = function(&library, b"cublasCreate_v2")?;
            // SAFETY: the handle may be written; the engine has made its context the thread's.
            check(unsafe { create(&raw mut handle) })?;
        }
        Ok(Cublas { library, handle })
    }

    /// c = a · b, square and packed, in CUDA's oldest stream: the caller waits before and after.
    ///
    /// The library counts rows where the engine counts columns, so it is given bᵀ · aᵀ = cᵀ.
    pub fn product(&self, a: &Tensor, b: &Tensor, c: &Tensor) -> Result<(), String> {
        let gemm: Symbol<Gemm> = function(&self.library, b"cublasSgemm_v2")?;
        let n = a.shape()[0] as c_int;
        let [a, b, c] = [a, b, c].map(Tensor::data_ptr);
        let (one, zero): (f32, f32) = (1.0, 0.0);
        // SAFETY: three matrices of n x n floats that live on the device as long as the caller
        // holds the tensors, and two numbers on the host, which are read before the call returns.
        check(unsafe {
            gemm(self.handle, 0, 0, n, n, n, &raw const one, b, n, a, n, &raw const zero, c, n)
        })
    }
}

fn function<'a, T>(library: &'a Library, name: &[u8]) -> Result<Symbol<'a, T>, String> {
    // SAFETY: the types above are those of `cublas_v2.h` for these names.
    unsafe { library.get(name) }.map_err(|error| error.to_string())
}

fn check(status: Status) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("cuBLAS says {status}")) }
}
