//! The matrix product on a GPU: three kernels that give the same bits, and what each one costs.

#[path = "gpu/agree.rs"]
mod agree;
#[path = "engine/refused.rs"]
mod refused;

use agree::{agree, gpu};
use engine_room::gpu::{MatmulKernel, matmul_with};
use engine_room::rng::Generator;
use engine_room::sim::{Gpu, Launches};
use engine_room::{DType, Device, Tensor, sim};
use refused::refused;

const FLOATS: [(DType, f64); 3] = [(DType::F32, 2e-6), (DType::F16, 1e-3), (DType::BF16, 8e-3)];

fn normal(shape: &[usize], dtype: DType, generator: &mut Generator) -> Tensor {
    Tensor::randn(shape, generator).to(dtype)
}

#[test]
fn the_product_of_any_shape() {
    let mut generator = Generator::new(801);
    let sizes = [0, 1, 2, 7, 8, 15, 31, 32, 33, 64, 65, 100];
    for (dtype, tolerance) in FLOATS {
        for _ in 0..25 {
            let [m, k, n] = [(); 3].map(|()| sizes[generator.below(sizes.len())]);
            let a = normal(&[m, k], dtype, &mut generator);
            let b = normal(&[k, n], dtype, &mut generator);
            agree("matmul", &[a, b], tolerance, |x| x[0].matmul(&x[1]));
        }
    }
}

#[test]
fn long_and_thin_ones() {
    let mut generator = Generator::new(802);
    for [m, k, n] in
        [[1, 1023, 1], [1025, 1, 3], [1, 33, 1025], [40, 1025, 40], [1023, 2, 1023], [129, 33, 1]]
    {
        let a = normal(&[m, k], DType::F32, &mut generator);
        let b = normal(&[k, n], DType::F32, &mut generator);
        agree("matmul", &[a, b], 1e-5, |x| x[0].matmul(&x[1]));
    }
    let vectors = [4, 4].map(|n| normal(&[n], DType::F32, &mut generator));
    agree("dot", &vectors, 1e-6, |x| x[0].dot(&x[1]));
}

#[test]
fn integers_wrap_around() {
    let mut generator = Generator::new(803);
    for dtype in [DType::I64, DType::I32, DType::U8] {
        let a = Tensor::randint(0, 200, &[3, 40, 33], &mut generator).to(dtype);
        let b = Tensor::randint(0, 1 << 31, &[3, 33, 50], &mut generator).to(dtype);
        agree("matmul", &[a, b], 0.0, |x| x[0].matmul(&x[1]));
    }
}

#[test]
fn operands_that_lie_in_any_way() {
    let mut generator = Generator::new(804);
    for (dtype, tolerance) in FLOATS {
        let a = normal(&[3, 70, 90], dtype, &mut generator);
        let b = normal(&[3, 90, 70], dtype, &mut generator);
        let both = [a, b];
        agree("a^T b^T", &both, tolerance, |x| x[0].transpose(1, 2).matmul(&x[1].transpose(1, 2)));
        agree("slices", &both, tolerance, |x| {
            let a = x[0].slice(1, 3, 66, 2).slice(2, 1, 90, 3);
            a.matmul(&x[1].slice(1, 5, 35, 1).slice(2, 1, 41, 1))
        });
        agree("one matrix for a batch", &both, tolerance, |x| {
            x[0].matmul(&x[1].select(0, 1).expand(&[3, 90, 70]))
        });
        agree("one row for all", &both, tolerance, |x| {
            x[0].slice(1, 2, 3, 1).expand(&[3, 70, 90]).matmul(&x[1])
        });
    }
}

#[test]
fn gradients() {
    let mut generator = Generator::new(805);
    for (dtype, tolerance) in FLOATS {
        for (a, b) in [(&[40, 50][..], &[50, 36][..]), (&[2, 33, 9], &[2, 9, 65])] {
            let inputs = [a, b].map(|shape| normal(shape, dtype, &mut generator));
            let dy = normal(inputs[0].matmul(&inputs[1]).shape(), dtype, &mut generator);
            let inputs = [inputs[0].clone(), inputs[1].clone(), dy];
            for i in [0, 1] {
                agree("the gradient of matmul", &inputs, tolerance, |x| {
                    let x = [0, 1, 2].map(|i| x[i].detach().requires_grad_(i < 2));
                    x[0].matmul(&x[1]).backward_with(&x[2]);
                    x[i].grad().expect("it was asked for")
                });
            }
        }
    }
}

#[test]
fn what_is_not_a_number_stays_what_it_is() {
    let mut generator = Generator::new(806);
    let mut values = normal(&[64 * 64], DType::F32, &mut generator).to_vec::<f32>();
    (values[70], values[700], values[2222]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
    let a = Tensor::from_vec(values, &[64, 64]);
    let b = normal(&[64, 40], DType::F32, &mut generator);
    agree("matmul", &[a, b], 2e-6, |x| x[0].matmul(&x[1]));
}

#[test]
fn batches_broadcast() {
    let mut generator = Generator::new(810);
    let inputs = [&[2, 1, 33, 40][..], &[3, 40, 9]].map(|x| normal(x, DType::F32, &mut generator));
    agree("matmul", &inputs, 2e-6, |x| x[0].matmul(&x[1]));
    for i in [0, 1] {
        agree("the gradient of matmul", &inputs, 2e-6, |x| {
            let x = [0, 1].map(|i| x[i].detach().requires_grad_(true));
            let c = x[0].matmul(&x[1]);
            c.backward_with(&c.detach());
            x[i].grad().expect("it was asked for")
        });
    }
}

#[test]
fn what_a_kernel_is_not_for_is_refused_in_words() {
    let ones = |dtype| Tensor::ones(&[3, 3]).to(dtype).to(gpu());
    let refusal =
        |kernel, a: Tensor, b: Tensor| refused(|| matmul_with(kernel, &a, &b)).to_string();
    let [here, doubles, integers] = [
        refusal(MatmulKernel::Naive, Tensor::ones(&[3, 3]), Tensor::ones(&[3, 3])),
        refusal(MatmulKernel::Naive, ones(DType::F64), ones(DType::F64)),
        refusal(MatmulKernel::RegisterTile, ones(DType::I64), ones(DType::I64)),
    ];
    assert!(here.contains("move both there with to()"), "{here}");
    assert!(doubles.contains("no kernel for f64"), "{doubles}");
    assert!(integers.contains("no kernel for i64"), "{integers}");
    let batches = refusal(MatmulKernel::Naive, ones(DType::F32).unsqueeze(0), ones(DType::F32));
    assert!(batches.contains("two batches of one size"), "{batches}");
}

/// One order of one sum: not one bit may differ.
#[test]
fn the_three_kernels_give_the_same_bits() {
    let mut generator = Generator::new(807);
    for (dtype, _) in FLOATS {
        for [m, k, n] in [[1, 1, 1], [33, 47, 65], [64, 64, 64], [70, 16, 5], [16, 0, 20]] {
            let a = normal(&[2, m, k], dtype, &mut generator).to(gpu());
            let b = normal(&[2, k, n], dtype, &mut generator).to(gpu());
            let bits =
                |kernel| matmul_with(kernel, &a, &b).to(Device::Cpu).to(DType::F32).to_vec::<f32>();
            let [naive, shared, register] = MatmulKernel::ALL.map(bits);
            assert!(naive == shared && shared == register, "{dtype} ({m}, {k}, {n})");
        }
    }
}

/// What a launch counts of a product of two matrices of 128 × 128, from a device of its own.
fn launched(device: usize, kernel: MatmulKernel) -> Launches {
    let mut generator = Generator::new(808);
    let [a, b] =
        [0, 1].map(|_| normal(&[128, 128], DType::F32, &mut generator).to(Device::Sim(device)));
    sim::reset(device);
    matmul_with(kernel, &a, &b);
    sim::launches(device)
}

/// What the table at the head of `kernels/matmul.cu` says, for a product of 2 x 2 such tiles.
#[test]
fn each_kernel_moves_less_than_the_one_before() {
    let [naive, shared, register] = MatmulKernel::ALL.map(|kernel| launched(60, kernel));
    let sectors = [naive, shared, register].map(|of| of.counters.global_load_sectors);
    assert_eq!(sectors, [640, 64, 16].map(|of_tile| 4 * of_tile * 128));
    let passes = |of: Launches| of.counters.shared_requests + of.counters.shared_bank_conflicts;
    assert_eq!(passes(naive), 0);
    // Reads: 2 · 128³ of lanes of the one, an eighth as many of four numbers of the other.
    assert!(passes(shared) >= 2 * 128 * 128 * 128 / 32 && 6 * passes(register) < passes(shared));
    let instructions = [naive, shared, register].map(|of| of.counters.warp_instructions);
    assert!(instructions[0] > instructions[1] && instructions[1] > 2 * instructions[2]);
    assert_eq!([naive, shared, register].map(|of| of.counters.flops), [2 * 128 * 128 * 128; 3]);
}

/// The *modelled* times of the kernels, on a product that gives each GPU something to do.
#[test]
fn the_register_tile_takes_a_third_of_the_naive_kernels_time() {
    let mut generator = Generator::new(809);
    let shapes = [[512, 64], [64, 512]];
    let [a, b] = shapes.map(|shape| normal(&shape, DType::F32, &mut generator).to(Device::Sim(61)));
    for gpu in Gpu::ALL {
        sim::select_gpu(61, gpu);
        let [naive, shared, register] = MatmulKernel::ALL.map(|kernel| {
            sim::reset(61);
            matmul_with(kernel, &a, &b);
            sim::launches(61).modelled_ns
        });
        println!("{gpu}: {naive}, {shared}, {register} ns (modelled)");
        assert!(naive > shared && shared > register, "{gpu}: {naive}, {shared}, {register} ns");
        assert!(register * 100 <= naive * 35, "{gpu}: {register} of {naive} ns");
    }
}
