//! Opening a GPU: what has to be there, in the order in which it is found out.

#![allow(unsafe_code)] // Calls into a C library.

use std::ffi::{CStr, c_char, c_int};

use super::api::{Api, Code, Handle, Ordinal, api};
use super::errors::{self, SUCCESS};
use super::{CudaDevice, Properties};
use crate::device::Device;
use crate::error::Error;

/// `CUdevice_attribute`: multiprocessors, and the two halves of the compute capability.
const MULTIPROCESSORS: c_int = 16;
const CAPABILITY: [c_int; 2] = [75, 76];

impl CudaDevice {
    /// Opens GPU number `n`; see [`cuda`](super::cuda).
    pub(super) fn open(n: usize) -> Result<CudaDevice, Error> {
        let opened = api().and_then(|api| {
            let (ordinal, properties) = found(api, n)?;
            Ok((api, properties, context(api, ordinal)?))
        });
        let (api, properties, context) = opened
            .map_err(|message| Error::Device { device: Device::Cuda(n).to_string(), message })?;
        CudaDevice::new(n, api, context, properties)
    }
}

/// The GPU and what it is, if the engine's PTX runs on it.
fn found(api: &Api, n: usize) -> Result<(Ordinal, Properties), String> {
    let mut version = 0;
    // SAFETY: the number may be written; this function needs no `cuInit` before it.
    verdict(api, unsafe { (api.driver_version)(&raw mut version) })?;
    errors::check_driver(version)?;
    // SAFETY: 0 is the only flag there is; a second call does nothing.
    verdict(api, unsafe { (api.init)(0) })?;
    let (mut count, mut ordinal) = (0, 0);
    // SAFETY: the number may be written.
    verdict(api, unsafe { (api.device_count)(&raw mut count) })?;
    if n >= count as usize {
        let known = errors::explain(errors::INVALID_DEVICE, None);
        return Err(format!("{known}; the driver counts {count}, from 0"));
    }
    // SAFETY: the number may be written, and `n` is below the count.
    verdict(api, unsafe { (api.device_get)(&raw mut ordinal, n as c_int) })?;
    let properties = properties(api, ordinal, version)?;
    errors::check_gpu(&properties.name, properties.capability)?;
    Ok((ordinal, properties))
}

fn properties(api: &Api, ordinal: Ordinal, version: c_int) -> Result<Properties, String> {
    let mut name = [0 as c_char; 256];
    // SAFETY: the driver writes at most 256 bytes, a NUL at their end included.
    verdict(api, unsafe { (api.device_name)(name.as_mut_ptr(), 256, ordinal) })?;
    let mut bytes = 0;
    // SAFETY: the number may be written.
    verdict(api, unsafe { (api.device_memory)(&raw mut bytes, ordinal) })?;
    let attribute = |which| {
        let mut value = 0;
        // SAFETY: the number may be written; an unknown attribute is an error.
        verdict(api, unsafe { (api.device_attribute)(&raw mut value, which, ordinal) })?;
        Ok::<u32, String>(value as u32)
    };
    // SAFETY: the array was zero, and the driver ended what it wrote with a NUL.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    Ok(Properties {
        name,
        capability: (attribute(CAPABILITY[0])?, attribute(CAPABILITY[1])?),
        multiprocessors: attribute(MULTIPROCESSORS)?,
        capacity: bytes as u64,
        driver: errors::version(version),
    })
}

/// The primary context of the GPU. It is kept until the program ends, so it is never given back.
fn context(api: &Api, ordinal: Ordinal) -> Result<Handle, String> {
    let mut context = Handle::NONE;
    // SAFETY: the handle may be written, and the number came from the driver.
    verdict(api, unsafe { (api.context_retain)(&raw mut context, ordinal) })?;
    Ok(context)
}

fn verdict(api: &Api, code: Code) -> Result<(), String> {
    if code == SUCCESS { Ok(()) } else { Err(explained(api, code)) }
}

/// The sentence for a code.
pub(super) fn explained(api: &Api, code: Code) -> String {
    let mut name = std::ptr::null();
    // SAFETY: the pointer may be written; for a code that it does not know the driver writes null.
    unsafe { (api.error_name)(code, &raw mut name) };
    // SAFETY: a name is a string with a NUL at its end that lives as long as the driver.
    let named = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy());
    errors::explain(code, named.as_deref())
}
