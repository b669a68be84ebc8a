//! The recipes that the experiments train with: which numbers are kept in which format, and who
//! takes the steps.

use engine_room::amp::{GradScaler, autocast};
use engine_room::data::{DataLoader, Sampler, TensorDataset};
use engine_room::memory::{
    Role, bytes_by_role, max_memory_allocated, memory_allocated, reset_peak_memory_stats,
};
use engine_room::nn::{Mlp, Module};
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor, no_grad};
use engine_room_labs::metrics::{Mean, accuracy};
use engine_room_labs::{Digits, Split};

/// The digits' network: 26,122 parameters.
pub const SIZES: [usize; 4] = [64, 128, 128, 10];
/// Images a step.
pub const BATCH: usize = 64;

/// What the numbers of a training are kept in.
#[derive(Clone, Copy, PartialEq)]
pub enum Precision {
    /// Everything in f32.
    Full,
    /// Parameters in f32, products in this half type.
    Autocast(DType),
    /// Parameters, gradients and activations in this half type; the optimizer steps a copy in f32.
    Master(DType),
    /// The same without the copy: the optimizer's state is of the half type, too.
    Pure(DType),
}

/// Who takes the steps.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// AdamW.
    AdamW,
    /// Gradient descent with a momentum of 0.9.
    Momentum,
    /// Gradient descent alone.
    Sgd,
}

/// A recipe by its name in the tables.
#[derive(Clone, Copy)]
pub struct Recipe {
    /// How the tables call it.
    pub name: &'static str,
    /// Formats.
    pub precision: Precision,
    /// The optimizer.
    pub kind: Kind,
    /// Whether the loop drops the gradients of the iteration before.
    pub zero_grad: bool,
}

/// Everything in f32, stepped by AdamW.
pub const F32: Recipe = RECIPES[2];
/// The same under autocast in bf16.
pub const AUTOCAST: Recipe = RECIPES[3];

/// Every recipe, in the order of the tables.
pub const RECIPES: [Recipe; 7] = [
    Recipe::new("f32, SGD", Precision::Full, Kind::Sgd),
    Recipe::new("f32, SGD with momentum", Precision::Full, Kind::Momentum),
    Recipe::new("f32, AdamW", Precision::Full, Kind::AdamW),
    Recipe::new("autocast bf16, AdamW", Precision::Autocast(DType::BF16), Kind::AdamW),
    Recipe::new("autocast f16 + scaler, AdamW", Precision::Autocast(DType::F16), Kind::AdamW),
    Recipe::new("bf16 + f32 master, AdamW", Precision::Master(DType::BF16), Kind::AdamW),
    Recipe::new("bf16 alone, AdamW", Precision::Pure(DType::BF16), Kind::AdamW),
];

impl Precision {
    /// The type of parameters and inputs.
    pub fn dtype(self) -> DType {
        match self {
            Precision::Full | Precision::Autocast(_) => DType::F32,
            Precision::Master(half) | Precision::Pure(half) => half,
        }
    }

    /// Runs a forward pass, under autocast if the recipe has it.
    pub fn run<T>(self, f: impl FnOnce() -> T) -> T {
        match self {
            Precision::Autocast(half) => autocast(half, f),
            _ => f(),
        }
    }
}

impl Recipe {
    const fn new(name: &'static str, precision: Precision, kind: Kind) -> Recipe {
        Recipe { name, precision, kind, zero_grad: true }
    }

    /// The network in the recipe's type.
    pub fn model(&self, generator: &mut Generator) -> Mlp {
        let model = Mlp::new(&SIZES, generator);
        model.to_dtype(self.precision.dtype());
        model
    }

    /// Its optimizer.
    pub fn optimizer(&self, model: &dyn Module, lr: f64) -> Box<dyn Optimizer> {
        let (params, master) = (model.parameters(), !matches!(self.precision, Precision::Pure(_)));
        match self.kind {
            Kind::AdamW => Box::new(AdamW::new(params, lr).master_weights(master)),
            Kind::Momentum => Box::new(Sgd::new(params, lr).momentum(0.9)),
            Kind::Sgd => Box::new(Sgd::new(params, lr)),
        }
    }

    /// The loss of a batch: images and labels.
    pub fn loss(&self, model: &dyn Module, batch: &[Tensor]) -> Tensor {
        self.precision.run(|| model.forward(&batch[0]).cross_entropy(&batch[1]))
    }

    /// A scaler, which only f16 needs.
    pub fn scaler(&self) -> GradScaler {
        GradScaler::new().enabled(self.precision == Precision::Autocast(DType::F16))
    }
}

/// What a training came to.
pub struct Outcome {
    /// Mean loss of each epoch.
    pub losses: Vec<f64>,
    /// Share of the held-out images that are read right at the end.
    pub accuracy: f64,
}

/// Trains a model on one part of a split and tests it on the other.
pub fn train(
    model: &dyn Module,
    optimizer: &mut dyn Optimizer,
    recipe: &Recipe,
    split: &Split,
    epochs: usize,
    seed: u64,
) -> Outcome {
    let (device, (x, y)) = (device_of(model), split.train.tensors());
    let sampler = Sampler::random(split.train.len(), seed);
    let dataset = TensorDataset::new(vec![x.to(recipe.precision.dtype()), y]);
    let mut loader = DataLoader::new(dataset, sampler, BATCH);
    let mut scaler = recipe.scaler();
    let losses = (0..epochs).map(|_| {
        let mut mean = Mean::default();
        for batch in &mut loader {
            let batch = [0, 1].map(|part| batch[part].to(device));
            let loss = step(model, optimizer, recipe, &mut scaler, &batch);
            mean.add(loss, batch[1].numel());
        }
        mean.value()
    });
    let losses = losses.collect();
    Outcome { losses, accuracy: share_right(model, recipe, &split.test) }
}

/// One iteration of the loop. The loss.
pub fn step(
    model: &dyn Module,
    optimizer: &mut dyn Optimizer,
    recipe: &Recipe,
    scaler: &mut GradScaler,
    batch: &[Tensor],
) -> f64 {
    if recipe.zero_grad {
        optimizer.zero_grad(true);
    }
    let loss = recipe.loss(model, batch);
    scaler.scale(&loss).backward();
    scaler.step(optimizer);
    scaler.update();
    loss.to(DType::F32).item().into()
}

fn device_of(model: &dyn Module) -> Device {
    model.parameters()[0].get().device()
}

fn share_right(model: &dyn Module, recipe: &Recipe, images: &Digits) -> f64 {
    let (x, y) = images.tensors();
    let x = x.to(recipe.precision.dtype()).to(device_of(model));
    let scores = no_grad(|| recipe.precision.run(|| model.forward(&x)));
    accuracy(&scores, &y)
}

/// What a batch of so many images takes in the second iteration.
pub struct Held {
    /// Bytes that only the backward pass needs, when the loss is computed.
    pub kept: u64,
    /// The most bytes of all kinds that were live at once.
    pub peak: u64,
}

/// Runs two iterations on random images of this many.
pub fn held(device: Device, recipe: &Recipe, batch: usize, seed: u64) -> Held {
    let before = memory_allocated(device);
    let mut generator = Generator::new(seed);
    let model = recipe.model(&mut generator);
    model.to_device(device);
    let mut optimizer = recipe.optimizer(&model, 1e-3);
    let mut scaler = recipe.scaler();
    let x = Tensor::rand(&[batch, SIZES[0]], &mut generator).to(recipe.precision.dtype());
    let pair = [x, Tensor::randint(0, 10, &[batch], &mut generator)].map(|x| x.to(device));
    step(&model, optimizer.as_mut(), recipe, &mut scaler, &pair);
    optimizer.zero_grad(true);
    reset_peak_memory_stats(device);
    step(&model, optimizer.as_mut(), recipe, &mut scaler, &pair);
    let peak = max_memory_allocated(device) - before;
    let activations = || bytes_by_role(device)[Role::Activation as usize].1;
    let batch_itself = activations();
    let loss = recipe.loss(&model, &pair);
    let kept = activations() - batch_itself;
    drop(loss);
    Held { kept, peak }
}
