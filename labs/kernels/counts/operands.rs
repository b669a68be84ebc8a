//! What the kernels are run on: packed tensors on the simulated GPU, the same ones every time.

use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor};

/// Rows and columns of most operands.
pub const SIDE: usize = 512;
/// Elements of most operands.
pub const NUMEL: usize = SIDE * SIDE;
/// Rows of those that are too long for one warp and for one sorted run.
pub const LONG: [usize; 2] = [64, 4096];
/// Heads, rows and columns of the operands of attention, for each width that has a kernel.
pub const HEADS: [[usize; 3]; 2] = [[8, 256, 64], [4, 256, 128]];

/// The GPU.
pub const GPU: Device = Device::Sim(0);

/// Tensors of 512 x 512 elements, if nothing else is said.
pub struct Operands {
    /// From 0.5 to 1.5.
    pub x: Tensor,
    /// Others of that kind.
    pub y: Tensor,
    /// x in half as many bytes.
    pub half: Tensor,
    /// From 1 to 999.
    pub integers: [Tensor; 2],
    /// As often true as false, in no order.
    pub mask: Tensor,
    /// In each row, the numbers of its elements in a random order.
    pub in_rows: Tensor,
    /// The numbers of 512 rows in a random order.
    pub rows: Tensor,
    /// The places of all elements in a random order.
    pub places: Tensor,
    /// 512 elements.
    pub weight: Tensor,
    /// x with rows of another length, [`LONG`].
    pub long: Tensor,
    /// q, k, v and dy, of each of [`HEADS`].
    pub heads: [[Tensor; 4]; 2],
}

impl Operands {
    /// Draws them, and copies them to the GPU.
    pub fn new() -> Operands {
        let mut generator = Generator::new(9);
        let mut uniform =
            |shape: &[usize]| Tensor::rand(shape, &mut generator).add_scalar(0.5).to(GPU);
        let square = [SIDE, SIDE];
        let [x, y, random] = [(); 3].map(|()| uniform(&square));
        let heads = HEADS.map(|shape| [(); 4].map(|()| uniform(&shape)));
        let weight = uniform(&[SIDE]);
        let mut integers =
            || Tensor::randint(1, 1000, &square, &mut generator).to(DType::I32).to(GPU);
        let integers = [integers(), integers()];
        let places = Tensor::randperm(NUMEL, &mut generator).reshape(&square).to(GPU);
        Operands {
            half: x.to(DType::F16),
            mask: random.lt_scalar(1.0),
            in_rows: random.argsort(1),
            rows: Tensor::randperm(SIDE, &mut generator).to(GPU),
            long: x.reshape(&LONG),
            x,
            y,
            integers,
            places,
            weight,
            heads,
        }
    }
}

/// A copy that asks for a gradient.
pub fn leaf(x: &Tensor) -> Tensor {
    x.copy().requires_grad_(true)
}

/// Calls an operation, and then its other half.
pub fn backward(x: &Tensor, dy: &Tensor, call: impl Fn(&Tensor) -> Tensor) {
    call(&leaf(x)).backward_with(dy);
}
