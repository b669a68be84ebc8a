//! 4.7: small models are trained for a step and the engine's counters are read; large ones are
//! computed, by a formula that the small ones have confirmed.

use engine_room::amp::autocast;
use engine_room::memory::{Role, bytes_by_role};
use engine_room::nn::{Linear, Module, Sequential};
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor};
use grading::{Check, Death, Diagnosis};

use super::super::recipe::{Recipe, RoleBytes, Rule};
use super::Implementation;
use super::thoughts::{Known, explained};

/// A question: a recipe, and how many weights are trained and frozen.
type Question = (Recipe, u64, u64);

/// A question with its answers.
struct Answered {
    question: Question,
    called: String,
    got: RoleBytes,
    want: RoleBytes,
}

/// 4.7
pub fn bytes(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    check.if_it_dies(Death::Panicked, "4.7-32-bits", WIDTH);
    let mut rng = check.rng();
    let mut answers = Vec::new();
    for recipe in recipes() {
        for frozen_too in [false, true] {
            let (trained, frozen, want) = measured(&recipe, frozen_too, &mut rng);
            let question = (recipe, trained, frozen);
            assert_eq!(formula(&question, Thought::Right), want, "the counters say otherwise");
            answers.push(asked(imp, check, question, want)?);
        }
        let large = (recipe, 6_000_000_000 + rng.below(1 << 30) as u64, rng.below(1 << 30) as u64);
        answers.push(asked(imp, check, large, formula(&large, Thought::Right))?);
    }
    judge(&answers)
}

/// Every recipe: the plain ones first.
fn recipes() -> Vec<Recipe> {
    let mut recipes = Vec::new();
    for weights in [DType::F32, DType::BF16, DType::F16] {
        for rule in [Rule::AdamW, Rule::Sgd, Rule::SgdMomentum] {
            for master_weights in [false, true] {
                recipes.push(Recipe { weights, autocast: false, master_weights, rule });
            }
            if weights == DType::F32 {
                recipes.push(Recipe { weights, autocast: true, master_weights: true, rule });
            }
        }
    }
    recipes
}

fn roles() -> [u64; 3] {
    let counted = bytes_by_role(Device::Cpu);
    [Role::Parameter, Role::Gradient, Role::Optimizer].map(|role| counted[role as usize].1)
}

/// Trains a small model for one step. Its trained and frozen weights, and the bytes by role.
fn measured(recipe: &Recipe, frozen_too: bool, rng: &mut Generator) -> (u64, u64, RoleBytes) {
    let before = roles();
    let [inputs, width, classes] = [5 + rng.below(9), 20 + rng.below(9), 40 + rng.below(9)];
    let (first, last) =
        (Linear::new(inputs, width, true, rng), Linear::new(width, classes, true, rng));
    let frozen = if frozen_too { first.parameters() } else { Vec::new() };
    let model = Sequential::new().append(first).append(last);
    model.to_dtype(recipe.weights);
    for parameter in &frozen {
        let _ = parameter.get().requires_grad_(false);
    }
    let x = Tensor::rand(&[3, inputs], rng).to(recipe.weights);
    let mut optimizer: Box<dyn Optimizer> = match recipe.rule {
        Rule::AdamW => {
            Box::new(AdamW::new(model.parameters(), 0.1).master_weights(recipe.master_weights))
        }
        rule => {
            let momentum = if rule == Rule::Sgd { 0.0 } else { 0.9 };
            let sgd = Sgd::new(model.parameters(), 0.1).momentum(momentum);
            Box::new(sgd.master_weights(recipe.master_weights))
        }
    };
    let forward = || model.forward(&x).square().mean();
    if recipe.autocast { autocast(DType::BF16, forward) } else { forward() }.backward();
    optimizer.step();
    let [parameters, gradients, optimizer_] = std::array::from_fn(|at| roles()[at] - before[at]);
    let frozen: u64 = frozen.iter().map(|parameter| parameter.get().numel() as u64).sum();
    let trained = model.num_parameters() as u64 - frozen;
    drop(optimizer);
    (trained, frozen, RoleBytes { parameters, gradients, optimizer: optimizer_ })
}

fn asked(
    imp: &Implementation,
    check: &mut Check,
    question: Question,
    want: RoleBytes,
) -> Result<Answered, Diagnosis> {
    let (recipe, trained, frozen) = question;
    let Recipe { weights, autocast, master_weights, rule } = recipe;
    let called = format!(
        "training_bytes(weights {weights}, autocast {autocast}, master_weights {master_weights}, \
         {rule:?}; trained {trained}, frozen {frozen})"
    );
    let got = check.call(called.as_str(), || (imp.training_bytes)(&recipe, trained, frozen))?;
    Ok(Answered { question, called, got, want })
}

/// The first wrong answer, with the thought that gives all of them.
fn judge(answers: &[Answered]) -> Result<(), Diagnosis> {
    let Some(wrong) = answers.iter().find(|answer| answer.got != answer.want) else {
        return Ok(());
    };
    let agrees = |thought| answers.iter().all(|a| formula(&a.question, thought) == a.got);
    let (key, thought) = explained(THOUGHTS, agrees);
    let right = answers.iter().filter(|answer| answer.got == answer.want).count();
    let words = |RoleBytes { parameters, gradients, optimizer }: RoleBytes| {
        format!("parameters {parameters}, gradients {gradients}, optimizer {optimizer}")
    };
    Err(Diagnosis::new(key)
        .called(wrong.called.as_str())
        .got(format!("{}\n{right} of {} answers are right", words(wrong.got), answers.len()))
        .expected(words(wrong.want))
        .thought(thought))
}

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Thought {
    Right,
    FrozenForgotten,
    FrozenBoth,
    FrozenGradients,
    FrozenState,
    AutocastHalves,
    AutocastHalvesWeights,
    AutocastHalvesGradients,
    MasterOfSgdForgotten,
    GradientsInF32,
    MasterForgotten,
    MasterAlways,
    MasterOfF32,
    StateOfWeights,
    StateInF32,
    OneNumber,
}

use Thought::*;

fn formula(&(recipe, trained, frozen): &Question, thought: Thought) -> RoleBytes {
    let thinks = |of: &[Thought]| of.contains(&thought);
    let size = recipe.weights.size() as u64;
    let halved = |by: &[Thought]| if recipe.autocast && thinks(by) { 2 } else { size };
    let weight = halved(&[AutocastHalves, AutocastHalvesWeights]);
    let gradient = halved(&[AutocastHalves, AutocastHalvesGradients]);
    let half = recipe.weights != DType::F32;
    let in_f32 = half && (recipe.master_weights || thought == MasterAlways);
    let master = match thought {
        MasterForgotten => 0,
        MasterOfSgdForgotten if recipe.rule == Rule::Sgd => 0,
        MasterOfF32 if recipe.master_weights => 4,
        _ if in_f32 => 4,
        _ => 0,
    };
    let number = match thought {
        StateOfWeights => size,
        StateInF32 => 4,
        _ if in_f32 => 4,
        _ => size,
    };
    let numbers = match recipe.rule {
        Rule::Sgd => 0,
        Rule::SgdMomentum => 1,
        Rule::AdamW if thought == OneNumber => 1,
        Rule::AdamW => 2,
    };
    let kept = if thought == FrozenForgotten { trained } else { trained + frozen };
    let stepped = |by: Thought| trained + if thinks(&[FrozenBoth, by]) { frozen } else { 0 };
    RoleBytes {
        parameters: kept * weight,
        gradients: stepped(FrozenGradients) * if thought == GradientsInF32 { 4 } else { gradient },
        optimizer: stepped(FrozenState) * (master + numbers * number),
    }
}

const THOUGHTS: &[Known<Thought>] = &[
    (AutocastHalves, "4.7-autocast-halves", AUTOCAST),
    (AutocastHalvesWeights, "4.7-autocast-halves-weights", AUTOCAST),
    (AutocastHalvesGradients, "4.7-autocast-halves-gradients", AUTOCAST_GRADIENTS),
    (FrozenBoth, "4.7-frozen-trained", FROZEN),
    (FrozenGradients, "4.7-frozen-gradients", FROZEN),
    (FrozenState, "4.7-frozen-state", FROZEN),
    (MasterOfSgdForgotten, "4.7-master-of-sgd", SGD),
    (FrozenForgotten, "4.7-frozen-forgotten", GONE),
    (GradientsInF32, "4.7-gradients-in-f32", GRADIENTS),
    (MasterForgotten, "4.7-master-forgotten", NO_MASTER),
    (MasterAlways, "4.7-master-always", ALWAYS),
    (MasterOfF32, "4.7-master-of-f32", OF_F32),
    (StateOfWeights, "4.7-state-of-weights", NARROW),
    (StateInF32, "4.7-state-in-f32", WIDE),
    (OneNumber, "4.7-one-number", ONE),
];

const WIDTH: &str = "The number does not fit into 32 bits. Count bytes as `u64` from the start.";
const AUTOCAST: &str = "autocast was taken to halve the weights. It converts operands inside its \
    region, and drops the converted copies when the region ends. Weights and gradients stay in \
    fp32: autocast saves activations and time.";
const AUTOCAST_GRADIENTS: &str = "autocast was taken to halve the gradients. It leaves the \
    parameters in fp32, and a gradient has the type of its weight.";
const SGD: &str = "SGD was given no master copy. It keeps no running means, and with master \
    weights it keeps the fp32 weights all the same.";
const FROZEN: &str = "Frozen weights were counted like trained ones. They get no gradient, and \
    the optimizer keeps nothing for a parameter without one.";
const GONE: &str = "Frozen weights are missing. They are part of the model and lie in memory \
    like all others.";
const GRADIENTS: &str = "Gradients were counted with 4 bytes. Here a gradient has the type of \
    its weight. (Megatron keeps fp32 ones besides: another recipe.)";
const NO_MASTER: &str = "The fp32 copy of the weights is missing. With master weights the \
    optimizer keeps m and v and, besides, the weight itself in fp32: 12 bytes with AdamW, not 8.";
const ALWAYS: &str = "A master copy was counted without `master_weights`. PyTorch's AdamW keeps \
    none, and its state in the type of the weight.";
const OF_F32: &str = "Weights in fp32 were given a master copy. They are as wide as the master \
    would be, so none is made.";
const NARROW: &str = "The optimizer's numbers were counted in the half type of the weights. With \
    master weights they are kept in fp32.";
const WIDE: &str = "The optimizer's numbers were counted in fp32 throughout. Without master \
    weights they have the type of the weight, which is why small updates get lost there.";
const ONE: &str = "AdamW was given one number a weight. It keeps two, m and v, each as large as \
    the weights.";
