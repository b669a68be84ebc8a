//! The roofline of the CPU: operations by formula, and roofs that are measured.

#[path = "engine/toy_roofs.rs"]
mod toy_roofs;

use std::sync::{Mutex, MutexGuard, PoisonError};

use engine_room::profiler::{Bound, Call, Event, Kind, Profile, Profiler, Roofs, Source, profile};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor, no_grad};
use toy_roofs::{kernel, roofs};

/// One recording at a time, and no operation of another test in it.
fn alone() -> MutexGuard<'static, ()> {
    static RECORDING: Mutex<()> = Mutex::new(());
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
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
        kernel("of the device", 50, [1, 1, 1]),
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
