//! CUDA C++ to PTX by NVIDIA's runtime compiler, NVRTC, where it is installed.
//!
//! NVRTC needs no GPU and no driver. Its functions are those of NVIDIA's "NVRTC" document; all of
//! its versions since 7.0 have them.

#![allow(unsafe_code)] // Calls into a C library.

mod search;
pub mod stamp;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

use libloading::{Library, Symbol};

/// `nvrtcResult`: 0 is success.
type Code = c_int;
/// `nvrtcProgram`: an opaque pointer.
type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> Code;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Code;
type Size = unsafe extern "C" fn(Program, *mut usize) -> Code;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> Code;
type Destroy = unsafe extern "C" fn(*mut Program) -> Code;
type Explain = unsafe extern "C" fn(Code) -> *const c_char;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code;

/// The compiler, loaded.
pub struct Nvrtc {
    library: Library,
    /// The folder of the toolkit's headers, if it is there.
    headers: Option<PathBuf>,
}

impl Nvrtc {
    /// Loads NVRTC from a path (of the library, or of a folder that has it somewhere below), or
    /// else from where toolkits and Python's wheels put it.
    ///
    /// # Errors
    ///
    /// One line on how to get it.
    pub fn find(path: Option<&Path>) -> Result<Nvrtc, String> {
        if cfg!(target_os = "macos") {
            return Err("NVIDIA has no NVRTC for macOS: compile the .cu to PTX on Linux or \
                        Windows, and run the PTX here"
                .into());
        }
        let candidates = search::candidates(path);
        for candidate in &candidates {
            // SAFETY: a library runs code of its own when it is loaded; this one has the name of
            // NVRTC, and lies where the user said or where NVIDIA's installers put it.
            if let Ok(library) = unsafe { Library::new(candidate) } {
                return Ok(Nvrtc { library, headers: search::headers(candidate) });
            }
        }
        Err(match path {
            Some(path) => format!("no NVRTC library could be loaded from {}", path.display()),
            None => "a .cu file needs NVRTC, which was not found: `pip install \
                     nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12`, or install the CUDA \
                     toolkit, or say where it is by --nvrtc PATH"
                .into(),
        })
    }

    /// Its version, such as (12, 1).
    ///
    /// # Errors
    ///
    /// If it does not say.
    pub fn version(&self) -> Result<(i32, i32), String> {
        let version: Symbol<Version> = self.function("nvrtcVersion")?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both numbers may be written.
        let code = unsafe { version(&raw mut major, &raw mut minor) };
        self.check(code)?;
        Ok((major, minor))
    }

    /// Compiles a source for an architecture such as 80, with the lines of the source in the PTX,
    /// and with further options.
    ///
    /// # Errors
    ///
    /// The compiler's messages, or why it could not be called.
    pub fn compile(
        &self,
        path: &Path,
        source: &[u8],
        architecture: u32,
        further: &[&str],
    ) -> Result<Vec<u8>, String> {
        let mut options = vec![
            format!("--gpu-architecture=compute_{architecture}"),
            "--generate-line-info".to_string(),
            "--std=c++17".to_string(),
        ];
        options.extend(further.iter().map(|option| option.to_string()));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folders = folder.into_iter().chain(self.headers.as_deref());
        options.extend(folders.map(|folder| format!("--include-path={}", folder.display())));
        let text = |text: &[u8]| CString::new(text).map_err(|_| "there is a NUL byte".to_string());
        let options: Vec<CString> =
            options.iter().map(|option| text(option.as_bytes())).collect::<Result<_, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let name = text(path.display().to_string().as_bytes())?;
        self.compile_text(&name, &text(source)?, &options)
    }

    fn compile_text(
        &self,
        name: &CStr,
        source: &CStr,
        options: &[*const c_char],
    ) -> Result<Vec<u8>, String> {
        let create: Symbol<Create> = self.function("nvrtcCreateProgram")?;
        let compile: Symbol<Compile> = self.function("nvrtcCompileProgram")?;
        let destroy: Symbol<Destroy> = self.function("nvrtcDestroyProgram")?;
        let mut program = std::ptr::null_mut();
        let none = std::ptr::null();
        // SAFETY: the strings end in NUL and outlive the call; no headers are passed, which is what
        // a count of 0 says.
        let code =
            unsafe { create(&raw mut program, source.as_ptr(), name.as_ptr(), 0, none, none) };
        self.check(code)?;
        // SAFETY: `program` was made by the call above, and the strings behind `options` live in
        // the caller.
        let code = unsafe { compile(program, options.len() as c_int, options.as_ptr()) };
        let ptx =
            match code {
                0 => self.text(program, "nvrtcGetPTXSize", "nvrtcGetPTX"),
                _ => self.text(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog").and_then(
                    |log| match String::from_utf8_lossy(&log).trim() {
                        "" => Err(self.explain(code)),
                        log => Err(log.to_string()),
                    },
                ),
            };
        // SAFETY: `program` is not used again.
        unsafe { destroy(&raw mut program) };
        ptx
    }

    /// What a pair of functions says of a program: the first its bytes, with the NUL at the end,
    /// the second the text itself.
    fn text(&self, program: Program, size: &str, text: &str) -> Result<Vec<u8>, String> {
        let size: Symbol<Size> = self.function(size)?;
        let text: Symbol<Text> = self.function(text)?;
        let mut bytes = 0;
        // SAFETY: `program` is live, and `bytes` may be written.
        let code = unsafe { size(program, &raw mut bytes) };
        self.check(code)?;
        let mut buffer = vec![0_u8; bytes.max(1)];
        // SAFETY: the buffer has as many bytes as NVRTC said it will write.
        let code = unsafe { text(program, buffer.as_mut_ptr().cast()) };
        self.check(code)?;
        buffer.truncate(bytes.saturating_sub(1));
        Ok(buffer)
    }

    fn function<T>(&self, name: &str) -> Result<Symbol<'_, T>, String> {
        // SAFETY: the types above are those of NVRTC's header for these names.
        unsafe { self.library.get(name.as_bytes()) }
            .map_err(|_| format!("this NVRTC has no function {name}"))
    }

    fn check(&self, code: Code) -> Result<(), String> {
        if code == 0 { Ok(()) } else { Err(self.explain(code)) }
    }

    fn explain(&self, code: Code) -> String {
        let Ok(explain) = self.function::<Explain>("nvrtcGetErrorString") else {
            return format!("NVRTC says {code}");
        };
        // SAFETY: for every code, NVRTC returns a string of its own that lives as long as it does.
        let text = unsafe { CStr::from_ptr(explain(code)) };
        format!("NVRTC says {}", text.to_string_lossy())
    }
}
