//! 6.7: what a training step really keeps. The engine's GPT is built once more from its public
//! parts, with a probe behind each block, and the history of the host's memory is read.

use std::sync::{Arc, Mutex, PoisonError};

use engine_room::autograd::{Ctx, Op, apply};
use engine_room::memory::{Role, memory_snapshot, record_memory_history};
use engine_room::nn::{
    Dropout, Embedding, Gpt, GptConfig, LayerNorm, Linear, Module, Parts, Recomputed,
    TransformerBlock,
};
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor};

use super::super::step::{Moment, PeakBytes, Rule, Step};

/// Entries of the history that are kept: more than a step has.
const ENTRIES: usize = 1 << 20;

/// How long the history was when something passed the probes, by number.
type Passed = Arc<Mutex<Vec<(usize, usize)>>>;

fn note(passed: &Passed, number: usize) {
    let entries = memory_snapshot(Device::Cpu).trace.len();
    passed.lock().unwrap_or_else(PoisonError::into_inner).push((number, entries));
}

/// A block, and behind it a probe that says when a run of the block ends, and when the backward
/// pass arrives.
struct Probed {
    block: TransformerBlock,
    number: usize,
    passed: Passed,
}

impl Module for Probed {
    fn parts(&self) -> Parts<'_> {
        self.block.parts()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        let y = self.block.forward(x);
        note(&self.passed, self.number);
        apply(Probe { number: self.number, passed: self.passed.clone() }, [&y])
    }
}

/// y = x. Shapes: any → the same. Gradient: dx = dy. Saves nothing.
struct Probe {
    number: usize,
    passed: Passed,
}

impl Op<1> for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        x.clone()
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        note(&self.passed, self.number);
        [Some(dy.clone())]
    }
}

/// As the engine's `Gpt`.
struct Twin {
    tokens: Embedding,
    positions: Embedding,
    dropout: Dropout,
    blocks: Vec<Box<dyn Module>>,
    norm: LayerNorm,
    head: Linear,
}

impl Twin {
    fn new(config: &GptConfig, recompute: bool, passed: &Passed, rng: &mut Generator) -> Twin {
        let GptConfig { vocab, context, width, layers, heads, dropout, tied } = *config;
        let mut block = |number| -> Box<dyn Module> {
            let block = TransformerBlock::new(width, heads, true, dropout, rng);
            let probed = Probed { block, number, passed: passed.clone() };
            if recompute { Box::new(Recomputed::new(probed)) } else { Box::new(probed) }
        };
        let blocks = (0..layers).map(&mut block).collect();
        let tokens = Embedding::new(vocab, width, rng);
        let head = match tied {
            true => Linear { weight: tokens.weight.clone(), bias: None },
            false => Linear::new(width, vocab, false, rng),
        };
        Twin {
            positions: Embedding::new(context, width, rng),
            dropout: Dropout::new(dropout),
            norm: LayerNorm::new(&[width]),
            tokens,
            blocks,
            head,
        }
    }
}

impl Module for Twin {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
            .module("tokens", &self.tokens)
            .module("positions", &self.positions)
            .module("dropout", &self.dropout)
            .modules("blocks", &self.blocks)
            .module("norm", &self.norm)
            .module("head", &self.head)
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        let places = self.positions.weight.get().narrow(0, 0, x.shape()[1]);
        let mut h = self.dropout.forward(&self.tokens.forward(x).add(&places));
        for block in &self.blocks {
            h = block.forward(&h);
        }
        self.head.forward(&self.norm.forward(&h))
    }
}

fn optimizer(model: &dyn Module, rule: Rule) -> Box<dyn Optimizer> {
    let parameters = model.parameters();
    match rule {
        Rule::AdamW => Box::new(AdamW::new(parameters, 1e-3)),
        Rule::Sgd => Box::new(Sgd::new(parameters, 1e-3)),
        Rule::SgdMomentum => Box::new(Sgd::new(parameters, 1e-3).momentum(0.9)),
    }
}

/// Bytes by role over time.
type Line = Vec<[u64; Role::ALL.len()]>;

/// Trains a model for two steps. The history of the second, and how long it was when the backward
/// pass began and when it was over.
fn train(model: &dyn Module, vocab: usize, step: &Step, rng: &mut Generator) -> (Line, [usize; 2]) {
    let mut optimizer = optimizer(model, step.rule);
    let (batch, time) = (step.batch as usize, step.time as usize);
    let mut draw = |shape: &[usize]| {
        let numbers = (0..batch * time).map(|_| rng.below(vocab) as i64).collect();
        Tensor::from_vec(numbers, shape)
    };
    let (tokens, targets) = (draw(&[batch, time]), draw(&[batch * time]));
    let loss = || {
        let logits = model.forward(&tokens).reshape(&[batch * time, vocab]);
        logits.cross_entropy(&targets)
    };
    loss().backward();
    optimizer.step();
    optimizer.zero_grad(true);
    record_memory_history(Device::Cpu, ENTRIES);
    let loss = loss();
    let begin = memory_snapshot(Device::Cpu).trace.len();
    loss.backward();
    let end = memory_snapshot(Device::Cpu).trace.len();
    optimizer.step();
    let line = memory_snapshot(Device::Cpu).time_line();
    record_memory_history(Device::Cpu, 0);
    (line, [begin, end])
}

fn at(line: &Line, moment: Moment, entries: usize) -> PeakBytes {
    let [parameters, gradients, optimizer, activations] =
        [Role::Parameter, Role::Gradient, Role::Optimizer, Role::Activation]
            .map(|role| line[entries][role as usize]);
    PeakBytes { moment, parameters, gradients, optimizer, activations }
}

/// What each moment of the twin's second step holds.
pub fn measured(config: &GptConfig, step: &Step, rng: &mut Generator) -> Vec<PeakBytes> {
    let passed = Passed::default();
    let twin = Twin::new(config, step.recompute, &passed, rng);
    let (line, [begin, end]) = train(&twin, config.vocab, step, rng);
    let passed = passed.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let arrived = |block: u64| {
        // The last that is heard of a block: the end of its second run, or the gradient's arrival.
        let last = passed.iter().rfind(|(number, _)| *number as u64 == block);
        last.map_or(end, |&(_, entries)| entries)
    };
    let blocks = (0..config.layers as u64).rev().map(|i| at(&line, Moment::Block(i), arrived(i)));
    let (first, last) = (at(&line, Moment::Loss, begin), at(&line, Moment::Step, end));
    [vec![first], blocks.collect(), vec![last]].concat()
}

/// The first and the last moment of the engine's own GPT, which has no probes.
pub fn ends_of_gpt(config: &GptConfig, step: &Step, rng: &mut Generator) -> [PeakBytes; 2] {
    let gpt = Gpt::new(config, rng).recompute_blocks(|_| step.recompute);
    let (line, [begin, end]) = train(&gpt, config.vocab, step, rng);
    [at(&line, Moment::Loss, begin), at(&line, Moment::Step, end)]
}
