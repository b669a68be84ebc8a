//! 7.3: the GPUs and kernels that are timed, and ways to time them of which most are wrong.

use super::super::timing::{Event, Gpu, Kernel, LONGEST_LAUNCH_NS};

/// A GPU in some state, and a kernel that has not been called on it.
#[derive(Clone)]
pub struct Case {
    pub name: &'static str,
    pub launch_ns: u64,
    pub stream: usize,
    pub warm_ns: Vec<u64>,
    pub cold_ns: u64,
    pub calls: u64,
    /// What streams have still to do: the stream, and for how long.
    pub pending: Vec<(usize, u64)>,
}

impl Case {
    /// The GPU and the kernel, as new as they were.
    pub fn made(&self) -> (Gpu, Kernel) {
        let mut gpu = Gpu::new(self.launch_ns, 3);
        for &(stream, ns) in &self.pending {
            gpu.sleep(stream, ns);
        }
        (gpu, Kernel::new(self.stream, self.warm_ns.clone(), self.cold_ns))
    }

    /// What is to be found: no clock has a part in it.
    pub fn mean_ns(&self) -> u64 {
        self.warm_ns.iter().sum::<u64>() / self.warm_ns.len() as u64
    }
}

/// Which clock is asked, and what is waited for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clock {
    /// The host's, when all calls are launched.
    Host,
    /// The host's, when all calls are done.
    HostWaits,
    /// The host's, and it waits for each call.
    HostWaitsEach,
    /// The GPU's, around all calls.
    Events,
    /// The GPU's, around each call, which is waited for.
    EventsWaitEach,
    /// The GPU's, in stream 0.
    EventsElsewhere,
}

/// A way to time a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Way {
    pub clock: Clock,
    /// Whether a first call does not count.
    pub warm: bool,
    /// Whether the host waits before it begins.
    pub waits: bool,
    /// Whether the stream sleeps until all calls are launched.
    pub ahead: bool,
}

impl Way {
    /// All of them, also those that are right.
    pub fn all() -> Vec<Way> {
        use Clock::*;
        let mut ways = Vec::new();
        for clock in [Host, HostWaits, HostWaitsEach, Events, EventsWaitEach, EventsElsewhere] {
            for bits in 0..8 {
                let [warm, waits, ahead] = [bits & 1 > 0, bits & 2 > 0, bits & 4 > 0];
                if !ahead || matches!(clock, Events | EventsElsewhere) {
                    ways.push(Way { clock, warm, waits, ahead });
                }
            }
        }
        ways
    }

    /// What this way finds.
    pub fn found(self, case: &Case) -> u64 {
        let (mut gpu, mut kernel) = case.made();
        let (calls, own) = (case.calls, kernel.stream());
        if self.warm {
            gpu.launch(&mut kernel);
        }
        if self.waits {
            gpu.synchronize();
        }
        if self.ahead {
            gpu.sleep(own, (calls + 1) * LONGEST_LAUNCH_NS);
        }
        let stream = if self.clock == Clock::EventsElsewhere { 0 } else { own };
        let (began, each) = (gpu.now_ns(), self.clock == Clock::EventsWaitEach);
        let first = matches!(self.clock, Clock::Events | Clock::EventsElsewhere)
            .then(|| gpu.record(stream));
        let mut sum = 0;
        for _ in 0..calls {
            let before = each.then(|| gpu.record(stream));
            gpu.launch(&mut kernel);
            if let Some(before) = before {
                let after = gpu.record(stream);
                gpu.synchronize();
                sum += gpu.elapsed_ns(before, after);
            }
            if self.clock == Clock::HostWaitsEach {
                gpu.synchronize();
            }
        }
        if let Some(first) = first {
            let last = gpu.record(stream);
            gpu.synchronize();
            sum = gpu.elapsed_ns(first, last);
        } else if !each {
            if self.clock == Clock::HostWaits {
                gpu.synchronize();
            }
            sum = gpu.now_ns() - began;
        }
        sum / calls
    }
}

/// Something that goes wrong although all three faults are mended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slip {
    Minimum,
    Median,
    OneCall,
    Total,
    OneMore,
    OneLess,
    Microseconds,
    SleepInside,
    SleepSubtracted,
    FirstInside,
    LaunchesSubtracted,
}

impl Slip {
    /// What is found with it.
    pub fn found(self, case: &Case) -> u64 {
        let (mut gpu, mut kernel) = case.made();
        let (calls, stream) = (case.calls, kernel.stream());
        let sleep_ns = (calls + 1) * LONGEST_LAUNCH_NS;
        if self != Slip::FirstInside {
            gpu.launch(&mut kernel);
        }
        if matches!(self, Slip::SleepSubtracted | Slip::LaunchesSubtracted) {
            gpu.synchronize();
        }
        let before = gpu.record(stream);
        if self != Slip::LaunchesSubtracted {
            gpu.sleep(stream, sleep_ns);
        }
        let mut events: Vec<Event> = vec![gpu.record(stream)];
        let more = u64::from(self == Slip::FirstInside);
        for _ in 0..calls + more {
            gpu.launch(&mut kernel);
            events.push(gpu.record(stream));
        }
        gpu.synchronize();
        let mut each: Vec<u64> =
            events.windows(2).map(|two| gpu.elapsed_ns(two[0], two[1])).collect();
        let all = each.iter().sum::<u64>();
        let last = events[events.len() - 1];
        match self {
            Slip::Minimum => each.into_iter().min().unwrap_or(0),
            Slip::Median => {
                each.sort();
                each[each.len() / 2]
            }
            Slip::OneCall => each[0],
            Slip::Total => all,
            Slip::OneMore | Slip::FirstInside => all / (calls + 1),
            Slip::OneLess => all / (calls - 1),
            Slip::Microseconds => all / calls / 1_000,
            Slip::SleepInside => gpu.elapsed_ns(before, last) / calls,
            Slip::SleepSubtracted => (gpu.elapsed_ns(before, last) - sleep_ns) / calls,
            Slip::LaunchesSubtracted => without_launches(&mut gpu, &mut kernel, case),
        }
    }
}

/// What events around the calls say, less what their launches take.
fn without_launches(gpu: &mut Gpu, kernel: &mut Kernel, case: &Case) -> u64 {
    let before = gpu.record(case.stream);
    let began = gpu.now_ns();
    for _ in 0..case.calls {
        gpu.launch(kernel);
    }
    let launching_ns = gpu.now_ns() - began;
    let after = gpu.record(case.stream);
    gpu.synchronize();
    gpu.elapsed_ns(before, after).saturating_sub(launching_ns) / case.calls
}
