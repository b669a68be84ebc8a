//! 7.5: what bounds a kernel, as it is and as some think that it is.

use super::super::kernel::{Bound, Counts, Numbers, Roofs, Verdict};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thought {
    Inverted,
    RidgeIsMemory,
    AlwaysF32,
    AlwaysF16,
    Gibibytes,
    TotalTime,
    TotalAgainstLaunch,
    TotalWork,
    AsLongAsALaunch,
    LaunchesLast,
    LaunchesByRoof,
    NoNeither,
    HalfIsNeither,
    LowerShare,
    ShareOfMemory,
    ShareOfPeak,
    LaunchShareOfRoof,
    LaunchShareWaiting,
    LaunchShareInverted,
    Seconds,
    Percent,
    ShareInverted,
    WholeNanoseconds,
    ZeroByZero,
    Added,
    TwiceTheFlops,
    LaunchInTime,
}

use Thought::*;

/// What is thought of a kernel.
pub fn formula(counts: &Counts, roofs: &Roofs, thought: Thought) -> Verdict {
    let calls = counts.calls as f64;
    let mean_ns = match thought {
        TotalTime => counts.device_ns as f64,
        WholeNanoseconds => (counts.device_ns / counts.calls) as f64,
        _ => counts.device_ns as f64 / calls,
    };
    let (arithmetic_ns, memory_ns) = least_times(counts, roofs, thought);
    let share = share(mean_ns, [arithmetic_ns, memory_ns], roofs, thought);
    let is_arithmetic = match thought {
        Inverted => arithmetic_ns < memory_ns,
        RidgeIsMemory => arithmetic_ns > memory_ns,
        _ => arithmetic_ns >= memory_ns,
    };
    let half = if thought == Percent { 50.0 } else { 0.5 };
    let is_neither = match thought {
        NoNeither => false,
        HalfIsNeither => share <= half,
        _ => share < half,
    };
    let bound = match (is_neither, is_arithmetic) {
        (true, _) => Bound::Neither,
        (false, true) => Bound::Arithmetic,
        (false, false) => Bound::Memory,
    };
    let launch_ns = roofs.launch_ns as f64;
    let is_launches = match thought {
        AsLongAsALaunch => mean_ns <= launch_ns,
        TotalAgainstLaunch => (counts.device_ns as f64) < launch_ns,
        LaunchesByRoof => arithmetic_ns.max(memory_ns) < launch_ns,
        LaunchesLast => mean_ns < launch_ns && is_neither,
        _ => mean_ns < launch_ns,
    };
    if !is_launches {
        return Verdict { bound, share };
    }
    let share = match thought {
        LaunchShareOfRoof => share,
        LaunchShareWaiting => 1.0 - mean_ns / launch_ns,
        LaunchShareInverted => launch_ns / mean_ns,
        Percent => 100.0 * mean_ns / launch_ns,
        _ => mean_ns / launch_ns,
    };
    Verdict { bound: Bound::Launches, share }
}

/// What a call takes at least for its arithmetic and for its bytes.
fn least_times(counts: &Counts, roofs: &Roofs, thought: Thought) -> (f64, f64) {
    let peak = match (thought, counts.numbers) {
        (AlwaysF16, _) => roofs.f16_flops_per_s,
        (AlwaysF32, _) | (_, Numbers::F32) => roofs.f32_flops_per_s,
        (_, Numbers::F16) => roofs.f16_flops_per_s,
    };
    let bytes_per_s = match thought {
        Gibibytes => roofs.bytes_per_s as f64 / 1e9 * (1 << 30) as f64,
        _ => roofs.bytes_per_s as f64,
    };
    let calls = if thought == TotalWork { 1.0 } else { counts.calls as f64 };
    let flops = counts.flops as f64 * if thought == TwiceTheFlops { 2.0 } else { 1.0 };
    let ns = if thought == Seconds { 1.0 } else { 1e9 };
    (flops * ns / calls / peak as f64, counts.bytes as f64 * ns / calls / bytes_per_s)
}

fn share(mean_ns: f64, [arithmetic, memory]: [f64; 2], roofs: &Roofs, thought: Thought) -> f64 {
    let least = match thought {
        Added => arithmetic + memory,
        LowerShare => arithmetic.min(memory),
        ShareOfMemory => memory,
        ShareOfPeak => arithmetic,
        _ => arithmetic.max(memory),
    };
    match thought {
        LaunchInTime => least / (mean_ns + roofs.launch_ns as f64),
        ShareInverted => mean_ns / least,
        Percent => 100.0 * least / mean_ns,
        ZeroByZero if arithmetic == 0.0 && memory > 0.0 => f64::NAN,
        _ => least / mean_ns,
    }
}

/// Every thought, with its key and what is true instead.
pub const THOUGHTS: &[Known<Thought>] = &[
    (Inverted, "7.5-inverted", INVERTED),
    (RidgeIsMemory, "7.5-ridge", RIDGE),
    (AlwaysF32, "7.5-always-f32", F32),
    (AlwaysF16, "7.5-always-f16", F16),
    (Gibibytes, "7.5-gibibytes", GIBIBYTES),
    (TotalTime, "7.5-total-time", TOTAL_TIME),
    (TotalAgainstLaunch, "7.5-total-against-launch", AGAINST_LAUNCH),
    (TotalWork, "7.5-total-work", TOTAL_WORK),
    (AsLongAsALaunch, "7.5-as-long-as-a-launch", AS_LONG),
    (LaunchesLast, "7.5-launches-last", LAST),
    (LaunchesByRoof, "7.5-launches-by-roof", BY_ROOF),
    (NoNeither, "7.5-no-neither", NO_NEITHER),
    (HalfIsNeither, "7.5-half", HALF),
    (LowerShare, "7.5-lower-share", LOWER),
    (ShareOfMemory, "7.5-share-of-memory", OF_MEMORY),
    (ShareOfPeak, "7.5-share-of-peak", OF_PEAK),
    (LaunchShareOfRoof, "7.5-launch-share-of-roof", SHARE_OF_ROOF),
    (LaunchShareWaiting, "7.5-launch-share-waiting", WAITING),
    (LaunchShareInverted, "7.5-launch-share-inverted", LAUNCH_INVERTED),
    (Seconds, "7.5-seconds", SECONDS),
    (Percent, "7.5-percent", PERCENT),
    (ShareInverted, "7.5-share-inverted", SHARE_INVERTED),
    (WholeNanoseconds, "7.5-whole-nanoseconds", WHOLE),
    (ZeroByZero, "7.5-zero-by-zero", ZERO),
    (Added, "7.5-added", ADDED),
    (TwiceTheFlops, "7.5-twice-the-flops", TWICE),
    (LaunchInTime, "7.5-launch-in-time", IN_TIME),
];

const INVERTED: &str = "Memory and arithmetic have changed places. The one that needs longer for \
    its share of the work is the limit; the other one waits for it. Many operations for each byte \
    lead to arithmetic.";
const RIDGE: &str = "Where both roofs ask for the same time, at the ridge, the answer is \
    `Arithmetic`: from there on the peak can be reached.";
const F32: &str = "The peak of `f32` was taken for kernels that compute in `f16`. A GPU has a peak \
    for each type, and the ridge moves with it.";
const F16: &str = "The peak of `f16` was taken for kernels that compute in `f32`. Most code never \
    reaches the largest number of a data sheet, since it belongs to another type.";
const GIBIBYTES: &str = "The bandwidth was read in GiB. 320 GB/s of a data sheet are \
    320,000,000,000 bytes a second, and so `bytes_per_s` has them.";
const TOTAL_TIME: &str = "The time of all calls was taken for that of one. Divide it by the calls \
    before it is compared with a launch or with the least time of one call.";
const AGAINST_LAUNCH: &str = "The time of all calls was compared with one launch. Each call has a \
    launch of its own.";
const TOTAL_WORK: &str = "Bytes and operations are those of all calls, and the time was that of \
    one. Either all of them are totals, or all are divided by the calls.";
const AS_LONG: &str = "A call that takes exactly as long as a launch keeps the GPU busy. \
    `Launches` begins where it takes less.";
const LAST: &str = "A call that is shorter than its launch is bound by launches, also if it comes \
    near to a roof: making it faster would make the GPU wait longer. Ask for launches first.";
const BY_ROOF: &str = "The least time was compared with the launch. What counts for the host is \
    how long the call really takes.";
const NO_NEITHER: &str = "A kernel that reaches less than half of its roof is not held up by it. \
    Something of its own is in the way, and the answer is `Neither`.";
const HALF: &str = "A kernel that reaches exactly half of its roof still counts as bound by it. \
    `Neither` begins below.";
const LOWER: &str = "That is the share of the roof that is farther away. The kernel meets the \
    nearer one first: the larger of the two shares.";
const OF_MEMORY: &str = "The share was always that of the memory's roof. A kernel that is bound by \
    arithmetic has hardly any of it to show.";
const OF_PEAK: &str = "The share was always that of the arithmetic peak. A kernel that only adds \
    two tensors cannot reach 1 percent of that, and still be as fast as memory is.";
const SHARE_OF_ROOF: &str = "For `Launches` the limit is the host. The share is how much of the \
    time the GPU works if one call follows the other: the call's time over the launch's.";
const WAITING: &str = "For `Launches` the share is that of the time in which the GPU works, not of \
    that in which it waits.";
const LAUNCH_INVERTED: &str = "For `Launches` the share is the call's time over the launch's. It \
    is less than 1.";
const SECONDS: &str = "Rates are per second, and times are in nanoseconds. Between the two lies a \
    factor of 1e9.";
const PERCENT: &str = "The share is a part of 1: 0.5, and not 50.";
const SHARE_INVERTED: &str = "The share is the least time over the time that was taken. It is 1 at \
    the roof, and less below.";
const WHOLE: &str = "Dividing two `u64` drops what is behind the point. Convert both by `as f64` \
    before you divide.";
const ZERO: &str = "Without operations their rate is 0, and so is the roof at their intensity: \
    0 / 0 is no number. Two times that are compared have no such hole.";
const ADDED: &str = "The times of memory and of arithmetic were summed. A GPU does both at once; \
    the longer one counts.";
const TWICE: &str = "The operations were counted twice. A fused multiply-add is two of them in \
    `flops` already.";
const IN_TIME: &str = "The launch was added to the time of the call. It is the host's time, and it \
    passes while the GPU works.";
