//! The roofline of GPUs: rows by hand, kernels whose bytes and operations are known.

#[path = "engine/toy_roofs.rs"]
mod toy_roofs;

use engine_room::profiler::{
    Bound, Call, Event, Kind, Profile, Roof, Roofline, RooflineRow, Roofs, Source, profile,
};
use engine_room::sim::{self, Gpu};
use engine_room::{Device, Tensor};
use toy_roofs::{kernel, roofs};

/// Its only row under the toy's roofs.
fn only(event: Event) -> RooflineRow {
    let mut line = Profile::from_events(vec![event]).roofline(&roofs());
    assert_eq!(line.rows.len(), 1);
    line.rows.remove(0)
}

fn row<'a>(line: &'a Roofline, name: &str) -> &'a RooflineRow {
    line.rows.iter().find(|row| row.name == name).expect(name)
}

#[test]
fn a_kernel_is_placed_by_what_it_did() {
    // 24 bytes take 2.4 ns, 12 operations 1.5 ns; it ran for 3.
    let row = only(kernel("k", 3, [24, 24, 12]));
    assert_eq!(row.intensity(), Some(0.5));
    assert_eq!(row.flops_per_s(), 4e9);
    assert_eq!(row.bytes_per_s(), 8e9);
    let (roof, share) = row.nearest.expect("a roof");
    assert_eq!(roof, Roof::Memory);
    assert!((share - 0.8).abs() < 1e-12, "{share}");
    assert_eq!((row.bound, row.source), (Bound::By(Roof::Memory), Source::Counted));
    assert_eq!(roofs().ridge(), 0.8);
    assert_eq!((roofs().attainable(0.5), roofs().attainable(2.0)), (5e9, 8e9));
}

#[test]
fn each_roof_can_be_the_nearest_and_none_can_hold() {
    let placed = |time, did| {
        let row = only(kernel("k", time, did));
        (row.nearest, row.bound)
    };
    // Arithmetic: 1 ns for bytes, 2 ns for 16 operations.
    let arithmetic = placed(4, [10, 10, 16]);
    assert_eq!(arithmetic, (Some((Roof::Arithmetic, 0.5)), Bound::By(Roof::Arithmetic)));
    // L2: 1 ns for memory, 2 ns for 80 bytes.
    assert_eq!(placed(4, [10, 80, 8]), (Some((Roof::L2, 0.5)), Bound::By(Roof::L2)));
    // Just below the half.
    assert_eq!(placed(401, [2000, 0, 0]).1, Bound::Neither);
    // All of it in L2: no byte of memory, and a roof all the same.
    assert_eq!(placed(10, [0, 400, 1]), (Some((Roof::L2, 1.0)), Bound::By(Roof::L2)));
    // Registers alone.
    assert_eq!(placed(2, [0, 0, 16]), (Some((Roof::Arithmetic, 1.0)), Bound::By(Roof::Arithmetic)));
    // Nothing is known.
    assert_eq!(placed(2, [0, 0, 0]), (None, Bound::Unknown));
    assert_eq!(only(kernel("k", 2, [0, 0, 0])).source, Source::Unknown);
    assert_eq!(only(kernel("k", 2, [0, 0, 16])).intensity(), None);
}

/// Kernels of 2 ns, each launched by a call of so many.
fn launched(calls: &[u64]) -> Profile {
    let mut events = Vec::new();
    for (i, &call) in (0..).zip(calls) {
        let kind = Kind::Call(Call::Launch);
        events.push(Event::of_host(kind, "launch", 0).between(100 * i, 100 * i + call));
        let cause = Some(events.len() - 1);
        events.push(Event { cause, ..kernel("k", 2, [20, 0, 0]) });
    }
    Profile::from_events(events)
}

#[test]
fn a_kernel_shorter_than_its_launch_is_bound_by_that() {
    let bound = |calls: &[u64]| launched(calls).roofline(&roofs()).rows[0].bound;
    assert_eq!(bound(&[3, 3]), Bound::Launches);
    assert_eq!(bound(&[2, 2]), Bound::By(Roof::Memory));
    // A call that had to wait says nothing of a launch: the shortest one counts.
    assert_eq!(bound(&[50, 2, 60]), Bound::By(Roof::Memory));
    assert_eq!(launched(&[50, 2, 60]).roofline(&roofs()).rows[0].launch_ns, 2);
}

#[test]
fn rows_are_by_device_and_name_and_the_longest_comes_first() {
    let other = Event { device: Device::Sim(1), ..kernel("add", 50, [5, 6, 7]) };
    let copy = Event { kind: Kind::Copy, ..kernel("to device", 500, [100, 0, 0]) };
    let events = vec![
        kernel("add", 10, [1, 2, 3]),
        kernel("mul", 30, [8, 8, 8]),
        other,
        kernel("add", 5, [10, 20, 30]),
        copy,
        kernel("none", 0, [1, 1, 1]),
        Event::of_host(Kind::Op, "add", 0).between(0, 1000),
    ];
    let line = Profile::from_events(events).roofline(&roofs());
    let rows: Vec<_> = line
        .rows
        .iter()
        .map(|row| (&*row.name, row.device, row.calls, row.time_ns))
        .map(|(name, device, calls, time)| (name, device.to_string(), calls, time))
        .collect();
    let sim = |n| format!("sim:{n}");
    assert_eq!(rows, [("add", sim(1), 1, 50), ("mul", sim(0), 1, 30), ("add", sim(0), 2, 15)]);
    let add = &line.rows[2];
    assert_eq!((add.bytes, add.l2_bytes, add.flops), (11, 22, 33));
}

/// An operation of 100 bytes and 10 operations with three kernels that nobody counted, and a
/// backward pass with one, as on a GPU that counts nothing.
fn uncounted() -> Profile {
    let host = |kind, name: &str, start, end| Event::of_host(kind, name, 0).between(start, end);
    let launch = || host(Kind::Call(Call::Launch), "launch", 10, 11);
    let mut op = host(Kind::Op, "softmax", 0, 90);
    (op.bytes, op.flops) = (100, 10);
    let mut outer = host(Kind::Op, "outer", 100, 200);
    outer.bytes = 77;
    let back = host(Kind::Backward, "softmax backward", 110, 150);
    let of = |name, time, cause| Event { cause: Some(cause), ..kernel(name, time, [0; 3]) };
    Profile::from_events(vec![
        op,
        launch(),
        of("max", 10, 1),
        of("exp", 20, 1),
        of("exp", 3, 1),
        outer,
        back,
        host(Kind::Call(Call::Launch), "launch", 120, 121),
        of("back", 40, 7),
    ])
}

#[test]
fn kernels_that_nobody_counted_share_what_their_operation_does_at_least() {
    let line = uncounted().roofline(&roofs());
    let did = |name: &str| {
        let row = row(&line, name);
        (row.bytes, row.flops, row.source)
    };
    // By time: 10, 20 and 3 of 33. 100 · 10 / 33 = 30.3 and 10 · 10 / 33 = 3.03; the rest is exp's.
    assert_eq!(did("max"), (30, 3, Source::Formula));
    assert_eq!(did("exp"), (70, 7, Source::Formula));
    // No formula says what a backward pass asks for, not even that of an operation around it.
    assert_eq!(did("back"), (0, 0, Source::Unknown));
    let table = line.table();
    for sign in ["30 B*", "7*", "--?", "*: by formula", "?: of some", "All times are measured."] {
        assert!(table.contains(sign), "{sign} is not in\n{table}");
    }
    assert!(!table.contains("inf") && !table.contains("More than"), "{table}");
}

#[test]
fn kernels_without_time_lose_no_bytes() {
    let host = |kind, name: &str| Event::of_host(kind, name, 0).between(0, 9);
    let op = Event { bytes: 101, ..host(Kind::Op, "op") };
    let launch = host(Kind::Call(Call::Launch), "launch");
    let none = || Event { cause: Some(1), ..kernel("k", 0, [0; 3]) };
    let events = vec![op, launch, none(), none(), kernel("k", 10, [7, 7, 7])];
    assert_eq!(Profile::from_events(events).roofline(&roofs()).rows[0].bytes, 108);
}

#[test]
fn more_than_a_roof_allows_is_explained() {
    let table = |time| Profile::from_events(vec![kernel("k", time, [15, 0, 0])]).roofline(&roofs());
    let (half_more, table) = (table(1).table(), table(2).table());
    assert!(half_more.contains("150.0%") && half_more.contains("lay in a cache"), "{half_more}");
    assert!(table.contains("75.0%") && !table.contains("lay in a cache"), "{table}");
}

#[test]
fn counts_of_the_device_come_before_formulas() {
    let mut events = uncounted().events().to_vec();
    (events[2].bytes, events[2].flops) = (640, 5);
    let line = Profile::from_events(events).roofline(&roofs());
    let max = row(&line, "max");
    assert_eq!((max.bytes, max.flops, max.source), (640, 5, Source::Counted));
    // The other two still share all of the formula.
    assert_eq!((row(&line, "exp").bytes, row(&line, "exp").flops), (100, 10));
}

/// The table of three rows, letter by letter.
#[test]
fn the_table_says_how_it_was_decided() {
    let events = vec![
        kernel("copy", 4000, [40_000, 40_000, 0]),
        kernel("mm", 2000, [1000, 1000, 8000]),
        kernel("spin", 500, [0, 0, 4000]),
    ];
    let expected = [
        "toy: memory 10.000 GB/s, L2 40.000 GB/s, f32 8.000 GFLOP/s (by hand); they meet at 0.8 \
         FLOP/byte",
        "-",
        "Name|Device|Calls|Time|Time %|Bytes|FLOPs|FLOP/byte|FLOP/s|Nearest roof|Reached|Bound by",
        "-",
        "copy|sim:0|1|4.000us|61.54%|40.000 KB|--|0.000|--|memory|100.0%|memory",
        "mm|sim:0|1|2.000us|30.77%|1.000 KB|8.000 K|8.000|4.000 G|arithmetic|50.0%|arithmetic",
        "spin|sim:0|1|0.500us|7.69%|--|4.000 K|inf|8.000 G|arithmetic|100.0%|arithmetic",
        "-",
        "A roof binds a row that reaches 50% of it. Launches do if the host takes longer to \
         launch a kernel than the kernel runs.",
        "inf: no byte of memory is known of, so that roof is not above it.",
        "All times are measured.",
    ];
    let line = Profile::from_events(events).roofline(&roofs());
    let table = line.table();
    let lines: Vec<String> = table.lines().map(in_cells).collect();
    assert_eq!(lines, expected, "{table}");
    assert_eq!(line.to_string(), table);
    // Numbers end where their column ends, and names begin where it begins.
    let rows: Vec<&str> = table.lines().skip(1).take(7).collect();
    let (rule, ends) = (rows[0], |row: &str, cell: &str| row.find(cell).unwrap() + cell.len());
    assert!(rows.iter().all(|row| row.len() <= rule.len()) && rows[6] == rule);
    assert_eq!(ends(rows[3], "4.000us"), ends(rows[5], "0.500us"));
    assert_eq!(rows[3].rfind("memory"), rows[5].rfind("arithmetic"));
}

/// A line of a table with `|` between its cells, `-` for a rule; a sentence as it is.
fn in_cells(line: &str) -> String {
    if line.starts_with("---") {
        return "-".to_string();
    }
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("|")
}

/// NVIDIA's data sheets: bytes per second of memory, and f32 operations per second.
const DATA_SHEETS: [(Gpu, f64, f64); 4] = [
    (Gpu::T4, 320e9, 8.1e12),
    (Gpu::A100, 2039e9, 19.5e12),
    (Gpu::H100, 3.35e12, 67e12),
    (Gpu::H200, 4.8e12, 67e12),
];

#[test]
fn roofs_of_gpus_are_those_of_their_data_sheets() {
    for (gpu, memory, flops) in DATA_SHEETS {
        let roofs = Roofs::of(gpu);
        assert_eq!((roofs.memory, roofs.name.as_str(), roofs.of_host), (memory, gpu.name(), false));
        assert!((roofs.flops / flops - 1.0).abs() < 0.006, "{gpu}: {}", roofs.flops);
        assert!(roofs.l2.is_some_and(|l2| l2 > memory), "{gpu}");
    }
}

#[test]
fn one_kernel_meets_another_roof_on_another_gpu() {
    // 15 operations a byte: above 9.6 (A100) and 13.9 (H200), below 20.0 (H100) and 25.3 (T4).
    for (gpu, memory, flops) in DATA_SHEETS {
        let (bytes, ops) = (1_000_000_000, 15_000_000_000_u64);
        let needs = [bytes as f64 / memory, ops as f64 / flops];
        let (roof, need) = match needs[0] > needs[1] {
            true => (Roof::Memory, needs[0]),
            false => (Roof::Arithmetic, needs[1]),
        };
        let expected =
            if matches!(gpu, Gpu::T4 | Gpu::H100) { Roof::Memory } else { Roof::Arithmetic };
        assert_eq!(roof, expected, "{gpu}, by the data sheet");
        let profile = Profile::from_events(vec![kernel("k", 100_000_000, [bytes, bytes, ops])]);
        let (nearest, share) = profile.roofline(&Roofs::of(gpu)).rows[0].nearest.expect("a roof");
        assert_eq!(nearest, roof, "{gpu}");
        assert!((share / (need / 0.1) - 1.0).abs() < 0.006, "{gpu}: {share}");
    }
}

#[test]
fn kernels_of_the_simulated_gpu_do_what_arithmetic_says() {
    let gpu = Device::Sim(0);
    let (n, m, k) = (1 << 16, 64, 128);
    let [x, y] = [1.0, 2.0].map(|value| Tensor::full(&[n], value).to(gpu));
    let [a, b] = [[m, k], [k, m]].map(|shape| Tensor::ones(&shape).to(gpu));
    for model in Gpu::ALL {
        sim::select_gpu(0, model);
        let work = |_: &_| (x.add(&y), a.matmul(&b));
        let (_, profile) = profile(&[gpu], work).expect("the simulated GPU works");
        let line = profile.roofline(&Roofs::of(model));
        // Each element is read twice and written once, with one addition.
        let add = row(&line, "add_f32");
        assert_eq!((add.bytes, add.l2_bytes, add.flops), (12 * n as u64, 12 * n as u64, n as u64));
        assert_eq!((add.nearest.map(|it| it.0), add.source), (Some(Roof::Memory), Source::Counted));
        let product = line.rows.iter().find(|row| row.name.starts_with("matmul")).expect("a row");
        assert_eq!(product.flops, 2 * (m * m * k) as u64, "{}", product.name);
        // a and b are read at least once, the product is written.
        assert!(product.bytes >= 4 * (2 * m * k + m * m) as u64, "{}", product.bytes);
        assert!(product.l2_bytes >= product.bytes);
        let kernels: u64 = line.rows.iter().map(|row| row.time_ns).sum();
        let of_kind = profile.events().iter().filter(|event| event.kind == Kind::Kernel);
        assert_eq!(kernels, of_kind.map(Event::duration_ns).sum::<u64>());
        assert!(line.table().contains(&format!("published figures of {model}.")));
    }
    sim::select_gpu(0, Gpu::T4);
}
