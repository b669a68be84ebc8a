//! Roofs: how fast a processor can move bytes and compute at most.
//!
//! The roofline model (S. Williams, A. Waterman and D. Patterson, "Roofline: an Insightful Visual
//! Performance Model for Multicore Architectures", Communications of the ACM 52 (4), 2009).

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use crate::Tensor;
use crate::device::Device;
use crate::device::sim::Gpu;

/// A limit that work can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Roof {
    /// The bandwidth of the memory.
    Memory,
    /// The bandwidth of the L2 cache.
    L2,
    /// The rate of floating-point operations.
    Arithmetic,
}

impl fmt::Display for Roof {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Roof::Memory => "memory",
            Roof::L2 => "L2",
            Roof::Arithmetic => "arithmetic",
        })
    }
}

/// What a processor can reach at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofs {
    /// `T4`, `this CPU`.
    pub name: String,
    /// Bytes per second between it and its memory, reading and writing.
    pub memory: f64,
    /// Bytes per second from and to its L2 cache, if that has a roof.
    pub l2: Option<f64>,
    /// `f32` operations per second, a multiply-add being two. Tensor cores do not count: no kernel
    /// of the engine uses them.
    pub flops: f64,
    /// Where the numbers come from.
    pub source: &'static str,
    /// Whether these are the host's, so that operations lie below them and not kernels.
    pub of_host: bool,
}

/// Elements of a vector whose bandwidth is measured: two of them have 256 MiB, more than caches.
const VECTOR: usize = 32 << 20;

/// Rows and columns of a matrix whose product is measured.
const MATRIX: usize = 1024;

/// How often each is measured. The shortest time counts, as in McCalpin's STREAM: what else runs on
/// a computer only ever takes time away.
const ROUNDS: usize = 5;

impl Roofs {
    /// Those of a GPU by the published figures that simulated ones go by. The peak of `f32` is
    /// multiprocessors · lanes · 2 · boost clock.
    pub fn of(gpu: Gpu) -> Roofs {
        let figures = gpu.figures();
        let lanes = u64::from(figures.multiprocessors * figures.multiprocessor.rates.single);
        Roofs {
            name: figures.name.to_string(),
            memory: figures.memory as f64,
            l2: Some(figures.l2 as f64),
            flops: (2 * lanes * figures.clock) as f64,
            source: "published figures",
            of_host: false,
        }
    }

    /// Those of this computer, measured now with all its cores: x += y over vectors that fit into
    /// no cache (12 bytes an element: two read, one written), and a matrix product by the engine.
    /// These are what the engine's own loops reach, so its operations can be held against them.
    /// Takes some tenths of a second, and 256 MiB.
    pub fn measure_cpu() -> Roofs {
        Roofs {
            name: "this CPU".to_string(),
            memory: measured_bandwidth(),
            l2: None,
            flops: measured_flops(),
            source: "measured with x += y and a matrix product",
            of_host: true,
        }
    }

    /// The intensity, in operations a byte, at which the roofs of memory and arithmetic meet: below
    /// it bytes are what a kernel waits for, above it arithmetic.
    pub fn ridge(&self) -> f64 {
        self.flops / self.memory
    }

    /// The most operations per second that work of so many operations a byte can reach.
    pub fn attainable(&self, intensity: f64) -> f64 {
        (self.memory * intensity).min(self.flops)
    }
}

fn measured_bandwidth() -> f64 {
    let x = Tensor::full(&[VECTOR], 0.0);
    let y = Tensor::full(&[VECTOR], 1.0);
    let seconds =
        shortest(|| Device::Cpu.backend().add_in_place(x.view_of(), y.view_of(), 1.into()));
    (x.nbytes() * 3) as f64 / seconds
}

fn measured_flops() -> f64 {
    let a = Tensor::full(&[1, MATRIX, MATRIX], 1.0);
    let seconds = shortest(|| {
        black_box(Device::Cpu.backend().matmul(a.view_of(), a.view_of()));
    });
    2.0 * (MATRIX as f64).powi(3) / seconds
}

/// Seconds of the fastest of some runs, after one that does not count.
fn shortest(mut run: impl FnMut()) -> f64 {
    run();
    let mut timed = || {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| timed()).fold(f64::INFINITY, f64::min)
}
