//! The functions of NVIDIA's driver library that the engine calls, found when the program runs.
//!
//! Nothing is linked: without the library the engine starts as well, and `Device::cuda` says what
//! is missing. The library is `libcuda.so.1` on Linux and `nvcuda.dll` on Windows; it comes with
//! the driver, not with the CUDA toolkit. The types are those of `cuda.h` 12.1, with `_v2` where
//! the header renames a function. A later driver still has these symbols.
//!
//! Why not the crate cudarc, whose bindings are the same functions: it returns `CUresult` as a Rust
//! `enum`, and a driver newer than its header returns codes that are no variant of it, which is
//! undefined behaviour; a function that an old driver lacks is a panic there. Here a code is a
//! number, and a missing function an error.

#![allow(unsafe_code)] // Calls into a C library.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::Library;

/// `CUresult`: 0 is success. A number and no `enum`, since later drivers have more of them.
pub(super) type Code = c_int;

/// `CUdevice`: the number of a GPU.
pub(super) type Ordinal = c_int;

/// A context, module, kernel, stream or event: a pointer that only the driver looks behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Handle(pub *mut c_void);

// SAFETY: the driver's functions may be called from any thread with any of its handles ("CUDA C++
// Programming Guide", "Driver API", "Context"), and nothing else looks behind the pointer.
unsafe impl Send for Handle {}
// SAFETY: as above; a handle that is shared is only ever copied.
unsafe impl Sync for Handle {}

impl Handle {
    /// Where a function shall write a handle, before it has; as a stream it is the oldest one.
    pub const NONE: Handle = Handle(std::ptr::null_mut());
}

/// One field for each function, and a look-up of all of them by their names in the library.
macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// The functions; each returns a [`Code`].
        pub(super) struct Api {
            $(pub $name: unsafe extern "C" fn($($argument),*) -> Code,)*
            /// The functions are in it, so it must stay.
            _library: Library,
        }

        impl Api {
            fn new(library: Library) -> Result<Api, String> {
                Ok(Api { $($name: function(&library, $symbol)?,)* _library: library })
            }
        }
    };
}

functions! {
    init = "cuInit" (c_uint);
    driver_version = "cuDriverGetVersion" (*mut c_int);
    error_name = "cuGetErrorName" (Code, *mut *const c_char);

    device_count = "cuDeviceGetCount" (*mut c_int);
    device_get = "cuDeviceGet" (*mut Ordinal, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, Ordinal);
    device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, Ordinal);
    device_memory = "cuDeviceTotalMem_v2" (*mut usize, Ordinal);

    context_retain = "cuDevicePrimaryCtxRetain" (*mut Handle, Ordinal);
    context_set = "cuCtxSetCurrent" (Handle);
    context_synchronize = "cuCtxSynchronize" ();

    memory_info = "cuMemGetInfo_v2" (*mut usize, *mut usize);
    memory_alloc = "cuMemAlloc_v2" (*mut u64, usize);
    memory_free = "cuMemFree_v2" (u64);
    host_register = "cuMemHostRegister_v2" (*mut c_void, usize, c_uint);
    host_unregister = "cuMemHostUnregister" (*mut c_void);
    copy_to_device = "cuMemcpyHtoDAsync_v2" (u64, *const c_void, usize, Handle);
    copy_to_host = "cuMemcpyDtoHAsync_v2" (*mut c_void, u64, usize, Handle);
    copy_on_device = "cuMemcpyDtoDAsync_v2" (u64, u64, usize, Handle);

    module_load = "cuModuleLoadDataEx"
        (*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    module_function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    function_set = "cuFuncSetAttribute" (Handle, c_int, c_int);
    launch = "cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle,
        *mut *mut c_void, *mut *mut c_void
    );

    stream_create = "cuStreamCreate" (*mut Handle, c_uint);
    stream_synchronize = "cuStreamSynchronize" (Handle);
    stream_wait = "cuStreamWaitEvent" (Handle, Handle, c_uint);
    event_create = "cuEventCreate" (*mut Handle, c_uint);
    event_record = "cuEventRecord" (Handle, Handle);
    event_query = "cuEventQuery" (Handle);
    event_elapsed = "cuEventElapsedTime" (*mut f32, Handle, Handle);
    event_destroy = "cuEventDestroy_v2" (Handle);
}

/// A function of the library, of whatever type it is asked for.
fn function<T: Copy>(library: &Library, symbol: &str) -> Result<T, String> {
    // SAFETY: the table above gives each symbol the type that `cuda.h` declares for it.
    let found = unsafe { library.get::<T>(symbol.as_bytes()) };
    found.map(|function| *function).map_err(|_| {
        format!("NVIDIA's driver library has no {symbol}: the driver is too old; install a newer")
    })
}

/// The library, loaded at the first call, or one line on why it cannot be.
pub(super) fn api() -> Result<&'static Api, String> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    API.get_or_init(|| Api::new(library()?)).as_ref().map_err(String::clone)
}

fn library() -> Result<Library, String> {
    let name = if cfg!(target_os = "windows") { "nvcuda.dll" } else { "libcuda.so.1" };
    if cfg!(target_os = "macos") {
        return Err("there is no CUDA on macOS; a simulated GPU is there: --device sim".into());
    }
    // SAFETY: a library runs code of its own when it is loaded; this one has the name of NVIDIA's
    // driver, and the system's own search finds it.
    unsafe { Library::new(name) }.map_err(|error| {
        format!(
            "no NVIDIA driver is installed ({name} cannot be loaded: {error}); install the driver \
             if there is an NVIDIA GPU, else use --device sim or cpu"
        )
    })
}
