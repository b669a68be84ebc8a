//! Wrong answers to what bounds a kernel: 7.5.

use super::super::kernel::{Bound, Counts, Numbers, Roofs, Verdict};
use super::super::solution;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    [of_roofs(), of_calls(), of_launches(), of_launch_shares(), of_choices(), of_shares()]
        .into_iter()
        .flatten()
        .collect()
}

fn says(
    diagnosis: &'static str,
    name: &'static str,
    bound: fn(&Counts, &Roofs) -> Verdict,
) -> Wrong {
    wrong("7.5", diagnosis, name, |table| table.bound = bound)
}

/// What a kernel's call takes, and what it would take at least, in nanoseconds.
struct Times {
    launch: f64,
    call: f64,
    arithmetic: f64,
    memory: f64,
}

impl Times {
    fn of(counts: &Counts, roofs: &Roofs) -> Times {
        let is_half = counts.numbers == Numbers::F16;
        let peak = if is_half { roofs.f16_flops_per_s } else { roofs.f32_flops_per_s };
        let calls = counts.calls as f64;
        Times {
            launch: roofs.launch_ns as f64,
            call: counts.device_ns as f64 / calls,
            arithmetic: counts.flops as f64 * 1e9 / calls / peak as f64,
            memory: counts.bytes as f64 * 1e9 / calls / roofs.bytes_per_s as f64,
        }
    }

    /// The verdict on what is longer than a launch, with this share.
    fn by_roof(&self, share: f64) -> Verdict {
        let nearer = if self.arithmetic >= self.memory { Bound::Arithmetic } else { Bound::Memory };
        Verdict { bound: if share < 0.5 { Bound::Neither } else { nearer }, share }
    }

    fn least(&self) -> f64 {
        self.arithmetic.max(self.memory)
    }

    fn verdict(&self) -> Verdict {
        self.with_share(self.least() / self.call)
    }

    fn with_share(&self, share: f64) -> Verdict {
        if self.call < self.launch {
            return Verdict { bound: Bound::Launches, share: self.call / self.launch };
        }
        self.by_roof(share)
    }
}

fn of_roofs() -> Vec<Wrong> {
    vec![
        says("7.5-inverted", "bytes an operation", |counts, roofs| {
            let verdict = solution::bound(counts, roofs);
            let bound = match verdict.bound {
                Bound::Memory => Bound::Arithmetic,
                Bound::Arithmetic => Bound::Memory,
                other => other,
            };
            Verdict { bound, ..verdict }
        }),
        says("7.5-ridge", "memory at the ridge", |counts, roofs| {
            let (verdict, times) = (solution::bound(counts, roofs), Times::of(counts, roofs));
            let is_ridge = verdict.bound == Bound::Arithmetic && times.arithmetic <= times.memory;
            Verdict { bound: if is_ridge { Bound::Memory } else { verdict.bound }, ..verdict }
        }),
        says("7.5-always-f32", "one peak", |counts, roofs| {
            solution::bound(&Counts { numbers: Numbers::F32, ..*counts }, roofs)
        }),
        says("7.5-always-f16", "the largest peak", |counts, roofs| {
            solution::bound(&Counts { numbers: Numbers::F16, ..*counts }, roofs)
        }),
        says("7.5-gibibytes", "GB as GiB", |counts, roofs| {
            let times = Times::of(counts, roofs);
            let memory = times.memory * 1e9 / (1024.0 * 1024.0 * 1024.0);
            Times { memory, ..times }.verdict()
        }),
        says("7.5-twice-the-flops", "a multiply-add is two", |counts, roofs| {
            solution::bound(&Counts { flops: 2 * counts.flops, ..*counts }, roofs)
        }),
    ]
}

fn of_calls() -> Vec<Wrong> {
    vec![
        says("7.5-total-time", "all calls' time as one's", |counts, roofs| {
            let call = counts.device_ns as f64;
            Times { call, ..Times::of(counts, roofs) }.verdict()
        }),
        says("7.5-total-work", "all calls' bytes in one's time", |counts, roofs| {
            let (times, calls) = (Times::of(counts, roofs), counts.calls as f64);
            let [arithmetic, memory] = [times.arithmetic, times.memory].map(|ns| ns * calls);
            Times { arithmetic, memory, ..times }.verdict()
        }),
        says("7.5-whole-nanoseconds", "divides integers", |counts, roofs| {
            let call = (counts.device_ns / counts.calls) as f64;
            Times { call, ..Times::of(counts, roofs) }.verdict()
        }),
    ]
}

fn of_launches() -> Vec<Wrong> {
    vec![
        says("7.5-total-against-launch", "all calls against a launch", |counts, roofs| {
            let times = Times::of(counts, roofs);
            if counts.device_ns < roofs.launch_ns {
                return times.verdict();
            }
            times.by_roof(times.least() / times.call)
        }),
        says("7.5-as-long-as-a-launch", "at most a launch", |counts, roofs| {
            let times = Times::of(counts, roofs);
            if times.call == times.launch {
                return Verdict { bound: Bound::Launches, share: 1.0 };
            }
            times.verdict()
        }),
        says("7.5-launches-last", "roofs first", |counts, roofs| {
            let times = Times::of(counts, roofs);
            let by_roof = times.by_roof(times.least() / times.call);
            if by_roof.bound == Bound::Neither { times.verdict() } else { by_roof }
        }),
        says("7.5-launches-by-roof", "the least time against a launch", |counts, roofs| {
            let times = Times::of(counts, roofs);
            if times.least() < times.launch {
                return Verdict { bound: Bound::Launches, share: times.call / times.launch };
            }
            times.by_roof(times.least() / times.call)
        }),
        says("7.5-launch-in-time", "launch and kernel", |counts, roofs| {
            let times = Times::of(counts, roofs);
            times.with_share(times.least() / (times.call + times.launch))
        }),
    ]
}

fn with_launch_share(counts: &Counts, roofs: &Roofs, share: fn(&Times) -> f64) -> Verdict {
    let times = Times::of(counts, roofs);
    let verdict = times.verdict();
    let is_launches = verdict.bound == Bound::Launches;
    Verdict { share: if is_launches { share(&times) } else { verdict.share }, ..verdict }
}

fn of_launch_shares() -> Vec<Wrong> {
    vec![
        says("7.5-launch-share-of-roof", "always a roof's share", |counts, roofs| {
            with_launch_share(counts, roofs, |times| times.least() / times.call)
        }),
        says("7.5-launch-share-waiting", "the time that is lost", |counts, roofs| {
            with_launch_share(counts, roofs, |times| 1.0 - times.call / times.launch)
        }),
        says("7.5-launch-share-inverted", "launches in a call", |counts, roofs| {
            with_launch_share(counts, roofs, |times| times.launch / times.call)
        }),
    ]
}

fn of_choices() -> Vec<Wrong> {
    vec![
        says("7.5-no-neither", "one of the roofs", |counts, roofs| {
            let (verdict, times) = (solution::bound(counts, roofs), Times::of(counts, roofs));
            match verdict.bound {
                Bound::Neither => Verdict { share: verdict.share, ..times.by_roof(1.0) },
                _ => verdict,
            }
        }),
        says("7.5-half", "more than half, and in percent", |counts, roofs| {
            let verdict = solution::bound(counts, roofs);
            let is_half = verdict.bound != Bound::Launches && verdict.share == 0.5;
            let bound = if is_half { Bound::Neither } else { verdict.bound };
            Verdict { bound, share: 100.0 * verdict.share }
        }),
    ]
}

fn of_shares() -> Vec<Wrong> {
    vec![
        says("7.5-lower-share", "the smaller share", |counts, roofs| {
            let times = Times::of(counts, roofs);
            times.with_share(times.arithmetic.min(times.memory) / times.call)
        }),
        says("7.5-share-of-memory", "of the bandwidth", |counts, roofs| {
            let times = Times::of(counts, roofs);
            times.with_share(times.memory / times.call)
        }),
        says("7.5-share-of-peak", "of the peak", |counts, roofs| {
            let times = Times::of(counts, roofs);
            times.with_share(times.arithmetic / times.call)
        }),
        says("7.5-added", "both times", |counts, roofs| {
            let times = Times::of(counts, roofs);
            times.with_share((times.arithmetic + times.memory) / times.call)
        }),
        says("7.5-share-inverted", "taken over least", |counts, roofs| {
            let times = Times::of(counts, roofs);
            times.with_share(times.call / times.least())
        }),
        says("7.5-seconds", "seconds over nanoseconds", |counts, roofs| {
            let times = Times::of(counts, roofs);
            times.with_share(times.least() / 1e9 / times.call)
        }),
        says("7.5-percent", "of a hundred", |counts, roofs| {
            let verdict = solution::bound(counts, roofs);
            Verdict { share: 100.0 * verdict.share, ..verdict }
        }),
        says("7.5-zero-by-zero", "rate over roof", |counts, roofs| {
            let times = Times::of(counts, roofs);
            let intensity = counts.flops as f64 / counts.bytes as f64;
            let is_half = counts.numbers == Numbers::F16;
            let peak = if is_half { roofs.f16_flops_per_s } else { roofs.f32_flops_per_s } as f64;
            let roof = peak.min(intensity * roofs.bytes_per_s as f64);
            times.with_share(counts.flops as f64 * 1e9 / counts.device_ns as f64 / roof)
        }),
    ]
}
