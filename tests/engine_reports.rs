//! What the memory reports show: bytes by operation, the history, snapshots, the table.

use std::sync::{Mutex, MutexGuard, PoisonError};

use engine_room::memory::{
    Action, Role, bytes_by_op, bytes_by_op_at_peak, bytes_by_role, empty_cache,
    max_memory_allocated, max_memory_reserved, memory_allocated, memory_snapshot, memory_stats,
    memory_summary, record_memory_history, reset_peak_memory_stats,
};
use engine_room::nn::{Linear, Module, Sequential, Tanh};
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor, catch, sim};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// The host's counters belong to the process: one test at a time looks at them.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is held, as (operation, role, bytes).
fn held(device: Device, at_peak: bool) -> Vec<(String, Role, u64)> {
    let holdings = if at_peak { bytes_by_op_at_peak(device) } else { bytes_by_op(device) };
    holdings.iter().map(|it| (it.op.to_string(), it.role, it.bytes)).collect()
}

#[test]
fn bytes_are_known_by_operation_now_and_at_the_peak() {
    let _alone = alone();
    let cpu = Device::Cpu;
    reset_peak_memory_stats(cpu);
    let x = Tensor::ones(&[100]).requires_grad_(true);
    let y = x.exp().tanh();
    let of = |op: &str, role, bytes| (op.to_string(), role, bytes);
    let parameter = of("no operation", Role::Parameter, 400);
    let [exp, tanh] = ["exp", "tanh"].map(|op| of(op, Role::Activation, 400));
    assert_eq!(held(cpu, false), [parameter.clone(), exp, tanh.clone()]);
    y.sum().backward();
    let now = held(cpu, false);
    assert_eq!(now.iter().map(|it| it.2).sum::<u64>(), memory_allocated(cpu));
    assert!(now.contains(&of("exp backward", Role::Gradient, 400)), "{now:?}");
    assert!(now.contains(&tanh), "y is alive: {now:?}");
    let peak = held(cpu, true);
    assert_eq!(peak.iter().map(|it| it.2).sum::<u64>(), max_memory_allocated(cpu));
    assert!(peak.iter().any(|it| it.0.ends_with("backward")), "{peak:?}");
    drop((x, y));
    assert_eq!((held(cpu, false), memory_allocated(cpu)), (vec![], 0));
    assert_eq!(held(cpu, true), peak, "the peak stays until it is reset");
}

/// 38 MiB in a segment and 24 outside would be enough for 40, in one piece.
#[test]
fn a_report_says_that_enough_is_free_in_pieces() {
    let device = Device::Sim(55);
    sim::set_capacity(55, 64 * MIB);
    let bytes = |mib: usize| Tensor::full_on(&[mib << 20], 0, DType::U8, device);
    drop(bytes(40));
    let stays = bytes(2);
    let error = catch(|| bytes(40)).expect_err("38 and 24 MiB are no 40");
    assert!(error.to_string().contains("try: enough is free, but in pieces"), "{error}");
    let error = catch(|| bytes(63)).expect_err("38 and 24 MiB are not 63");
    assert!(!error.to_string().contains("in pieces"), "{error}");
    drop(stays);
}

#[test]
fn the_history_of_the_host_tells_what_was_taken_for_what() {
    let _alone = alone();
    let before = Tensor::ones(&[10]);
    record_memory_history(Device::Cpu, 1000);
    let x = Tensor::ones(&[20]).requires_grad_(true);
    let y = x.exp();
    y.sum().backward();
    drop((before, y));
    let snapshot = memory_snapshot(Device::Cpu);
    record_memory_history(Device::Cpu, 0);
    let [first, second] = [0, 1].map(|i| snapshot.trace[i]);
    assert_eq!((first.action, first.size, first.label.role), (Action::Alloc, 80, Role::Parameter));
    assert_eq!((second.label.op.name, second.label.role), ("exp", Role::Activation));
    let line = snapshot.time_line();
    assert_eq!((line[0], line[2]), ([40, 0, 0, 0, 0], [40, 80, 0, 80, 0]));
    let now = bytes_by_role(Device::Cpu).map(|(_, bytes)| bytes);
    assert_eq!((*line.last().unwrap(), now), (now, [0, 80, 80, 0, 0]));
    drop(x);
    assert_eq!(memory_snapshot(Device::Cpu).trace, [], "it is off");
}

#[test]
fn a_bounded_history_keeps_the_newest_and_what_was_before() {
    let _alone = alone();
    record_memory_history(Device::Cpu, 4);
    let kept: Vec<Tensor> = (1..=6).map(|n| Tensor::ones(&[n])).collect();
    // A role that changes after the entry has gone.
    let first = kept[0].clone().requires_grad_(true);
    drop(kept);
    let snapshot = memory_snapshot(Device::Cpu);
    record_memory_history(Device::Cpu, 0);
    assert_eq!(snapshot.trace.len(), 4);
    assert_eq!(snapshot.time_line().last(), Some(&[0, 4, 0, 0, 0]), "{snapshot:?}");
    drop(first);
}

/// A snapshot with everything in it: a segment that was given back, an error, modules.
fn eventful(n: usize) -> engine_room::memory::Snapshot {
    let gpu = Device::Sim(n);
    sim::set_capacity(n, 64 * MIB);
    record_memory_history(gpu, 1000);
    let model =
        Sequential::new().append(Linear::new(8, 8, true, &mut Generator::new(1))).append(Tanh);
    model.to_device(gpu);
    let y = model.forward(&Tensor::ones(&[4, 8]).to(gpu));
    y.sum().backward();
    drop(Tensor::zeros(&[3 << 20]).to(gpu));
    empty_cache(gpu);
    assert!(catch(|| Tensor::zeros(&[32 << 20]).to(gpu)).is_err());
    memory_snapshot(gpu)
}

#[test]
fn a_snapshot_has_the_shape_of_pytorchs() {
    let _alone = alone();
    let snapshot = eventful(53);
    let json: Value = serde_json::from_str(&snapshot.to_json()).expect("JSON");
    let traces = json["device_traces"].as_array().unwrap();
    assert_eq!((traces.len(), &traces[0]), (54, &json!([])), "one list for each device");
    let actions: Vec<&str> =
        traces[53].as_array().unwrap().iter().map(|it| it["action"].as_str().unwrap()).collect();
    for action in
        ["alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "oom"]
    {
        assert!(actions.contains(&action), "{action}");
    }
    let oom = &traces[53].as_array().unwrap()[actions.iter().position(|it| *it == "oom").unwrap()];
    assert_eq!(oom["size"], 128 * MIB);
    let kernels = 62 * MIB - oom["device_free"].as_u64().unwrap();
    assert!(kernels < 65536, "their variables take up {kernels} bytes");
    let segment = &json["segments"][0];
    let blocks = segment["blocks"].as_array().unwrap();
    let sum = |key: &str| blocks.iter().map(|it| it[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((segment["total_size"].as_u64(), sum("size")), (Some(2 * MIB), 2 * MIB));
    assert_eq!(segment["requested_size"].as_u64(), Some(sum("requested_size")));
    let tanh = blocks.iter().find(|it| it["op"] == "tanh").expect("its result is saved or live");
    assert_eq!((&tanh["module"], &tanh["frames"][0]["name"]), (&json!("1"), &json!("tanh")));
    assert_eq!(unpickled(&snapshot.to_pickle()), json);
    if let Ok(path) = std::env::var("SNAPSHOT") {
        std::fs::write(path, snapshot.to_pickle()).unwrap();
    }
}

/// What a pickle of protocol 2 holds, as far as snapshots use it; from the opcodes as CPython's
/// `pickletools.py` defines them.
fn unpickled(bytes: &[u8]) -> Value {
    let (mut stack, mut marks, mut at) = (Vec::new(), Vec::new(), 2);
    assert_eq!(bytes[..2], [0x80, 2]);
    loop {
        at += 1;
        match bytes[at - 1] {
            b'.' => return stack.pop().unwrap(),
            b'(' => marks.push(stack.len()),
            b']' => stack.push(json!([])),
            b'}' => stack.push(json!({})),
            0x8a => {
                let len = bytes[at] as usize;
                assert_eq!((len, bytes[at + len]), (9, 0), "no number is negative");
                let number = u64::from_le_bytes(bytes[at + 1..at + 9].try_into().unwrap());
                stack.push(json!(number));
                at += 1 + len;
            }
            b'X' => {
                let len = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
                let text = std::str::from_utf8(&bytes[at + 4..at + 4 + len]).unwrap();
                stack.push(json!(text));
                at += 4 + len;
            }
            b'e' => {
                let items = stack.split_off(marks.pop().unwrap());
                stack.last_mut().unwrap().as_array_mut().unwrap().extend(items);
            }
            b'u' => {
                let items = stack.split_off(marks.pop().unwrap());
                let dict = stack.last_mut().unwrap().as_object_mut().unwrap();
                for pair in items.chunks(2) {
                    dict.insert(pair[0].as_str().unwrap().to_string(), pair[1].clone());
                }
            }
            other => panic!("opcode {other:#x}"),
        }
    }
}

/// Both come from `tests/golden/make_memory.py`: the table is what PyTorch makes of the numbers.
#[test]
fn the_table_is_pytorchs() {
    let _alone = alone();
    let golden: Value =
        serde_json::from_str(include_str!("golden/memory.json")).expect("the golden file");
    let gpu = Device::Sim(54);
    let kept: Vec<Tensor> =
        [100, 300_000, 4_000_000, 30].map(|n| Tensor::zeros(&[n]).to(gpu)).into();
    for n in [2_000_000, 7, 900_000] {
        drop(Tensor::zeros(&[n]).to(gpu));
    }
    let stats = memory_stats(gpu);
    for (name, value) in golden["stats"].as_object().unwrap() {
        assert_eq!(stats.get(name).copied(), value.as_u64(), "{name}");
    }
    let ours = memory_summary(gpu);
    let theirs = golden["summary"].as_str().unwrap();
    let body = |table: &str| -> Vec<String> { table.lines().skip(4).map(str::to_string).collect() };
    assert_eq!(body(&ours), body(theirs));
    assert_eq!(max_memory_reserved(gpu), stats["reserved_bytes.all.peak"]);
    drop(kept);
    reset_peak_memory_stats(gpu);
    assert_eq!(max_memory_allocated(gpu), 0);
}
