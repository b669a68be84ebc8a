//! A device with one program on it, and what a test needs to launch and to compare.

use bytemuck::Pod;
use engine_room_sim::exec::{Device, Launch, Options, Program, Report};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx;

/// The compilations, as the files' names have them; `control` has one more, with jump tables.
const VARIANTS: [&str; 4] = ["o3", "fast", "o0", "g"];

/// A device with one compilation of a program.
pub struct Host {
    /// Which compilation.
    pub variant: &'static str,
    device: Device,
    program: Program,
    options: Options,
}

/// The address of a buffer in the device's memory.
#[derive(Clone, Copy)]
pub struct Buffer(pub u64);

/// An argument of a kernel, as bytes that lie at a multiple of their number; a structure, at a
/// multiple of 8.
pub struct Arg(Vec<u8>);

impl From<Buffer> for Arg {
    fn from(buffer: Buffer) -> Arg {
        Arg(buffer.0.to_le_bytes().to_vec())
    }
}

impl From<i32> for Arg {
    fn from(x: i32) -> Arg {
        Arg(x.to_le_bytes().to_vec())
    }
}

impl From<u32> for Arg {
    fn from(x: u32) -> Arg {
        Arg(x.to_le_bytes().to_vec())
    }
}

impl From<f32> for Arg {
    fn from(x: f32) -> Arg {
        Arg(x.to_le_bytes().to_vec())
    }
}

impl From<f64> for Arg {
    fn from(x: f64) -> Arg {
        Arg(x.to_le_bytes().to_vec())
    }
}

impl From<half::f16> for Arg {
    fn from(x: half::f16) -> Arg {
        Arg(x.to_le_bytes().to_vec())
    }
}

impl From<Vec<u8>> for Arg {
    fn from(bytes: Vec<u8>) -> Arg {
        Arg(bytes)
    }
}

/// Runs a test on each compilation of a program.
pub fn each(name: &str, test: impl Fn(&mut Host)) {
    let tables = ["tables"].into_iter().filter(|_| name == "control");
    for (seed, variant) in (0..).zip(VARIANTS.into_iter().chain(tables)) {
        let path = format!("{}/programs/ptx/{name}.{variant}.ptx", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let module = ptx::parse(&path, &text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut device = Device::new(Gpu::A100);
        let program = device.load(module).unwrap_or_else(|error| panic!("{path}: {error}"));
        let options = Options { seed, max_instructions: Some(20_000_000), ..Options::default() };
        test(&mut Host { variant, device, program, options });
    }
}

impl Host {
    /// A buffer with the given data.
    pub fn buffer<T: Pod>(&mut self, data: &[T]) -> Buffer {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let address = self.device.alloc(bytes.len() as u64).expect("memory");
        self.device.write(address, bytes).expect("a live buffer");
        Buffer(address)
    }

    /// What a buffer holds.
    pub fn read<T: Pod>(&self, buffer: Buffer, count: usize) -> Vec<T> {
        let mut data = vec![T::zeroed(); count];
        self.device.read(buffer.0, bytemuck::cast_slice_mut(&mut data)).expect("a live buffer");
        data
    }

    /// Launches a kernel and returns what it says.
    pub fn report(&self, kernel: &str, shape: Shape, args: Vec<Arg>) -> Report {
        let mut params = Vec::new();
        for Arg(bytes) in args {
            let align = if bytes.len() > 8 { 8 } else { bytes.len() };
            params.resize(params.len().next_multiple_of(align), 0);
            params.extend(bytes);
        }
        let Shape { grid, block, shared } = shape;
        let kernel = kernel.to_string();
        let launch = Launch { kernel, grid, block, shared_bytes: shared, params };
        self.device.run(&self.program, &launch, &self.options)
    }

    /// Launches a kernel that must have nothing wrong with it, and returns what it prints.
    #[track_caller]
    pub fn launch(&self, kernel: &str, shape: Shape, args: Vec<Arg>) -> String {
        let report = self.report(kernel, shape, args);
        let found = report.findings.first();
        assert!(found.is_none(), "{kernel}, {}: {:#?}", self.variant, report.findings);
        report.stdout
    }
}

/// The shape of a launch.
#[derive(Clone, Copy)]
pub struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
}

impl Shape {
    /// Dynamic shared memory.
    pub fn shared(self, bytes: u32) -> Shape {
        Shape { shared: bytes, ..self }
    }
}

/// Blocks and threads in one dimension.
pub fn line(blocks: u32, threads: u32) -> Shape {
    Shape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0 }
}

/// Blocks and threads in three dimensions.
pub fn space(grid: [u32; 3], block: [u32; 3]) -> Shape {
    Shape { grid, block, shared: 0 }
}

/// The arguments of a launch.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { vec![$($crate::harness::Arg::from($arg)),*] };
}
pub(crate) use args;

/// Numbers that look random and are the same in every run.
pub fn random(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    (0..count).map(next).collect()
}

/// Floats in [−4, 4) with 10 bits of fraction: their sums are exact in any order.
pub fn exact_floats(seed: u64, count: usize) -> Vec<f32> {
    random(seed, count).iter().map(|x| (x % 8192) as f32 / 1024.0 - 4.0).collect()
}

/// Compares floats within a bound on the difference, relative to the larger of 1 and the number.
#[track_caller]
pub fn near(found: &[f32], right: impl IntoIterator<Item = f64>, bound: f64, what: &str) {
    let right: Vec<f64> = right.into_iter().collect();
    assert_eq!(found.len(), right.len(), "{what}");
    for (i, (&found, right)) in found.iter().zip(right).enumerate() {
        let error = (f64::from(found) - right).abs() / right.abs().max(1.0);
        assert!(error <= bound, "{what}, {i}: {found} instead of {right}");
    }
}
