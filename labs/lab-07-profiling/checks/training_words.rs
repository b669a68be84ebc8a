//! The targets of 7.6, and the words for whoever misses one.

use engine_room::profiler::Problem;

use super::super::training::Counters;

/// What a loop can ask too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Launches,
    Packed,
    Sent,
    Waits,
    Driver,
}

impl Target {
    pub const ALL: [Target; 5] =
        [Target::Launches, Target::Packed, Target::Sent, Target::Waits, Target::Driver];

    /// What was counted.
    pub fn of(self, counters: &Counters) -> u64 {
        match self {
            Target::Launches => counters.launches,
            Target::Packed => counters.packed,
            Target::Sent => counters.sent,
            Target::Waits => counters.waits,
            Target::Driver => counters.driver,
        }
    }

    /// The most that is allowed.
    pub fn most(self) -> u64 {
        match self {
            Target::Launches => 40,
            // All readings and all targets once, 983,040, and a little more.
            Target::Packed => 1_000_000,
            Target::Sent | Target::Waits => 4,
            // Batches that are kept may need a segment more than an epoch before has left.
            Target::Driver => 2,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Target::Launches => "launches a step",
            Target::Packed => "bytes of copies, hidden or not",
            Target::Sent => "copies to the device",
            Target::Waits => "waits before the last launch",
            Target::Driver => "calls for memory, or to empty the cache",
        }
    }

    /// What was counted, in words.
    pub fn line(self, counters: &Counters) -> String {
        format!("{}: {}", self.name(), self.of(counters))
    }

    /// The most that is allowed, in words.
    pub fn bound(self) -> String {
        format!("{}: at most {}", self.name(), self.most())
    }

    pub fn problem(self) -> Problem {
        match self {
            Target::Launches => Problem::LaunchBound,
            Target::Packed => Problem::HiddenCopy,
            Target::Sent => Problem::Transfer,
            Target::Waits => Problem::Synchronization,
            Target::Driver => Problem::AllocatorStall,
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Target::Launches => (
                "7.6-launches",
                "Many of the kernels are shorter than their launches, so the device waits for the \
                 host. One operation can do for all channels what a loop does for each.",
            ),
            Target::Packed => (
                "7.6-hidden-copy",
                "`reshape` of a permuted tensor packs it. Readings and targets are the same in \
                 every \
                 epoch: pack all of them once, before the loop, and take the batches from that.",
            ),
            Target::Sent => (
                "7.6-transfer",
                "Something that never changes goes to the device again and again. Send it once, \
                 before the loop.",
            ),
            Target::Waits => (
                "7.6-waits",
                "The host waits for the device within the loop, and then the device waits for the \
                 host. Whatever reads a number of the device waits. Keep the losses as tensors, \
                 and read them behind the loop.",
            ),
            Target::Driver => (
                "7.6-driver",
                "The cache gives its memory back, and the next step asks the driver for it again. \
                 Giving back waits for the device. Nobody else needs this memory: leave it in the \
                 cache.",
            ),
        }
    }
}

/// Key and words for the dearest of the targets that were missed; if all were reached, for what the
/// diagnosis still finds.
pub fn of(
    missed: &[Target],
    counters: &Counters,
    mut dearest: impl Iterator<Item = Problem>,
) -> Option<(&'static str, &'static str)> {
    if missed.is_empty() {
        return dearest.next().map(|_| {
            (
                "7.6-finding",
                "Every counter reaches its target, and the diagnosis still finds something that \
                 happens more than once and costs 2% of the time or more.",
            )
        });
    }
    if missed.contains(&Target::Waits) && counters.fetched > FEW {
        return Some((
            "7.6-on-host",
            "Whole tensors go to the host within the loop, and what is computed of them goes back. \
             The device can compute a loss as well, and nobody has to wait for it.",
        ));
    }
    if missed.contains(&Target::Sent) && counters.pinned > Target::Sent.most() {
        return Some((
            "7.6-pinned",
            "Pinned memory makes a copy that nobody waits for. Here the same numbers are pinned \
             and copied in each step. They never change: send them once, before the loop.",
        ));
    }
    if missed.contains(&Target::Waits) && counters.fetched == 0 && counters.sent <= 4 {
        return Some((
            "7.6-synchronize",
            "Nothing is read in the loop, and the host waits for the device all the same. A stream \
             keeps its work in order without that.",
        ));
    }
    if let Some(words) = of_copies(missed, counters) {
        return Some(words);
    }
    let first = dearest.find_map(|problem| missed.iter().find(|it| it.problem() == problem));
    Some(first.unwrap_or(&missed[0]).words())
}

/// Key and words for copies that the diagnosis does not call hidden, or that the loop's lines do
/// not show.
fn of_copies(missed: &[Target], counters: &Counters) -> Option<(&'static str, &'static str)> {
    let most = Target::Packed.most();
    if !missed.contains(&Target::Packed) {
        return None;
    }
    if counters.copied > most {
        return Some((
            "7.6-copied",
            "The copies are no longer hidden, and they are made all the same: `copy` moves every \
             number. Put each reading and each target in order once, before the loop.",
        ));
    }
    (counters.packed_backward > most).then_some((
        "7.6-gradient-packed",
        "The forward pass packs nothing any more, and the backward pass does. The gradient of a \
         mean is one number that is expanded to all places. A view takes it on its way back only \
         if its numbers lie one behind the other, so it is packed. Take the view before the \
         squares: what arrives there is the gradient of a product, and that is packed already.",
    ))
}

/// Bytes of some losses.
const FEW: u64 = 4096;
