//! The trace of a training step of a GPT: by the format's schema (golden/trace_schema.json), nested
//! on each thread, and with the sums of `key_averages`.

#[path = "engine/schema.rs"]
mod schema;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::profiler::{Event, GroupBy, Kind, Profile, profile, record_function};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor};
use serde_json::{Value, json};

/// One profile at a time.
static ONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn step_of_a_gpt(device: Device) -> Profile {
    let mut generator = Generator::new(3);
    let config = GptConfig {
        vocab: 17,
        context: 8,
        width: 16,
        heads: 2,
        layers: 2,
        dropout: 0.0,
        tied: true,
    };
    let model = Gpt::new(&config, &mut generator);
    model.to_device(device);
    let mut random = |shape: &[usize]| Tensor::randint(0, 17, shape, &mut generator).to(device);
    let (ids, targets) = (random(&[2, 8]), random(&[16]));
    let mut adamw = AdamW::new(model.parameters(), 1e-3);
    let (_, profile) = profile(&[device], |_| {
        let _range = record_function("a step \"of\" training");
        let loss = model.forward(&ids).reshape(&[16, 17]).cross_entropy(&targets);
        loss.backward();
        adamw.step();
    })
    .expect("the device works");
    profile
}

fn schema() -> Value {
    serde_json::from_str(include_str!("golden/trace_schema.json")).expect("JSON")
}

/// What is wrong with a trace, if anything is.
fn fault(text: &str) -> Option<String> {
    let schema = schema();
    let trace: Value = match serde_json::from_str(text) {
        Ok(trace) => trace,
        Err(error) => return Some(error.to_string()),
    };
    let spans = || Spans::of(&trace).fault();
    schema::check(&schema, &schema, &trace, "trace").err().or_else(spans)
}

/// Nanoseconds of a time in microseconds; all are small enough for `f64` to hold them.
fn ns(value: &Value) -> u64 {
    (value.as_f64().expect("a time") * 1e3).round() as u64
}

/// From when to when, and the name.
type Named = (u64, u64, String);

struct Spans {
    /// The complete events of each process and thread.
    spans: BTreeMap<(u64, u64), Vec<Named>>,
    /// Process, thread and time of the beginnings and the ends of arrows, by their id.
    arrows: [BTreeMap<u64, (u64, u64, u64)>; 2],
}

impl Spans {
    fn of(trace: &Value) -> Spans {
        let mut all = Spans { spans: BTreeMap::new(), arrows: Default::default() };
        for event in trace["traceEvents"].as_array().expect("a list") {
            let lane = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
            match event["ph"].as_str() {
                Some("X") => {
                    let (start, name) = (ns(&event["ts"]), event["name"].as_str().unwrap());
                    let span = (start, start + ns(&event["dur"]), name.to_string());
                    all.spans.entry(lane).or_default().push(span);
                }
                Some(end @ ("s" | "f")) => {
                    let at = (lane.0, lane.1, ns(&event["ts"]));
                    let id = event["id"].as_u64().unwrap();
                    let before = all.arrows[usize::from(end == "f")].insert(id, at);
                    assert_eq!(before, None, "two arrows with one id");
                }
                _ => {}
            }
        }
        all
    }

    /// Two spans of one thread that overlap in part, or an arrow that does not lead forwards from
    /// one span to another.
    fn fault(&self) -> Option<String> {
        for (lane, spans) in &self.spans {
            for (i, a) in spans.iter().enumerate() {
                for b in &spans[i + 1..] {
                    let apart = a.1 <= b.0 || b.1 <= a.0;
                    let nested = (a.0 <= b.0 && b.1 <= a.1) || (b.0 <= a.0 && a.1 <= b.1);
                    if !apart && !nested {
                        return Some(format!("{lane:?}: {a:?} and {b:?} overlap in part"));
                    }
                }
            }
        }
        let [starts, ends] = &self.arrows;
        let begins = |&(process, thread, at): &(u64, u64, u64)| {
            self.spans.get(&(process, thread)).is_some_and(|all| all.iter().any(|it| it.0 == at))
        };
        let leads = |(id, from): (&u64, &(u64, u64, u64))| {
            ends.get(id).is_some_and(|to| begins(from) && begins(to) && from.2 <= to.2)
        };
        let right = starts.len() == ends.len() && starts.iter().all(leads);
        (!right).then(|| "an arrow leads nowhere".to_string())
    }

    /// How often each name stands in processes of the host, or in others, and how long its threads
    /// are in it: what is inside a span of the same name counts once.
    fn sums(&self, host: bool) -> BTreeMap<String, (u64, u64)> {
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let lanes = self.spans.iter().filter(|((process, _), _)| (*process == 1) == host);
        for (_, spans) in lanes {
            let mut spans: Vec<_> =
                spans.iter().map(|(start, end, name)| (name, start, end)).collect();
            spans.sort_unstable();
            let none = String::new();
            let mut before = (&none, 0);
            for (name, &start, &end) in spans {
                let known = if before.0 == name { before.1 } else { 0 };
                let sum = sums.entry(name.clone()).or_default();
                *sum = (sum.0 + 1, sum.1 + end.saturating_sub(start.max(known)));
                before = (name, end.max(known));
            }
        }
        sums
    }
}

fn averages(profile: &Profile, on_device: bool) -> BTreeMap<String, (u64, u64)> {
    let rows = profile.key_averages(GroupBy::Name).rows.into_iter();
    let rows = rows.filter(|row| row.is_on_device == on_device);
    rows.map(|row| (row.key, (row.count, row.cpu_time_total.max(row.self_device_time_total))))
        .collect()
}

#[test]
fn the_trace_of_a_gpt_step_is_valid_nested_and_sums_up() {
    let _alone = alone();
    for device in [Device::Sim(0), Device::Cpu] {
        let profile = step_of_a_gpt(device);
        let text = profile.chrome_trace();
        if let Some(folder) = std::env::var_os("TRACES") {
            let file = std::path::Path::new(&folder).join(format!("{device}.json"));
            profile.export_chrome_trace(&file).expect("the folder can be written");
        }
        assert_eq!(fault(&text), None, "on {device}");
        let spans = Spans::of(&serde_json::from_str(&text).unwrap());
        let host = averages(&profile, false);
        let kinds = ["AdamW", "linear backward", "a step \"of\" training"];
        assert!(kinds.iter().all(|kind| host.contains_key(*kind)), "{:?}", host.keys());
        assert_eq!(spans.sums(true), host, "on {device}");
        assert_eq!(spans.sums(false), averages(&profile, true), "on {device}");
        let has_device = device != Device::Cpu;
        assert_eq!(spans.arrows[0].len() > 100, has_device, "{}", spans.arrows[0].len());
    }
}

#[test]
fn two_profiles_of_modelled_time_are_one() {
    let _alone = alone();
    // What ran before does not show: neither on the clock nor in what is found ready.
    drop(step_of_a_gpt(Device::Sim(1)));
    let (first, second) = (step_of_a_gpt(Device::Sim(1)), step_of_a_gpt(Device::Sim(1)));
    assert_eq!(first.chrome_trace(), second.chrome_trace());
    assert_eq!(first.modelled(), Some("T4"));
}

fn small() -> Profile {
    let host = Event::of_host(Kind::Range, "launch", 0).between(0, 5000);
    let work = Event {
        device: Device::Sim(0),
        cause: Some(0),
        ..Event::of_host(Kind::Kernel, "k", 0).between(2000, 9000)
    };
    Profile::from_events(vec![host, work])
}

#[test]
fn bad_traces_are_found() {
    let good = small().chrome_trace();
    assert_eq!(fault(&good), None);
    let plant = |from: &str, to: &str| {
        assert!(good.contains(from), "{from} is not in {good}");
        fault(&good.replacen(from, to, 1)).unwrap_or_else(|| panic!("{to} passes"))
    };
    for (from, to) in [
        ("\"dur\": 5.000", "\"dur\": -5.000"),
        ("\"dur\": 5.000", "\"dur\": \"5\""),
        ("\"dur\": 5.000, ", ""),
        ("\"tid\": 0, \"ts\"", "\"tid\": 0.5, \"ts\""),
        ("\"pid\": 1", "\"pid\": 0"),
        ("\"ph\": \"X\"", "\"ph\": \"Y\""),
        ("\"ph\": \"X\"", "\"ph\": \"s\""),
        ("\"bp\": \"e\"", "\"bp\": \"x\""),
        ("\"ph\": \"f\", \"bp\": \"e\"", "\"ph\": \"f\""),
        ("\"name\": \"launch\"", "\"name\": \"la\nunch\""),
        ("\"name\": \"launch\"", "\"name\": 3"),
        ("\"sort_index\": 1", "\"sort_index\": 1.5"),
        ("\"ns\"", "\"us\""),
        ("\"traceEvents\"", "\"events\""),
        ("\"ph\": \"s\", \"id\": 1", "\"ph\": \"s\", \"id\": 2"),
        ("\"ts\": 2.000", "\"ts\": 2.001"),
        ("\n]}", "\n]"),
    ] {
        plant(from, to);
    }
}

#[test]
fn spans_that_overlap_in_part_are_found() {
    let at = |name: &str, start, end| Event::of_host(Kind::Range, name, 0).between(start, end);
    let profile = Profile::from_events(vec![at("a", 0, 10), at("b", 5, 15)]);
    assert!(fault(&profile.chrome_trace()).is_some_and(|it| it.contains("overlap in part")));
    let profile = Profile::from_events(vec![at("a", 0, 10), at("b", 10, 15), at("c", 12, 15)]);
    assert_eq!(fault(&profile.chrome_trace()), None);
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = std::env::temp_dir().join("no-such-folder-of-the-profiler");
    let error = small().export_chrome_trace(&folder.join("trace.json")).expect_err("no folder");
    assert!(error.to_string().contains("no-such-folder-of-the-profiler"), "{error}");
}

#[test]
fn an_empty_profile_has_an_empty_trace() {
    let text = Profile::from_events(Vec::new()).chrome_trace();
    assert_eq!(fault(&text), None);
    let trace: Value = serde_json::from_str(&text).unwrap();
    let host = json!({ "ph": "M", "name": "process_name", "pid": 1, "tid": 0,
        "args": { "name": "cpu" } });
    assert_eq!(trace["traceEvents"][0], host);
}
