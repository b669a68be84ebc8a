//! The roofline: rows by hand, kernels whose bytes and operations are known, four GPUs, the CPU.

use std::sync::{Mutex, MutexGuard, PoisonError};

use engine_room::profiler::{
    Bound, Call, Event, Kind, Profile, Profiler, Roof, Roofline, RooflineRow, Roofs, Source,
    profile,
};
use engine_room::rng::Generator;
use engine_room::sim::{self, Gpu};
use engine_room::{Device, Tensor, no_grad};

/// One recording at a time, and no operation of another test in it.
fn alone() -> MutexGuard<'static, ()> {
    static RECORDING: Mutex<()> = Mutex::new(());
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 10 bytes, 40 bytes of L2 and 8 operations a nanosecond.
fn roofs() -> Roofs {
    Roofs {
        name: "toy".to_string(),
        memory: 10e9,
        l2: Some(40e9),
        flops: 8e9,
        source: "by hand",
        of_host: false,
    }
}

/// A kernel of the first simulated GPU: its time, bytes, bytes of L2, operations.
fn kernel(name: &str, time: u64, [bytes, l2_bytes, flops]: [u64; 3]) -> Event {
    let event = Event::of_host(Kind::Kernel, name, 0).between(100, 100 + time);
    Event { device: Device::Sim(0), bytes, l2_bytes, flops, ..event }
}

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
    let _alone = alone();
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

/// What the operations of the host did by formula: name, bytes, operations.
fn on_host(work: impl FnOnce()) -> Vec<(String, u64, u64)> {
    let roofs = Roofs { of_host: true, ..roofs() };
    let (_, profile) = profile(&[], |_| work()).expect("a recording");
    let rows = profile.roofline(&roofs).rows;
    let mut rows: Vec<_> = rows.into_iter().map(|row| (row.name, row.bytes, row.flops)).collect();
    rows.sort();
    rows
}

#[test]
fn operations_of_the_host_are_placed_by_formula() {
    let _alone = alone();
    let generator = &mut Generator::new(7);
    let [a, b] = [[30, 50], [50, 70]].map(|shape| Tensor::randn(&shape, generator));
    let rows = on_host(|| {
        no_grad(|| drop(a.matmul(&b)));
        drop(a.add(&a));
        drop(a.exp());
    });
    let bytes = 4 * (30 * 50 + 50 * 70 + 30 * 70);
    let of = |name: &str, bytes, flops| (name.to_string(), bytes, flops);
    let expected =
        [of("add", 18_000, 1500), of("exp", 12_000, 0), of("matmul", bytes, 2 * 30 * 50 * 70)];
    assert_eq!(rows, expected);
    // A view moves nothing; what picks elements reads these alone, and the index.
    let table = Tensor::randn(&[1000, 8], generator);
    let index = Tensor::from_vec(vec![3_i64, 5], &[2]);
    let rows = on_host(|| {
        drop(table.transpose(0, 1));
        drop(table.index_select(0, &index));
        drop(table.take(&index));
        drop(table.add_scalar(1.0));
        table.add_(&table, 1);
    });
    let bytes = |name: &str| rows.iter().find(|row| row.0 == name).expect(name).1;
    assert_eq!((bytes("transpose"), bytes("index_select"), bytes("take")), (0, 128 + 16, 16 + 16));
    // PyTorch counts the sum with a number, too, and none that is made in place.
    assert!(rows.contains(&of("add_scalar", 64_000, 8000)), "{rows:?}");
    assert!(rows.contains(&of("add_", 96_000, 0)), "{rows:?}");
}

#[test]
fn an_operation_of_parts_does_what_they_do_and_none_asks_a_device() {
    let host = |kind, name: &str, start, end| Event::of_host(kind, name, 0).between(start, end);
    let did = |event, bytes, flops| Event { bytes, flops, ..event };
    let events = vec![
        did(host(Kind::Op, "norm", 0, 100), 500, 0),
        did(host(Kind::Op, "mul", 10, 60), 300, 30),
        did(host(Kind::Op, "mm", 100, 200), 700, 90),
        did(host(Kind::Op, "pack", 110, 120), 40, 0),
        did(host(Kind::Op, "to", 200, 300), 60, 0),
        host(Kind::Call(Call::Copy), "copy", 210, 280),
        did(host(Kind::Op, "sum", 300, 340), 80, 0),
        host(Kind::Op, "reshape", 310, 320),
        host(Kind::Module, "net", 400, 500),
    ];
    let line = Profile::from_events(events).roofline(&Roofs { of_host: true, ..roofs() });
    let mut rows: Vec<_> = line
        .rows
        .iter()
        .map(|row| (&*row.name, row.time_ns, row.bytes, row.flops, row.source))
        .collect();
    rows.sort_by_key(|row| row.0);
    let expected = [
        ("mm", 90, 700, 90, Source::Formula),
        ("mul", 50, 300, 30, Source::Formula),
        ("norm", 50, 0, 0, Source::Unknown),
        ("pack", 10, 40, 0, Source::Formula),
        ("reshape", 10, 0, 0, Source::Unknown),
        ("sum", 30, 80, 0, Source::Formula),
    ];
    assert_eq!(rows, expected);
    assert!(!line.table().contains("Launches do"), "the host launches nothing for itself");
}

#[test]
fn operations_without_formulas_are_unknown_and_a_modelled_host_takes_no_time() {
    let _alone = alone();
    let host = Roofs { of_host: true, ..roofs() };
    let x = Tensor::ones(&[100]);
    let (_, times) = Profiler::new().run(|_| x.add(&x)).expect("a recording");
    let line = times.roofline(&host);
    assert_eq!((line.rows[0].source, line.rows[0].bound), (Source::Unknown, Bound::Unknown));
    let (_, modelled) = profile(&[Device::Sim(0)], |_| x.add(&x)).expect("a recording");
    assert!(modelled.roofline(&host).rows.is_empty());
}

/// No machine is slower than a hundredth of a slow one, or faster than a hundred fast ones: the
/// units are right.
#[test]
fn roofs_of_this_computer_are_measured() {
    let _alone = alone();
    let roofs = Roofs::measure_cpu();
    println!("{roofs}");
    assert!((1e8..1e13).contains(&roofs.memory), "{} bytes/s", roofs.memory);
    assert!((1e8..1e15).contains(&roofs.flops), "{} FLOP/s", roofs.flops);
    assert!(roofs.of_host && roofs.l2.is_none());
}
