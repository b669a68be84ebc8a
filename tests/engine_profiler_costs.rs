//! The diagnosis of events that are made up, with costs by hand. Times are in microseconds.

#[path = "engine/tape.rs"]
mod tape;
#[path = "engine/tape_random.rs"]
mod tape_random;

use engine_room::Device;
use engine_room::driver::{HostMemory, Route};
use engine_room::profiler::{Call, Diagnosis, Kind, LEAST_SHARE, Problem};
use tape::{Tape, US};

const GPU: Device = Device::Cuda(0);
const MB: u64 = 1 << 20;
const TO_DEVICE: Route = Route::ToDevice(HostMemory::Pageable);
const TO_DEVICE_PINNED: Route = Route::ToDevice(HostMemory::Pinned);
const TO_HOST: Route = Route::ToHost(HostMemory::Pageable);

/// Problem, cost in microseconds and line of each finding.
fn found(diagnosis: &Diagnosis) -> Vec<(Problem, u64, u32)> {
    let findings = diagnosis.findings.iter();
    let row = findings.map(|it| (it.problem, it.cost_ns / US, it.at.expect("its line").line()));
    row.collect()
}

#[test]
fn a_wait_costs_what_the_device_is_idle_for_afterwards() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (10, 100));
    let line = line!() + 1;
    tape.call(Call::Synchronize, (3, 100));
    tape.kernel(GPU, (110, 113), (120, 200));
    // Nothing comes after this one.
    tape.call(Call::Synchronize, (113, 200));
    let diagnosis = tape.diagnosis();
    assert_eq!(diagnosis.profiled_ns, 200 * US);
    assert_eq!(found(&diagnosis), [(Problem::Synchronization, 20, line)]);
}

#[test]
fn a_wait_for_an_idle_device_costs_nothing() {
    let mut tape = Tape::new();
    let line = line!() + 1;
    tape.kernel(GPU, (0, 3), (5, 20));
    tape.call(Call::Synchronize, (40, 42));
    tape.kernel(GPU, (50, 53), (60, 200));
    assert_eq!(found(&tape.diagnosis()), [(Problem::LaunchBound, 40, line)]);
}

#[test]
fn kernels_that_are_done_before_the_next_launch() {
    let mut tape = Tape::new();
    let mut line = 0;
    for i in 0..3 {
        line = line!() + 1;
        tape.kernel(GPU, (10 * i, 10 * i + 3), (10 * i + 5, 10 * i + 7));
    }
    tape.kernel(GPU, (30, 33), (35, 100));
    let diagnosis = tape.diagnosis();
    assert_eq!(found(&diagnosis), [(Problem::LaunchBound, 24, line)]);
    assert_eq!(diagnosis.findings[0].count, 3);
    let advice = &diagnosis.findings[0].advice;
    assert!(advice.contains("kernel takes 2.000us and the host's call 3.000us"), "{advice}");
}

#[test]
fn a_gap_before_what_was_launched_long_ago_is_the_devices_own() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (10, 50));
    tape.kernel(GPU, (3, 6), (55, 100));
    assert_eq!(found(&tape.diagnosis()), []);
}

#[test]
fn pageable_copies_cost_their_time_and_the_hosts_wait() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (10, 50));
    let line = line!() + 1;
    tape.copy(TO_DEVICE, MB, (3, 80), (50, 80));
    tape.kernel(GPU, (85, 88), (90, 200));
    let diagnosis = tape.diagnosis();
    assert_eq!(found(&diagnosis), [(Problem::Transfer, 40, line)]);
    assert_eq!(diagnosis.findings[0].bytes, MB);
    assert!(diagnosis.findings[0].advice.contains("pin_memory"));
}

#[test]
fn pinned_copies_cost_the_time_in_which_nothing_is_computed() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (10, 50));
    let line = line!() + 1;
    tape.copy(TO_DEVICE_PINNED, MB, (3, 5), (40, 80));
    tape.kernel(GPU, (5, 8), (80, 200));
    assert_eq!(found(&tape.diagnosis()), [(Problem::Transfer, 30, line)]);
}

#[test]
fn a_pinned_copy_that_is_waited_for_is_one_thing_with_its_wait() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (10, 50));
    tape.op("to", (3, 81));
    let line = line!() + 1;
    tape.copy(TO_DEVICE_PINNED, MB, (3, 5), (50, 80));
    tape.call(Call::Synchronize, (5, 80));
    tape.kernel(GPU, (85, 88), (90, 200));
    let diagnosis = tape.diagnosis();
    assert_eq!(found(&diagnosis), [(Problem::Transfer, 40, line)]);
    assert_eq!((&diagnosis.findings[0].what[..], diagnosis.findings[0].count), ("to", 1));
}

#[test]
fn few_bytes_to_the_host_are_a_wait_and_many_a_transfer() {
    for (bytes, problem) in [
        (4, Problem::Synchronization),
        (65536, Problem::Synchronization),
        (65537, Problem::Transfer),
    ] {
        let mut tape = Tape::new();
        tape.kernel(GPU, (0, 3), (10, 50));
        let line = line!() + 1;
        tape.copy(TO_HOST, bytes, (3, 54), (50, 54));
        tape.kernel(GPU, (54, 57), (61, 200));
        assert_eq!(found(&tape.diagnosis()), [(problem, 11, line)], "{bytes} bytes");
    }
}

#[test]
fn asking_for_memory_costs_the_call_and_giving_it_back_the_gap() {
    let mut tape = Tape::new();
    let short = line!() + 1;
    tape.kernel(GPU, (0, 3), (5, 20));
    let line = line!() + 1;
    tape.call(Call::Alloc, (25, 45));
    tape.kernel(GPU, (50, 53), (60, 100));
    let costs = [(Problem::LaunchBound, 20, short), (Problem::AllocatorStall, 20, line)];
    assert_eq!(found(&tape.diagnosis()), costs);

    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (5, 20));
    let line = line!() + 1;
    tape.call(Call::Free, (3, 20));
    tape.kernel(GPU, (30, 33), (40, 100));
    assert_eq!(found(&tape.diagnosis()), [(Problem::AllocatorStall, 20, line)]);
}

#[test]
fn loading_kernels_is_a_wait_too() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (5, 20));
    let line = line!() + 1;
    tape.call(Call::Load, (3, 60));
    tape.kernel(GPU, (60, 63), (70, 100));
    let diagnosis = tape.diagnosis();
    assert_eq!(found(&diagnosis), [(Problem::Synchronization, 50, line)]);
    assert!(diagnosis.findings[0].advice.contains("warm-up"), "{diagnosis}");
}

#[test]
fn of_two_waits_in_one_gap_the_last_has_the_rest() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (10, 50));
    let read = line!() + 1;
    tape.copy(TO_HOST, 4, (3, 54), (50, 54));
    let freed = line!() + 1;
    tape.call(Call::Free, (54, 54));
    tape.kernel(GPU, (54, 57), (61, 100));
    let costs = [(Problem::AllocatorStall, 7, freed), (Problem::Synchronization, 4, read)];
    assert_eq!(found(&tape.diagnosis()), costs);
}

#[test]
fn what_another_thread_waits_for_is_not_to_blame() {
    let mut tape = Tape::new();
    let line = line!() + 1;
    tape.kernel(GPU, (0, 3), (5, 20));
    tape.thread(1).call(Call::Synchronize, (3, 20));
    tape.thread(0).kernel(GPU, (30, 33), (40, 100));
    assert_eq!(found(&tape.diagnosis()), [(Problem::LaunchBound, 20, line)]);
}

#[test]
fn hidden_copies_cost_the_time_of_their_kernels() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (5, 20));
    let line = line!() + 1;
    tape.hidden_copy(64, (3, 10)).kernel(GPU, (4, 7), (20, 50));
    tape.kernel(GPU, (10, 13), (50, 100));
    let diagnosis = tape.diagnosis();
    assert_eq!(found(&diagnosis), [(Problem::HiddenCopy, 30, line)]);
    assert_eq!((diagnosis.findings[0].count, diagnosis.findings[0].bytes), (1, 64));
}

#[test]
fn hidden_copies_in_two_streams_at_once_cost_once() {
    let mut tape = Tape::new();
    let mut line = 0;
    for i in 0..2 {
        line = line!() + 1;
        tape.hidden_copy(64, (4 * i, 4 * i + 3)).stream(i as usize).kernel(
            GPU,
            (4 * i, 4 * i + 3),
            (10 + 10 * i, 40 + 10 * i),
        );
    }
    assert_eq!(found(&tape.diagnosis()), [(Problem::HiddenCopy, 40, line)]);
}

#[test]
fn a_hidden_copy_of_the_host_costs_what_the_device_waits_for_it() {
    let mut tape = Tape::new();
    let short = line!() + 1;
    tape.kernel(GPU, (0, 3), (5, 50));
    let line = line!() + 1;
    tape.hidden_copy(64, (30, 80));
    tape.kernel(GPU, (82, 85), (90, 200));
    let costs = [(Problem::HiddenCopy, 30, line), (Problem::LaunchBound, 10, short)];
    assert_eq!(found(&tape.diagnosis()), costs);
}

#[test]
fn where_no_device_computes_the_hosts_time_counts() {
    let mut tape = Tape::new();
    tape.op("step", (0, 100));
    let line = line!() + 1;
    tape.hidden_copy(64, (10, 40));
    tape.call(Call::Synchronize, (50, 60));
    let asked = line!() + 1;
    tape.call(Call::Alloc, (60, 65));
    let costs = [(Problem::HiddenCopy, 30, line), (Problem::AllocatorStall, 5, asked)];
    assert_eq!(found(&tape.diagnosis()), costs);
}

#[test]
fn what_a_schedule_lets_pass_is_no_time_of_the_profile() {
    let mut tape = Tape::new();
    let mut line = 0;
    for (step, start) in [(1, 0), (2, 100), (7, 1000)] {
        tape.span(Kind::Step, &format!("ProfilerStep#{step}"), (start, start + 100));
        line = line!() + 1;
        tape.kernel(GPU, (start, start + 3), (start + 10, start + 95));
    }
    let diagnosis = tape.diagnosis();
    assert_eq!(diagnosis.profiled_ns, 300 * US);
    // 15 us between the first two; before the third nothing is late.
    assert_eq!(found(&diagnosis), [(Problem::LaunchBound, 15, line)]);
}

#[test]
fn a_device_that_still_works_when_the_next_round_begins() {
    let mut tape = Tape::new();
    tape.span(Kind::Step, "ProfilerStep#1", (0, 100));
    tape.kernel(GPU, (0, 3), (10, 1050));
    tape.span(Kind::Step, "ProfilerStep#7", (1000, 1100));
    tape.kernel(GPU, (1000, 1003), (1050, 1095));
    // 1050 us to the end of the first kernel, and then 50.
    assert_eq!(tape.diagnosis().profiled_ns, 1100 * US);
    assert_eq!(found(&tape.diagnosis()), []);
}

#[test]
fn of_two_devices_the_average_counts() {
    let mut tape = Tape::new();
    tape.kernel(Device::Cuda(1), (0, 3), (10, 200));
    tape.kernel(GPU, (3, 6), (10, 100));
    let line = line!() + 1;
    tape.call(Call::Synchronize, (6, 100));
    tape.kernel(GPU, (110, 113), (120, 200));
    assert_eq!(found(&tape.diagnosis()), [(Problem::Synchronization, 10, line)]);
}

#[test]
fn less_than_the_least_share_is_left_out() {
    assert_eq!(LEAST_SHARE, 0.01);
    for (idle, count) in [(10, 1), (9, 0)] {
        let mut tape = Tape::new();
        tape.kernel(GPU, (0, 3), (0, 100));
        tape.call(Call::Synchronize, (3, 100));
        tape.kernel(GPU, (100, 101), (100 + idle, 1000));
        assert_eq!(tape.diagnosis().findings.len(), count, "{idle} us of 1000");
    }
}

/// A loop with all five faults, each of a price of its own.
#[test]
fn all_five_at_once_dearest_first_and_once_a_line() {
    let mut tape = Tape::new();
    let mut lines = [0; 5];
    for step in 0..4 {
        let at = |us: u64| 1000 * step + us;
        lines[0] = line!() + 1;
        tape.hidden_copy(64, (at(0), at(3))).kernel(GPU, (at(0), at(3)), (at(10), at(60)));
        lines[1] = line!() + 1;
        tape.kernel(GPU, (at(3), at(6)), (at(60), at(61)));
        // 40 late.
        tape.kernel(GPU, (at(90), at(93)), (at(101), at(300)));
        lines[2] = line!() + 1;
        tape.copy(TO_DEVICE, MB, (at(93), at(370)), (at(300), at(370)));
        tape.kernel(GPU, (at(375), at(378)), (at(380), at(500)));
        lines[3] = line!() + 1;
        tape.copy(TO_HOST, 4, (at(378), at(504)), (at(500), at(504)));
        tape.kernel(GPU, (at(510), at(513)), (at(520), at(900)));
        lines[4] = line!() + 1;
        tape.call(Call::Free, (at(513), at(900)));
    }
    tape.kernel(GPU, (4000, 4003), (4010, 5000));
    let diagnosis = tape.diagnosis();
    let rows = [
        (Problem::AllocatorStall, 4 * 110, lines[4]),
        (Problem::Transfer, 4 * 80, lines[2]),
        (Problem::HiddenCopy, 4 * 50, lines[0]),
        (Problem::LaunchBound, 4 * 40, lines[1]),
        (Problem::Synchronization, 4 * 20, lines[3]),
    ];
    assert_eq!(found(&diagnosis), rows, "{diagnosis}");
    assert!(diagnosis.findings.iter().all(|it| it.count == 4), "{diagnosis}");
    let text = diagnosis.to_string();
    for word in ["8.80%", "440.000us", "allocator stall, 4 times", "engine_profiler_costs.rs:"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
}

#[test]
fn a_wait_that_ended_before_the_device_did_is_not_to_blame() {
    let mut tape = Tape::new();
    tape.thread(1).call(Call::Alloc, (0, 60));
    let line = line!() + 1;
    tape.thread(0).kernel(GPU, (0, 3), (5, 50));
    // It lies within the first one, in another stream.
    tape.stream(1).kernel(GPU, (3, 6), (7, 20));
    tape.call(Call::Synchronize, (6, 20));
    tape.kernel(GPU, (70, 73), (80, 200));
    assert_eq!(found(&tape.diagnosis()), [(Problem::LaunchBound, 30, line)]);
}

#[test]
fn a_wait_apart_from_a_copy_is_its_own() {
    let mut tape = Tape::new();
    tape.kernel(GPU, (0, 3), (10, 50));
    let copied = line!() + 1;
    tape.copy(TO_DEVICE_PINNED, MB, (3, 5), (50, 80));
    let waited = line!() + 1;
    tape.call(Call::Synchronize, (6, 80));
    tape.kernel(GPU, (90, 93), (97, 200));
    let costs = [(Problem::Transfer, 30, copied), (Problem::Synchronization, 17, waited)];
    assert_eq!(found(&tape.diagnosis()), costs);
}

#[test]
fn loading_while_the_device_is_idle_costs_the_call() {
    let mut tape = Tape::new();
    let short = line!() + 1;
    tape.kernel(GPU, (0, 3), (5, 20));
    let loaded = line!() + 1;
    tape.call(Call::Load, (30, 60));
    tape.kernel(GPU, (62, 65), (70, 100));
    let costs = [(Problem::Synchronization, 30, loaded), (Problem::LaunchBound, 20, short)];
    assert_eq!(found(&tape.diagnosis()), costs);
}

#[test]
fn a_wait_before_a_copy_was_asked_for_is_not_for_it() {
    let mut tape = Tape::new();
    let short = line!() + 1;
    tape.kernel(GPU, (0, 3), (5, 20));
    tape.call(Call::Synchronize, (25, 26));
    let copied = line!() + 1;
    tape.copy(TO_DEVICE_PINNED, MB, (30, 32), (34, 44));
    tape.kernel(GPU, (50, 53), (60, 100));
    let costs = [(Problem::LaunchBound, 30, short), (Problem::Transfer, 10, copied)];
    assert_eq!(found(&tape.diagnosis()), costs);
}

#[test]
fn hidden_copies_count_in_the_order_in_which_they_run() {
    let mut tape = Tape::new();
    let mut line = 0;
    for (i, kernel) in [(50, 80), (20, 60)].into_iter().enumerate() {
        let call = (4 * i as u64, 4 * i as u64 + 3);
        line = line!() + 1;
        tape.hidden_copy(64, call).stream(i).kernel(GPU, call, kernel);
    }
    assert_eq!(found(&tape.diagnosis()), [(Problem::HiddenCopy, 60, line)]);
}

#[test]
fn a_profile_of_nothing() {
    let diagnosis = Tape::new().diagnosis();
    assert_eq!((diagnosis.findings.len(), diagnosis.profiled_ns), (0, 0));
    assert!(diagnosis.to_string().contains("Nothing"), "{diagnosis}");
}
