//! Loads and stores of one warp whose addresses follow each other in many ways, again and again in
//! the same way and then in another: data, sectors and bank conflicts against the definitions.
//!
//! The simulator remembers the shape of a request, so what counts is the order: every shape comes
//! several times in a row at other places, with all lanes or some, then another one.

mod random;

use std::collections::{BTreeMap, BTreeSet};

use engine_room_sim::counters::Traffic;
use engine_room_sim::exec::{Device, Launch, Options};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx;
use random::Random;

/// Bytes that are accessed.
const BYTES: usize = 2048;

/// Requests of one launch.
const STEPS: usize = 48;

/// An instruction: its type, the bytes and the count of its numbers, how narrow ones are extended,
/// and the class of its registers.
#[derive(Clone, Copy)]
struct Form(&'static str, usize, usize, bool, char);

const FORMS: [Form; 14] = [
    Form("u8", 1, 1, false, 'r'),
    Form("s8", 1, 1, true, 'r'),
    Form("u16", 2, 1, false, 'r'),
    Form("s16", 2, 1, true, 'r'),
    Form("u32", 4, 1, false, 'r'),
    Form("u32", 4, 1, false, 'l'),
    Form("s32", 4, 1, true, 'l'),
    Form("u64", 8, 1, false, 'l'),
    Form("v2.u16", 2, 2, false, 'r'),
    Form("v4.u8", 1, 4, false, 'r'),
    Form("v2.u32", 4, 2, false, 'r'),
    Form("v4.u32", 4, 4, false, 'r'),
    Form("v2.u64", 8, 2, false, 'l'),
    Form("v4.u16", 2, 4, false, 'r'),
];

/// What is accessed, and by which instruction and address.
const PLACES: [(&str, &str); 5] = [
    ("global", ".global"),
    ("global", ""),
    ("shared", ".shared"),
    ("shared", ""),
    ("local", ".local"),
];

/// Offsets of the lanes that take part, step by step.
type Steps = Vec<[Option<u32>; 32]>;

/// How the lanes of a request lie to each other, in units of its bytes.
fn shape(random: &mut Random) -> [usize; 32] {
    let kind = random.below(9);
    let (by, odd) = (random.below(5), random.below(32));
    std::array::from_fn(|lane| match kind {
        0 => 0,
        1 | 2 => lane,
        3 => lane * by,
        4 => lane % 16,
        5 => lane / 16 * 4 + lane % 16,
        6 => lane / 8,
        7 => lane ^ odd,
        _ => random.below(64),
    })
}

fn steps(random: &mut Random, size: usize) -> Steps {
    let mut steps = Vec::new();
    while steps.len() < STEPS {
        let shape = shape(random);
        let mask = match random.below(4) {
            0 => random.below(1 << 32) as u32,
            1 => 1 << random.below(32),
            _ => u32::MAX,
        };
        let room = BYTES / size - shape.iter().max().unwrap();
        for _ in 0..1 + random.below(4) {
            let first = random.below(room);
            let offset = |lane: usize| ((first + shape[lane]) * size) as u32;
            steps.push(std::array::from_fn(|lane| (mask >> lane & 1 != 0).then(|| offset(lane))));
        }
    }
    steps.truncate(STEPS);
    steps
}

/// Copies the data to a place, or back.
fn copy(space: &str, there: bool) -> String {
    let (from, to) = match there {
        true => (".global.u64 %v, [%x]".to_string(), format!("{space}.u64 [%y]")),
        false => (format!("{space}.u64 %v, [%y]"), ".global.u64 [%x]".to_string()),
    };
    format!(
        "mov.u32 %i, 0;\nC{there}:\nmul.wide.u32 %x, %i, 8; add.s64 %y, %x, %base;\n\
         add.s64 %x, %x, %data;\nld{from}; st{to}, %v;\n\
         add.u32 %i, %i, 1; setp.lt.u32 %q, %i, {}; @%q bra C{there};\n",
        BYTES / 8
    )
}

/// A kernel that copies `data` to a place, makes the requests of the table, one after the other,
/// and copies the place back. Loads go to `out`; what is stored is the number of step and lane.
fn kernel((place, space): (&str, &str), form: Form, stores: bool) -> String {
    let Form(ty, _, count, _, class) = form;
    let parts: Vec<String> = (0..count).map(|i| format!("%{class}{i}")).collect();
    let operand = if count == 1 { parts[0].clone() } else { format!("{{{}}}", parts.join(", ")) };
    let base = match (place, space) {
        ("global", _) => "mov.u64 %base, %data;".to_string(),
        (_, "") => format!("mov.u64 %base, {place}s; cvta.{place}.u64 %base, %base;"),
        _ => format!("mov.u64 %base, {place}s;"),
    };
    let zero: String = (0..4).map(|i| format!("mov.u32 %r{i}, 0; mov.u64 %l{i}, 0;\n")).collect();
    let number: String =
        (0..4).map(|i| format!("add.u32 %r{i}, %n, {i}; cvt.u64.u32 %l{i}, %r{i};\n")).collect();
    let save = |i: usize| match class {
        'r' => format!("cvt.u64.u32 %v, %r{i}; st.global.u64 [%out+{}], %v;\n", 8 * i),
        _ => format!("st.global.u64 [%out+{}], %l{i};\n", 8 * i),
    };
    let (prepare, access, after) = match stores {
        true => (number, format!("st{space}.{ty} [%at], {operand}"), String::new()),
        false => (zero, format!("ld{space}.{ty} {operand}, [%at]"), (0..count).map(save).collect()),
    };
    let copies = place != "global";
    let (there, back) = match copies {
        true => (copy(space, true), copy(space, false)),
        false => Default::default(),
    };
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 d, .param .u64 t, .param .u64 o)\n{{\n\
         .reg .b32 %r<4>; .reg .b64 %l<4>; .reg .pred %p, %q;\n\
         .reg .b32 %i, %n, %step, %lane, %off;\n\
         .reg .b64 %data, %table, %out, %base, %at, %x, %y, %v;\n\
         .shared .align 16 .b8 shareds[{BYTES}]; .local .align 16 .b8 locals[{BYTES}];\n\
         ld.param.u64 %data, [d]; ld.param.u64 %table, [t]; ld.param.u64 %out, [o];\n\
         {base}\nmov.u32 %lane, %tid.x; mul.wide.u32 %x, %lane, 4; add.s64 %table, %table, %x;\n\
         mul.wide.u32 %x, %lane, 32; add.s64 %out, %out, %x;\n{there}mov.u32 %step, 0;\nL:\n\
         ld.global.u32 %off, [%table]; setp.ge.s32 %p, %off, 0; and.b32 %off, %off, 0x7fffffff;\n\
         cvt.u64.u32 %at, %off; add.s64 %at, %at, %base; mad.lo.u32 %n, %step, 32, %lane;\n\
         mul.lo.u32 %n, %n, 0x01234567;\n{prepare}@%p {access};\n{after}\
         add.s64 %table, %table, 128; add.s64 %out, %out, 1024; add.u32 %step, %step, 1;\n\
         setp.lt.u32 %q, %step, {STEPS}; @%q bra L;\n{back}ret;\n}}\n"
    )
}

/// What a launch gave: the data, the loaded numbers, and what the instruction moved.
fn run(text: &str, data: &[u8], steps: &Steps) -> (Vec<u8>, Vec<u64>, Traffic) {
    let module = ptx::parse("k.ptx", text.as_bytes()).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let mut device = Device::new(Gpu::A100);
    let program = device.load(module).unwrap();
    let words: Vec<u32> = steps.iter().flatten().map(|at| at.unwrap_or(1 << 31)).collect();
    let sizes = [data.len(), 4 * words.len(), 1024 * STEPS];
    let [at, table, out] = sizes.map(|size| device.alloc(size as u64).unwrap());
    device.write(at, data).unwrap();
    device.write(table, bytemuck::cast_slice(&words)).unwrap();
    device.write(out, &vec![0; 1024 * STEPS]).unwrap();
    let params = [at, table, out].iter().flat_map(|at| at.to_le_bytes()).collect();
    let (grid, block) = ([1; 3], [32, 1, 1]);
    let launch = Launch { kernel: "k".into(), grid, block, shared_bytes: 0, params };
    let report = device.run(&program, &launch, &Options { lines: true, ..Options::default() });
    assert_eq!(report.findings, [], "{text}");
    let mut after = vec![0; data.len()];
    device.read(at, &mut after).unwrap();
    let mut loaded = vec![0u64; 128 * STEPS];
    device.read(out, bytemuck::cast_slice_mut(&mut loaded)).unwrap();
    let line = 1 + text.lines().position(|line| line.starts_with("@%p ")).unwrap();
    let of_access = |given: &&engine_room_sim::exec::Line| given.ptx_line as usize == line;
    (after, loaded, report.lines.iter().find(of_access).unwrap().traffic)
}

/// Requests, sectors and passes beyond the first, by their definitions: the different sectors of
/// 32 bytes, and how many the different bytes would fill; of each full, half or quarter warp the
/// most words that one of 32 banks has to give.
fn traffic(place: &str, steps: &Steps, size: usize) -> Traffic {
    let mut all = Traffic::default();
    for step in steps.iter().filter(|step| step.iter().any(Option::is_some)) {
        if place == "global" {
            let sectors: BTreeSet<u32> = step.iter().flatten().map(|at| at / 32).collect();
            all.global += 1;
            all.sectors += sectors.len() as u64;
            let different: BTreeSet<u32> = step.iter().flatten().copied().collect();
            all.least += (different.len() * size).div_ceil(32) as u64;
        }
        if place == "shared" {
            all.shared += 1;
            for group in step.chunks(32 / size.div_ceil(4)) {
                let mut banks: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
                for word in
                    group.iter().flatten().flat_map(|at| at / 4..(at + size as u32).div_ceil(4))
                {
                    banks.entry(word % 32).or_default().insert(word);
                }
                let passes = banks.values().map(BTreeSet::len).max().unwrap_or(1);
                all.conflicts += passes as u64 - 1;
            }
        }
    }
    all
}

/// A number of the data, extended as a register of the class has it.
fn number(data: &[u8], at: usize, Form(_, bytes, _, signed, class): Form) -> u64 {
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(&data[at..at + bytes]);
    let unused = 64 - 8 * bytes as u32;
    let value = u64::from_le_bytes(word) << unused;
    let value = if signed { (value as i64 >> unused) as u64 } else { value >> unused };
    if class == 'r' { u64::from(value as u32) } else { value }
}

/// What the loads of a step give, and what the stores leave.
fn model(data: &mut [u8], steps: &Steps, form: Form, stores: bool) -> Vec<u64> {
    let Form(_, bytes, count, ..) = form;
    let mut loaded = vec![0; 128 * STEPS];
    for (number_of_lane, at) in steps.iter().flatten().enumerate() {
        let Some(at) = *at else { continue };
        for part in 0..count {
            let at = at as usize + part * bytes;
            if stores {
                let value =
                    (number_of_lane as u32).wrapping_mul(0x0123_4567).wrapping_add(part as u32);
                data[at..at + bytes].copy_from_slice(&u64::from(value).to_le_bytes()[..bytes]);
            } else {
                loaded[4 * number_of_lane + part] = number(data, at, form);
            }
        }
    }
    loaded
}

fn check(place: (&str, &str), form: Form, stores: bool, seed: u64) {
    let mut random = Random(seed);
    let size = form.1 * form.2;
    let mut steps = steps(&mut random, size);
    if place.0 == "local" && stores {
        // Each thread has its own: only what the last lane writes is copied back last.
        steps.iter_mut().for_each(|step| step[..31].fill(None));
    }
    let mut data: Vec<u8> = (0..BYTES).map(|_| random.below(256) as u8).collect();
    let (after, loaded, moved) = run(&kernel(place, form, stores), &data, &steps);
    let want = model(&mut data, &steps, form, stores);
    let what = format!("{place:?}, {}, stores: {stores}, seed {seed}", form.0);
    assert!(loaded == want, "{what}: what is loaded");
    assert!(after == data, "{what}: what the memory holds");
    assert_eq!(moved, traffic(place.0, &steps, size), "{what}");
}

#[test]
fn loads_of_all_shapes() {
    for (seed, form) in (0..).zip(FORMS) {
        PLACES.into_iter().for_each(|place| check(place, form, false, seed));
    }
}

#[test]
fn stores_of_all_shapes() {
    for (seed, form) in (100..).zip(FORMS).filter(|(_, form)| !form.3) {
        PLACES.into_iter().for_each(|place| check(place, form, true, seed));
    }
}
