//! How fast: copies, elementwise kernels, reductions, the three matrix products, launches.
//!
//! A time of a kernel is taken by events on the device, several calls between two of them; the
//! median of five such times. A row says what else it holds, such as the allocation of its result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine_room::driver::HostMemory;
use engine_room::gpu::MatmulKernel;
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor, no_grad};
use engine_room_labs::{Cell, Table, median_seconds, print};

use crate::cublas::Cublas;

const GPU: Device = Device::Cuda(0);
const RUNS: usize = 5;

/// The rows so far, and how large the operands are.
struct Rows {
    table: Table,
    /// Numbers of a large operand.
    large: usize,
    /// Rows and columns of matrices.
    sides: [usize; 2],
    failed: bool,
}

impl Rows {
    /// Adds the time of one call and its rate: `amount` units a second.
    fn add(&mut self, what: &str, seconds: f64, amount: f64, unit: &str) {
        let (rate, unit) = (Cell::Number(amount / seconds / 1e9), Cell::from(unit));
        self.table.row([Cell::from(what), Cell::Seconds(seconds), rate, unit]);
    }

    /// Adds a time that has no rate.
    fn time(&mut self, what: &str, seconds: f64) {
        self.table.row([Cell::from(what), Cell::Seconds(seconds), Cell::Missing, Cell::from("")]);
    }

    /// Runs one bench; what it cannot do is a row too, and the others go on.
    fn run(&mut self, what: &str, bench: fn(&mut Rows)) {
        if catch_unwind(AssertUnwindSafe(|| no_grad(|| bench(self)))).is_err() {
            self.failed = true;
            let row = [Cell::from(format!("{what}: failed, see above"))];
            let none = [Cell::Missing, Cell::Missing, Cell::from("")];
            self.table.row(row.into_iter().chain(none));
        }
    }
}

/// Runs every bench: on operands of 256 MiB, far more than a cache holds, or on small ones, whose
/// times mean nothing. Gives the table, and whether a bench failed.
pub fn run_all(cublas: bool, small: bool) -> (Table, bool) {
    let table = Table::new()
        .column("what", "what", "")
        .column("seconds", "time", "")
        .column("rate", "rate", "")
        .column("unit", "unit", "");
    let (large, sides) = if small { (1 << 14, [32, 64]) } else { (64 << 20, [1024, 2048]) };
    let mut rows = Rows { table, large, sides, failed: false };
    rows.run("copies", copies);
    rows.run("elementwise", elementwise);
    rows.run("rows", by_rows);
    rows.run("launches", launches);
    rows.run("matmul", matmuls);
    if cublas {
        rows.run("cuBLAS", peer);
    }
    (rows.table, rows.failed)
}

/// The median time of a call on the device, of `count` calls between two events.
fn gpu_seconds(count: usize, mut call: impl FnMut()) -> f64 {
    let (driver, stream) = (GPU.driver(), GPU.driver().default_stream());
    let mut run = || {
        let before = driver.record(stream).expect("an event");
        (0..count).for_each(|_| call());
        let after = driver.record(stream).expect("an event");
        GPU.synchronize().expect("the device works");
        let time = driver.elapsed(&before, &after).expect("both are done");
        driver.release(before);
        driver.release(after);
        time as f64 / 1e9 / count as f64
    };
    run();
    let mut times: Vec<f64> = (0..RUNS).map(|_| run()).collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn waited<T>(result: T) -> T {
    GPU.synchronize().expect("the device works");
    result
}

fn large(rows: &Rows) -> Tensor {
    Tensor::rand(&[rows.large], &mut Generator::new(7)).to(GPU)
}

fn copies(rows: &mut Rows) {
    let (driver, stream) = (GPU.driver(), GPU.driver().default_stream());
    let bytes = 4 * rows.large;
    let mut host = vec![1_u8; bytes];
    let [a, b] = [(); 2].map(|()| driver.alloc(bytes as u64).expect("256 MiB"));
    let pageable = HostMemory::Pageable;
    let to_device = median_seconds(RUNS, || {
        waited(driver.copy_to_device(a, &host, pageable, stream)).expect("a copy");
    });
    rows.add("copy to the device, pageable", to_device, bytes as f64, "GB/s");
    let to_host = median_seconds(RUNS, || {
        waited(driver.copy_to_host(&mut host, a, pageable, stream)).expect("a copy");
    });
    rows.add("copy to the host, pageable", to_host, bytes as f64, "GB/s");
    let within = gpu_seconds(10, || driver.copy_on_device(b, a, bytes as u64, stream).expect("it"));
    rows.add("copy on the device, read and written", within, 2.0 * bytes as f64, "GB/s");
    [a, b].map(|at| driver.free(at)).into_iter().for_each(|freed| freed.expect("it was there"));
    let pinned = Tensor::zeros(&[rows.large]).pin_memory();
    let to_device = median_seconds(RUNS, || drop(waited(pinned.to_non_blocking(GPU))));
    rows.add("pinned tensor to the device, with its memory", to_device, bytes as f64, "GB/s");
    let there = pinned.to(GPU);
    let to_host = median_seconds(RUNS, || drop(waited(there.to_non_blocking(Device::Cpu))));
    rows.add("tensor to the host, with pinning its memory", to_host, bytes as f64, "GB/s");
}

fn elementwise(rows: &mut Rows) {
    let (x, y, bytes) = (large(rows), large(rows), 4.0 * rows.large as f64);
    let seconds = gpu_seconds(10, || x.add_(&y, 1.0));
    rows.add("add_ f32, in place", seconds, 3.0 * bytes, "GB/s");
    let seconds = gpu_seconds(10, || drop(x.add(&y)));
    rows.add("add f32, with the result's memory", seconds, 3.0 * bytes, "GB/s");
    let seconds = gpu_seconds(10, || drop(x.gelu()));
    rows.add("gelu f32, with the result's memory", seconds, 2.0 * bytes, "GB/s");
    let half = x.to(DType::F16);
    let seconds = gpu_seconds(10, || half.add_(&half, 1.0));
    rows.add("add_ f16 to itself, in place", seconds, bytes, "GB/s");
}

fn by_rows(rows: &mut Rows) {
    let (x, bytes) = (large(rows).reshape(&[rows.large / 4096, 4096]), 4.0 * rows.large as f64);
    let seconds = gpu_seconds(10, || drop(x.sum()));
    rows.add("sum of all, f32", seconds, bytes, "GB/s");
    let seconds = gpu_seconds(10, || drop(x.softmax(1)));
    rows.add("softmax of rows of 4096, f32", seconds, 2.0 * bytes, "GB/s");
}

/// On one number, so that the launch is all there is.
fn launches(rows: &mut Rows) {
    let x = Tensor::ones(&[1]).to(GPU);
    let count = 10_000;
    let queued = median_seconds(RUNS, || {
        (0..count).for_each(|_| x.mul_(&x));
        waited(());
    });
    rows.time("a launch of many, mul_ of one number", queued / f64::from(count));
    let alone = median_seconds(RUNS, || {
        for _ in 0..100 {
            x.mul_(&x);
            waited(());
        }
    });
    rows.time("a launch that is waited for", alone / 100.0);
}

fn square(n: usize, dtype: DType) -> [Tensor; 2] {
    let mut generator = Generator::new(7);
    [(); 2].map(|()| Tensor::randn(&[n, n], &mut generator).to(GPU).to(dtype))
}

fn matmuls(rows: &mut Rows) {
    let [small, large] = rows.sides;
    for (n, dtype) in [(small, DType::F32), (large, DType::F32), (large, DType::F16)] {
        let [a, b] = square(n, dtype);
        for kernel in MatmulKernel::ALL {
            let seconds = gpu_seconds(3, || drop(engine_room::gpu::matmul_with(kernel, &a, &b)));
            let what = format!("matmul {n} {dtype}, {kernel:?}");
            rows.add(&what, seconds, 2.0 * (n * n * n) as f64, "GFLOP/s");
        }
    }
}

/// The library that a framework would call, in f32 without tensor cores.
fn peer(rows: &mut Rows) {
    let library = match Cublas::load() {
        Ok(library) => library,
        Err(reason) => return print(&format!("cuBLAS: {reason}\n")),
    };
    for n in rows.sides {
        let [a, b] = square(n, DType::F32);
        let c = Tensor::zeros(&[n, n]).to(GPU);
        library.product(&a, &b, &c).expect("cuBLAS multiplies");
        let wrong = waited(c.clone()).sub(&a.matmul(&b)).abs().max().item();
        assert!(wrong < 1e-2, "cuBLAS and the engine differ by {wrong}");
        let seconds = median_seconds(RUNS, || {
            (0..10).for_each(|_| library.product(&a, &b, &c).expect("cuBLAS multiplies"));
            waited(());
        });
        let work = 2.0 * (n * n * n) as f64;
        rows.add(&format!("matmul {n} f32, cuBLAS"), seconds / 10.0, work, "GFLOP/s");
    }
}
