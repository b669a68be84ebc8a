//! Training steps: forward, backward and AdamW, of an MLP and of a small GPT.

use std::cell::RefCell;

use candle_core::{DType, Device, Tensor as Peer};
use candle_nn::{AdamW as PeerAdamW, Optimizer as _, ParamsAdamW, VarBuilder, VarMap, loss};
use engine_room::Tensor;
use engine_room::nn::{Gpt, GptConfig, Mlp, Module};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::Generator;

use crate::{Table, candle_models as peer};

/// Layers of the MLP.
pub const SIZES: [usize; 4] = [784, 256, 128, 10];
/// Images of a batch.
pub const IMAGES: usize = 64;
/// Sequences of a batch.
pub const BATCH: usize = 8;
/// Tokens of a sequence.
pub const CONTEXT: usize = 64;
/// Numbers for each token.
pub const WIDTH: usize = 128;
/// Attention heads.
pub const HEADS: usize = 4;
/// Transformer blocks.
pub const LAYERS: usize = 4;
/// Tokens that there are.
pub const VOCABULARY: usize = 96;

/// Both models of both engines.
pub fn steps(table: &mut Table) {
    mlp(table);
    gpt(table);
}

fn mlp(table: &mut Table) {
    let mut generator = Generator::new(1);
    let model = Mlp::new(&SIZES, &mut generator);
    let map = VarMap::new();
    let their_model = peer::Mlp::new(vars(&map)).expect("candle makes it");
    let (x, their_x) = table.pair(&[IMAGES, SIZES[0]]);
    let (y, their_y) = targets(IMAGES, SIZES[3]);
    let ours = Ours::new(&model, || model.forward(&x).cross_entropy(&y));
    let theirs =
        Theirs::new(&map, || loss::cross_entropy(&their_model.forward(&their_x)?, &their_y));
    table.time("mlp step", || ours.step(), || theirs.step());
    table.time("mlp backward", || ours.backward(), || theirs.backward());
}

fn gpt(table: &mut Table) {
    let mut generator = Generator::new(1);
    let config = GptConfig {
        vocab: VOCABULARY,
        context: CONTEXT,
        width: WIDTH,
        layers: LAYERS,
        heads: HEADS,
        dropout: 0.0,
        tied: false,
    };
    let model = Gpt::new(&config, &mut generator);
    let map = VarMap::new();
    let their_model = peer::Gpt::new(vars(&map)).expect("candle makes it");
    let (x, their_x) = targets(BATCH * CONTEXT, VOCABULARY);
    let x = x.reshape(&[BATCH, CONTEXT]);
    let their_x = their_x.reshape((BATCH, CONTEXT)).expect("candle reshapes it");
    let (y, their_y) = targets(BATCH * CONTEXT, VOCABULARY);
    let logits = || model.forward(&x).reshape(&[BATCH * CONTEXT, VOCABULARY]);
    let ours = Ours::new(&model, || logits().cross_entropy(&y));
    let theirs =
        Theirs::new(&map, || loss::cross_entropy(&their_model.forward(&their_x)?, &their_y));
    table.time("gpt step", || ours.step(), || theirs.step());
    table.time("gpt backward", || ours.backward(), || theirs.backward());
}

fn vars(map: &VarMap) -> VarBuilder<'_> {
    VarBuilder::from_varmap(map, DType::F32, &Device::Cpu)
}

/// The same numbers below `below` for both.
fn targets(count: usize, below: usize) -> (Tensor, Peer) {
    let numbers: Vec<i64> = (0..count).map(|i| (i * 7919 % 1009 % below) as i64).collect();
    let theirs: Vec<u32> = numbers.iter().map(|&x| x as u32).collect();
    let theirs = Peer::from_vec(theirs, count, &Device::Cpu).expect("candle takes the numbers");
    (Tensor::from_vec(numbers, &[count]), theirs)
}

/// A loss of the engine and what it trains.
struct Ours<'a, F> {
    model: &'a dyn Module,
    optimizer: RefCell<AdamW>,
    loss: F,
}

impl<'a, F: Fn() -> Tensor> Ours<'a, F> {
    fn new(model: &'a dyn Module, loss: F) -> Self {
        Ours { model, optimizer: RefCell::new(AdamW::new(model.parameters(), 3e-4)), loss }
    }

    fn backward(&self) {
        self.model.zero_grad(true);
        (self.loss)().backward();
    }

    fn step(&self) {
        self.backward();
        self.optimizer.borrow_mut().step();
    }
}

/// A loss of candle and what it trains.
struct Theirs<F> {
    optimizer: RefCell<PeerAdamW>,
    loss: F,
}

impl<F: Fn() -> candle_core::Result<Peer>> Theirs<F> {
    fn new(map: &VarMap, loss: F) -> Self {
        let options = ParamsAdamW { lr: 3e-4, weight_decay: 0.01, ..Default::default() };
        let optimizer = PeerAdamW::new(map.all_vars(), options).expect("candle makes it");
        Theirs { optimizer: RefCell::new(optimizer), loss }
    }

    fn backward(&self) {
        (self.loss)().and_then(|loss| loss.backward()).expect("candle computes it");
    }

    fn step(&self) {
        let loss = (self.loss)().expect("candle computes it");
        self.optimizer.borrow_mut().backward_step(&loss).expect("candle takes the step");
    }
}
