//! Kernels on a simulated GPU: PTX that is loaded and launched.

use engine_room_sim::counters::Counters;
use engine_room_sim::exec::{self, Options, Report};
use engine_room_sim::gpu::SECTOR;
use engine_room_sim::ptx;

use super::SimDevice;
use crate::device::driver::{Launch, Module, Ran, Stream};
use crate::error::Error;

impl SimDevice {
    /// See [`Driver::load`](crate::device::driver::Driver::load).
    pub(super) fn load_ptx(&self, name: &str, text: &str) -> Result<Module, Error> {
        let module = match ptx::parse(name, text.as_bytes()) {
            Ok(module) => module,
            Err(error) => return self.fault(format!("load: {error}")),
        };
        let mut state = self.state();
        let program = state.device.load(module).map_err(|error| self.error(error))?;
        state.timeline.synchronize();
        state.programs.push(program);
        Ok(Module { device: self.own(), id: state.programs.len() - 1 })
    }

    /// See [`Driver::launch`](crate::device::driver::Driver::launch). The kernel runs at once, to
    /// its end; on the time line it runs when its turn has come.
    pub(super) fn launch_kernel(&self, launch: &Launch, stream: Stream) -> Result<(), Error> {
        let mut state = self.with_stream("launch", stream)?;
        let Module { device, id } = launch.module;
        let program = state.programs.get(id).filter(|_| device == self.own());
        let Some(program) = program else {
            return self.fault(format!("launch: module {id} of {device} is not its own"));
        };
        let report = state.device.run(program, &asked(launch), &Options::default());
        if report.counters.warp_instructions > 0 {
            let figures = state.device.gpu.figures();
            let blocks = launch.grid.iter().map(|&n| u64::from(n)).product();
            let (start_ns, end_ns) =
                state.timeline.launch(figures, blocks, report.modelled_ns, stream.id);
            let Counters { dram_bytes: bytes, flops, .. } = report.counters;
            let l2_bytes = report.counters.global_sectors() * SECTOR;
            state.last_runs.insert(stream.id, Ran { start_ns, end_ns, bytes, l2_bytes, flops });
            state.launches.add(launch.kernel, &report);
        }
        drop(state);
        // As CUDA's printf does: to the standard output of the process.
        print!("{}", report.stdout);
        self.verdict(launch.kernel, &report)
    }

    /// What is wrong, if anything is: the first finding, and how many there are.
    fn verdict(&self, kernel: &str, report: &Report) -> Result<(), Error> {
        let Some(first) = report.findings.first() else { return Ok(()) };
        let others = match report.findings.len() - 1 {
            0 => String::new(),
            count => format!("; and {count} more findings"),
        };
        self.fault(format!("launch of {kernel}: {first}{others}"))
    }
}

/// The launch as the simulator takes it.
fn asked(launch: &Launch) -> exec::Launch {
    exec::Launch {
        kernel: launch.kernel.to_string(),
        grid: launch.grid,
        block: launch.block,
        shared_bytes: launch.shared_bytes,
        params: launch.params.bytes().to_vec(),
    }
}
