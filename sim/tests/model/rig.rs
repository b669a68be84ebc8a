//! A device with the kernels on it, and what a test needs to launch them.

use engine_room_sim::exec::{Device, Launch, Options, Program, Report};
use engine_room_sim::gpu::{Figures, Gpu};
use engine_room_sim::ptx;

const KERNELS: &str = include_str!("kernels.ptx");

/// A GPU with buffers of zeros.
pub struct Rig {
    device: Device,
    program: Program,
    buffers: Vec<u64>,
}

/// Threads of a block in one dimension.
pub const BLOCK: u32 = 256;

impl Rig {
    /// A GPU and buffers of so many bytes.
    pub fn new(gpu: Gpu, bytes: &[u64]) -> Rig {
        let mut device = Device::new(gpu);
        let program = device.load(ptx::parse("kernels.ptx", KERNELS.as_bytes()).unwrap()).unwrap();
        let buffers: Vec<u64> = bytes.iter().map(|&bytes| device.alloc(bytes).unwrap()).collect();
        for (&at, &bytes) in buffers.iter().zip(bytes) {
            device.write(at, &vec![0; bytes as usize]).unwrap();
        }
        Rig { device, program, buffers }
    }

    /// More live memory, which no kernel knows of: the cache then cannot hold all that is live.
    pub fn crowd(&mut self, bytes: u64) {
        self.device.alloc(bytes).unwrap();
    }

    /// What is published of the GPU.
    pub fn figures(&self) -> &'static Figures {
        self.device.gpu.figures()
    }

    /// Launches a kernel on the first buffers and these numbers.
    pub fn run(&self, kernel: &str, grid: [u32; 2], block: [u32; 2], numbers: &[i32]) -> Report {
        self.run_with(kernel, grid, block, numbers, &Options::default())
    }

    /// As above, with options.
    pub fn run_with(
        &self,
        kernel: &str,
        grid: [u32; 2],
        block: [u32; 2],
        numbers: &[i32],
        options: &Options,
    ) -> Report {
        let pointers = self.buffers.iter().flat_map(|at| at.to_le_bytes());
        let params = pointers.chain(numbers.iter().flat_map(|n| n.to_le_bytes())).collect();
        let ([gx, gy], [bx, by]) = (grid, block);
        let (grid, block) = ([gx, gy, 1], [bx, by, 1]);
        let launch = Launch { kernel: kernel.into(), grid, block, shared_bytes: 0, params };
        let report = self.device.run(&self.program, &launch, options);
        assert_eq!(report.findings, [], "{kernel}");
        report
    }

    /// So many blocks of [`BLOCK`] threads.
    pub fn line(&self, kernel: &str, blocks: u32, numbers: &[i32]) -> Report {
        self.run(kernel, [blocks, 1], [BLOCK, 1], numbers)
    }
}
