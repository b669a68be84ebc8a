//! The GPU's optimizers and random numbers, against the CPU's: to the last bit. Named in .ci/run.

#[path = "gpu/agree.rs"]
mod agree;

use agree::{agree, gpu};
use engine_room::nn::Parameter;
use engine_room::optim::{AdamW, Optimizer, Sgd, clip_grad_norm_};
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor};

const SEED: u64 = 92;

/// Makes an optimizer for some parameters.
type Make = fn(Vec<Parameter>) -> Box<dyn Optimizer>;

const OPTIMIZERS: [(&str, Make); 8] = [
    ("adamw", |p| Box::new(AdamW::new(p, 0.05))),
    ("adamw with decay", |p| Box::new(AdamW::new(p, 0.02).weight_decay(0.3))),
    ("adamw with small beta1", |p| Box::new(AdamW::new(p, 0.05).betas((0.4, 0.99)))),
    ("adamw with state as narrow as x", |p| Box::new(AdamW::new(p, 0.05).master_weights(false))),
    ("sgd", |p| Box::new(Sgd::new(p, 0.1))),
    ("sgd that climbs", |p| Box::new(Sgd::new(p, 0.1).weight_decay(0.01).maximize(true))),
    ("sgd with momentum", |p| Box::new(Sgd::new(p, 0.1).momentum(0.9).dampening(0.25))),
    ("nesterov", |p| Box::new(Sgd::new(p, 0.1).momentum(0.9).nesterov(true))),
];

/// A parameter after some steps; x[1..] are the gradients. The loss is Σ g · p.
fn stepped(x: &[Tensor], make: Make) -> Tensor {
    let parameter = Parameter::new(x[0].copy());
    let mut optimizer = make(vec![parameter.clone()]);
    for gradient in &x[1..] {
        optimizer.zero_grad(true);
        parameter.get().mul(gradient).sum().backward();
        optimizer.step();
    }
    parameter.get().detach()
}

#[test]
fn steps_are_those_of_the_cpu_to_the_last_bit() {
    let mut generator = Generator::new(SEED);
    for (name, make) in OPTIMIZERS {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            for numel in [0, 1, 31, 32, 33, 1023, 1025] {
                let inputs: Vec<Tensor> =
                    (0..4).map(|_| Tensor::randn(&[numel], &mut generator).to(dtype)).collect();
                if numel == 33 {
                    let strange = vec![f32::NAN, f32::INFINITY, 0.0];
                    inputs[2].narrow(0, 0, 3).copy_(&Tensor::from_vec(strange, &[3]));
                }
                agree(&format!("{name} in {dtype}"), &inputs, 0.0, |x| stepped(x, make));
            }
        }
    }
}

/// The norm of the gradients, and the gradients themselves, one after the other.
fn clipped(x: &[Tensor], p: f64) -> Tensor {
    let params: Vec<Parameter> = x.iter().map(|x| Parameter::new(x.detach())).collect();
    for param in &params {
        let x = param.get();
        x.mul(&x.detach()).sum().backward();
    }
    let norm = clip_grad_norm_(&params, 0.5, p, true).expect("it is finite");
    let device = x[0].device();
    let mut all = vec![Tensor::full_on(&[1], norm, DType::F32, device)];
    all.extend(params.iter().map(|param| param.get().grad().expect("made above").to(DType::F32)));
    Tensor::cat(&all.iter().collect::<Vec<_>>(), 0)
}

#[test]
fn gradients_are_clipped_by_the_same_norm() {
    let mut generator = Generator::new(SEED);
    for (dtype, tolerance) in [(DType::F32, 1e-6), (DType::F16, 1e-3), (DType::BF16, 8e-3)] {
        let x = [31, 1025].map(|n| Tensor::randn(&[n], &mut generator).to(dtype));
        for p in [1.0, 2.0, 3.0, f64::INFINITY] {
            agree(&format!("the {p}-norm"), &x, tolerance, |x| clipped(x, p));
        }
    }
}

#[test]
fn random_numbers_are_those_of_the_host() {
    for numel in [0, 1, 3, 31, 32, 33, 1023, 1025, 4099] {
        for drawn in [0, 1, 2, 3, 4, 1001] {
            let [mut here, mut there] = [0; 2].map(|_| Generator::new(SEED << 40 | 7));
            (0..drawn).for_each(|_| {
                here.next_u32();
            });
            there.skip(drawn);
            let want = Tensor::rand(&[numel], &mut here);
            let got = Tensor::rand_on(&[numel], gpu(), &mut there);
            assert_eq!(got.device(), gpu());
            assert_eq!(got.to_vec::<f32>(), want.to_vec::<f32>(), "{numel} after {drawn}");
            assert_eq!((here.state(), here.next_u32()), (there.state(), there.next_u32()));
        }
    }
    // Beyond 2^32 counters, the counter's upper half counts.
    let far = engine_room::rng::GeneratorState { seed: SEED, drawn: (1 << 34) - 2 };
    let [mut here, mut there] = [0; 2].map(|_| Generator::from_state(far));
    let want = Tensor::rand(&[9], &mut here);
    assert_eq!(Tensor::rand_on(&[9], gpu(), &mut there).to_vec::<f32>(), want.to_vec::<f32>());
}

#[test]
fn dropout_leaves_the_same_elements() {
    let mut generator = Generator::new(SEED);
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for p in [0.1, 0.5, 1.0] {
            let x = Tensor::rand(&[33, 31], &mut generator).add_scalar(0.5).to(dtype);
            agree("dropout", &[x], 0.0, |x| {
                x[0].transpose(0, 1).dropout(p, true, &mut Generator::new(SEED))
            });
        }
    }
    let mut generator = Generator::new(SEED);
    let ones = Tensor::full_on(&[100, 1000], 1, DType::F32, Device::Cpu);
    let stayed = ones.dropout(0.1, true, &mut generator).gt_scalar(0).to(DType::F32).sum().item();
    // Five standard deviations of a binomial distribution.
    assert!((stayed - 90_000.0).abs() < 5.0 * 94.9, "{stayed} of 100,000 stayed");
}
