//! The 16-bit types against the crate `half`: every number, and many pairs.

use engine_room_sim::alu::{self, Slots};
use half::{bf16, f16};

/// The words of 32-bit lanes at which targets and sources begin.
const TARGET: usize = 0;
const SOURCE: [usize; 3] = [16, 32, 48];

/// Runs a form on vectors of 32-bit lanes.
fn run(opcode: &str, sources: &[&[u32]]) -> Vec<u32> {
    let pieces: Vec<&str> = opcode.split('.').collect();
    let form = alu::lookup(&pieces).unwrap_or_else(|| panic!("{opcode} is not there"));
    let at = [16, 32, 48, 0];
    let slots = Slots { target: TARGET as u32, second: 0, sources: at, code: form.code };
    let mut results = Vec::new();
    for start in (0..sources[0].len()).step_by(32) {
        let mut registers = vec![0_u64; 64];
        let lanes: &mut [u32] = bytemuck::cast_slice_mut(&mut registers);
        for (source, at) in sources.iter().zip(SOURCE) {
            lanes[2 * at..][..32].copy_from_slice(&source[start..][..32]);
        }
        (form.run)(&mut registers, &slots, u32::MAX);
        let lanes: &[u32] = bytemuck::cast_slice(&registers);
        results.extend_from_slice(&lanes[..32]);
    }
    results
}

/// Equal bits, or both NaN.
fn same(found: f32, right: f32) -> bool {
    found.to_bits() == right.to_bits() || found.is_nan() && right.is_nan()
}

#[test]
fn every_half_widens_and_every_float_narrows() {
    let all: Vec<u32> = (0..=0xffff).collect();
    let wide = run("cvt.f32.f16", &[&all]);
    let brain = run("cvt.f32.bf16", &[&all]);
    for i in 0..=0xffff_u16 {
        let found = f32::from_bits(wide[usize::from(i)]);
        assert!(same(found, f16::from_bits(i).to_f32()), "f16 {i:x}");
        let found = f32::from_bits(brain[usize::from(i)]);
        assert!(same(found, bf16::from_bits(i).to_f32()), "bf16 {i:x}");
    }
    // Every pattern of the upper bits, with lower bits around the ties.
    for low in [0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff] {
        let floats: Vec<u32> = all.iter().map(|high| high << 16 | low).collect();
        let halves = run("cvt.rn.f16.f32", &[&floats]);
        let brains = run("cvt.rn.bf16.f32", &[&floats]);
        for (i, &bits) in floats.iter().enumerate() {
            let x = f32::from_bits(bits);
            let found = f16::from_bits(halves[i] as u16).to_f32();
            assert!(same(found, f16::from_f32(x).to_f32()), "{bits:x} to f16: {found:e}");
            let found = bf16::from_bits(brains[i] as u16).to_f32();
            assert!(same(found, bf16::from_f32(x).to_f32()), "{bits:x} to bf16: {found:e}");
        }
    }
}

#[test]
fn sums_and_products_of_halves() {
    let a: Vec<u32> = (0..=0xffff).collect();
    let b: Vec<u32> = a.iter().map(|i| i.wrapping_mul(40_503) >> 3 & 0xffff).collect();
    type Case = (&'static str, fn(f16, f16) -> f16, fn(bf16, bf16) -> bf16);
    let cases: [Case; 3] = [
        ("add", |a, b| a + b, |a, b| a + b),
        ("sub", |a, b| a - b, |a, b| a - b),
        ("mul", |a, b| a * b, |a, b| a * b),
    ];
    for (name, of_half, of_brain) in cases {
        let halves = run(&format!("{name}.f16"), &[&a, &b]);
        let brains = run(&format!("{name}.rn.bf16"), &[&a, &b]);
        for (i, (&a, &b)) in a.iter().zip(&b).enumerate() {
            let [x, y] = [a, b].map(|bits| f16::from_bits(bits as u16));
            let found = f16::from_bits(halves[i] as u16).to_f32();
            assert!(same(found, of_half(x, y).to_f32()), "{name} of f16 {x}, {y}: {found}");
            let [x, y] = [a, b].map(|bits| bf16::from_bits(bits as u16));
            let found = bf16::from_bits(brains[i] as u16).to_f32();
            assert!(same(found, of_brain(x, y).to_f32()), "{name} of bf16 {x}, {y}: {found}");
        }
    }
}
