//! Kernels on an NVIDIA GPU: PTX that the driver compiles for it, and launches.

#![allow(unsafe_code)] // Calls into a C library.

use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use super::CudaDevice;
use super::api::Handle;
use super::errors::SUCCESS;
use crate::device::driver::{Driver, Launch, Module, Stream};
use crate::error::Error;

/// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
const LOG: [c_int; 2] = [5, 6];
/// What `cuLaunchKernel` calls the kinds of its last argument: buffer, its size, the end.
const PARAMETERS: usize = 1;
const PARAMETERS_SIZE: usize = 2;
const END: usize = 0;

/// Shared memory beyond this much has to be asked for, kernel by kernel ("CUDA C++ Programming
/// Guide", "Shared Memory" of compute capability 7.x), with
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const SHARED_BYTES: u32 = 48 << 10;
const MAX_DYNAMIC_SHARED: c_int = 8;

/// How many kernels the message about a failed one names.
const RECENT: usize = 4;

/// A PTX text that was loaded, and those of its kernels that were used.
pub(super) struct Loaded {
    module: Handle,
    functions: HashMap<String, Handle>,
}

impl CudaDevice {
    /// See [`Driver::load`]. The driver compiles the PTX for this GPU, and keeps the result in a
    /// cache on disk.
    pub(super) fn load_ptx(&self, name: &str, ptx: &str) -> Result<Module, Error> {
        let op = format!("load of {name}");
        let Ok(text) = CString::new(ptx) else {
            return self.fault(format!("{op}: there is a NUL byte in the PTX"));
        };
        self.synchronize()?;
        let mut log = vec![0_u8; 4096];
        let mut options = LOG;
        let mut values = [log.as_mut_ptr().cast(), without_provenance_mut(log.len())];
        let mut module = Handle::NONE;
        // SAFETY: the text ends in NUL; the two options say where the messages go and how many
        // bytes there are, and the driver writes at most so many, and their number into `values`.
        let code = unsafe {
            let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
            (self.api.module_load)(&raw mut module, text.as_ptr().cast(), 2, options, values)
        };
        if code != SUCCESS {
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
            let log = String::from_utf8_lossy(&log[..end]);
            let lines: Vec<&str> = log.split_whitespace().collect();
            return Err(self.error(&op, code, &lines.join(" ")));
        }
        let mut state = self.state();
        state.modules.push(Loaded { module, functions: HashMap::new() });
        Ok(Module { device: self.own(), id: state.modules.len() - 1 })
    }

    /// See [`Driver::launch`].
    pub(super) fn launch_kernel(&self, launch: &Launch, stream: Stream) -> Result<(), Error> {
        let op = format!("launch of {}", launch.kernel);
        let stream = self.enter_stream(&op, stream)?;
        let function = self.function(&op, launch)?;
        if launch.shared_bytes > SHARED_BYTES {
            let bytes = launch.shared_bytes as c_int;
            // SAFETY: the function is live; a number that is too large is an error.
            let code = unsafe { (self.api.function_set)(function, MAX_DYNAMIC_SHARED, bytes) };
            self.check(&op, code)?;
        }
        let params = launch.params.bytes();
        let mut size = params.len();
        let mut extra: [*mut c_void; 5] = [
            without_provenance_mut(PARAMETERS),
            params.as_ptr().cast_mut().cast(),
            without_provenance_mut(PARAMETERS_SIZE),
            (&raw mut size).cast(),
            without_provenance_mut(END),
        ];
        let ([x, y, z], [columns, rows, layers]) = (launch.grid, launch.block);
        let (bytes, extra) = (launch.shared_bytes, extra.as_mut_ptr());
        // SAFETY: the driver copies the parameters before it returns, as many bytes as `size` says;
        // a kernel that goes wrong on the GPU can harm no memory of the host.
        let code = unsafe {
            let none = null_mut();
            (self.api.launch)(function, x, y, z, columns, rows, layers, bytes, stream, none, extra)
        };
        let mut state = self.state();
        if state.recent.back().is_none_or(|last| last != launch.kernel) {
            if state.recent.len() == RECENT {
                state.recent.pop_front();
            }
            state.recent.push_back(launch.kernel.to_string());
        }
        drop(state);
        self.check(&op, code)
    }

    /// The kernel in its module, looked up by name once.
    fn function(&self, op: &str, launch: &Launch) -> Result<Handle, Error> {
        let Module { device, id } = launch.module;
        let mut state = self.state();
        let Some(loaded) = state.modules.get_mut(id).filter(|_| device == self.own()) else {
            drop(state);
            return self.fault(format!("{op}: module {id} of {device} is not its own"));
        };
        if let Some(&function) = loaded.functions.get(launch.kernel) {
            return Ok(function);
        }
        let (module, mut function) = (loaded.module, Handle::NONE);
        let Ok(name) = CString::new(launch.kernel) else {
            drop(state);
            return self.fault(format!("{op}: there is a NUL byte in the name"));
        };
        // SAFETY: the handle may be written, and the name ends in NUL.
        let code = unsafe { (self.api.module_function)(&raw mut function, module, name.as_ptr()) };
        if code == SUCCESS {
            loaded.functions.insert(launch.kernel.to_string(), function);
        }
        drop(state);
        self.check(op, code).map(|()| function)
    }
}
