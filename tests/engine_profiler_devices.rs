//! What a profile records of devices: when their work ran, on which clock, and who asked for it.

#[path = "engine/recorded.rs"]
mod recorded;

use engine_room::driver::{Driver, HostMemory};
use engine_room::profiler::{Call, Event, GroupBy, Kind, profile, record_function};
use engine_room::sim::{COPY_CALL, LAUNCH, LAUNCH_LATENCY};
use engine_room::{Device, Tensor, sim};
use recorded::{SIM, alone, is_nested, tick};

/// Adds on a device, by kernels large enough to be waited for.
fn adds(x: &Tensor, count: usize) -> Tensor {
    (0..count).fold(x.add(x), |sum, _| sum.add(x))
}

#[test]
fn g09_kernels_of_a_device_run_behind_their_launches() {
    let _alone = alone();
    let x = Tensor::ones(&[1 << 16]).to(SIM);
    drop(adds(&x, 2));
    sim::reset(0);
    let (_, profile) = profile(&[SIM], |_| {
        let _range = record_function("kernels");
        let sum = adds(&x, 2);
        SIM.synchronize().unwrap();
        let _copy = record_function("read");
        drop(sum.to(Device::Cpu));
    })
    .unwrap();
    let of = |kind| -> Vec<&Event> {
        profile.events().iter().filter(|event| event.kind == kind).collect()
    };
    let (launches, kernels) = (of(Kind::Call(Call::Launch)), of(Kind::Kernel));
    let (count, modelled_ns) = (sim::launches(0).count, sim::launches(0).modelled_ns);
    assert_eq!((launches.len(), kernels.len(), count), (3, 3, 3));
    // By hand: a launch takes its time of the host and nothing more; a kernel begins a latency
    // after it, or when the one before is done.
    let mut idle = 0;
    for (launch, kernel) in launches.iter().zip(&kernels) {
        assert_eq!(launch.duration_ns(), LAUNCH);
        assert_eq!(kernel.start_ns, idle.max(launch.end_ns + LAUNCH_LATENCY));
        assert_eq!(profile.events()[kernel.cause.unwrap()], **launch);
        idle = kernel.end_ns;
    }
    let synchronize = of(Kind::Call(Call::Synchronize));
    assert_eq!(synchronize[0].end_ns, idle);
    let averages = profile.key_averages(GroupBy::Name);
    let device = |name: &str| {
        let rows = averages.rows.iter().filter(|row| row.key == name && !row.is_on_device);
        rows.map(|row| row.device_time_total).sum::<u64>()
    };
    assert_eq!(device("add"), modelled_ns);
    // Nothing that was waited for is blamed on what comes after it.
    assert_eq!(device("read"), of(Kind::Copy)[0].duration_ns());
    assert_eq!(device("synchronize"), 0);
    assert_eq!(averages.device_total, modelled_ns + device("read"));
}

#[test]
fn streams_run_side_by_side_and_wait_for_events() {
    let _alone = alone();
    let driver = sim::sim(0);
    let (a, b) = (driver.create_stream().unwrap(), driver.create_stream().unwrap());
    let bytes = vec![1; 1 << 20];
    let at = driver.alloc(1 << 20).unwrap();
    let (_, profile) = profile(&[SIM], |_| {
        let driver = SIM.driver();
        let pinned = HostMemory::Pinned;
        let mark = driver.copy_to_device(at, &bytes, pinned, a).unwrap().expect("it is pinned");
        let mut there = vec![0; 1 << 20];
        let other = driver.copy_to_host(&mut there, at, pinned, b).unwrap();
        driver.wait(b, &mark).unwrap();
        let last = driver.copy_to_host(&mut there, at, pinned, b).unwrap();
        driver.synchronize().unwrap();
        [Some(mark), other, last].into_iter().flatten().for_each(|mark| driver.release(mark));
    })
    .unwrap();
    driver.free(at).unwrap();
    let copies: Vec<&Event> = profile.events().iter().filter(|it| it.kind == Kind::Copy).collect();
    let [to, from, after] = copies[..] else { panic!("{copies:?}") };
    assert!(to.lane != from.lane && from.lane == after.lane);
    // The second goes the other way and begins a call later; the third waits for the first.
    assert_eq!(from.start_ns - to.start_ns, COPY_CALL);
    assert!(from.start_ns < to.end_ns && after.start_ns >= to.end_ns.max(from.end_ns));
}

#[test]
fn work_that_is_refused_or_empty_leaves_no_event_of_the_device() {
    let _alone = alone();
    let driver = sim::sim(0);
    let at = driver.alloc(4).unwrap();
    let stream = driver.default_stream();
    driver.copy_to_device(at, &[1, 2, 3, 4], HostMemory::Pageable, stream).unwrap();
    let (_, profile) = profile(&[SIM], |_| {
        let driver = SIM.driver();
        driver.copy_to_device(at, &[], HostMemory::Pageable, stream).unwrap();
        let beside = driver.copy_to_device(at, &[0; 5], HostMemory::Pageable, stream);
        assert!(beside.is_err());
    })
    .unwrap();
    driver.free(at).unwrap();
    let kinds: Vec<Kind> = profile.events().iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Call(Call::Copy); 2]);
}

#[test]
fn two_simulated_gpus_stand_on_one_clock() {
    let _alone = alone();
    let (first, second) = (Device::Sim(4), Device::Sim(5));
    // Their clocks show different times before.
    let x = Tensor::ones(&[1 << 14]).to(first);
    let y = Tensor::ones(&[1 << 14]).to(second);
    (0..5).for_each(|_| drop(adds(&x, 3)));
    let (_, profile) = profile(&[first, second, first], |_| {
        for device in [first, second, first] {
            let _range = record_function(device.to_string());
            drop(adds(if device == first { &x } else { &y }, 1));
            device.synchronize().unwrap();
        }
    })
    .unwrap();
    is_nested(&profile);
    let works: Vec<&Event> = profile.events().iter().filter(|it| it.kind == Kind::Kernel).collect();
    assert_eq!(works.len(), 6);
    for work in works {
        // Asked for, run and waited for within the range of its device.
        let cause = work.cause.unwrap();
        let range = profile.ancestors(cause).last().map(|at| &profile.events()[at]).unwrap();
        assert_eq!(range.name, work.device.to_string());
        assert!(profile.events()[cause].end_ns <= work.start_ns && work.end_ns <= range.end_ns);
    }
    let is_outermost = |it: &&Event| it.parent.is_none() && it.cause.is_none();
    let ranges: Vec<&Event> = profile.events().iter().filter(is_outermost).collect();
    assert!(ranges.len() == 3 && ranges.is_sorted_by(|a, b| a.end_ns <= b.start_ns), "{ranges:?}");
}

#[test]
fn a_clock_that_is_set_to_zero_in_a_profile_goes_on_in_it() {
    let _alone = alone();
    let mut unseen = 0;
    let (_, profile) = profile(&[SIM], |_| {
        tick();
        sim::reset(0);
        // A call past the profile takes the host's time as well.
        let driver = sim::sim(0);
        let at = driver.alloc(1).unwrap();
        let stream = driver.default_stream();
        driver.copy_to_device(at, &[1], HostMemory::Pageable, stream).unwrap();
        driver.synchronize().unwrap();
        unseen = sim::clock(0).host_ns;
        let _after = record_function("after");
        tick();
        driver.free(at).unwrap();
    })
    .unwrap();
    is_nested(&profile);
    let copies: Vec<&Event> = profile.events().iter().filter(|it| it.kind == Kind::Copy).collect();
    let [before, after] = copies[..] else { panic!("{copies:?}") };
    assert!(unseen > 0 && before.end_ns + unseen <= after.start_ns, "{before:?} {after:?}");
    assert!(before.duration_ns() > 0 && before.duration_ns() == after.duration_ns());
}
