//! The approximate forms, against `f64` functions of the host, within the errors that the PTX ISA
//! states; their special values; and what every form shares: masks, and targets among the sources.

use engine_room_sim::alu::{self, Slots};

/// One lane of a form of two `f32` at most.
fn call(opcode: &str, a: f32, b: f32) -> f32 {
    f32::from_bits(call_bits(opcode, a.to_bits(), b.to_bits()))
}

fn call_bits(opcode: &str, a: u32, b: u32) -> u32 {
    let pieces: Vec<&str> = opcode.split('.').collect();
    let form = alu::lookup(&pieces).unwrap_or_else(|| panic!("{opcode} is not there"));
    let mut registers = vec![0; 48];
    registers[16] = u64::from(a);
    registers[32] = u64::from(b);
    let slots = Slots { target: 0, second: 0, sources: [16, 32, 0, 0], code: form.code };
    (form.run)(&mut registers, &slots, 1);
    registers[0] as u32
}

/// Numbers of all magnitudes and both signs, the same in every run.
fn numbers() -> impl Iterator<Item = f32> {
    let mut state = 0x2545_f491_u32;
    (0..20_000).map(move |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits(state ^ state >> 15)
    })
}

/// Compares a form with a function, by the error relative to the right value.
fn relative(opcode: &str, bound: f64, domain: impl Fn(f32) -> bool, right: impl Fn(f64) -> f64) {
    for x in numbers().filter(|&x| domain(x)) {
        let (found, right) = (f64::from(call(opcode, x, 0.0)), right(x.into()));
        let close = (found - right).abs() <= bound * right.abs() + 2f64.powi(-149);
        assert!(close, "{opcode} of {x:e}: {found:e}, not {right:e}");
    }
}

/// As [`relative`], by the absolute error.
fn absolute(opcode: &str, bound: f64, domain: impl Fn(f32) -> bool, right: impl Fn(f64) -> f64) {
    for x in numbers().filter(|&x| domain(x)) {
        let (found, right) = (f64::from(call(opcode, x, 0.0)), right(x.into()));
        assert!((found - right).abs() <= bound, "{opcode} of {x:e}: {found:e}, not {right:e}");
    }
}

/// §9.7.3.13, .15, .16: one ulp, a relative error of 2^−23, 2^−22.9.
#[test]
fn reciprocals_and_roots() {
    let ulp = 2f64.powi(-23);
    let fits = |x: f32| x.is_normal() && x.recip().is_normal();
    relative("rcp.approx.f32", ulp, fits, |x| 1.0 / x);
    relative("rcp.approx.ftz.f32", ulp, fits, |x| 1.0 / x);
    relative("sqrt.approx.f32", ulp, |x| x > 0.0 && x.is_finite(), f64::sqrt);
    relative(
        "rsqrt.approx.f32",
        2f64.powf(-22.9),
        |x| x > 0.0 && x.is_finite(),
        |x| 1.0 / x.sqrt(),
    );
}

/// §9.7.3.18 to .22: 2^−20.5 in [−π, π], 2^−22, 2^−22, 2^−11.
#[test]
fn transcendental_functions() {
    let near = |x: f32| x.abs() <= std::f32::consts::PI;
    absolute("sin.approx.f32", 2f64.powf(-20.5), near, f64::sin);
    absolute("cos.approx.f32", 2f64.powf(-20.5), near, f64::cos);
    let around_one = |x: f32| (0.5..=2.0).contains(&x);
    absolute("lg2.approx.f32", 2f64.powi(-22), around_one, f64::log2);
    let else_where = |x: f32| x > 0.0 && x.is_finite() && !around_one(x);
    relative("lg2.approx.f32", 2f64.powi(-22), else_where, f64::log2);
    relative("ex2.approx.f32", 2f64.powi(-22), |x| x.abs() < 125.0, f64::exp2);
    relative("tanh.approx.f32", 2f64.powi(-11), |x| x.is_finite(), f64::tanh);
}

/// §9.7.3.8: two ulp, and a divisor above 2^126 gives zero.
#[test]
fn fast_divisions() {
    let pairs = numbers().zip(numbers().skip(7));
    for (a, b) in pairs.filter(|&(a, b)| a.is_normal() && b.is_normal() && (a / b).is_normal()) {
        let right = f64::from(a) / f64::from(b);
        let huge = b.abs() > 2f32.powi(126);
        for opcode in ["div.approx.f32", "div.full.f32", "div.full.ftz.f32"] {
            let found = f64::from(call(opcode, a, b));
            if huge && opcode == "div.approx.f32" {
                assert_eq!(found, 0.0, "{a:e} / {b:e}");
            } else {
                assert!((found - right).abs() <= 2f64.powi(-22) * right.abs(), "{a:e} / {b:e}");
            }
        }
    }
    assert!(call("div.approx.f32", f32::INFINITY, 2f32.powi(127)).is_nan());
}

/// The tables of special values in §9.7.3.13 to .22.
#[test]
fn special_values() {
    const INF: f32 = f32::INFINITY;
    let tiny = f32::from_bits(1);
    let table = [
        ("rcp.approx.f32", -INF, -0.0),
        ("rcp.approx.f32", -0.0, -INF),
        ("rcp.approx.f32", INF, 0.0),
        ("rcp.approx.ftz.f32", tiny, INF),
        ("rcp.approx.ftz.f32", -tiny, -INF),
        ("sqrt.approx.f32", -0.0, -0.0),
        ("sqrt.approx.f32", INF, INF),
        ("sqrt.approx.ftz.f32", -tiny, -0.0),
        ("rsqrt.approx.f32", -0.0, -INF),
        ("rsqrt.approx.f32", INF, 0.0),
        ("rsqrt.approx.ftz.f32", tiny, INF),
        ("sin.approx.ftz.f32", -tiny, -0.0),
        ("sin.approx.f32", -0.0, -0.0),
        ("cos.approx.f32", 0.0, 1.0),
        ("lg2.approx.f32", 0.0, -INF),
        ("lg2.approx.f32", INF, INF),
        ("lg2.approx.ftz.f32", tiny, -INF),
        ("lg2.approx.f32", tiny, -149.0),
        ("ex2.approx.f32", -INF, 0.0),
        ("ex2.approx.f32", INF, INF),
        ("ex2.approx.ftz.f32", -tiny, 1.0),
        ("ex2.approx.f32", -149.0, tiny),
        ("ex2.approx.ftz.f32", -149.0, 0.0),
        ("tanh.approx.f32", -INF, -1.0),
        ("tanh.approx.f32", -0.0, -0.0),
    ];
    for (opcode, x, right) in table {
        let found = call(opcode, x, 0.0);
        assert_eq!(found.to_bits(), right.to_bits(), "{opcode} of {x:e}: {found:e}");
    }
    let invalid = [("sqrt", -1.0), ("rsqrt", -1.0), ("lg2", -1.0), ("sin", INF), ("cos", -INF)];
    for (name, x) in invalid {
        let found = call(&format!("{name}.approx.f32"), x, 0.0);
        assert_eq!(found.to_bits(), 0x7fff_ffff, "{name} of {x}");
    }
}

/// §9.7.4.9 and .10: in 16 bits, 2^−10.987 and 2^−9.9 for `f16`, 2^−8 and 2^−7 for `bf16`.
#[test]
fn half_functions() {
    let f16 = |x: f64| half::f16::from_f64(x);
    for i in -900..900 {
        let x = f16(f64::from(i) / 128.0);
        let found = call_bits("tanh.approx.f16", x.to_bits().into(), 0) as u16;
        let found = half::f16::from_bits(found).to_f64();
        assert!((found - x.to_f64().tanh()).abs() <= 2f64.powf(-10.987), "tanh of {x}");
        let found = call_bits("ex2.approx.f16", x.to_bits().into(), 0) as u16;
        let (found, right) = (half::f16::from_bits(found).to_f64(), x.to_f64().exp2());
        assert!((found - right).abs() <= 2f64.powf(-9.9) * right, "ex2 of {x}");
        let x = half::bf16::from_f64(f64::from(i) / 128.0);
        let both = u32::from(x.to_bits()) * 0x1_0001;
        let found = call_bits("ex2.approx.ftz.bf16x2", both, 0);
        assert_eq!(found >> 16, found & 0xffff, "ex2 of two {x}");
        let (found, right) = (half::bf16::from_bits(found as u16).to_f64(), x.to_f64().exp2());
        assert!((found - right).abs() <= 2f64.powi(-7) * right, "ex2 of {x}");
        let found = call_bits("tanh.approx.bf16x2", both, 0);
        let (found, right) = (half::bf16::from_bits(found as u16).to_f64(), x.to_f64().tanh());
        assert!((found - right).abs() <= 2f64.powi(-8), "tanh of {x}");
    }
}

/// §9.7.3.14 and .17: the upper word only.
#[test]
fn gross_functions_of_f64() {
    for (opcode, f) in [("rcp", f64::recip as fn(f64) -> f64), ("rsqrt", |x| x.sqrt().recip())] {
        let form = alu::lookup(&[opcode, "approx", "ftz", "f64"]).expect("the form");
        for i in 1..1000 {
            let x = f64::from(i) * 0.37;
            let mut registers = vec![0; 64];
            registers[32] = x.to_bits();
            (form.run)(&mut registers, &Slots { sources: [32, 0, 0, 0], ..Slots::default() }, 1);
            let found = f64::from_bits(registers[0]);
            assert_eq!(registers[0] as u32, 0, "{opcode} of {x}");
            assert!((found / f(x) - 1.0).abs() < 2f64.powi(-18), "{opcode} of {x}: {found}");
        }
    }
}

/// Lanes outside the mask keep what they had, also when the target is a source.
#[test]
fn masks_and_aliases() {
    for mask in [0, 1, 0x8000_0000, 0x5555_5555, u32::MAX] {
        let mut registers: Vec<u64> = (0..80).map(|i| i * 0x0123_4567_89ab_cdef).collect();
        let before = registers.clone();
        let add = alu::lookup(&["add", "s64"]).expect("add.s64");
        let slots = Slots { target: 0, second: 0, sources: [0, 32, 0, 0], code: add.code };
        (add.run)(&mut registers, &slots, mask);
        for i in 0..32 {
            let sum = before[i].wrapping_add(before[i + 32]);
            assert_eq!(registers[i], if mask >> i & 1 != 0 { sum } else { before[i] }, "lane {i}");
        }
        assert_eq!(registers[32..], before[32..]);
        let less = alu::lookup(&["setp", "lt", "s64"]).expect("setp.lt.s64");
        let slots = Slots { target: 70, second: 71, sources: [0, 32, 0, 0], code: less.code };
        let before = registers.clone();
        (less.run)(&mut registers, &slots, mask);
        let word = (0..32)
            .fold(0, |word, i| word | u32::from((before[i] as i64) < before[i + 32] as i64) << i);
        let blend = |old: u64, new: u32| old as u32 & !mask | new & mask;
        assert_eq!(registers[70] as u32, blend(before[70], word));
        assert_eq!(registers[71] as u32, blend(before[71], !word));
    }
}

/// What the ISA does not have is not there.
#[test]
fn impossible_forms_are_refused() {
    let impossible = [
        "add.ftz.s32",
        "add.rn.s32",
        "add.f8",
        "fma.f32",
        "setp.lo.s32",
        "setp.ltu.u32",
        "setp.lt.b32",
        "setp.lt.ftz.f64",
        "min.ftz.bf16",
        "cvt.f16.f32",
        "cvt.rn.f64.f32",
        "cvt.rn.s32.f32",
        "cvt.rzi.f32.s32",
        "cvt.rni.f16.f32",
        "mul.s32",
        "shl.s32",
        "shr",
        "lop3.b64",
        "and.f32",
        "selp.f16",
        "div.f32",
        "rcp.f64",
        "sin.f32",
        "cvt",
        "",
        "setp",
        "prmt.b32.xyz",
        "cvt.s128.s32",
        "cvt.s7.s32",
        "cvt.sat.ux.s32",
        "add.rn.rn.f32",
        "mad.f64",
        "cvt.rn.relu.f32.f64",
        "set.f32.f16",
        "set.lt.f64.f32",
        "bfe.b32",
        "dp4a.s8.s8",
        "popc.u32",
    ];
    for opcode in impossible {
        let pieces: Vec<&str> = opcode.split('.').collect();
        assert!(alu::lookup(&pieces).is_none(), "{opcode}");
    }
    assert!(alu::lookup(&[]).is_none());
}

/// A signed result of `cvt` in a wider register is sign-extended (§9.4.1).
#[test]
fn results_of_conversions_fill_wider_registers() {
    for (opcode, bits, given, right) in [
        ("cvt.s8.s32", 32, 0x80_u32, 0xffff_ff80_u64),
        ("cvt.s16.s32", 64, 0x8000, 0xffff_ffff_ffff_8000),
        ("cvt.u16.u32", 64, 0x1_8000, 0x8000),
        ("cvt.s32.s32", 64, 0x8000_0000, 0xffff_ffff_8000_0000),
    ] {
        let pieces: Vec<&str> = opcode.split('.').collect();
        let form = alu::lookup(&pieces).expect("the form");
        let extension = alu::extension(&form, bits).expect("an extension");
        let mut registers = vec![0; 80];
        registers[64] = u64::from(given);
        let slots = Slots { target: 32, sources: [64, 0, 0, 0], code: form.code, second: 0 };
        (form.run)(&mut registers, &slots, 1);
        let slots = Slots { target: 0, sources: [32, 0, 0, 0], code: extension.code, second: 0 };
        (extension.run)(&mut registers, &slots, 1);
        assert_eq!(registers[0], right, "{opcode}");
    }
    let form = alu::lookup(&["cvt", "u32", "u16"]).expect("the form");
    assert!(alu::extension(&form, 32).is_none());
}
