//! 7.7: what the kernels of a step do, as it is and as some think that it is.

use super::super::kernel::Roofs;
use super::super::step::{Limit, Prediction, Rule, Stack, Work};
use super::thoughts::Known;

/// A stack, and what the GPU can do.
pub type Question = (Stack, Roofs);

/// One thing that is thought otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thought {
    /// Nothing.
    Right,
    AlwaysDx,
    NeverDx,
    ReluBehindLast,
    NoBackwardOfRelu,
    ReluSavesNothing,
    NoReluKernel,
    FusedBias,
    NoBiasGradient,
    BiasInBackward,
    BiasUnread,
    OutputUnread,
    BiasGradientUnwritten,
    OneLaunchOptimizer,
    OneLaunchLayer,
    NoOptimizer,
    OneFlop,
    BiasFlops,
    BackwardAsForward,
    BackwardTwice,
    BytesOfWeights,
    Halves,
    Numbers,
    BiasesForgotten,
    SgdWritesOnly,
    GradientUnread,
    MomentumReadOnly,
    OnlyMomentumReadOnly,
    AdamAsMomentum,
    AllAtOnce,
    Summed,
    ArithmeticOnly,
    MemoryOnly,
    Seconds,
    HalfPeak,
    DeviceWithLaunches,
    LimitSwapped,
    ByFlops,
}

use Thought::*;

/// A kernel: operations, and the numbers that it reads and writes.
type Kernel = (u64, u64);

/// The kernels of the three parts.
fn kernels(stack: &Stack, thought: Thought) -> [Vec<Kernel>; 3] {
    let [mut forward, mut backward, mut optimizer] = [const { Vec::new() }; 3];
    let sizes = &stack.sizes;
    for (i, pair) in sizes.windows(2).enumerate() {
        let [inputs, outputs] = [pair[0], pair[1]];
        let [x, w, y] = [stack.batch * inputs, inputs * outputs, stack.batch * outputs];
        let last = i + 2 == sizes.len();
        let factor = if thought == OneFlop { 1 } else { 2 };
        let flops = factor * stack.batch * inputs * outputs;
        let product = (flops, x + w + y);
        let needs_dx = match thought {
            AlwaysDx => true,
            NeverDx => i > 0,
            _ => i > 0 || stack.x_requires_grad,
        };
        forward.extend(of_layer(product, y, outputs, thought));
        if !last || thought == ReluBehindLast {
            forward.extend((thought != NoReluKernel).then_some((0, 2 * y)));
        }
        let relu = match thought {
            NoBackwardOfRelu | NoReluKernel => None,
            ReluSavesNothing => Some((0, 2 * y)),
            _ => Some((0, 3 * y)),
        };
        if !last || thought == ReluBehindLast {
            backward.extend(relu);
        }
        backward.extend(of_backward(product, y, outputs, needs_dx, thought));
        optimizer.extend(of_optimizer(w, outputs, stack.rule, thought));
    }
    if thought == OneLaunchOptimizer {
        optimizer = vec![(0, optimizer.iter().map(|kernel| kernel.1).sum())];
    }
    [forward, backward, optimizer]
}

fn of_layer((flops, numbers): Kernel, y: u64, outputs: u64, thought: Thought) -> Vec<Kernel> {
    match thought {
        FusedBias => vec![(flops, numbers + outputs)],
        BiasFlops => vec![(flops, numbers), (y, 2 * y + outputs)],
        BiasesForgotten | BiasUnread => vec![(flops, numbers), (0, 2 * y)],
        OutputUnread => vec![(flops, numbers), (0, y + outputs)],
        _ => vec![(flops, numbers), (0, 2 * y + outputs)],
    }
}

fn of_backward(
    (flops, numbers): Kernel,
    y: u64,
    outputs: u64,
    needs_dx: bool,
    thought: Thought,
) -> Vec<Kernel> {
    let product = (flops, numbers);
    let bias = match thought {
        BiasesForgotten | BiasGradientUnwritten => (0, y),
        _ => (0, y + outputs),
    };
    let mut kernels = vec![product];
    kernels.extend((thought != NoBiasGradient).then_some(bias));
    if needs_dx && thought != BackwardAsForward {
        kernels.push(product);
    }
    if thought == BiasInBackward {
        kernels.push((0, 2 * y + outputs));
    }
    kernels
}

fn of_optimizer(w: u64, outputs: u64, rule: Rule, thought: Thought) -> Vec<Kernel> {
    let of_weight = match (rule, thought) {
        (_, BytesOfWeights) => 1,
        (Rule::Sgd, SgdWritesOnly | GradientUnread) => 2,
        (Rule::Sgd, _) => 3,
        (Rule::SgdMomentum, MomentumReadOnly | OnlyMomentumReadOnly | GradientUnread) => 4,
        (Rule::SgdMomentum, _) | (Rule::AdamW, AdamAsMomentum | MomentumReadOnly) => 5,
        (Rule::AdamW, GradientUnread) => 6,
        (Rule::AdamW, _) => 7,
    };
    match thought {
        NoOptimizer => vec![],
        OneLaunchLayer => vec![(0, of_weight * (w + outputs))],
        BiasesForgotten => vec![(0, of_weight * w)],
        _ => vec![(0, of_weight * w), (0, of_weight * outputs)],
    }
}

/// What is thought of a step.
pub fn formula((stack, roofs): &Question, thought: Thought) -> Prediction {
    let bytes_of = match thought {
        Halves => 2,
        Numbers => 1,
        _ => 4,
    };
    let parts = kernels(stack, thought);
    let work = |kernels: &Vec<Kernel>| Work {
        launches: kernels.len() as u64,
        flops: kernels.iter().map(|kernel| kernel.0).sum(),
        bytes: kernels.iter().map(|kernel| bytes_of * kernel.1).sum(),
    };
    let [forward, mut backward, optimizer] = [&parts[0], &parts[1], &parts[2]].map(work);
    if thought == BackwardTwice {
        backward.flops = 2 * forward.flops;
    }
    let launches = forward.launches + backward.launches + optimizer.launches;
    let host_ns = roofs.launch_ns * launches;
    let all: Vec<Kernel> = parts.concat();
    let peak = match thought {
        HalfPeak => roofs.f16_flops_per_s,
        _ => roofs.f32_flops_per_s,
    };
    let ns = if thought == Seconds { 1.0 } else { 1e9 };
    let times = |kernel: &Kernel| {
        let bytes = bytes_of * kernel.1;
        [kernel.0 as f64 * ns / peak as f64, bytes as f64 * ns / roofs.bytes_per_s as f64]
    };
    let longer = |[arithmetic, memory]: [f64; 2]| match thought {
        Summed => arithmetic + memory,
        ArithmeticOnly => arithmetic,
        MemoryOnly => memory,
        _ => arithmetic.max(memory),
    };
    let sums = all.iter().fold((0, 0), |sums, kernel| (sums.0 + kernel.0, sums.1 + kernel.1));
    let device_ns = match thought {
        AllAtOnce => longer(times(&sums)),
        DeviceWithLaunches => all.iter().map(|it| longer(times(it))).sum::<f64>() + host_ns as f64,
        _ => all.iter().map(|it| longer(times(it))).sum(),
    };
    let is_device = match thought {
        ByFlops => times(&sums)[0] > times(&sums)[1],
        LimitSwapped => device_ns < host_ns as f64,
        _ => device_ns > host_ns as f64,
    };
    let limit = if is_device { Limit::Device } else { Limit::Host };
    Prediction { forward, backward, optimizer, host_ns, device_ns, limit }
}

/// Every thought, with its key and what is true instead.
pub const THOUGHTS: &[Known<Thought>] = &[
    (AlwaysDx, "7.7-always-dx", ALWAYS_DX),
    (NeverDx, "7.7-never-dx", NEVER_DX),
    (ReluBehindLast, "7.7-relu-behind-last", RELU_LAST),
    (NoBackwardOfRelu, "7.7-no-backward-of-relu", RELU_BACK),
    (ReluSavesNothing, "7.7-relu-reads-two", RELU_SAVED),
    (NoReluKernel, "7.7-no-relu", NO_RELU),
    (FusedBias, "7.7-fused-bias", FUSED),
    (NoBiasGradient, "7.7-no-bias-gradient", DB),
    (BiasInBackward, "7.7-bias-in-backward", BIAS_BACK),
    (BiasUnread, "7.7-bias-unread", BIAS_READ),
    (OutputUnread, "7.7-output-unread", OUTPUT_READ),
    (BiasGradientUnwritten, "7.7-db-unwritten", DB_WRITTEN),
    (OneLaunchOptimizer, "7.7-one-launch-optimizer", ONE_LAUNCH),
    (OneLaunchLayer, "7.7-one-launch-layer", LAYER_LAUNCH),
    (NoOptimizer, "7.7-no-optimizer", NO_OPTIMIZER),
    (OneFlop, "7.7-one-flop", ONE_FLOP),
    (BiasFlops, "7.7-bias-flops", BIAS_FLOPS),
    (BackwardAsForward, "7.7-backward-as-forward", AS_FORWARD),
    (BackwardTwice, "7.7-backward-twice", TWICE),
    (BytesOfWeights, "7.7-bytes-of-weights", OF_WEIGHTS),
    (Halves, "7.7-two-bytes", TWO_BYTES),
    (Numbers, "7.7-numbers-as-bytes", NUMBERS),
    (BiasesForgotten, "7.7-biases", BIASES),
    (SgdWritesOnly, "7.7-sgd-numbers", SGD),
    (GradientUnread, "7.7-gradient-unread", GRADIENT),
    (MomentumReadOnly, "7.7-state-is-written", STATE),
    (OnlyMomentumReadOnly, "7.7-momentum-is-written", MOMENTUM),
    (AdamAsMomentum, "7.7-adam-numbers", ADAM),
    (AllAtOnce, "7.7-all-at-once", AT_ONCE),
    (Summed, "7.7-summed", SUMMED),
    (ArithmeticOnly, "7.7-arithmetic-only", ARITHMETIC),
    (MemoryOnly, "7.7-memory-only", MEMORY),
    (Seconds, "7.7-seconds", SECONDS),
    (HalfPeak, "7.7-half-peak", PEAK),
    (DeviceWithLaunches, "7.7-launches-added", LAUNCHES),
    (LimitSwapped, "7.7-limit-swapped", SWAPPED),
    (ByFlops, "7.7-limit-by-roof", BY_ROOF),
];

const ALWAYS_DX: &str = "The first layer was given a product for dx. Nobody asks for it if `x` \
    requires no gradient, and the engine does not compute it.";
const NEVER_DX: &str = "The first layer was given no product for dx. If `x` requires a gradient, \
    another stack waits for it.";
const RELU_LAST: &str = "A relu was counted behind the last layer. There is one between each two \
    layers: one less than layers.";
const RELU_BACK: &str = "Nothing was counted for the backward pass of a relu. It has a kernel of \
    its own: dy where y was positive, else 0.";
const RELU_SAVED: &str = "The backward pass of a relu reads two tensors and writes one. It needs \
    dy and the y that was saved, to see where that was positive.";
const NO_RELU: &str = "Relus were not counted. They compute next to nothing, and each of them is a \
    kernel that is launched and moves its tensors.";
const FUSED: &str = "The bias was counted as a part of the product. In this engine it is a kernel \
    of its own, which reads and writes all of y once more.";
const DB: &str = "The gradient of the bias was not counted. It is the sum of dy over the batch: \
    one kernel a layer.";
const BIAS_BACK: &str = "The bias was counted twice in the backward pass. Adding it leaves dy as \
    it is; only the sum for db is computed.";
const BIAS_READ: &str = "Adding the bias reads the bias, too: a number for each output, beside y \
    twice.";
const OUTPUT_READ: &str = "Adding the bias in place reads y before it writes y. So y moves twice, \
    and the bias once.";
const DB_WRITTEN: &str = "The kernel for db reads dy and writes db: a number for each output was \
    forgotten.";
const ONE_LAUNCH: &str = "The optimizer was counted as one launch. Here it launches a kernel for \
    each parameter: a weight and a bias a layer. (PyTorch's `foreach` and `fused` exist to save \
    these launches.)";
const LAYER_LAUNCH: &str = "The optimizer was counted as one launch a layer. A layer has two \
    parameters, its weight and its bias, and each gets a launch.";
const NO_OPTIMIZER: &str = "The step of the optimizer was left out. It computes little, but reads \
    and writes everything that there is for each weight.";
const ONE_FLOP: &str = "A multiplication and an addition were counted as one. They are two \
    operations: 2 * batch * inputs * outputs for a product.";
const BIAS_FLOPS: &str = "The additions of the biases were counted. `flops` are those of the \
    matrix products.";
const AS_FORWARD: &str = "The backward pass was counted as one product a layer. There are two: dw \
    = dyT x, and dx = dy w where somebody needs it.";
const TWICE: &str = "The backward pass was taken to be twice the forward pass. That holds for all \
    layers but the first, which has no dx if `x` requires no gradient.";
const OF_WEIGHTS: &str = "The optimizer was counted as moving each weight once. It reads the \
    weight, its gradient and its state, and writes the weight and the state.";
const TWO_BYTES: &str = "A number was counted as 2 bytes. An `f32` has 4.";
const NUMBERS: &str = "Numbers were counted as bytes. An `f32` has 4 of them.";
const BIASES: &str = "Biases were forgotten. They are read when they are added, written as db, and \
    have a launch of the optimizer each.";
const SGD: &str = "SGD reads the weight and its gradient and writes the weight: 3 numbers.";
const GRADIENT: &str = "The gradient was left out. The optimizer reads it, and does not write it: \
    one number for each weight.";
const MOMENTUM: &str = "Momentum was counted once. SGD reads and writes it, beside the weight, \
    which is read and written too, and the gradient, which is read: 5 numbers.";
const STATE: &str = "The state of the optimizer was counted once. It is read and written: that is \
    two numbers for each one that is kept.";
const ADAM: &str = "AdamW was counted like SGD with momentum. It keeps two numbers for each \
    weight, and reads and writes both: 7 in all.";
const AT_ONCE: &str = "Arithmetic and bytes were summed over the step and compared once. Kernels \
    run one after the other: a product does not compute while a relu waits for memory. Take the \
    longer time kernel by kernel, and then the sum.";
const SUMMED: &str = "Both times of a kernel were summed. A kernel computes while its bytes move; \
    the longer time counts.";
const ARITHMETIC: &str = "Only arithmetic was counted. Most kernels of a step compute next to \
    nothing and still take as long as their bytes.";
const MEMORY: &str = "Only the bytes were counted. A product of large matrices takes longer for \
    its arithmetic.";
const SECONDS: &str = "Rates are per second, and times in nanoseconds. Between the two lies a \
    factor of 1e9.";
const PEAK: &str = "The peak of `f16` was taken. The stack computes in `f32`.";
const LAUNCHES: &str = "The launches were added to the time of the GPU. The host launches while \
    the GPU computes; the two times stand beside each other.";
const SWAPPED: &str = "The limit is the other one: who needs longer is done later, and the other \
    one waits.";
const BY_ROOF: &str = "The limit was chosen between arithmetic and memory. It is asked whether the \
    host is done later, or the GPU.";
