//! Every form of every arithmetic instruction, against values that Python computed from the PTX
//! ISA's text with exact fractions: `golden/forms.txt`, made by `golden/make_forms.py`.

use std::collections::HashMap;

use engine_room_sim::alu::{self, Class, Form, Slots};

const GOLDEN: &str = include_str!("golden/forms.txt");
const LANES: usize = 64;

/// A warp's registers with room for each operand.
const AT: [u32; 7] = [0, 32, 64, 96, 128, 160, 192];
const WORDS: usize = 224;

/// The values of 64 lanes: of a predicate, the bits of one word.
fn lanes(text: &str) -> Vec<u64> {
    let digits = if text.len() == 16 { 0 } else { text.len() / LANES };
    let parse = |text: &str| u64::from_str_radix(text, 16).expect("hex");
    match digits {
        0 => (0..LANES).map(|i| parse(text) >> i & 1).collect(),
        _ => (0..LANES).map(|i| parse(&text[i * digits..][..digits])).collect(),
    }
}

/// Writes the values of 32 lanes into a register.
fn put(registers: &mut [u64], at: u32, class: Class, values: &[u64]) {
    let at = at as usize;
    match class {
        Class::P | Class::Carry => {
            registers[at] = values.iter().enumerate().fold(0, |word, (i, v)| word | (v & 1) << i);
        }
        Class::B32 => {
            for (word, pair) in registers[at..].iter_mut().zip(values.chunks(2)) {
                *word = pair[1] << 32 | pair[0] & 0xffff_ffff;
            }
        }
        Class::B64 => registers[at..at + 32].copy_from_slice(values),
    }
}

/// Reads the values of 32 lanes.
fn get(registers: &[u64], at: u32, class: Class) -> Vec<u64> {
    let at = at as usize;
    let lane = |i: usize| match class {
        Class::P | Class::Carry => registers[at] >> i & 1,
        Class::B32 => registers[at + i / 2] >> (i % 2 * 32) & 0xffff_ffff,
        Class::B64 => registers[at + i],
    };
    (0..32).map(lane).collect()
}

fn slots(form: &Form) -> Slots {
    let sources = [AT[2], AT[3], AT[4], AT[5]];
    Slots { target: AT[0], second: AT[1], sources, code: form.code }
}

/// Runs a form on 32 lanes.
fn run(form: &Form, inputs: &[Vec<u64>], warp: usize) -> Vec<u64> {
    let mut registers = vec![0xcccc_cccc_cccc_cccc; WORDS];
    for (i, values) in inputs.iter().enumerate() {
        put(&mut registers, AT[2 + i], form.sources[i], &values[warp * 32..][..32]);
    }
    (form.run)(&mut registers, &slots(form), u32::MAX);
    registers
}

/// The class of a register for a type of the table.
fn class_of(ty: &str) -> Class {
    match ty {
        "pred" => Class::P,
        "carry" => Class::Carry,
        _ if ty.ends_with("64") => Class::B64,
        _ => Class::B32,
    }
}

/// What is wrong with a form, if anything.
fn check(line: &str, inputs: &HashMap<&str, Vec<Vec<u64>>>) -> Result<(), String> {
    let parts: Vec<&str> = line.split(';').collect();
    let [opcode, section, types] = parts[..3] else { panic!("{line}") };
    let pieces: Vec<&str> = opcode.split('.').collect();
    let form = alu::lookup(&pieces).ok_or_else(|| format!("{opcode} ({section}): not there"))?;
    let inputs = &inputs[types];
    let classes: Vec<Class> = types.split(',').map(class_of).collect();
    if form.sources != classes || form.second.is_some() != (parts.len() == 5) {
        return Err(format!("{opcode}: {:?} and {:?}", form.sources, form.second));
    }
    let targets = [(AT[0], Some(form.target)), (AT[1], form.second)];
    for warp in 0..2 {
        let registers = run(&form, inputs, warp);
        for (text, (at, class)) in parts[3..].iter().zip(targets) {
            let expected = &lanes(text)[warp * 32..][..32];
            let found = get(&registers, at, class.expect("a class"));
            if let Some(i) = (0..32).find(|&i| expected[i] != found[i]) {
                let of: Vec<String> =
                    inputs.iter().map(|v| format!("{:x}", v[warp * 32 + i])).collect();
                let (of, found, right) = (of.join(", "), found[i], expected[i]);
                return Err(format!("{opcode} ({section}) of {of}: {found:x}, not {right:x}"));
            }
        }
    }
    Ok(())
}

#[test]
fn every_form_computes_what_the_isa_says() {
    let (inputs, forms): (Vec<&str>, Vec<&str>) =
        GOLDEN.lines().partition(|line| line.starts_with("in "));
    let inputs: HashMap<&str, Vec<Vec<u64>>> = inputs
        .iter()
        .map(|line| {
            let mut parts = line[3..].split(';');
            (parts.next().expect("types"), parts.map(lanes).collect())
        })
        .collect();
    let wrong: Vec<String> = forms.iter().filter_map(|line| check(line, &inputs).err()).collect();
    assert!(forms.len() >= 2000, "{} forms", forms.len());
    assert!(wrong.is_empty(), "{} of {} forms:\n{}", wrong.len(), forms.len(), wrong.join("\n"));
}
