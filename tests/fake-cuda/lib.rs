//! NVIDIA's driver library, played by the simulated GPU.
//!
//! It has the functions of `libcuda.so.1` that `src/device/cuda` calls, so that those calls can be
//! tried where no NVIDIA GPU is: the engine loads it by that name. What it shows is that handles,
//! parameters, errors and the lifetimes of host memory are passed on rightly; what it cannot show
//! is what NVIDIA's own driver does. Where that has a choice, this one takes the harder: a copy of
//! page-locked memory is made only when somebody waits for it, a kernel's failure is told by the
//! call after it, and every call checks that the thread has a context.
//!
//! The variable `FAKE_CUDA` lets a function fail, e.g. `cuInit=100`; `version=11080` and
//! `capability=61` make it an older driver and an older GPU.

#![allow(unsafe_code)] // It is a C library.
#![allow(non_snake_case, reason = "the names are NVIDIA's")]

mod state;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use engine_room_sim::exec::Launch;
use state::{
    ALREADY_REGISTERED, Code, Copy, Event, INVALID_HANDLE, INVALID_VALUE, Kernel, NOT_FOUND,
    NOT_INITIALIZED, NOT_READY, NOT_REGISTERED, OUT_OF_MEMORY, SUCCESS, State, asked, code_of,
    name_of, state,
};

/// The handle of the only context; those of modules, kernels, streams and events are numbers too.
const CONTEXT: usize = 0xC0;
const INVALID_CONTEXT: Code = 201;

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Functions with the names and types of `cuda.h`; each first fails if it has been asked to.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $kind:ty),*) $body:block)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, reason = "NVIDIA's function has them")]
        // SAFETY: no other symbol of this library has the name, and only the engine loads it; it
        // passes pointers that may be read and written as `cuda.h` says.
        #[unsafe(no_mangle)] extern "C" fn $name($($arg: $kind),*) -> Code {
            if let Some(code) = asked(stringify!($name)) {
                return code;
            }
            $body
        }
    )*};
}

/// The state for a call that needs a context; with the code of a kernel that has failed before.
fn with(act: impl FnOnce(&mut State) -> Code) -> Code {
    let mut state = state();
    match (CURRENT.get(), state.lost) {
        (CONTEXT, SUCCESS) => act(&mut state),
        (CONTEXT, lost) => lost,
        _ => INVALID_CONTEXT,
    }
}

/// Writes what a function returns through its pointer.
fn give<T>(to: *mut T, value: T) -> Code {
    // SAFETY: the engine passes the address of a variable of that type.
    unsafe { to.write(value) };
    SUCCESS
}

/// Makes the copies that were put off.
fn make(state: &mut State) -> Code {
    let mut worst = SUCCESS;
    for copy in std::mem::take(&mut state.deferred) {
        let done = match copy {
            Copy::ToDevice { to, from, bytes } => {
                let from: *const u8 = std::ptr::with_exposed_provenance(from);
                // SAFETY: the engine keeps registered memory until it has waited: what is tested.
                let from = unsafe { std::slice::from_raw_parts(from, bytes) };
                state.gpu.write(to, from)
            }
            Copy::ToHost { to, from, bytes } => {
                let to: *mut u8 = std::ptr::with_exposed_provenance_mut(to);
                // SAFETY: as above; and nobody else writes it meanwhile.
                let to = unsafe { std::slice::from_raw_parts_mut(to, bytes) };
                state.gpu.read(from, to)
            }
        };
        worst = worst.max(done.map_or_else(|error| code_of(&error), |()| SUCCESS));
        state.made += 1;
        state.ticks += 1;
    }
    state.settle_events();
    worst
}

/// Puts a copy off until somebody waits, whatever memory it is of.
fn put_off(state: &mut State, stream: usize, copy: Copy) -> Code {
    if !known(stream, state) {
        return INVALID_HANDLE;
    }
    state.deferred.push(copy);
    SUCCESS
}

fn known(stream: usize, state: &State) -> bool {
    (1..=state.streams).contains(&stream)
}

functions! {
    fn cuInit(flags: c_uint) {
        state().ready = flags == 0;
        if flags == 0 { SUCCESS } else { INVALID_VALUE }
    }
    fn cuDriverGetVersion(version: *mut c_int) {
        give(version, asked("version").unwrap_or(12010))
    }
    fn cuGetErrorName(code: Code, name: *mut *const c_char) {
        give(name, name_of(code))
    }
    fn cuDeviceGetCount(count: *mut c_int) {
        if state().ready { give(count, 1) } else { NOT_INITIALIZED }
    }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        if ordinal == 0 { give(device, 0) } else { 101 }
    }
    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) {
        let text = c"stand-in for CUDA";
        let bytes = text.to_bytes_with_nul();
        if device != 0 || (length as usize) < bytes.len() {
            return INVALID_VALUE;
        }
        // SAFETY: the engine's array has `length` bytes, and that is enough.
        unsafe { name.copy_from(text.as_ptr(), bytes.len()) };
        SUCCESS
    }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) {
        let capability = asked("capability").unwrap_or(90);
        match attribute {
            16 => give(value, 40),
            75 => give(value, capability / 10),
            76 => give(value, capability % 10),
            _ => INVALID_VALUE,
        }
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) {
        give(bytes, state().gpu.memory.capacity() as usize)
    }
    fn cuDevicePrimaryCtxRetain(context: *mut usize, _device: c_int) {
        give(context, CONTEXT)
    }
    fn cuCtxSetCurrent(context: usize) {
        CURRENT.set(context);
        SUCCESS
    }
    fn cuCtxSynchronize() {
        with(make)
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        with(|state| give(free, 1 << 20).max(give(total, state.gpu.memory.capacity() as usize)))
    }
    fn cuMemAlloc_v2(at: *mut u64, bytes: usize) {
        with(|state| match bytes {
            0 => INVALID_VALUE,
            _ => state.gpu.alloc(bytes as u64).map_or(OUT_OF_MEMORY, |address| give(at, address)),
        })
    }
    fn cuMemFree_v2(at: u64) {
        with(|state| state.gpu.free(at).map_or_else(|error| code_of(&error), |()| SUCCESS))
    }
    fn cuMemHostRegister_v2(start: *mut c_void, bytes: usize, _flags: c_uint) {
        with(|state| {
            let (first, end) = (start.expose_provenance(), start.addr() + bytes);
            let taken = |(at, size): (&usize, &usize)| *at < end && at + size > first;
            if state.registered.iter().any(taken) {
                return ALREADY_REGISTERED;
            }
            state.registered.insert(first, bytes);
            SUCCESS
        })
    }
    fn cuMemHostUnregister(start: *mut c_void) {
        let mut state = state();
        if !state.deferred.is_empty() {
            eprintln!("stand-in for CUDA: memory is unregistered while copies are pending");
            std::process::abort();
        }
        state.registered.remove(&start.addr()).map_or(NOT_REGISTERED, |_| SUCCESS)
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: usize) {
        let from = from.expose_provenance();
        with(|state| put_off(state, stream, Copy::ToDevice { to, from, bytes }))
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: usize) {
        let to = to.expose_provenance();
        with(|state| put_off(state, stream, Copy::ToHost { to, from, bytes }))
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: usize) {
        with(|state| {
            let before = make(state);
            let copied = state.gpu.memory.copy("copy", to, from, bytes as u64);
            let code = copied.map_or_else(|error| code_of(&error), |()| before);
            if known(stream, state) { code } else { INVALID_HANDLE }
        })
    }
    /// Takes the two options that the engine passes: where the compiler's messages go.
    fn cuModuleLoadDataEx(
        module: *mut usize,
        image: *const c_void,
        count: c_uint,
        options: *const c_int,
        values: *const *mut c_void
    ) {
        // SAFETY: the engine passes a text with NUL at its end, and two options with their values.
        let (text, options, values) = unsafe {
            let text = CStr::from_ptr(image.cast());
            (text, *options.cast::<[c_int; 2]>(), *values.cast::<[*mut c_void; 2]>())
        };
        if (count, options) != (2, [5, 6]) {
            return INVALID_VALUE;
        }
        with(|state| match state.load(&text.to_string_lossy()) {
            Ok(loaded) => give(module, loaded),
            Err((code, log)) => {
                let bytes = log.len().min(values[1].addr() - 1);
                let to: *mut u8 = values[0].cast();
                // SAFETY: the engine's buffer has as many bytes as its second option says.
                unsafe {
                    to.copy_from(log.as_ptr(), bytes);
                    to.add(bytes).write(0);
                }
                code
            }
        })
    }
    fn cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char) {
        // SAFETY: the engine passes a string with NUL at its end.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        with(|state| {
            let Some(module) = module.checked_sub(1) else { return INVALID_HANDLE };
            if !state.programs.get(module).is_some_and(|(_, names)| names.contains(&name)) {
                return NOT_FOUND;
            }
            state.kernels.push(Kernel { module, name });
            give(function, state.kernels.len())
        })
    }
    fn cuFuncSetAttribute(function: usize, attribute: c_int, _value: c_int) {
        with(|state| match (attribute, function <= state.kernels.len()) {
            (8, true) => SUCCESS,
            _ => INVALID_VALUE,
        })
    }
    fn cuLaunchKernel(
        function: usize,
        x: c_uint, y: c_uint, z: c_uint,
        columns: c_uint, rows: c_uint, layers: c_uint,
        shared_bytes: c_uint,
        stream: usize,
        params: *mut *mut c_void,
        extra: *mut *mut c_void
    ) {
        // SAFETY: the engine passes five pointers: 1, the buffer, 2, where its size is, 0.
        let extra = unsafe { *extra.cast::<[*mut c_void; 5]>() };
        if !params.is_null() || (extra[0].addr(), extra[2].addr(), extra[4].addr()) != (1, 2, 0) {
            return INVALID_VALUE;
        }
        // SAFETY: the second is the buffer, with as many bytes as the fourth points to.
        let params = unsafe {
            let (start, size) = (extra[1].cast::<u8>(), *extra[3].cast::<usize>());
            std::slice::from_raw_parts(start, size)
        };
        with(|state| {
            let before = make(state);
            let Some(kernel) = function.checked_sub(1).filter(|_| known(stream, state)) else {
                return INVALID_HANDLE;
            };
            let (grid, block) = ([x, y, z], [columns, rows, layers]);
            let name = state.kernels[kernel].name.clone();
            let params = params.to_vec();
            let launch = Launch { kernel: name, grid, block, shared_bytes, params };
            state.launch(kernel, launch).max(before)
        })
    }
    fn cuStreamCreate(stream: *mut usize, flags: c_uint) {
        with(|state| {
            state.streams += 1;
            if flags == 1 { give(stream, state.streams) } else { INVALID_VALUE }
        })
    }
    fn cuStreamSynchronize(stream: usize) {
        with(|state| if known(stream, state) { make(state) } else { INVALID_HANDLE })
    }
    fn cuStreamWaitEvent(stream: usize, event: usize, _flags: c_uint) {
        with(|state| match known(stream, state) && state.events.contains_key(&event) {
            true => SUCCESS,
            false => INVALID_HANDLE,
        })
    }
    fn cuEventCreate(event: *mut usize, _flags: c_uint) {
        with(|state| {
            state.next_event += 1;
            state.events.insert(state.next_event, Event { after: u64::MAX, time: None });
            give(event, state.next_event)
        })
    }
    fn cuEventRecord(event: usize, stream: usize) {
        with(|state| {
            let after = state.made + state.deferred.len() as u64;
            let found = state.events.insert(event, Event { after, time: None });
            state.settle_events();
            if found.is_some() && known(stream, state) { SUCCESS } else { INVALID_HANDLE }
        })
    }
    fn cuEventQuery(event: usize) {
        with(|state| match state.events.get(&event) {
            Some(event) if event.time.is_some() => SUCCESS,
            Some(_) => NOT_READY,
            None => INVALID_HANDLE,
        })
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, from: usize, to: usize) {
        with(|state| {
            let time = |event| state.events.get(event).map(|event| event.time);
            match (time(&from), time(&to)) {
                (Some(Some(from)), Some(Some(to))) => {
                    give(milliseconds, (to as f32 - from as f32) / 1024.0)
                }
                (Some(_), Some(_)) => NOT_READY,
                _ => INVALID_HANDLE,
            }
        })
    }
    fn cuEventDestroy_v2(event: usize) {
        with(|state| state.events.remove(&event).map_or(INVALID_HANDLE, |_| SUCCESS))
    }
}
