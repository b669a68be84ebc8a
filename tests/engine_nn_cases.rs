//! Given cases D05, D11, D13, D15 and D17: modules.

#[path = "engine/close.rs"]
mod close;
#[path = "engine/refused.rs"]
mod refused;

use engine_room::nn::{
    BatchNorm1d, Buffer, Dropout, LayerNorm, Linear, Module, Parameter, Parts, RmsNorm, Sequential,
    TransformerBlock,
};
use engine_room::rng::{self, Generator};
use engine_room::{DType, Tensor};
use refused::refused;

fn matrix<const N: usize>(rows: &[[f32; N]]) -> Tensor {
    Tensor::from_vec(rows.concat(), &[rows.len(), N])
}

#[track_caller]
fn agree(got: &Tensor, want: &[f64], tolerance: f64) {
    let got = got.detach().to(DType::F32).to_vec::<f32>();
    assert_eq!(close::difference(&got, want, tolerance), None, "{got:?}");
}

fn names(module: &dyn Module) -> Vec<String> {
    module.named_parameters().into_iter().map(|(name, _)| name).collect()
}

fn saved_names(module: &dyn Module) -> Vec<String> {
    module.state_dict().names().map(str::to_string).collect()
}

/// w · (w · x): two layers, one weight.
struct Twice {
    a: Linear,
    b: Linear,
}

impl Module for Twice {
    fn parts(&self) -> Parts<'_> {
        Parts::new().module("a", &self.a).module("b", &self.b)
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        self.b.forward(&self.a.forward(x))
    }
}

fn twice() -> Twice {
    let weight = Parameter::new(matrix(&[[2.0]]));
    let layer = || Linear { weight: weight.clone(), bias: None };
    Twice { a: layer(), b: layer() }
}

/// What plain gradient descent does with what it is given.
fn step(parameters: &[Parameter], lr: f64) {
    for parameter in parameters {
        let x = parameter.get();
        x.detach().add_(&x.grad().expect("a gradient"), -lr);
    }
}

#[test]
fn d05_a_tied_weight_is_one_parameter() {
    let model = twice();
    assert_eq!(names(&model), ["a.weight"]);
    assert_eq!(model.num_parameters(), 1);
    assert_eq!(saved_names(&model), ["a.weight", "b.weight"]);
    let y = model.forward(&matrix(&[[3.0]]));
    assert_eq!(y.item(), 12.0);
    y.backward();
    assert_eq!(model.b.weight.get().grad().expect("a gradient").item(), 12.0);
    step(&model.parameters(), 0.1);
    let close_to = |x: f32, want: f32| (x - want).abs() < 1e-6;
    assert!(close_to(model.a.weight.get().item(), 0.8), "not -0.4: it is stepped once");
    assert!(close_to(model.b.weight.get().item(), 0.8));
    // Of its kind: three names, an exchange of the tensor, a frozen one, equal numbers not shared.
    let deep = Sequential::new().append(twice()).append(twice());
    assert_eq!(names(&deep), ["0.a.weight", "1.a.weight"]);
    let handle = model.a.weight.clone();
    model.to_dtype(DType::F64);
    assert_eq!((model.b.weight.get().dtype(), handle.get().dtype()), (DType::F64, DType::F64));
    assert!(handle.is(&model.b.weight) && model.parameters().len() == 1);
    let _ = handle.get().requires_grad_(false);
    model.to_dtype(DType::F32);
    assert!(!model.b.weight.get().requires_grad(), "what is frozen stays frozen");
}

#[test]
fn d11_dropout_in_training_and_evaluation() {
    rng::manual_seed(3);
    let ones = Dropout::new(0.25).forward(&Tensor::ones(&[1000])).to_vec::<f32>();
    assert!(ones.iter().all(|&x| x == 0.0 || x == 4.0 / 3.0));
    assert!((200..300).contains(&ones.iter().filter(|&&x| x == 0.0).count()));
    let x = matrix(&[[1.0, 2.0]]).requires_grad_(true);
    assert_eq!(Dropout::new(0.0).forward(&x).to_vec::<f32>(), [1.0, 2.0]);
    let none = Dropout::new(1.0).forward(&x);
    none.sum().backward();
    assert_eq!(none.to_vec::<f32>(), [0.0; 2]);
    assert_eq!(x.grad().expect("a gradient").to_vec::<f32>(), [0.0; 2]);
    let half = Dropout::new(0.5);
    half.eval();
    assert_eq!(half.forward(&x).to_vec::<f32>(), [1.0, 2.0]);
    half.train(true);
    assert_eq!((half.p(), half.is_training()), (0.5, true));
    for p in [1.1, -0.1, f64::NAN] {
        let refusal = refused(|| Dropout::new(p));
        assert!(refusal.to_string().contains("no probability"), "{refusal}");
        assert!(refusal.at.starts_with(file!()), "{}", refusal.at);
    }
    let block = TransformerBlock::new(4, 2, false, 0.5, &mut Generator::new(0));
    let nested =
        Sequential::new().append(Sequential::new().append(block)).append(Dropout::new(0.5));
    let flags = || {
        let mut flags = Vec::new();
        nested.apply(&mut |_, module| {
            if module.type_name() == "Dropout" {
                flags.push(module.is_training());
            }
        });
        flags
    };
    assert_eq!(flags(), [true, true]);
    nested.eval();
    assert_eq!((flags(), nested.is_training()), (vec![false, false], false));
    nested.train(true);
    assert_eq!(flags(), [true, true]);
}

#[test]
fn d13_norms_of_small_and_constant_rows() {
    let small = matrix(&[[1e-3, -1e-3]]);
    let norm = LayerNorm::new(&[2]);
    agree(&norm.forward(&small), &[0.30151134, -0.30151134], 1e-5);
    let rms = RmsNorm { eps: Some(1e-5), ..RmsNorm::new(&[2]) };
    agree(&rms.forward(&small), &[0.30151134, -0.30151134], 1e-5);
    assert_eq!(LayerNorm::new(&[3]).forward(&matrix(&[[5.0; 3]])).to_vec::<f32>(), [0.0; 3]);
    let zeros = matrix(&[[0.0; 3]]).requires_grad_(true);
    let y = LayerNorm::new(&[3]).forward(&zeros);
    y.mul(&matrix(&[[1.0, 2.0, 3.0]])).sum().backward();
    let slope = zeros.grad().expect("a gradient");
    agree(&slope, &[-316.2277660168379, 0.0, 316.2277660168379], 1e-5);
    let half = LayerNorm { eps: 1e-12, ..LayerNorm::new(&[4]) };
    half.to_dtype(DType::F16);
    agree(&half.forward(&Tensor::zeros(&[1, 4]).to(DType::F16)), &[0.0; 4], 1e-5);
    let one = LayerNorm::new(&[1]).forward(&matrix(&[[3.0], [4.0]]));
    assert_eq!(one.to_vec::<f32>(), [0.0; 2]);
    // Of its kind: rows whose squares are no f16, since 300 squared is 90,000; and an RMSNorm of 0.
    let rms = RmsNorm::new(&[8]);
    rms.to_dtype(DType::F16);
    agree(&rms.forward(&Tensor::full(&[1, 8], 300.0).to(DType::F16)), &[1.0; 8], 1e-3);
    let zero = Tensor::zeros(&[1, 8]).to(DType::F16).requires_grad_(true);
    let y = rms.forward(&zero);
    y.sum().backward();
    agree(&y, &[0.0; 8], 0.0);
    // 1 / √1.19e-7 is 2896.3, which an f16 rounds to 2896.
    agree(&zero.grad().expect("a gradient"), &[2896.0; 8], 0.0);
}

struct Ordered {
    z: Linear,
    a: Parameter,
    l: Vec<Linear>,
    buf: Buffer,
    tmp: Buffer,
}

impl Module for Ordered {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
            .module("z", &self.z)
            .parameter("a", &self.a)
            .modules("l", &self.l)
            .buffer("buf", &self.buf)
            .buffer("tmp", &self.tmp)
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        x.clone()
    }
}

#[test]
fn d15_names_are_in_the_order_of_the_definition() {
    let mut rng = Generator::new(0);
    let module = Ordered {
        z: Linear::new(1, 1, true, &mut rng),
        a: Parameter::new(Tensor::zeros(&[1])),
        l: (0..11).map(|_| Linear::new(1, 1, false, &mut rng)).collect(),
        buf: Buffer::new(Tensor::zeros(&[1])),
        tmp: Buffer::non_persistent(Tensor::zeros(&[1])),
    };
    let listed: Vec<String> = (0..11).map(|i| format!("l.{i}.weight")).collect();
    let own = ["z.weight", "z.bias", "a"].map(String::from);
    let wanted = [&own[..], &listed].concat();
    assert_eq!(names(&module), wanted);
    assert_eq!(saved_names(&module), [&wanted[..], &["buf".to_string()]].concat());
    let buffers: Vec<_> = module.named_buffers().into_iter().map(|(name, _)| name).collect();
    assert_eq!(buffers, ["buf", "tmp"]);
    let norm = LayerNorm::new(&[3]);
    let trained = |(name, parameter): (String, Parameter)| (name, parameter.get().requires_grad());
    let wanted = [("weight".to_string(), true), ("bias".to_string(), true)];
    assert_eq!(norm.named_parameters().into_iter().map(trained).collect::<Vec<_>>(), wanted);
    // Of its kind: boxes of any types in numeric order, and a layer without parameters in between.
    let mut mixed = Sequential::new();
    for _ in 0..6 {
        mixed = mixed.append(Linear::new(1, 1, false, &mut rng)).append(Dropout::new(0.0));
    }
    let even: Vec<String> = (0..6).map(|i| format!("{}.weight", 2 * i)).collect();
    assert_eq!(names(&mixed), even);
}

#[test]
fn d17_batch_norm_and_its_two_variances() {
    let norm = BatchNorm1d::new(1);
    let x = matrix(&[[1.0], [2.0], [3.0], [6.0]]);
    agree(&norm.forward(&x), &[-1.0690434, -0.5345217, 0.0, 1.6035651], 1e-5);
    let running = || norm.named_buffers().into_iter().map(|(_, buffer)| buffer.get());
    let [mean, variance, count] = running().collect::<Vec<_>>().try_into().expect("three buffers");
    agree(&mean, &[0.3], 1e-5);
    agree(&variance, &[1.3666667], 1e-5);
    assert_eq!(count.item_as::<i64>(), 1);
    let refusal = refused(|| norm.forward(&matrix(&[[3.0]])));
    assert!(refusal.message.contains("no variance"), "{refusal}");
    assert!(refusal.at.starts_with(file!()), "{}", refusal.at);
    norm.eval();
    agree(&norm.forward(&matrix(&[[3.0]])), &[2.3095686], 1e-5);
    agree(&mean, &[0.3], 1e-5);
    agree(&variance, &[1.3666667], 1e-5);
    // Of its kind: one row of three values has a variance in each channel; none at all has not.
    // Deviations -1, 0, 1: the biased variance is 2/3, the unbiased one 1.
    norm.train(true);
    let row = Tensor::from_vec(vec![1.0f32, 2.0, 3.0], &[1, 1, 3]);
    agree(&norm.forward(&row), &[-1.2247357, 0.0, 1.2247357], 1e-5);
    agree(&variance, &[0.9 * 1.3666667 + 0.1], 1e-5);
    assert!(refused(|| norm.forward(&Tensor::zeros(&[0, 1]))).message.contains("0 values"));
    assert!(refused(|| norm.forward(&Tensor::zeros(&[4, 2]))).message.contains("(N, 1)"));
}
