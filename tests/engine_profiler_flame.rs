//! Flame graphs: frames by hand, against `key_averages`, and the figure as XML.

#[path = "engine/xml.rs"]
mod xml;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::profiler::{Call, Event, FlameTime, GroupBy, Kind, Profile, profile};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor};
use xml::Element;

/// One recording at a time.
static RECORDING: Mutex<()> = Mutex::new(());

/// `(name, start, end)` in nanoseconds, on one thread.
fn spans(list: &[(&str, u64, u64)]) -> Profile {
    let event = |&(name, start, end): &(&str, u64, u64)| {
        Event::of_host(Kind::Range, name, 0).between(start, end)
    };
    Profile::from_events(list.iter().map(event).collect())
}

/// Two rounds of a loop: `step` from 0 to 100 and from 100 to 160, with parts.
fn two_rounds() -> Profile {
    spans(&[
        ("step", 0, 100),
        ("forward", 10, 60),
        ("mm", 20, 50),
        ("backward", 60, 90),
        ("step", 100, 160),
        ("forward", 100, 130),
        ("add", 100, 105),
        ("mm", 110, 130),
        ("log", 160, 170),
    ])
}

/// A step of a GPT on a simulated GPU.
fn gpt_step() -> Profile {
    let _one = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
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
    let step = |_: &_| model.forward(&ids).sum().backward();
    profile(&[Device::Sim(0)], step).expect("the simulated GPU works").1
}

#[test]
fn spans_of_one_name_in_one_frame_are_one_frame() {
    let graph = two_rounds().flame_graph(FlameTime::Host);
    let frames: Vec<(usize, &str, u64, u64, u64, u64)> = graph
        .frames
        .iter()
        .map(|it| (it.depth, &*it.name, it.calls, it.start_ns, it.total_ns, it.self_ns))
        .collect();
    let expected = [
        (0, "step", 2, 0, 160, 50),
        (1, "forward", 2, 0, 80, 25),
        (2, "mm", 2, 0, 50, 50),
        (2, "add", 1, 50, 5, 5),
        (1, "backward", 1, 80, 30, 30),
        (0, "log", 1, 160, 10, 10),
    ];
    assert_eq!(frames, expected);
    assert_eq!(graph.total_ns, 170);
}

#[test]
fn stacks_fold_into_lines_with_the_time_of_their_last_frame() {
    let folded = two_rounds().flame_graph(FlameTime::Host).folded();
    let expected = "step 50\nstep;forward 25\nstep;forward;mm 50\nstep;forward;add 5\n\
                    step;backward 30\nlog 10\n";
    assert_eq!(folded, expected);
    // What would end a name or a line is replaced, and a frame without time of its own has no line.
    let odd = spans(&[("a;b", 0, 10), ("", 0, 10), ("new\r\nline\u{2028}", 0, 4)]);
    let folded = odd.flame_graph(FlameTime::Host).folded();
    assert_eq!(folded, "a:b;(no name) 6\na:b;(no name);new  line  4\n");
}

/// Time by name: that of frames that stand upon none of the same name, and that without parts.
fn by_name(profile: &Profile, time: FlameTime) -> BTreeMap<String, (u64, u64)> {
    let graph = profile.flame_graph(time);
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut stack: Vec<&str> = Vec::new();
    for frame in &graph.frames {
        stack.truncate(frame.depth);
        let sum = sums.entry(frame.name.clone()).or_default();
        sum.0 += if stack.contains(&&*frame.name) { 0 } else { frame.total_ns };
        sum.1 += frame.self_ns;
        stack.push(&frame.name);
    }
    sums
}

#[test]
fn the_host_s_frames_are_the_rows_of_key_averages() {
    let recursive = spans(&[("main", 0, 100), ("rec", 10, 90), ("rec", 20, 80), ("rec", 92, 97)]);
    for profile in [gpt_step(), two_rounds(), recursive] {
        let averages = profile.key_averages(GroupBy::Name);
        let sums = by_name(&profile, FlameTime::Host);
        let of_host: Vec<_> = averages.rows.iter().filter(|row| !row.is_on_device).collect();
        assert_eq!(sums.len(), of_host.len());
        for row in of_host {
            let expected = (row.cpu_time_total, row.self_cpu_time_total);
            assert_eq!(sums[&row.key], expected, "{}", row.key);
        }
        assert_eq!(profile.flame_graph(FlameTime::Host).total_ns, averages.cpu_total);
        assert_eq!(folded_sum(&profile, FlameTime::Host), averages.cpu_total);
    }
}

fn folded_sum(profile: &Profile, time: FlameTime) -> u64 {
    let folded = profile.flame_graph(time).folded();
    folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[test]
fn the_devices_frames_hold_all_kernels_and_copies() {
    let profile = gpt_step();
    let averages = profile.key_averages(GroupBy::Name);
    let sums = by_name(&profile, FlameTime::Device);
    let on_device: Vec<_> = averages.rows.iter().filter(|row| row.is_on_device).collect();
    assert!(on_device.len() > 10, "{} kernels by name", on_device.len());
    for row in on_device {
        assert_eq!(sums[&row.key].1, row.self_device_time_total, "{}", row.key);
    }
    let graph = profile.flame_graph(FlameTime::Device);
    assert_eq!(graph.total_ns, averages.device_total);
    assert_eq!(folded_sum(&profile, FlameTime::Device), averages.device_total);
    assert!(graph.frames.iter().all(|it| !matches!(it.kind, Kind::Call(_))), "no calls");
    // What `linear` asks for lies upon it, and its module holds it.
    let linear = averages.rows.iter().find(|row| row.key == "linear").expect("a row");
    assert_eq!(sums["linear"].0, linear.device_time_total);
}

#[test]
fn a_kernel_stands_upon_what_asked_for_it() {
    let host = |kind, name: &str, start, end| Event::of_host(kind, name, 0).between(start, end);
    let mut kernel = host(Kind::Kernel, "mm_f32", 30, 130);
    (kernel.device, kernel.cause) = (Device::Sim(0), Some(2));
    let mut copy = host(Kind::Copy, "to device", 130, 150);
    (copy.device, copy.cause) = (Device::Sim(0), Some(3));
    let profile = Profile::from_events(vec![
        host(Kind::Module, "net", 0, 20),
        host(Kind::Op, "mm", 2, 18),
        host(Kind::Call(Call::Launch), "launch", 5, 10),
        host(Kind::Call(Call::Copy), "copy_to_device", 20, 25),
        kernel,
        copy,
    ]);
    let folded = profile.flame_graph(FlameTime::Device).folded();
    assert_eq!(folded, "net;mm;mm_f32 100\nto device 20\n");
    let folded = profile.flame_graph(FlameTime::Host).folded();
    assert_eq!(folded, "net 4\nnet;mm 11\nnet;mm;launch 5\ncopy_to_device 5\n");
}

#[test]
fn a_frame_says_its_time_and_a_colour_is_explained_once() {
    let figure = figure(&two_rounds());
    let titles: Vec<&str> = figure.all("title").iter().map(|it| &*it.text).collect();
    let forward = "forward\n0.080us, 47.06% of all, 2 calls; 0.025us without its parts";
    assert!(titles.contains(&forward), "{titles:?}");
    assert!(titles.contains(&"log\n0.010us, 5.88% of all, 1 call"), "{titles:?}");
    assert!(titles.contains(&"all\n0.170us, 100.00% of all"), "{titles:?}");
    assert_eq!(figure.inside.iter().filter(|it| it.text == "range").count(), 1);
}

fn figure(profile: &Profile) -> Element {
    xml::read(&profile.flame_graph(FlameTime::Host).svg("a & b < c"))
}

/// Name, left end and right end in hundredths of a pixel, row, of each frame in the figure.
fn boxes(figure: &Element) -> Vec<(String, u64, u64, u64)> {
    let number = |text: &str| {
        let (whole, part) = text.split_once('.').expect("two digits behind the point");
        assert_eq!(part.len(), 2, "{text}");
        whole.parse::<u64>().unwrap() * 100 + part.parse::<u64>().unwrap()
    };
    let place = |group: &&Element| {
        let rect = group.all("rect")[0];
        let (name, _) = group.all("title")[0].text.rsplit_once('\n').expect("two lines");
        let left = number(rect.get("x").unwrap());
        let right = left + number(rect.get("width").unwrap());
        (name.to_string(), left, right, rect.get("y").unwrap().parse().unwrap())
    };
    figure.all("g").iter().map(place).collect()
}

#[test]
fn any_name_comes_back_from_the_figure() {
    let names = [
        "a\"b",
        "back\\slash",
        "new\nline",
        "\u{e9}\u{4e2d}",
        "</script>",
        "",
        "<g>&amp;'",
        "]]>",
        "\t",
        "a\rb",
        "&#0;",
        "\u{1f600}",
        "tab\there",
        " blanks  ",
    ];
    let list: Vec<(&str, u64, u64)> =
        (0..).zip(names).map(|(i, name)| (name, 10 * i, 10 * i + 10)).collect();
    let figure = figure(&spans(&list));
    let found: Vec<String> = boxes(&figure).into_iter().map(|it| it.0).collect();
    assert_eq!(found[0], "all");
    assert_eq!(found[1..], names);
    assert!(figure.all("text").iter().any(|text| text.text == "a & b < c"), "the title");
    // What XML forbids is shown as what cannot be shown.
    let forbidden = spans(&[("ctl\u{1}x\u{0}\u{ffff}", 0, 10)]);
    let figure = xml::read(&forbidden.flame_graph(FlameTime::Host).svg("\u{7}"));
    assert_eq!(boxes(&figure)[1].0, "ctl\u{fffd}x\u{fffd}\u{fffd}");
}

/// Random spans, some of which overlap in a way that none of one thread can.
fn random(generator: &mut Generator) -> Profile {
    let names = [
        "a",
        "b",
        "a;b",
        "much longer than its frame is wide",
        "\u{4e2d}\u{6587}\u{540d}\u{5b57}\u{4e2d}\u{6587}\u{540d}\u{5b57}",
    ];
    let mut events = Vec::new();
    for _ in 0..1 + generator.below(120) {
        let start = generator.below(2_000_000) as u64;
        let most = 1 << (1 + generator.below(20));
        let length = generator.below(most) as u64;
        let name = names[generator.below(names.len())];
        let lane = generator.below(2);
        events.push(Event::of_host(Kind::Op, name, lane).between(start, start + length));
    }
    Profile::from_events(events)
}

#[test]
fn frames_lie_within_those_that_they_stand_upon() {
    for seed in 0..60 {
        let profile = random(&mut Generator::new(seed));
        let graph = profile.flame_graph(FlameTime::Host);
        for (i, frame) in graph.frames.iter().enumerate() {
            let parts = graph.frames[i + 1..].iter().take_while(|it| it.depth > frame.depth);
            let direct = parts.filter(|it| it.depth == frame.depth + 1);
            let sum: u64 = direct.map(|it| it.total_ns).sum();
            assert_eq!(frame.total_ns, frame.self_ns + sum, "seed {seed}, {frame:?}");
        }
        let boxes = boxes(&figure(&profile));
        let (below, row) = (boxes[0].clone(), 18);
        assert_eq!((below.1, below.2), (1000, 99_000), "seed {seed}: all the width");
        for (i, (name, left, right, y)) in boxes.iter().enumerate().skip(1) {
            let holds =
                |it: &&(String, u64, u64, u64)| it.3 == y + row && it.1 <= *left && *right <= it.2;
            assert!(boxes.iter().any(|it| holds(&it)), "seed {seed}: {name} hangs in the air");
            for (other, from, to, at) in &boxes[i + 1..] {
                let apart = at != y || to <= left || right <= from;
                assert!(apart, "seed {seed}: {name} and {other} overlap");
            }
        }
    }
}

#[test]
fn names_are_cut_to_the_room_that_they_have() {
    let mut cut = 0;
    for seed in 0..30 {
        let figure = figure(&random(&mut Generator::new(seed)));
        for group in figure.all("g") {
            let Some(text) = group.all("text").first().map(|text| &text.text) else { continue };
            let title = &group.all("title")[0].text;
            let whole = title.rsplit_once('\n').unwrap().0;
            let start = text.strip_suffix("..").unwrap_or(text);
            assert!(text == whole || whole.starts_with(start), "{text} of {whole}");
            cut += usize::from(text != whole);
            // 0.602 em a letter (DejaVu Sans Mono, Menlo), twice that for Chinese, of 12 pixels.
            let letters: usize = text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
            let width: f64 = group.all("rect")[0].get("width").unwrap().parse().unwrap();
            assert!(letters as f64 * 0.602 * 12.0 <= width, "seed {seed}: {text} in {width}");
        }
    }
    assert!(cut > 20, "{cut} names were cut");
}

/// WCAG 2.2, "relative luminance".
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[test]
fn text_can_be_read_on_every_colour_and_every_page() {
    let kinds = [
        Kind::Step,
        Kind::Range,
        Kind::Module,
        Kind::Op,
        Kind::Backward,
        Kind::Call(Call::Launch),
        Kind::Kernel,
        Kind::Copy,
    ];
    let mut fills = Vec::new();
    for (i, kind) in (0..).zip(kinds) {
        let event = Event::of_host(kind, "name", 0).between(10 * i, 10 * i + 10);
        let profile = Profile::from_events(vec![event]);
        let time = if kind.is_on_device() { FlameTime::Device } else { FlameTime::Host };
        let figure = xml::read(&profile.flame_graph(time).svg(""));
        for group in figure.all("g") {
            let fill = group.all("rect")[0].get("fill").unwrap().to_string();
            let text = group.all("text")[0].get("fill").unwrap().to_string();
            let (light, dark) = (luminance(&fill), luminance(&text));
            assert!((light + 0.05) / (dark + 0.05) >= 4.5, "{text} on {fill}");
            fills.push(fill);
        }
        // Text outside of frames has the colour of the page's text.
        assert_eq!(figure.get("fill"), Some("currentColor"));
        let outside = figure.inside.iter().filter(|it| it.name == "text");
        assert!(outside.into_iter().all(|text| text.get("fill").is_none()));
    }
    fills.sort();
    fills.dedup();
    assert_eq!(fills.len(), kinds.len() + 1, "a colour for each kind, and one for all");
}

#[test]
fn what_is_too_narrow_is_left_out_and_said_and_deep_stacks_are_high() {
    let narrow = spans(&[("wide", 0, 1_000_000), ("thin", 0, 100), ("none", 100, 100)]);
    let svg = narrow.flame_graph(FlameTime::Host).svg("");
    let names: Vec<String> = boxes(&xml::read(&svg)).into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["all", "wide"]);
    assert!(svg.contains("2 frames of less than a tenth of a pixel left out"), "{svg}");
    // Here a nanosecond is a hundredth of a pixel.
    let tenth =
        figure(&spans(&[("rest", 0, 97_981), ("ten", 97_981, 97_991), ("9", 97_991, 98_000)]));
    let names: Vec<String> = boxes(&tenth).into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["all", "rest", "ten"]);
    let deep: Vec<(String, u64, u64)> =
        (0..200).map(|i| (format!("level {i}"), i, 1000 - i)).collect();
    let deep: Vec<(&str, u64, u64)> =
        deep.iter().map(|(name, start, end)| (&**name, *start, *end)).collect();
    let figure = figure(&spans(&deep));
    let height: u64 = figure.get("height").unwrap().parse().unwrap();
    let boxes = boxes(&figure);
    assert_eq!(boxes.len(), 201);
    // Below the key, whose colours end at 45, and above the last line of text.
    let foot = figure.inside.iter().rfind(|it| it.name == "text").and_then(|it| it.get("y"));
    let foot: u64 = foot.expect("a line").parse().unwrap();
    assert!(boxes.iter().all(|it| it.3 >= 50 && it.3 + 18 <= foot - 12), "within the figure");
    assert_eq!(figure.get("viewBox"), Some(&*format!("0 0 1000 {height}")));
}

#[test]
fn a_profile_of_nothing_is_a_figure_too() {
    for profile in [spans(&[]), spans(&[("instant", 5, 5)])] {
        let graph = profile.flame_graph(FlameTime::Host);
        assert_eq!((graph.total_ns, graph.folded().as_str()), (0, ""));
        assert!(xml::read(&graph.svg("none")).all("g").is_empty());
    }
    // Whose clock it was.
    let measured = two_rounds().flame_graph(FlameTime::Host).svg("");
    assert!(measured.contains("0.170us in all, measured"), "{measured}");
    assert!(gpt_step().flame_graph(FlameTime::Host).svg("").contains("figures of T4"));
}
