//! The matrix product, in three versions; see `kernels/matmul.cu`.

use crate::device::View;
use crate::device::driver::Params;
use crate::device::gpu::launch::{BLOCK, Fresh, blocks_for, count, kernel_for, launch, source};
use crate::storage::Storage;

/// How a GPU multiplies matrices: which kernel of `kernels/matmul.cu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatmulKernel {
    /// One thread an element, straight from memory.
    Naive,
    /// Tiles of 16 × 16 in shared memory; floating-point only.
    SharedTile,
    /// Tiles of 64 × 64 in shared memory, and 4 × 4 elements a thread in registers; floating-point
    /// only.
    RegisterTile,
}

impl MatmulKernel {
    /// Every version, the simplest first.
    pub const ALL: [MatmulKernel; 3] =
        [MatmulKernel::Naive, MatmulKernel::SharedTile, MatmulKernel::RegisterTile];

    /// The one for a result of so many matrices, rows and columns.
    ///
    /// With fewer than 8 rows or columns a number is used too seldom to be worth two barriers. The
    /// register tile does the least work, but few blocks do it: where there are fewer than 16 of
    /// them, many multiprocessors would have none. (By the modelled times of square products, a T4
    /// gains from about 10 blocks on, and an H100 from about 30.) And a tile has the same cost
    /// however much of it lies beyond an edge: of each of its sides half must be used.
    fn for_shape(batches: usize, rows: usize, columns: usize) -> MatmulKernel {
        let least = rows.min(columns);
        if least < 8 {
            return MatmulKernel::Naive;
        }
        let blocks = batches * rows.div_ceil(64) * columns.div_ceil(64);
        if least >= 32 && blocks >= 16 {
            MatmulKernel::RegisterTile
        } else {
            MatmulKernel::SharedTile
        }
    }

    fn name(self) -> &'static str {
        match self {
            MatmulKernel::Naive => "matmul_naive",
            MatmulKernel::SharedTile => "matmul_shared_tile",
            MatmulKernel::RegisterTile => "matmul_register_tile",
        }
    }

    /// Rows and columns of the tile that a block makes, and the block's threads.
    fn tile(self) -> (u32, [u32; 3]) {
        match self {
            MatmulKernel::Naive => (1, [BLOCK, 1, 1]),
            MatmulKernel::SharedTile => (16, [16, 16, 1]),
            MatmulKernel::RegisterTile => (64, [BLOCK, 1, 1]),
        }
    }
}

/// `(B, M, K) · (B, K, N) → (B, M, N)` by the version that suits the shape.
pub fn matmul(a: View, b: View) -> Storage {
    let (shape, columns) = (a.layout.shape(), b.layout.shape()[2]);
    let kernel = match a.dtype().is_floating_point() {
        true => MatmulKernel::for_shape(shape[0], shape[1], columns),
        false => MatmulKernel::Naive,
    };
    matmul_by(kernel, a, b)
}

/// `(B, M, K) · (B, K, N) → (B, M, N)` by one version.
pub fn matmul_by(kernel: MatmulKernel, a: View, b: View) -> Storage {
    let (a_shape, b_shape) = (a.layout.shape(), b.layout.shape());
    let [batches, m, k, n] = [a_shape[0], a_shape[1], a_shape[2], b_shape[2]];
    let numel = count(OP, batches * m * n);
    let (device, name) = (a.storage.device(), kernel_for(OP, kernel.name(), a));
    let c = Fresh::new(device, a.dtype(), numel as usize);
    let (left, right) = (source(OP, a), source(OP, b));
    let mut params = Params::new().pointer(left.at).pointer(right.at).pointer(c.at());
    for size in [batches, m, n, k] {
        params = params.u32(count(OP, size));
    }
    for &step in a.layout.strides().iter().chain(b.layout.strides().iter()) {
        params = params.i64(step as i64);
    }
    let (side, block) = kernel.tile();
    let tiles = |size: usize| (size as u32).div_ceil(side);
    let blocks = match kernel {
        MatmulKernel::Naive => blocks_for(numel),
        _ => batches as u32 * tiles(m) * tiles(n),
    };
    launch(device, OP, &name, ([blocks, 1, 1], block), &params);
    c.into_storage()
}

const OP: &str = "matmul";
