//! How fast kernels run: `cargo bench -p engine-room-sim --bench speed --profile dev`.
//!
//! The same kernels and sizes as the peers that simulate or emulate GPUs: an empty launch, a vector
//! add of 65,536 numbers, and 128³ and 512³ matrix products by tiles of 16 × 16.

use std::time::Instant;

use engine_room_sim::exec::{Device, Launch, Options, Program, Report};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx;

const KERNELS: &str = include_str!("speed.ptx");

/// Runs a launch several times; says the best and the median time, and the lane-instructions a
/// second of the best.
fn time(name: &str, times: usize, device: &Device, program: &Program, launch: &Launch) -> Report {
    let mut report = Report::default();
    let mut seconds: Vec<f64> = (0..times)
        .map(|_| {
            let start = Instant::now();
            report = device.run(program, launch, &Options::default());
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    assert_eq!(report.findings, []);
    let count = report.counters.lane_instructions;
    let (best, median) = (seconds[0] * 1e3, seconds[times / 2] * 1e3);
    let rate = count as f64 / best / 1e6;
    println!("{name:18} {best:9.3} ms, median {median:9.3} ms  {count:12} lanes  {rate:.3} G/s");
    report
}

fn floats(device: &mut Device, values: &[f32]) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let at = device.alloc(bytes.len() as u64).unwrap();
    device.write(at, &bytes).unwrap();
    at
}

fn launch(kernel: &str, grid: [u32; 3], block: [u32; 3], pointers: &[u64], n: u32) -> Launch {
    let mut params: Vec<u8> = pointers.iter().flat_map(|at| at.to_le_bytes()).collect();
    if pointers.len() > 1 {
        params.extend(n.to_le_bytes());
    }
    Launch { kernel: kernel.into(), grid, block, shared_bytes: 0, params }
}

fn matmul(device: &mut Device, program: &Program, n: usize, times: usize) {
    let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32).collect();
    let c = vec![0.0; n * n];
    let at = [&a, &b, &c].map(|values| floats(device, values));
    let tiles = n as u32 / 16;
    let launch = launch("matmul", [tiles, tiles, 1], [16, 16, 1], &at, n as u32);
    time(&format!("matmul {n}"), times, device, program, &launch);
    let mut bytes = vec![0; 4 * n * n];
    device.read(at[2], &mut bytes).unwrap();
    for (i, word) in bytes.chunks_exact(4).enumerate().step_by(37) {
        let want: f32 = (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum();
        assert_eq!(f32::from_le_bytes(word.try_into().unwrap()), want);
    }
}

fn main() {
    let module = ptx::parse("speed.ptx", KERNELS.as_bytes()).unwrap();
    let mut device = Device::new(Gpu::A100);
    let program = device.load(module).unwrap();
    let x: Vec<f32> = (0..65_536).map(|i| i as f32).collect();
    let at = [&x, &x, &x].map(|values| floats(&mut device, values));
    let empty = launch("empty", [1; 3], [32, 1, 1], &at[..1], 0);
    time("empty", 100, &device, &program, &empty);
    let vadd = launch("vadd", [256, 1, 1], [256, 1, 1], &at, 65_536);
    time("vector add 65536", 200, &device, &program, &vadd);
    matmul(&mut device, &program, 128, 100);
    matmul(&mut device, &program, 512, 3);
}
