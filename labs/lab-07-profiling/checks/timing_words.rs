//! 7.3: what is to be said about a way to time a kernel.

use super::timing_ways::{Clock, Slip, Way};

/// A fault that is left: the key of its diagnosis, and what is true instead.
pub type Fault = (&'static str, &'static str);

impl Way {
    /// What is wrong with it, the worst first; nothing if it is right.
    pub fn faults(self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let by_host = matches!(self.clock, Clock::HostWaits | Clock::HostWaitsEach);
        if by_host && !self.waits {
            faults.push(QUEUED);
        }
        match self.clock {
            Clock::Host => faults.push(LAUNCHES),
            Clock::HostWaits => faults.push(HOST_CLOCK),
            Clock::HostWaitsEach => faults.push(WAITS_EACH),
            Clock::EventsWaitEach => faults.push(EVENTS_WAIT_EACH),
            Clock::EventsElsewhere => faults.push(ELSEWHERE),
            Clock::Events => {}
        }
        if !self.warm {
            faults.push(FIRST_CALL);
        }
        if self.clock == Clock::Events && !self.ahead {
            faults.push(GAPS);
        }
        let handed_out = Way { clock: Clock::Host, warm: false, waits: false, ahead: false };
        if self == handed_out { vec![HANDED_OUT] } else { faults }
    }
}

pub const SLIPS: &[(Slip, Fault)] = &[
    (Slip::Minimum, MINIMUM),
    (Slip::Median, MEDIAN),
    (Slip::OneCall, ONE_CALL),
    (Slip::Total, TOTAL),
    (Slip::OneMore, ONE_MORE),
    (Slip::OneLess, ONE_LESS),
    (Slip::Microseconds, MICROSECONDS),
    (Slip::SleepInside, SLEEP_INSIDE),
    (Slip::SleepSubtracted, SLEEP_SUBTRACTED),
    (Slip::FirstInside, FIRST_INSIDE),
    (Slip::LaunchesSubtracted, LAUNCHES_SUBTRACTED),
];

const HANDED_OUT: Fault = (
    "7.3-as-handed-out",
    "This is what the function said when it was handed out. The host's clock was read before and \
     after the launches, and a launch returns long before its kernel is done. So what was timed \
     is the launching, with the load of the first call in it.",
);
pub const LAUNCHES: Fault = (
    "7.3-launches",
    "The host's clock was read when the calls were launched, not when they were done. A launch \
     puts a kernel into its stream and returns. The GPU knows how long the kernel took: events in \
     its stream say so.",
);
pub const QUEUED: Fault = (
    "7.3-queued-before",
    "The clock was started while the GPU still had work from before. Whoever waits at the end \
     waits for that work too, and counts it. On an idle GPU it is the first launch and the moment \
     in which the host wakes up. An event is done when all before it is done, so between two \
     events of a stream there is only what was put there between them.",
);
const HOST_CLOCK: Fault = (
    "7.3-host-clock",
    "The host's clock was read around the calls and a wait. Between the two readings there is also \
     the first launch and the moment in which the host wakes up, and for short kernels all of the \
     launches. The GPU's clock has none of it: record an event before and one behind the calls.",
);
const WAITS_EACH: Fault = (
    "7.3-wait-each",
    "The host waited for each call before it launched the next. Now nothing overlaps: a launch, \
     the kernel and waking up are summed for each call.",
);
const EVENTS_WAIT_EACH: Fault = (
    "7.3-events-wait-each",
    "The host waited for each call before it launched the next. So the stream was empty, the event \
     before the call was done at once, and the launch is in the sum. Put all calls into the \
     stream and wait once.",
);
const ELSEWHERE: Fault = (
    "7.3-other-stream",
    "The events stand in stream 0 and the kernel in another. An event says when the work of its \
     own stream is done. Record both in `kernel.stream()`.",
);
pub const FIRST_CALL: Fault = (
    "7.3-first-call",
    "The first call is in the sum. It is unlike all later ones: code is loaded for it, and the \
     caches know none of its numbers. Call the kernel once before anything is recorded.",
);
pub const GAPS: Fault = (
    "7.3-gaps",
    "The GPU had to wait for the host between the two events. Where a kernel takes less than its \
     launch, that is so before every call, and what is found is the time of a launch. Let the \
     stream sleep before the first event until the host has launched all calls.",
);
pub const TOO_SHORT: Fault = (
    "7.3-sleep-too-short",
    "The stream sleeps before the calls, but wakes up before the host has launched them all. The \
     rest then waits for the host again. A launch takes up to `LONGEST_LAUNCH_NS`: sleep as long \
     as all of them together.",
);
const MINIMUM: Fault = (
    "7.3-minimum",
    "That is the fastest call. Wanted is the mean: it is what a program that calls the kernel a \
     thousand times has to wait for.",
);
const MEDIAN: Fault = (
    "7.3-median",
    "That is the median of the calls. Wanted is their mean, which times the calls is the whole.",
);
const ONE_CALL: Fault = (
    "7.3-one-call",
    "That is one of the calls. They differ: wanted is the mean of `calls` of them.",
);
const TOTAL: Fault = ("7.3-total", "That is what all calls take together. Divide by their number.");
const ONE_MORE: Fault = (
    "7.3-one-more",
    "Divided by one more than the calls between the events: the first one, which warms up, is not \
     among them.",
);
const ONE_LESS: Fault = (
    "7.3-one-less",
    "Divided by one less than the calls between the events. The first call that counts begins at \
     the first event.",
);
const MICROSECONDS: Fault = ("7.3-microseconds", "These are microseconds. Wanted are nanoseconds.");
const SLEEP_INSIDE: Fault = (
    "7.3-sleep-inside",
    "The first event stands before the sleep, so the sleep is in the sum. It belongs between the \
     sleep and the first call.",
);
const SLEEP_SUBTRACTED: Fault = (
    "7.3-sleep-subtracted",
    "The first event stands before the sleep, and the sleep was subtracted afterwards. What is \
     left has the launch of the sleep in it, for which an idle stream waits. Record the event \
     behind the sleep: then nothing has to be subtracted.",
);
const FIRST_INSIDE: Fault = (
    "7.3-first-inside",
    "The call that warms up stands between the events and is counted as one of the calls. It has \
     to come before the first event.",
);
const LAUNCHES_SUBTRACTED: Fault = (
    "7.3-launches-subtracted",
    "What the launches take was subtracted. But the GPU works while the host launches: of kernels \
     longer than a launch only the first one has waited, and of shorter ones nothing is left. \
     Have no gaps instead of subtracting them.",
);
pub const NOT_DONE: Fault = (
    "7.3-not-done",
    "An event was asked for its time before it was done. The host runs ahead of the GPU; it has to \
     wait for the last event before it asks.",
);
pub const OTHER_WORK: Fault = (
    "7.3-other-work",
    "What other streams have to do is in the answer. A wait for the whole GPU waits for them too; \
     two events of the kernel's stream do not see them.",
);
