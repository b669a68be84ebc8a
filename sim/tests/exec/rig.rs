//! A device with one module on it, kernels written by hand, and arguments for both.

use engine_room_sim::counters::Counters;
use engine_room_sim::exec::{Device, Finding, Launch, Options, Program, Report};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx;

/// A parameter of a kernel.
pub enum Arg {
    /// A buffer with these bytes.
    Buffer(Vec<u8>),
    /// A buffer that is there already, or any other address.
    At(u64),
    /// A value of these bytes, aligned to so many.
    Value(Vec<u8>, usize),
}

/// A buffer of numbers.
pub fn ints(values: impl IntoIterator<Item = i32>) -> Arg {
    Arg::Buffer(values.into_iter().flat_map(i32::to_le_bytes).collect())
}

/// A buffer of zero bytes.
pub fn zeros(bytes: usize) -> Arg {
    Arg::Buffer(vec![0; bytes])
}

/// A number.
pub fn int(value: i32) -> Arg {
    Arg::Value(value.to_le_bytes().to_vec(), 4)
}

/// The numbers that bytes hold.
pub fn words(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// A module with the kernel `k(a, b)` of these instructions, with some registers and 16 KiB of
/// shared memory, the `tile`. The first of the instructions is in line 13.
pub fn by_hand(body: &str) -> String {
    format!(
        ".version 8.1
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 a, .param .u64 b)
        {{
        .reg .pred %p<4>;
        .reg .b16 %h<8>;
        .reg .b32 %r<16>;
        .reg .b64 %d<16>;
        .reg .f32 %f<16>;
        .reg .f64 %g<8>;
        .shared .align 16 .b8 tile[16384];
        {body}
        }}"
    )
}

/// A device with a module on it.
pub struct Rig {
    /// The device, an A100.
    pub device: Device,
    /// How launches are run.
    pub options: Options,
    program: Program,
}

impl Rig {
    /// A device with the module of this text.
    #[track_caller]
    pub fn new(path: &str, text: &str) -> Rig {
        let mut device = Device::new(Gpu::A100);
        let module = ptx::parse(path, text.as_bytes()).unwrap_or_else(|e| panic!("{path}: {e}"));
        let program = device.load(module).unwrap();
        // What waits for ever shall not wait for minutes.
        let options = Options { max_instructions: Some(10_000_000), ..Options::default() };
        Rig { device, options, program }
    }

    /// A buffer with these bytes.
    pub fn buffer(&mut self, bytes: &[u8]) -> u64 {
        let at = self.device.alloc(bytes.len() as u64).unwrap();
        self.device.write(at, bytes).unwrap();
        at
    }

    /// So many bytes of the device's memory.
    pub fn bytes(&self, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.device.read(at, &mut bytes).unwrap();
        bytes
    }

    /// Makes a launch as it is.
    pub fn launch(&self, launch: &Launch) -> Report {
        self.device.run(&self.program, launch, &self.options)
    }

    /// Runs a kernel in one dimension, with 128 bytes of dynamic shared memory; returns its buffers
    /// and the report.
    pub fn run(
        &mut self,
        kernel: &str,
        (grid, block): (u32, u32),
        args: &[Arg],
    ) -> (Vec<Vec<u8>>, Report) {
        let mut params = Vec::new();
        let mut buffers = Vec::new();
        for arg in args {
            let (bytes, align) = match arg {
                Arg::Buffer(bytes) => {
                    buffers.push((self.buffer(bytes), bytes.len()));
                    (buffers[buffers.len() - 1].0.to_le_bytes().to_vec(), 8)
                }
                Arg::At(address) => (address.to_le_bytes().to_vec(), 8),
                Arg::Value(bytes, align) => (bytes.clone(), *align),
            };
            params.resize(params.len().next_multiple_of(align), 0);
            params.extend(bytes);
        }
        let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
        let kernel = kernel.to_string();
        let report = self.launch(&Launch { kernel, grid, block, shared_bytes: 128, params });
        let read = |(at, len): (u64, usize)| self.bytes(at, len);
        (buffers.into_iter().map(read).collect(), report)
    }
}

/// What a kernel written by hand counts, run by one block with two buffers of 64 KiB.
#[track_caller]
pub fn counted(body: &str, threads: u32) -> Counters {
    let args = [zeros(1 << 16), zeros(1 << 16)];
    let (_, report) = Rig::new("hand.ptx", &by_hand(body)).run("k", (1, threads), &args);
    assert_eq!(report.findings, [], "{body}");
    report.counters
}

/// The one finding of a report.
#[track_caller]
pub fn only(report: Report) -> Finding {
    let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    finding.clone()
}
