//! The three versions of the matrix product: what each one counts, and its modelled time.

use engine_room::gpu::{MatmulKernel, matmul_with};
use engine_room::rng::Generator;
use engine_room::sim::{self, Gpu, Launches};
use engine_room::{Device, Tensor};
use engine_room_labs::{Cell, Table};

use super::share;

/// Rows and columns of both factors.
const SIDE: usize = 512;

/// The GPU that changes from one model to the next.
const NUMBER: usize = 1;

/// A row for each version.
pub fn table() -> Table {
    let mut table = Table::new()
        .column("kernel", "kernel", "")
        .column("warp_instructions", "instructions", "")
        .column("load_sectors", "load sectors", "")
        .column("shared_requests", "shared requests", "")
        .column("conflicts_per_shared", "conflicts", "");
    for (key, heading) in TIMES {
        table = table.column(key, heading, "");
    }
    let mut generator = Generator::new(9);
    let factors =
        [(); 2].map(|()| Tensor::rand(&[SIDE, SIDE], &mut generator).to(Device::Sim(NUMBER)));
    for (kernel, name) in MatmulKernel::ALL.into_iter().zip(NAMES) {
        let launches = Gpu::ALL.map(|gpu| launched(gpu, kernel, name, &factors));
        let counters = &launches[0].counters;
        let counted = [
            Cell::from(name),
            Cell::Count(counters.warp_instructions),
            Cell::Count(counters.global_load_sectors),
            Cell::Count(counters.shared_requests),
            share(counters.shared_bank_conflicts, counters.shared_requests),
        ];
        let times = launches.map(|launches| Cell::Seconds(launches.modelled_ns as f64 * 1e-9));
        table.row(counted.into_iter().chain(times));
    }
    table
}

/// The kernels of [`MatmulKernel::ALL`].
const NAMES: [&str; 3] = ["matmul_naive_f32", "matmul_shared_tile_f32", "matmul_register_tile_f32"];

/// The columns of [`Gpu::ALL`].
const TIMES: [(&str, &str); 4] = [
    ("t4_seconds", "T4"),
    ("a100_seconds", "A100"),
    ("h100_seconds", "H100"),
    ("h200_seconds", "H200"),
];

fn launched(gpu: Gpu, kernel: MatmulKernel, name: &str, [a, b]: &[Tensor; 2]) -> Launches {
    sim::select_gpu(NUMBER, gpu);
    sim::reset(NUMBER);
    drop(matmul_with(kernel, a, b));
    sim::launches_of(NUMBER, name)
}
