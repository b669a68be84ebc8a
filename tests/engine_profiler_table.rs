//! The profiler's table and schedule against PyTorch's: tests/golden/make_profiler.py made the
//! events by hand, and PyTorch 2.9.1 summed and printed them (golden/profiler.json).

use engine_room::Device;
use engine_room::profiler::{
    Call, Event, GroupBy, Kind, Profile, ProfilerAction, Schedule, SortBy,
};

use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/profiler.json")).expect("the golden file is JSON")
}

fn number(given: &Value) -> u64 {
    given.as_u64().expect("a whole number")
}

fn signed(given: &Value) -> i64 {
    given.as_i64().expect("a whole number")
}

fn shape(given: &Value) -> Vec<usize> {
    let sizes = given.as_array().expect("a shape");
    sizes.iter().map(|size| number(size) as usize).collect()
}

fn event(given: &Value) -> Event {
    let (kind, device) = match given["kind"].as_str().expect("a kind") {
        "op" => (Kind::Op, Device::Cpu),
        "range" => (Kind::Range, Device::Cpu),
        "call" => (Kind::Call(Call::Launch), Device::Cpu),
        "kernel" => (Kind::Kernel, Device::Cuda(0)),
        other => panic!("a kind of event that is not known here: {other}"),
    };
    let name = given["name"].as_str().expect("a name");
    let host = Event::of_host(kind, name, number(&given["thread"]) as usize);
    Event {
        device,
        cause: given["cause"].as_u64().map(|cause| cause as usize),
        shapes: given["shapes"].as_array().expect("shapes").iter().map(shape).collect(),
        flops: number(&given["flops"]),
        allocated: signed(&given["memory"]),
        device_allocated: signed(&given["device_memory"]),
        ..host.between(number(&given["start"]), number(&given["end"]))
    }
}

/// PyTorch's names, and those before `cuda` became `device`.
fn sort_by(name: Option<&str>) -> SortBy {
    match name {
        None => SortBy::Order,
        Some("cpu_time_total") => SortBy::CpuTime,
        Some("self_cpu_time_total") => SortBy::SelfCpuTime,
        Some("cuda_time_total") => SortBy::DeviceTime,
        Some("self_cuda_time_total") => SortBy::SelfDeviceTime,
        Some("cpu_time") => SortBy::CpuTimeAverage,
        Some("cuda_time") => SortBy::DeviceTimeAverage,
        Some("cpu_memory_usage") => SortBy::Memory,
        Some("self_cpu_memory_usage") => SortBy::SelfMemory,
        Some("cuda_memory_usage") => SortBy::DeviceMemory,
        Some("self_cuda_memory_usage") => SortBy::SelfDeviceMemory,
        Some("count") => SortBy::Count,
        Some("flops") => SortBy::Flops,
        Some(other) => panic!("{other} is not known here"),
    }
}

/// Without the spaces that PyTorch leaves at the ends of lines.
fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn tables_are_those_of_pytorch() {
    let mut count = 0;
    for scene in golden()["scenes"].as_array().expect("scenes") {
        let events: Vec<Event> =
            scene["events"].as_array().expect("events").iter().map(event).collect();
        let profile = Profile::from_events(events);
        for want in scene["tables"].as_array().expect("tables") {
            let by_shape = want["by_shape"].as_bool().expect("a truth");
            let group = if by_shape { GroupBy::InputShape } else { GroupBy::Name };
            let averages = profile.key_averages(group);
            let limit = number(&want["row_limit"]) as usize;
            let table = averages.table(sort_by(want["sort_by"].as_str()), limit);
            let text = trimmed(want["text"].as_str().expect("a table"));
            assert_eq!(table, text, "{}, {}:\n{table}\n{text}", scene["name"], want["sort_by"]);
            count += 1;
        }
    }
    assert!(count >= 28, "{count} tables");
}

#[test]
fn schedules_are_those_of_pytorch() {
    let golden = golden();
    let schedules = golden["schedules"].as_array().expect("schedules");
    for given in schedules {
        let schedule = Schedule {
            skip_first: number(&given[0]),
            wait: number(&given[1]),
            warmup: number(&given[2]),
            active: number(&given[3]),
            repeat: number(&given[4]),
        };
        let sign = |step| match schedule.action(step) {
            ProfilerAction::None => '.',
            ProfilerAction::Warmup => 'w',
            ProfilerAction::Record => 'r',
        };
        let got: String = (0..40).map(sign).collect();
        assert_eq!(Some(got.as_str()), given[5].as_str(), "{schedule:?}");
    }
    assert_eq!(schedules.len(), 120);
}

#[test]
fn a_schedule_of_any_length_counts() {
    let endless =
        Schedule { skip_first: 1, wait: u64::MAX, warmup: u64::MAX, active: 1, repeat: 3 };
    assert_eq!(endless.action(u64::MAX), ProfilerAction::None);
    let warm = Schedule { skip_first: 0, wait: 2, warmup: u64::MAX, active: u64::MAX, repeat: 0 };
    assert_eq!(warm.action(1), ProfilerAction::None);
    assert_eq!(warm.action(1 << 60), ProfilerAction::Warmup);
    assert_eq!(Schedule { active: 0, wait: 0, ..warm }.action(5), ProfilerAction::None);
}
