//! What a profile records: spans of threads, in any order and by errors, of a schedule; memory
//! and FLOPs.

#[path = "engine/recorded.rs"]
mod recorded;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

use engine_room::autograd::{Ctx, Op, apply};
use engine_room::nn::{Linear, Module};
use engine_room::profiler::{
    Call, Event, GroupBy, Kind, Profile, Profiler, Schedule, profile, record_function,
};
use engine_room::rng::Generator;
use engine_room::{Error, Misuse, Tensor};
use recorded::{SIM, alone, is_nested, tick};

/// The names of the ranges of a profile, each with that of the range that it is in.
fn nesting(profile: &Profile) -> Vec<(&str, Option<&str>)> {
    let is_range = |&at: &usize| profile.events()[at].kind == Kind::Range;
    let name = |at: usize| profile.events()[at].name.as_str();
    let ranges = (0..profile.events().len()).filter(is_range);
    ranges.map(|at| (name(at), profile.ancestors(at).skip(1).find(is_range).map(name))).collect()
}

/// The first event of a name.
fn event<'a>(profile: &'a Profile, name: &str) -> &'a Event {
    profile.events().iter().find(|event| event.name == name).expect(name)
}

fn fails() -> Result<(), Error> {
    let _range = record_function("boom");
    tick();
    SIM.driver().alloc(u64::MAX)?;
    let _never = record_function("never");
    Ok(())
}

fn returns_early(early: bool) {
    let _range = record_function("early");
    tick();
    if early {
        return;
    }
    let _never = record_function("never");
}

#[test]
fn g11_a_range_that_is_left_by_an_error_is_closed() {
    let _alone = alone();
    let (_, profile) = profile(&[SIM], |_| {
        {
            let _outer = record_function("outer");
            tick();
            assert!(fails().is_err());
            tick();
            returns_early(true);
            let caught = catch_unwind(|| {
                let _range = record_function("panic");
                let _inner = record_function("in panic");
                tick();
                std::panic::resume_unwind(Box::new("caught"));
            });
            assert!(caught.is_err());
            tick();
        }
        let _after = record_function("after");
        tick();
    })
    .unwrap();
    let want = [
        ("outer", None),
        ("boom", Some("outer")),
        ("early", Some("outer")),
        ("panic", Some("outer")),
        ("in panic", Some("panic")),
        ("after", None),
    ];
    assert_eq!(nesting(&profile), want);
    is_nested(&profile);
    // Each has one tick of its own, `outer` three; `panic` has none, its part has all.
    let once = event(&profile, "after").duration_ns();
    let length = |name: &str| event(&profile, name).duration_ns() / once;
    assert_eq!(["boom", "early", "panic", "in panic", "outer"].map(length), [1, 1, 1, 1, 6]);
    assert_eq!(event(&profile, "after").start_ns, event(&profile, "outer").end_ns);
}

#[test]
fn g11_guards_may_go_in_any_order_or_never() {
    let _alone = alone();
    let (kept, profile) = profile(&[SIM], |_| {
        let a = record_function("a");
        tick();
        let b = record_function("b");
        let c = record_function("c");
        tick();
        drop(a);
        let next = record_function("next");
        tick();
        drop((b, c));
        let inside = record_function("in next");
        tick();
        drop((next, inside));
        std::mem::forget(record_function("forgotten"));
        tick();
        record_function("kept")
    })
    .unwrap();
    is_nested(&profile);
    let want = [
        ("a", None),
        ("b", Some("a")),
        ("c", Some("b")),
        ("next", None),
        ("in next", Some("next")),
        ("forgotten", None),
        ("kept", Some("forgotten")),
    ];
    assert_eq!(nesting(&profile), want);
    assert_eq!(event(&profile, "b").end_ns, event(&profile, "a").end_ns);
    assert!(event(&profile, "in next").duration_ns() > 0);
    // A guard that outlives its profile says nothing in the next one, and ends nothing there.
    let (_, later) = engine_room::profiler::profile(&[SIM], |_| {
        let _live = record_function("live");
        tick();
        drop(kept);
        tick();
    })
    .unwrap();
    assert_eq!(nesting(&later), [("live", None)]);
    let all = later.key_averages(GroupBy::Name).cpu_total;
    assert_eq!(event(&later, "live").duration_ns(), all);
}

#[test]
fn threads_are_apart() {
    let _alone = alone();
    let (_, profile) = profile(&[], |_| {
        let _main = record_function("main");
        let both = Barrier::new(2);
        thread::scope(|scope| {
            for name in ["first", "second"] {
                let both = &both;
                scope.spawn(move || {
                    let _outer = record_function(name);
                    both.wait();
                    let _inner = record_function(format!("in {name}"));
                    both.wait();
                    Tensor::zeros(&[4]).add(&Tensor::ones(&[4]));
                });
            }
        });
    })
    .unwrap();
    is_nested(&profile);
    let mut found = nesting(&profile);
    found.sort_unstable();
    let want = [
        ("first", None),
        ("in first", Some("first")),
        ("in second", Some("second")),
        ("main", None),
        ("second", None),
    ];
    assert_eq!(found, want);
    let lane = |name: &str| event(&profile, name).lane;
    assert!(lane("main") != lane("first") && lane("first") != lane("second"));
    let adds = profile.events().iter().enumerate().filter(|(_, event)| event.name == "add");
    let name = |at: usize| profile.events()[at].name.as_str();
    let outer = |(_, event): (usize, &Event)| event.parent.map(name);
    let mut parents: Vec<_> = adds.map(outer).collect();
    parents.sort_unstable();
    assert_eq!(parents, [Some("in first"), Some("in second")]);
}

/// What a program is told that asks for what cannot be.
fn misuse(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("a misuse");
    payload.downcast_ref::<Misuse>().expect("a misuse").to_string()
}

#[test]
fn a_profile_in_a_profile_is_refused_and_the_outer_one_goes_on() {
    let _alone = alone();
    let (_, profile) = profile(&[SIM], |_| {
        let _before = record_function("before");
        let message = misuse(|| drop(engine_room::profiler::profile(&[SIM], |_| ())));
        assert!(message.contains("a profile is being recorded already"), "{message}");
        let other = thread::spawn(|| misuse(|| drop(Profiler::new().run(|_| ()))));
        assert!(other.join().unwrap().contains("a profile is being recorded already"));
        let _after = record_function("after");
        tick();
    })
    .unwrap();
    assert_eq!(nesting(&profile), [("before", None), ("after", Some("before"))]);
}

#[test]
fn a_panic_leaves_the_profiler_off_and_usable() {
    let _alone = alone();
    let panicked = catch_unwind(|| {
        profile(&[SIM], |_| {
            let _range = record_function("lost");
            tick();
            std::panic::resume_unwind(Box::new("caught"));
        })
    });
    assert!(panicked.is_err());
    let _off = record_function("off");
    let (_, profile) = profile(&[SIM], |_| drop(record_function("next"))).unwrap();
    assert_eq!(nesting(&profile), [("next", None)]);
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    let _alone = alone();
    let none = Schedule { skip_first: 0, wait: 1, warmup: 1, active: 0, repeat: 0 };
    let message = misuse(|| drop(Profiler::new().schedule(none)));
    assert!(message.contains("keeps no step"), "{message}");
}

#[test]
fn a_schedule_keeps_its_steps_whole() {
    let _alone = alone();
    let schedule = Schedule { skip_first: 1, wait: 1, warmup: 1, active: 2, repeat: 2 };
    let (_, profile) = Profiler::new()
        .devices(&[SIM])
        .schedule(schedule)
        .run(|p| {
            for step in 0..14 {
                // It is left open over the end of the step, which ends it.
                let _range = record_function(format!("range {step}"));
                tick();
                p.step();
            }
        })
        .unwrap();
    is_nested(&profile);
    let names = |kind| -> Vec<&str> {
        let of_kind = profile.events().iter().filter(|event| event.kind == kind);
        of_kind.map(|event| event.name.as_str()).collect()
    };
    // 1 is skipped, then of each 4 the first waits and the second warms up: 3, 4 and 7, 8.
    let steps = ["ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#7", "ProfilerStep#8"];
    assert_eq!(names(Kind::Step), steps);
    assert_eq!(names(Kind::Range), ["range 3", "range 4", "range 7", "range 8"]);
    let copies: Vec<&Event> =
        profile.events().iter().filter(|event| event.kind == Kind::Copy).collect();
    assert_eq!(copies.len(), 4);
    for copy in copies {
        let cause = copy.cause.expect("a call asked for it");
        let above: Vec<usize> = profile.ancestors(cause).collect();
        let kinds: Vec<Kind> = above.iter().map(|&at| profile.events()[at].kind).collect();
        assert_eq!(kinds, [Kind::Call(Call::Copy), Kind::Range, Kind::Step]);
    }
    let rows = profile.key_averages(GroupBy::Name).rows;
    let steps = rows.iter().find(|row| row.key == "ProfilerStep*").expect("one row");
    assert_eq!(steps.count, 4);
}

#[test]
fn a_span_that_another_thread_began_ends_while_nothing_is_recorded() {
    let _alone = alone();
    let schedule = Schedule { skip_first: 0, wait: 0, warmup: 0, active: 1, repeat: 1 };
    let (begun, ended) = (Barrier::new(2), Barrier::new(2));
    let (_, profile) = Profiler::new()
        .devices(&[SIM])
        .schedule(schedule)
        .run(|p| {
            thread::scope(|scope| {
                let worker = scope.spawn(|| {
                    let _range = record_function("long");
                    begun.wait();
                    ended.wait();
                });
                begun.wait();
                tick();
                p.step();
                ended.wait();
                worker.join().unwrap();
                (0..10).for_each(|_| tick());
            });
        })
        .unwrap();
    let (long, step) = (event(&profile, "long"), event(&profile, "ProfilerStep#0"));
    assert!(long.end_ns < 2 * step.end_ns, "{long:?} {step:?}");
}

#[test]
fn memory_of_the_host_and_of_devices_is_apart() {
    let _alone = alone();
    let ((), profile) = profile(&[SIM], |_| {
        let _range = record_function("range");
        let x = Tensor::zeros(&[1000]);
        let y = x.to(SIM);
        std::mem::forget(y);
    })
    .unwrap();
    let rows = profile.key_averages(GroupBy::Name).rows;
    let range = rows.iter().find(|row| row.key == "range").expect("a row");
    // x is gone at the end, and y is not: 4,000 bytes, in blocks of 512 as PyTorch gives them.
    assert_eq!((range.memory, range.device_memory), (0, 4096));
}

#[test]
fn flops_of_a_pass_are_counted_once() {
    let _alone = alone();
    let mut generator = Generator::new(1);
    let layer = Linear::new(3, 5, true, &mut generator);
    let x = Tensor::randn(&[4, 3], &mut generator).requires_grad_(true);
    let (_, profile) = profile(&[], |_| layer.call("layer", &x).sum().backward()).unwrap();
    let flops = |wanted: fn(&Event) -> bool| -> u64 {
        profile.events().iter().filter(|it| wanted(it)).map(|event| event.flops).sum()
    };
    // 2 x 4 x 3 x 5 forward; backward dx and dw, as many each.
    assert_eq!(flops(|event| event.name == "linear"), 120);
    assert_eq!(flops(|_| true), 120 + 240);
}

/// A layer of somebody's own, under the engine's name for it, made of the engine's operations.
struct OwnLinear;

impl Op<2> for OwnLinear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn forward(&self, _ctx: &mut Ctx, [x, w]: [&Tensor; 2]) -> Tensor {
        x.matmul(w).relu()
    }

    fn backward(&self, _ctx: &Ctx, _dy: &Tensor) -> [Option<Tensor>; 2] {
        [None, None]
    }
}

#[test]
fn an_operation_made_of_others_has_no_flops_of_its_own() {
    let _alone = alone();
    let (x, w) = (Tensor::ones(&[4, 3]), Tensor::ones(&[3, 5]));
    let (_, profile) = profile(&[], |_| apply(OwnLinear, [&x, &w])).unwrap();
    let flops = |name: &str| event(&profile, name).flops;
    assert_eq!((flops("matmul"), flops("linear"), flops("relu")), (120, 0, 0));
}
