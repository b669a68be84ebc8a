//! The profiler: cases of area G, and profiles of programs on the host and on the simulated GPU.

use engine_room::nn::{Gpt, GptConfig, Linear, Module};
use engine_room::profiler::{Call, Event, GroupBy, Kind, Profile, SortBy, profile};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor};

/// `(name, start, end)` in microseconds, on one thread.
fn spans(list: &[(&str, u64, u64)]) -> Profile {
    let event = |&(name, start, end): &(&str, u64, u64)| {
        Event::of_host(Kind::Range, name, 0).between(start * 1000, end * 1000)
    };
    Profile::from_events(list.iter().map(event).collect())
}

/// Count, total and self time in microseconds.
fn row(profile: &Profile, name: &str) -> (u64, u64, u64) {
    let averages = profile.key_averages(GroupBy::Name);
    let row = averages.rows.iter().find(|row| row.key == name).expect(name);
    (row.count, row.cpu_time_total / 1000, row.self_cpu_time_total / 1000)
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
fn a_profile_of_a_gpt_step_on_the_simulated_gpu() {
    let config = GptConfig {
        vocab: 17,
        context: 8,
        width: 16,
        heads: 2,
        layers: 2,
        dropout: 0.0,
        tied: true,
    };
    let mut generator = Generator::new(3);
    let model = Gpt::new(&config, &mut generator);
    model.to_device(Device::Sim(0));
    let ids = Tensor::randint(0, 17, &[2, 8], &mut generator).to(Device::Sim(0));
    let (_, profile) = profile(&[Device::Sim(0)], |_| {
        let loss = model.forward(&ids).sum();
        loss.backward();
    })
    .expect("the simulated GPU works");
    println!("{}", profile.key_averages(GroupBy::Name).table(SortBy::SelfDeviceTime, 30));
    let launches =
        profile.events().iter().filter(|event| event.kind == Kind::Call(Call::Launch)).count();
    let kernels = profile.events().iter().filter(|event| event.kind == Kind::Kernel).count();
    assert!(launches > 50 && launches == kernels, "{launches} launches, {kernels} kernels");
    let _ = Linear::new(2, 2, true, &mut generator);
}
