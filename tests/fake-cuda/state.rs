//! What the stand-in keeps: a simulated GPU, handles, copies that nobody has waited for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{CStr, c_char};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use engine_room_sim::exec::{Device, Kind, Launch, Options, Program};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::memory::Error;
use engine_room_sim::ptx;

/// `CUresult`.
pub type Code = i32;
pub const SUCCESS: Code = 0;
pub const INVALID_VALUE: Code = 1;
pub const OUT_OF_MEMORY: Code = 2;
pub const NOT_INITIALIZED: Code = 3;
pub const INVALID_HANDLE: Code = 400;
pub const NOT_FOUND: Code = 500;
pub const NOT_READY: Code = 600;
pub const ALREADY_REGISTERED: Code = 712;
pub const NOT_REGISTERED: Code = 713;

/// A copy between the host's memory and the device that waits until somebody waits for it: the
/// worst that the real driver may do. Addresses, since it is the caller who owns the memory.
pub enum Copy {
    ToDevice { to: u64, from: usize, bytes: usize },
    ToHost { to: usize, from: u64, bytes: usize },
}

pub struct Kernel {
    pub module: usize,
    pub name: String,
}

/// An event: when the work before it was done, once it is; counted in launches and copies.
pub struct Event {
    /// How many deferred copies must have been made.
    pub after: u64,
    pub time: Option<u64>,
}

pub struct State {
    pub ready: bool,
    pub gpu: Device,
    pub programs: Vec<(Program, HashSet<String>)>,
    pub kernels: Vec<Kernel>,
    pub streams: usize,
    pub events: HashMap<usize, Event>,
    pub next_event: usize,
    /// First address and bytes of registered host memory.
    pub registered: BTreeMap<usize, usize>,
    pub deferred: Vec<Copy>,
    /// How many deferred copies have been made.
    pub made: u64,
    /// How many launches and copies there were: the clock.
    pub ticks: u64,
    /// The code that every call gets once a kernel has failed.
    pub lost: Code,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| {
    let gpu = Device::new(Gpu::default());
    Mutex::new(State {
        ready: false,
        gpu,
        programs: Vec::new(),
        kernels: Vec::new(),
        streams: 0,
        events: HashMap::new(),
        next_event: 1,
        registered: BTreeMap::new(),
        deferred: Vec::new(),
        made: 0,
        ticks: 0,
        lost: SUCCESS,
    })
});

pub fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the variable FAKE_CUDA asks for: `cuInit=100 version=11080`.
pub fn asked(what: &str) -> Option<i32> {
    let asked = std::env::var("FAKE_CUDA").ok()?;
    let pairs = asked.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(name, _)| *name == what)?.1.parse().ok()
}

/// The name of a code; of those that the engine has no sentence for.
pub fn name_of(code: Code) -> *const c_char {
    let name: &CStr = match code {
        SUCCESS => c"CUDA_SUCCESS",
        916 => c"CUDA_ERROR_KEY_ROTATION",
        _ => return std::ptr::null(),
    };
    name.as_ptr()
}

impl State {
    /// The time of every event whose copies have been made.
    pub fn settle_events(&mut self) {
        let (made, now) = (self.made, self.ticks);
        for event in self.events.values_mut().filter(|event| event.after <= made) {
            event.time.get_or_insert(now);
        }
    }

    pub fn load(&mut self, text: &str) -> Result<usize, (Code, String)> {
        let module = ptx::parse("ptx", text.as_bytes()).map_err(|e| (218, e.to_string()))?;
        if module.version > (8, 1) {
            return Err((222, format!("Unsupported .version {:?}", module.version)));
        }
        let kernels = module.functions.iter().map(|function| function.name.clone()).collect();
        let program = self.gpu.load(module).map_err(|error| (code_of(&error), String::new()))?;
        self.programs.push((program, kernels));
        Ok(self.programs.len())
    }

    /// Runs a kernel. What goes wrong in it is told by the calls that follow, as CUDA does it.
    pub fn launch(&mut self, kernel: usize, launch: Launch) -> Code {
        let module = self.kernels[kernel].module;
        self.ticks += 1;
        let options = Options::default();
        let report = self.gpu.run(&self.programs[module].0, &launch, &options);
        print!("{}", report.stdout);
        let Some(finding) = report.findings.first() else { return SUCCESS };
        if std::env::var_os("FAKE_CUDA_QUIET").is_none() {
            eprintln!("stand-in for CUDA: {finding}");
        }
        match finding.kind {
            Kind::InvalidLaunch => return INVALID_VALUE,
            Kind::SharedOverflow => return 701,
            Kind::Misaligned => self.lost = 716,
            Kind::Assert => self.lost = 710,
            Kind::Trap => self.lost = 719,
            _ => self.lost = 700,
        }
        SUCCESS
    }
}

pub fn code_of(error: &Error) -> Code {
    match error {
        Error::Fault(_) => INVALID_VALUE,
        Error::OutOfMemory { .. } => OUT_OF_MEMORY,
    }
}
