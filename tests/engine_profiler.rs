//! The profiler: the cases of area G, each with more of its kind, on events that are given.

#[path = "engine/spans.rs"]
mod spans;

use engine_room::Device;
use engine_room::profiler::{Call, Event, GroupBy, Kind, Profile, SortBy};
use engine_room::rng::Generator;
use serde_json::Value;
use spans::{by_profile, by_ticks, random_spans};

const US: u64 = 1000;

/// `(name, start, end)` in microseconds, on one thread.
fn spans(list: &[(&str, u64, u64)]) -> Profile {
    Profile::from_events(list.iter().map(|&(name, start, end)| span(0, name, start, end)).collect())
}

fn span(thread: usize, name: &str, start: u64, end: u64) -> Event {
    Event::of_host(Kind::Range, name, thread).between(start * US, end * US)
}

/// Count, total and self time in microseconds.
fn row(profile: &Profile, name: &str) -> (u64, u64, u64) {
    let averages = profile.key_averages(GroupBy::Name);
    let row = averages.rows.iter().find(|row| row.key == name).expect(name);
    (row.count, row.cpu_time_total / US, row.self_cpu_time_total / US)
}

#[test]
fn g01_self_time_is_total_minus_direct_children() {
    let profile = spans(&[
        ("root", 0, 100),
        ("mm", 10, 70),
        ("pack", 15, 35),
        ("copy", 20, 30),
        ("add", 75, 95),
    ]);
    assert_eq!(row(&profile, "root"), (1, 100, 20));
    assert_eq!(row(&profile, "mm"), (1, 60, 40));
    assert_eq!(row(&profile, "pack"), (1, 20, 10));
    assert_eq!(row(&profile, "copy"), (1, 10, 10));
    assert_eq!(row(&profile, "add"), (1, 20, 20));
    assert_eq!(profile.key_averages(GroupBy::Name).cpu_total, 100_000);
}

#[test]
fn g01_and_g03_hold_for_random_spans_tick_by_tick() {
    for seed in 0..200 {
        let events = random_spans(&mut Generator::new(seed));
        let profile = Profile::from_events(events.clone());
        let want = by_ticks(&events);
        assert_eq!(by_profile(&profile), want, "seed {seed}: {events:?}");
        let all: u64 = want.values().map(|times| times.2).sum();
        assert_eq!(profile.key_averages(GroupBy::Name).cpu_total, all, "seed {seed}");
        assert_eq!(profile.self_times().iter().sum::<u64>(), all, "seed {seed}");
    }
}

#[test]
fn g01_borders_belong_to_the_span_that_begins_there() {
    // One ends where the next begins; a child ends with its parent; nothing takes no time.
    let profile = spans(&[
        ("first", 0, 10),
        ("second", 10, 20),
        ("last part", 15, 20),
        ("empty", 20, 20),
        ("whole", 30, 40),
        ("same", 30, 40),
        ("start", 30, 30),
    ]);
    let parent = |name: &str| {
        let event = profile.events().iter().find(|event| event.name == name).expect(name);
        event.parent.map(|parent| profile.events()[parent].name.as_str())
    };
    assert_eq!((parent("first"), parent("second")), (None, None));
    assert_eq!((parent("last part"), parent("empty")), (Some("second"), None));
    assert_eq!((parent("same"), parent("start")), (Some("whole"), Some("same")));
    assert_eq!(row(&profile, "second"), (1, 10, 5));
    assert_eq!((row(&profile, "whole").2, row(&profile, "same").2), (0, 10));
}

#[test]
fn g01_spans_that_overlap_in_part_lie_side_by_side() {
    let profile = spans(&[("a", 0, 10), ("b", 5, 15), ("in b", 6, 9)]);
    let parents: Vec<Option<usize>> = profile.events().iter().map(|event| event.parent).collect();
    assert_eq!(parents, [None, None, Some(1)]);
    assert_eq!((row(&profile, "a"), row(&profile, "b")), ((1, 10, 10), (1, 10, 7)));
}

#[test]
fn g03_a_recursive_range_counts_once_in_its_total() {
    let profile = spans(&[
        ("main", 0, 100),
        ("rec", 10, 90),
        ("rec", 20, 80),
        ("rec", 30, 60),
        ("rec", 92, 97),
    ]);
    assert_eq!(row(&profile, "main"), (1, 100, 15));
    assert_eq!(row(&profile, "rec"), (4, 85, 85));
}

#[test]
fn g03_mutual_recursion_and_threads() {
    let mutual = spans(&[("even", 0, 80), ("odd", 10, 70), ("even", 20, 60), ("odd", 30, 50)]);
    assert_eq!(row(&mutual, "even"), (2, 80, 40));
    assert_eq!(row(&mutual, "odd"), (2, 60, 40));
    // What another thread does at the same time is inside nothing of this one.
    let threads = Profile::from_events(vec![
        span(0, "rec", 0, 50),
        span(1, "rec", 10, 40),
        span(1, "rec", 20, 30),
        span(0, "leaf", 20, 30),
    ]);
    assert_eq!(row(&threads, "rec"), (3, 80, 70));
    assert_eq!(row(&threads, "leaf"), (1, 10, 10));
}

/// A trace, read by a strict parser.
fn trace(profile: &Profile) -> Vec<Value> {
    let text = profile.chrome_trace();
    let whole: Value = serde_json::from_str(&text).expect("a trace is JSON");
    whole["traceEvents"].as_array().expect("a list of events").clone()
}

fn complete(profile: &Profile) -> Vec<Value> {
    trace(profile).into_iter().filter(|event| event["ph"] == "X").collect()
}

#[test]
fn g05_names_in_the_trace_are_escaped() {
    let mut names: Vec<String> =
        ["a\"b", "back\\slash", "ctl\u{1}x", "new\nline", "\u{e9}\u{4e2d}", "</script>", ""]
            .map(str::to_string)
            .to_vec();
    names.extend((0..0x20u8).map(|c| format!("{}|", char::from(c))));
    names.extend(
        "\u{7f} \u{80} \u{85} \u{2028} \u{2029} \u{feff} \u{fffe} \u{ffff} \u{1d11e} \u{10ffff}"
            .split(' ')
            .map(str::to_string),
    );
    names.extend(["\\u0041", "\\\"\\", "{\"ph\": \"X\"}", "%s{}", "a\\"].map(str::to_string));
    names.push("long \"".repeat(20_000));
    let events = names.iter().map(|name| span(0, name, 0, 1)).collect();
    let read = complete(&Profile::from_events(events));
    let read: Vec<&str> = read.iter().map(|event| event["name"].as_str().unwrap()).collect();
    assert_eq!(read, names);
}

#[test]
fn g05_modules_are_escaped_too() {
    let mut event = span(0, "op", 0, 1);
    event.module = "block \"0\"\\\n";
    let read = complete(&Profile::from_events(vec![event]));
    assert_eq!(read[0]["args"]["Module"], "block \"0\"\\\n");
}

/// The nanoseconds of a time in a trace, from its digits.
fn nanoseconds(text: &str, key: &str) -> Vec<u64> {
    let before = format!("\"{key}\": ");
    let found = text.split(&before).skip(1);
    let digits = |rest: &str| -> u64 {
        let end = rest.find([',', '}']).expect("the number ends");
        let (whole, part) = rest[..end].split_once('.').expect("three digits behind the point");
        assert_eq!(part.len(), 3, "{rest:.40}");
        whole.parse::<u64>().unwrap() * 1000 + part.parse::<u64>().unwrap()
    };
    found.map(digits).collect()
}

#[test]
fn g07_large_times_keep_their_nanoseconds() {
    let at = |start, end| Event::of_host(Kind::Range, "late", 0).between(start, end);
    let profile = Profile::from_events(vec![at(1666382280874284123, 1666382280874285624)]);
    let read = complete(&profile);
    let ts = read[0]["ts"].as_f64().unwrap();
    assert!((ts - 1666382280874284.0).abs() <= 0.25, "{ts}");
    assert_eq!(read[0]["dur"].as_f64(), Some(1.501));
    for base in [0, 999, 1666382280874284000, u64::MAX - 10_000] {
        let events = (0..2003).map(|i| at(base + i, base + i + 7 * i % 1999)).collect();
        let profile = Profile::from_events(events);
        let text = profile.chrome_trace();
        let (starts, lengths) = (nanoseconds(&text, "ts"), nanoseconds(&text, "dur"));
        let want = profile.events().iter();
        assert!(want.clone().map(|event| event.start_ns).eq(starts), "from {base}");
        assert!(want.map(Event::duration_ns).eq(lengths), "from {base}");
    }
}

#[test]
fn g07_no_event_ends_before_it_begins() {
    let mut event = Event::of_host(Kind::Range, "back", 0).between(7, 3);
    assert_eq!((event.start_ns, event.end_ns), (7, 7));
    event.end_ns = 2;
    let profile = Profile::from_events(vec![event]);
    assert_eq!(nanoseconds(&profile.chrome_trace(), "dur"), [0]);
    assert_eq!(profile.self_ns(0), 0);
}

fn call(call: Call, name: &str, start: u64, end: u64) -> Event {
    Event::of_host(Kind::Call(call), name, 0).between(start * US, end * US)
}

fn work(kind: Kind, name: &str, cause: usize, start: u64, end: u64) -> Event {
    let event = Event::of_host(kind, name, 0).between(start * US, end * US);
    Event { device: Device::Sim(0), cause: Some(cause), ..event }
}

#[test]
fn g09_device_work_is_asynchronous() {
    let profile = Profile::from_events(vec![
        span(0, "three kernels", 0, 30),
        call(Call::Launch, "launch", 0, 10),
        call(Call::Launch, "launch", 10, 20),
        call(Call::Launch, "launch", 20, 30),
        call(Call::Synchronize, "synchronize", 30, 6010),
        span(0, "read", 6010, 6030),
        call(Call::Copy, "copy_to_host", 6010, 6030),
        work(Kind::Kernel, "slow", 1, 10, 2010),
        work(Kind::Kernel, "slow", 2, 2010, 4010),
        work(Kind::Kernel, "slow", 3, 4010, 6010),
        work(Kind::Copy, "to host", 6, 6015, 6030),
    ]);
    let averages = profile.key_averages(GroupBy::Name);
    let row = |name: &str| averages.rows.iter().find(|row| row.key == name).expect(name);
    let device =
        |name: &str| (row(name).self_device_time_total / US, row(name).device_time_total / US);
    assert_eq!(row("launch").cpu_time_total, 30 * US);
    assert_eq!(row("synchronize").cpu_time_total, 5980 * US);
    assert_eq!((device("slow"), row("slow").cpu_time_total), ((6000, 6000), 0));
    assert_eq!(averages.device_total, 6015 * US);
    // Only what each asked for is its own: neither the wait nor the copy is blamed for kernels.
    assert_eq!(device("three kernels"), (6000, 6000));
    assert_eq!((device("launch"), device("synchronize")), ((0, 0), (0, 0)));
    assert_eq!((device("read"), device("to host")), ((15, 15), (15, 15)));
}

#[test]
fn g09_a_kernel_with_the_name_of_an_operation_is_another_row() {
    let profile = Profile::from_events(vec![
        span(0, "add", 0, 40),
        span(0, "add", 5, 30),
        call(Call::Launch, "launch", 10, 20),
        work(Kind::Kernel, "add", 2, 30, 130),
        call(Call::Launch, "launch", 30, 35),
        work(Kind::Kernel, "add", 4, 130, 133),
    ]);
    let averages = profile.key_averages(GroupBy::Name);
    let rows: Vec<_> = averages.rows.iter().filter(|row| row.key == "add").collect();
    let times = |at: usize| (rows[at].count, rows[at].device_time_total / US);
    assert_eq!((rows.len(), times(0), times(1)), (2, (2, 103), (2, 103)));
    assert_eq!((rows[0].is_on_device, rows[1].is_on_device), (false, true));
    assert_eq!(rows[0].self_device_time_total, 103 * US);
    assert_eq!(rows[0].cpu_time_total, 40 * US);
}

#[test]
fn work_that_nobody_on_the_host_asked_for_is_refused() {
    for cause in [0, 5] {
        let events = vec![work(Kind::Kernel, "orphan", cause, 0, 1)];
        let refused = std::panic::catch_unwind(|| Profile::from_events(events)).unwrap_err();
        let message = refused.downcast_ref::<engine_room::Misuse>().expect("a misuse").to_string();
        assert!(message.contains("no event of the host"), "{message}");
    }
}

#[test]
fn g13_asking_changes_nothing() {
    let profile = spans(&[("forward", 0, 100), ("add", 10, 30), ("mul", 40, 70)]);
    let before = profile.clone();
    assert_eq!(profile.self_ns(0), 50 * US);
    let rows = ["forward", "add", "mul"].map(|name| row(&profile, name));
    assert_eq!(rows, [(1, 100, 50), (1, 20, 20), (1, 30, 30)]);
    let groups = [GroupBy::Name, GroupBy::InputShape, GroupBy::Module];
    let sorts = [SortBy::Order, SortBy::CpuTime, SortBy::SelfDeviceTime, SortBy::Flops];
    let ask = || {
        let tables = groups.map(|group| sorts.map(|it| profile.key_averages(group).table(it, 2)));
        (profile.chrome_trace(), tables)
    };
    assert_eq!(ask(), ask());
    assert_eq!((profile.self_ns(0), profile == before), (50 * US, true));
}

fn mm(shapes: &[&[usize]], start: u64, us: u64) -> Event {
    let event = Event::of_host(Kind::Op, "mm", 0).between(start * US, (start + us) * US);
    Event { shapes: shapes.iter().map(|shape| shape.to_vec()).collect(), ..event }
}

#[test]
fn g15_shapes_belong_to_the_call() {
    let profile = Profile::from_events(vec![
        mm(&[&[2, 2], &[2, 2]], 0, 10),
        mm(&[&[3, 3], &[3, 3]], 10, 100),
        mm(&[&[2, 2], &[2, 2]], 110, 20),
        mm(&[&[4, 1], &[1, 4]], 130, 6),
    ]);
    let rows = |group| -> Vec<(Vec<Vec<usize>>, u64, u64, f64)> {
        let row = |row: engine_room::profiler::Average| {
            let average = row.cpu_time() / US as f64;
            (row.shapes, row.count, row.cpu_time_total / US, average)
        };
        profile.key_averages(group).rows.into_iter().map(row).collect()
    };
    assert_eq!(rows(GroupBy::Name), [(vec![], 4, 136, 34.0)]);
    let by_shape = [
        (vec![vec![2, 2], vec![2, 2]], 2, 30, 15.0),
        (vec![vec![3, 3], vec![3, 3]], 1, 100, 100.0),
        (vec![vec![4, 1], vec![1, 4]], 1, 6, 6.0),
    ];
    assert_eq!(rows(GroupBy::InputShape), by_shape);
}

#[test]
fn g15_shapes_that_look_alike_are_apart() {
    // A scalar, no operand, an empty tensor, other ranks, the same numbers in other places.
    let shapes: [&[&[usize]]; 9] = [
        &[],
        &[&[]],
        &[&[], &[]],
        &[&[0]],
        &[&[2, 3]],
        &[&[2], &[3]],
        &[&[3, 2]],
        &[&[2, 3, 1]],
        &[&[2, 3], &[]],
    ];
    let twice = (0..2).flat_map(|round| shapes.iter().map(move |shape| (round, shape)));
    let events = twice.zip(0..).map(|((round, shape), at)| mm(shape, 10 * at, 1 + round)).collect();
    let averages = Profile::from_events(events).key_averages(GroupBy::InputShape);
    let counts: Vec<(u64, u64)> =
        averages.rows.iter().map(|row| (row.count, row.cpu_time_total / US)).collect();
    assert_eq!(counts, [(2, 3); 9]);
}

#[test]
fn a_module_has_its_parts_in_its_totals() {
    let of = |module, kind, start, end| {
        let event = Event::of_host(kind, "x", 0).between(start * US, end * US);
        Event { module, ..event }
    };
    let mut kernel = work(Kind::Kernel, "k", 4, 50, 57);
    kernel.module = "blocks.1.norm";
    let profile = Profile::from_events(vec![
        of("", Kind::Range, 0, 100),
        of("blocks.1", Kind::Module, 10, 60),
        of("blocks.1.norm", Kind::Module, 20, 40),
        of("blocks.10", Kind::Module, 60, 70),
        of("blocks.1.norm", Kind::Call(Call::Launch), 30, 40),
        of("blocks.1.norm", Kind::Backward, 80, 85),
        kernel,
    ]);
    let averages = profile.key_averages(GroupBy::Module);
    let row = |key: &str| {
        let row = averages.rows.iter().find(|row| row.key == key).expect(key);
        let cpu = (row.count, row.cpu_time_total / US, row.self_cpu_time_total / US);
        (cpu, row.device_time_total / US, row.self_device_time_total / US)
    };
    assert_eq!(row("blocks.1.norm"), ((1, 25, 25), 7, 7));
    assert_eq!(row("blocks.1"), ((1, 55, 30), 7, 0));
    assert_eq!(row("blocks.10"), ((1, 10, 10), 0, 0));
    assert_eq!(row(""), ((0, 100, 35), 7, 0));
    assert_eq!((averages.rows.len(), averages.cpu_total), (4, 100 * US));
    assert!(averages.table(SortBy::Order, 9).contains("(all)"));
}

#[test]
fn a_hundred_thousand_events_in_deep_nests_are_summed() {
    // 20 nests of 5,000 spans one in the other: what goes up from each would take 250 million steps
    // a name. The sum over all lengths is by hand.
    let nest = |root: u64| (0..5000).map(move |depth| (root * 20_000 + depth, 10_000 - depth));
    let events: Vec<Event> = (0..20)
        .flat_map(nest)
        .zip(0..)
        .map(|((start, length), at)| {
            let name = format!("op {}", at % 5000);
            let end = start + length - (at % 5000);
            Event::of_host(Kind::Op, name, 0).between(start, end)
        })
        .collect();
    let profile = Profile::from_events(events);
    let averages = profile.key_averages(GroupBy::Name);
    assert_eq!(averages.rows.len(), 5000);
    for (depth, row) in (0..).zip(&averages.rows) {
        assert_eq!((row.count, row.cpu_time_total), (20, 20 * (10_000 - 2 * depth)), "{depth}");
    }
    assert_eq!(averages.cpu_total, 20 * 10_000);
    assert!(profile.chrome_trace().len() > 10_000_000);
}
