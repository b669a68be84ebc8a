//! A simulated GPU, and what a launch on it says.

use std::sync::Arc;

use crate::counters::{Counters, Traffic};
use crate::decode::Refusal;
use crate::decode::code::{Kernel, Op};
use crate::gpu::{Gpu, SECTOR};
use crate::l2::{Shape, Waves};
use crate::memory::{Cells, Error, Memory};
use crate::model::{Model, Needs, Occupancy, Work};
use crate::ptx::ast::Module;

use super::findings::{Findings, Seen};
use super::launch::{Outcome, Run};
use super::program::Program;
use super::report::{Finding, Kind, Line, Report};

/// Where the addresses of a device begin unless it is told otherwise, and how many there are.
const WINDOW: std::ops::Range<u64> = 0x7f00_0000_0000..0x7f00_0000_0000 + (1 << 40);

/// A simulated GPU with its memory.
pub struct Device {
    /// Which GPU it stands for: its limits and its modelled clock.
    pub gpu: Gpu,
    /// Its global memory.
    pub memory: Memory,
}

impl Device {
    /// A GPU with nothing in its memory.
    pub fn new(gpu: Gpu) -> Device {
        Device { gpu, memory: Memory::new(WINDOW, gpu.figures().capacity) }
    }

    /// Makes room in global memory; see [`Memory::alloc`].
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, Error> {
        self.memory.alloc(bytes)
    }

    /// Gives an allocation back; see [`Memory::free`].
    pub fn free(&mut self, address: u64) -> Result<(), Error> {
        self.memory.free(address)
    }

    /// Copies global memory out; see [`Memory::read`].
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.memory.read("read", address, bytes)
    }

    /// Copies into global memory; see [`Memory::write`].
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        self.memory.write("write", address, bytes)
    }

    /// Puts a module on the device: its variables get memory, with what they begin with.
    pub fn load(&mut self, module: impl Into<Arc<Module>>) -> Result<Program, Error> {
        Program::load(module.into(), &mut self.memory)
    }

    /// Runs a kernel to its end. What is wrong with the launch or in the kernel is in the report.
    pub fn run(&self, program: &Program, launch: &Launch, options: &Options) -> Report {
        let kernel = match program.kernel(&launch.kernel) {
            Some(Ok(kernel)) => kernel,
            Some(Err(refusal)) => return Report::of(unsupported(program, refusal)),
            None => {
                let name = &launch.kernel;
                let say = format!("the module has no kernel `{name}`");
                return Report::of(Finding::of_launch(Kind::InvalidLaunch, say));
            }
        };
        if let Err(finding) = self.permit(kernel, launch) {
            return Report::of(*finding);
        }
        let Some(params) = Cells::zeroed(launch.params.len()) else {
            let say = "the host lacks the memory for the parameters".to_string();
            return Report::of(Finding::of_launch(Kind::InvalidLaunch, say));
        };
        params.write(0, &launch.params);
        let figures = self.gpu.figures();
        let needs = needs(kernel, launch, options);
        let blocks = launch.grid.iter().map(|&n| u64::from(n)).product();
        let held = Occupancy::of(figures.multiprocessor, needs).blocks.max(1);
        let at_once = u64::from(held) * u64::from(figures.multiprocessors);
        let memory = &self.memory;
        let waves = Waves::new(Shape { blocks, at_once, bytes: figures.l2_bytes }, memory);
        let multiprocessors = figures.multiprocessors;
        let run = Run { kernel, memory, launch, options, params, multiprocessors, waves };
        let outcome = run.go();
        let (executed, traffic, moved) = (&outcome.executed, &outcome.traffic, outcome.moved);
        let model = Model::of(figures, &Work { kernel, executed, traffic, moved, blocks, needs });
        report(program, kernel, outcome, model, options)
    }

    /// Whether the GPU can make a launch (CUDA C++ Programming Guide, "Technical Specifications
    /// per Compute Capability").
    fn permit(&self, kernel: &Kernel, launch: &Launch) -> Result<(), Box<Finding>> {
        let refuse = |say: String| Err(Box::new(Finding::of_launch(Kind::InvalidLaunch, say)));
        let (grid, block) = (launch.grid, launch.block);
        let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
        if grid.contains(&0) || block.contains(&0) {
            return refuse(format!("grid {grid:?} or block {block:?} has a zero"));
        }
        if grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
            return refuse(format!("grid {grid:?} is larger than [2147483647, 65535, 65535]"));
        }
        if block[0] > 1024 || block[1] > 1024 || block[2] > 64 || threads > 1024 {
            return refuse(format!(
                "block {block:?} is larger than [1024, 1024, 64], or than 1,024 threads in all"
            ));
        }
        if let Some(exact) = kernel.exact_threads.filter(|exact| *exact != block) {
            return refuse(format!("block {block:?} is not the one the kernel demands: {exact:?}"));
        }
        let most = |most: [u32; 3]| most.iter().map(|&n| u64::from(n)).product::<u64>();
        if let Some(most) = kernel.most_threads.map(most).filter(|most| threads > *most) {
            return refuse(format!("{threads} threads a block: the kernel allows {most}"));
        }
        if kernel.params as usize != launch.params.len() {
            let (has, given) = (kernel.params, launch.params.len());
            return refuse(format!("the kernel has {has} bytes of parameters; {given} were given"));
        }
        let shared = u64::from(kernel.shared) + u64::from(launch.shared_bytes);
        let most = self.gpu.figures().shared_per_block;
        if shared > u64::from(most) {
            let (gpu, fixed, dynamic) = (self.gpu, kernel.shared, launch.shared_bytes);
            let say = format!(
                "a block needs {shared} bytes of shared memory ({fixed} declared, {dynamic} \
                 dynamic); a block on {gpu} can have {most}"
            );
            return Err(Box::new(Finding::of_launch(Kind::SharedOverflow, say)));
        }
        Ok(())
    }
}

/// What a block takes of a multiprocessor.
fn needs(kernel: &Kernel, launch: &Launch, options: &Options) -> Needs {
    let shared = match launch.shared_bytes {
        0 => kernel.shared,
        dynamic => kernel.dynamic + dynamic,
    };
    Needs { threads: launch.block.iter().product(), shared, registers: options.registers }
}

fn unsupported(program: &Program, refusal: &Refusal) -> Finding {
    let mut finding = Finding::of_launch(Kind::Unsupported, refusal.message.clone());
    finding.places = program.places(&[refusal.location]);
    finding
}

/// What came of the blocks, for people.
fn report(
    program: &Program,
    kernel: &Kernel,
    outcome: Outcome,
    model: Model,
    options: &Options,
) -> Report {
    let counters = count(kernel, &outcome);
    let lines = if options.lines { lines(program, kernel, &outcome) } else { Vec::new() };
    let mut findings = findings(program, kernel, outcome.findings);
    if outcome.timed_out {
        let most = options.max_instructions.unwrap_or(super::launch::MOST_INSTRUCTIONS);
        let say = format!("ended after {most} instructions of its warps: an endless loop?");
        // Each host thread tells where its block was.
        let is_late = |finding: &Finding| finding.kind == Kind::Timeout;
        let place = findings.iter().find(|finding| is_late(finding)).cloned();
        let mut late = place.unwrap_or_else(|| Finding::of_launch(Kind::Timeout, String::new()));
        late.message = say + &late.message;
        findings.retain(|finding| !is_late(finding));
        findings.push(late);
    }
    if outcome.lacking {
        let say = "the host lacks the memory for a block".to_string();
        findings.push(Finding::of_launch(Kind::InvalidLaunch, say));
    }
    let stdout: Vec<u8> = outcome.stdout.into_iter().flat_map(|(_, text)| text).collect();
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    Report { findings, counters, stdout, modelled_ns: model.ns(), model, lines }
}

/// What was found in the blocks, in their order.
fn findings(program: &Program, kernel: &Kernel, found: Findings) -> Vec<Finding> {
    let mut seen: Vec<_> = found.seen.into_iter().collect();
    seen.sort_by_key(|((pc, kind), seen)| (seen.order, *pc, *kind));
    let finding = |((pc, kind), seen): ((u32, Kind), Seen)| {
        let around = std::iter::once(pc).chain(seen.calls);
        let at: Vec<_> = around.map(|pc| kernel.code[pc as usize].location).collect();
        Finding {
            kind,
            message: seen.message,
            places: program.places(&at),
            block: seen.block,
            thread: seen.thread,
            address: seen.address,
            threads: seen.threads,
        }
    };
    seen.into_iter().map(finding).collect()
}

/// What each instruction did.
fn lines(program: &Program, kernel: &Kernel, outcome: &Outcome) -> Vec<Line> {
    let counted = (0u32..).zip(kernel.code.iter().zip(&outcome.executed));
    counted
        .filter(|(_, (instruction, _))| instruction.weight > 0)
        .map(|(pc, (instruction, executed))| {
            let access = instruction.op.access();
            Line {
                function: kernel.function_at(pc).name.clone(),
                places: program.places(&[instruction.location]),
                ptx_line: instruction.location.line,
                executed: *executed,
                traffic: access
                    .map_or(Traffic::default(), |access| outcome.traffic[access.number as usize]),
            }
        })
        .collect()
}

/// Adds up what each instruction did.
fn count(kernel: &Kernel, outcome: &Outcome) -> Counters {
    let sectors = outcome.moved.read + outcome.moved.written;
    let mut all = Counters { dram_bytes: sectors * SECTOR, ..Counters::default() };
    for (instruction, executed) in kernel.code.iter().zip(&outcome.executed) {
        let weight = u64::from(instruction.weight);
        all.warp_instructions += weight * executed.warps;
        all.lane_instructions += weight * executed.lanes;
        all.divergent_branches += executed.divergent;
        all.flops += u64::from(instruction.flops) * executed.lanes;
        let Some(access) = instruction.op.access() else { continue };
        let traffic = &outcome.traffic[access.number as usize];
        if !matches!(instruction.op, Op::Load(_)) {
            all.global_store_requests += traffic.global;
            all.global_store_sectors += traffic.sectors;
            all.global_store_least += traffic.least;
        } else {
            all.global_load_requests += traffic.global;
            all.global_load_sectors += traffic.sectors;
            all.global_load_least += traffic.least;
        }
        all.shared_requests += traffic.shared;
        all.shared_bank_conflicts += traffic.conflicts;
    }
    all
}

/// One launch of a kernel.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The kernel by name, as in the PTX.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// The parameters as they lie in memory: each at its offset, with padding between.
    pub params: Vec<u8>,
}

/// How to run a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether a wrong access is reported and ends its thread; if not, it reads zeros or is dropped
    /// in silence.
    pub check: bool,
    /// Reorders the warps of a block, to shake races out; 0 is the plain order.
    pub seed: u64,
    /// Ends the launch after so many instructions of its warps.
    pub max_instructions: Option<u64>,
    /// Host threads to run blocks on; 0 is as many as the host has cores. A kernel whose atomics
    /// tell which block came first runs on one, so that the same launch always gives the same bits.
    pub threads: usize,
    /// Whether the report shall have what each instruction did.
    pub lines: bool,
    /// Registers of a thread, as `ptxas` says (`-v`), for the modelled time: PTX does not tell.
    /// Without them they set no limit to how many blocks a multiprocessor holds.
    pub registers: Option<u32>,
}

impl Default for Options {
    fn default() -> Options {
        let (max_instructions, registers) = (None, None);
        Options { check: true, seed: 0, max_instructions, threads: 0, lines: false, registers }
    }
}
