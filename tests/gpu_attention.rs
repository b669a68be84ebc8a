//! Attention on a GPU, forward and backward, against the CPU.

#[path = "gpu/agree.rs"]
mod agree;
#[path = "engine/refused.rs"]
mod refused;

use agree::{agree, gpu};
use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::rng::Generator;
use engine_room::sim::Launches;
use engine_room::{Attention, DType, Device, Tensor, sim};
use refused::refused;

const FLOATS: [(DType, f64); 3] = [(DType::F32, 4e-6), (DType::F16, 1e-3), (DType::BF16, 8e-3)];

fn normal(shape: &[usize], dtype: DType, generator: &mut Generator) -> Tensor {
    Tensor::randn(shape, generator).to(dtype)
}

/// What one call is told, apart from its operands.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    masked: bool,
    causal: bool,
    scale: Option<f64>,
}

/// Attention of q, k, v and, if there is one, the mask.
fn attend(x: &[Tensor], told: Told) -> Tensor {
    let mask = told.masked.then(|| &x[3]);
    let options = Attention { mask, causal: told.causal, scale: told.scale };
    x[0].scaled_dot_product_attention(&x[1], &x[2], options)
}

/// The gradients of q, k and v on a device. The last input is the result's gradient.
fn gradients(inputs: &[Tensor], told: Told, device: Device) -> [Tensor; 3] {
    let mut inputs: Vec<Tensor> = inputs.iter().map(|x| x.to(device).detach()).collect();
    for x in &mut inputs[..3] {
        *x = x.clone().requires_grad_(true);
    }
    attend(&inputs, told).backward_with(&inputs[inputs.len() - 1].detach());
    [0, 1, 2].map(|i| inputs[i].grad().expect("it was asked for"))
}

/// Compares the result and the gradients of q, k and v.
#[track_caller]
fn agrees(inputs: &[Tensor], tolerance: f64, told: Told) {
    let what = format!("attention {told:?}");
    agree(&what, &inputs[..inputs.len() - 1], tolerance, |x| attend(x, told));
    let [here, there] = [Device::Cpu, gpu()].map(|device| gradients(inputs, told, device));
    for i in 0..3 {
        agree(&format!("gradient {i} of {what}"), inputs, 2.0 * tolerance, |x| {
            if x[0].device() == gpu() { there[i].clone() } else { here[i].clone() }
        });
    }
}

/// q, k, v and dy for `(L, S, E, V)`.
fn operands(
    batch: &[usize],
    [queries, keys, depth, width]: [usize; 4],
    dtype: DType,
    generator: &mut Generator,
) -> Vec<Tensor> {
    let shapes = [[queries, depth], [keys, depth], [keys, width], [queries, width]];
    shapes.map(|last| normal(&[batch, &last].concat(), dtype, generator)).to_vec()
}

#[test]
fn heads_of_any_shape() {
    let mut generator = Generator::new(811);
    let sizes = [1, 2, 31, 32, 33, 65];
    let widths = [1, 3, 16, 31, 32, 33, 64];
    for (dtype, tolerance) in FLOATS {
        for round in 0..10 {
            let [queries, keys] = [(); 2].map(|()| sizes[generator.below(sizes.len())]);
            let [depth, width] = [(); 2].map(|()| widths[generator.below(widths.len())]);
            let sizes = [queries, keys, depth, width];
            let told = Told { causal: round % 2 == 1, ..Told::default() };
            agrees(&operands(&[2], sizes, dtype, &mut generator), tolerance, told);
        }
    }
}

#[test]
fn wide_heads_and_long_ones() {
    let mut generator = Generator::new(812);
    let told = Told { scale: Some(0.3), ..Told::default() };
    for (dtype, tolerance) in FLOATS {
        agrees(&operands(&[1, 2], [33, 40, 128, 100], dtype, &mut generator), tolerance, told);
    }
    let long = operands(&[], [1025, 130, 8, 5], DType::F32, &mut generator);
    agrees(&long, 4e-6, Told { causal: true, ..Told::default() });
    let long = operands(&[], [3, 1023, 65, 4], DType::F32, &mut generator);
    agrees(&long, 4e-6, Told::default());
    let wide = operands(&[], [2, 2, 129, 4], DType::F32, &mut generator);
    let there: Vec<Tensor> = wide.iter().map(|x| x.to(gpu())).collect();
    let refusal = refused(|| attend(&there, Told::default())).to_string();
    let says = ["heads of up to 128 numbers", "have 129"];
    assert!(says.iter().all(|words| refusal.contains(words)), "{refusal}");
}

/// A number added to each score: none, or −∞ with probability ½; one query sees nothing.
fn holes(shape: &[usize], generator: &mut Generator) -> Tensor {
    let draw = |i: usize| match (i / shape[shape.len() - 1] % 5, generator.below(2)) {
        (3, _) | (_, 0) => f32::NEG_INFINITY,
        _ => 0.25 * generator.normal(),
    };
    let count = shape.iter().product();
    Tensor::from_vec((0..count).map(draw).collect(), shape)
}

#[test]
fn a_mask_in_any_place() {
    let mut generator = Generator::new(813);
    let told = Told { masked: true, ..Told::default() };
    for (dtype, tolerance) in FLOATS {
        for shape in [&[3, 2, 35, 40][..], &[2, 35, 40], &[35, 40], &[3, 1, 35, 1], &[40]] {
            let mut inputs = operands(&[3, 2], [35, 40, 9, 20], dtype, &mut generator);
            inputs.insert(3, holes(shape, &mut generator).to(dtype));
            agrees(&inputs, tolerance, told);
        }
    }
}

/// What the operation makes of other operations: a `bool` mask, the gradients of operands that are
/// shared and of the mask, and a call without keys.
#[test]
fn what_comes_before_and_after_the_kernels() {
    let mut generator = Generator::new(818);
    let told = Told { masked: true, ..Told::default() };
    let mut inputs = operands(&[2], [35, 40, 9, 20], DType::F32, &mut generator);
    let seen = Tensor::randint(0, 3, &[35, 40], &mut generator).to(DType::Bool);
    inputs.insert(3, seen);
    agrees(&inputs, 4e-6, told);
    let mask = normal(&[35, 40], DType::F32, &mut generator);
    inputs[3] = mask;
    inputs[1] = inputs[1].select(0, 0);
    agrees(&inputs, 4e-6, told);
    agree("the gradient of the mask", &inputs, 1e-5, |x| {
        let mask = x[3].detach().requires_grad_(true);
        let mut with_mask = x.to_vec();
        with_mask[3] = mask.clone();
        attend(&with_mask, told).backward_with(&x[4]);
        mask.grad().expect("it was asked for")
    });
    for causal in [false, true] {
        let none = operands(&[2], [3, 0, 4, 5], DType::F32, &mut generator);
        agrees(&none, 0.0, Told { causal, ..Told::default() });
    }
}

#[test]
fn a_query_that_sees_nothing_gets_nothing() {
    let mut generator = Generator::new(814);
    let mut inputs = operands(&[], [2, 5, 4, 4], DType::F32, &mut generator);
    inputs.insert(3, Tensor::full(&[2, 5], f32::NEG_INFINITY));
    let told = Told { masked: true, ..Told::default() };
    agrees(&inputs, 0.0, told);
    let there: Vec<Tensor> = inputs.iter().map(|x| x.to(gpu())).collect();
    assert_eq!(attend(&there, told).to_vec::<f32>(), [0.0; 8]);
}

/// As a model has them: heads beside each other in rows, one set of keys for several queries.
#[test]
fn operands_that_lie_in_any_way() {
    let mut generator = Generator::new(815);
    for (dtype, tolerance) in FLOATS {
        let qkv = normal(&[2, 33, 3, 4, 24], dtype, &mut generator);
        agree("attention of heads in rows", &[qkv], tolerance, |x| {
            let heads = [0, 1, 2].map(|i| x[0].select(2, i).transpose(1, 2));
            attend(&heads, Told { causal: true, ..Told::default() })
        });
        let shared = [&[2, 4, 33, 24][..], &[2, 1, 50, 24], &[50, 24]];
        let shared = shared.map(|shape| normal(shape, dtype, &mut generator));
        agree("attention with shared keys", &shared, tolerance, |x| attend(x, Told::default()));
        agree("attention with turned keys", &shared, tolerance, |x| {
            let keys = x[1].slice(2, 0, 24, 1).transpose(2, 3);
            let values = x[2].slice(0, 0, 48, 2);
            attend(&[x[0].clone(), keys, values], Told::default())
        });
    }
}

#[test]
fn what_is_not_a_number_spreads_as_on_the_cpu() {
    let mut generator = Generator::new(816);
    for value in [f32::NAN, f32::INFINITY] {
        let mut inputs = operands(&[], [34, 40, 8, 8], DType::F32, &mut generator);
        let mut mask = vec![0.0; 34 * 40];
        mask[5 * 40 + 37] = value;
        inputs.insert(3, Tensor::from_vec(mask, &[34, 40]));
        let inputs = &inputs[..4];
        let told = Told { masked: true, ..Told::default() };
        agree(&format!("attention with {value}"), inputs, 4e-6, |x| attend(x, told));
    }
}

/// Two heads of 128 queries and keys: what runs, from a device of its own.
fn launched(told: Told) -> (Launches, Launches) {
    const DEVICE: Device = Device::Sim(61);
    let mut generator = Generator::new(817);
    let inputs = operands(&[2], [128, 128, 64, 64], DType::F32, &mut generator);
    let inputs: Vec<Tensor> = inputs.iter().map(|x| x.to(DEVICE)).collect();
    let before = memory_allocated(DEVICE);
    reset_peak_memory_stats(DEVICE);
    sim::reset(61);
    attend(&inputs[..3], told);
    let forward = sim::launches(61);
    let grown = max_memory_allocated(DEVICE) - before;
    assert!(grown < 2 * 128 * 128 * 4, "{grown} bytes: as much as all weights");
    gradients(&inputs, told, DEVICE);
    (forward, sim::launches(61))
}

#[test]
fn requests_are_whole_and_half_of_a_causal_call_is_not_made() {
    let (forward, all) = launched(Told::default());
    for launches in [forward.counters, all.counters] {
        // Four sectors have 32 numbers: one for each lane.
        assert!(launches.global_load_sectors <= 4 * launches.global_load_requests);
        assert!(launches.global_store_sectors <= 4 * launches.global_store_requests);
        assert_eq!(launches.shared_bank_conflicts, 0);
    }
    assert_eq!((forward.count, all.count), (1, 4));
    let products = 2 * (2 * 128 * 128 * 64);
    // Forward q · kᵀ and p · v; then, backward, four products for dq and four for dk and dv.
    let all_products = products * (2 + 2 + 4 + 4);
    let flops = all.counters.flops;
    assert!(flops > all_products && flops < all_products * 6 / 5, "{flops} of {all_products}");
    let (_, causal) = launched(Told { causal: true, ..Told::default() });
    assert!(causal.counters.flops < flops * 2 / 3);
}
