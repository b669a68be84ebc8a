//! Selections, §9.7.6, and `testp`, §9.7.3.1.

use super::Form;
use super::float::flush;
use super::lanes::{one, three};

/// `selp`, `slct` and `testp`.
pub(super) fn form(name: &str, rest: &[&str]) -> Option<Form> {
    match (name, rest) {
        ("selp", [ty]) => by_predicate(ty),
        ("slct", [ty, "s32"]) => by_sign(ty),
        ("slct", [ty, "f32"]) => by_float(ty),
        ("slct", ["ftz", ty, "f32"]) => by_float_ftz(ty),
        ("testp", [property, "f32"]) => test_f32(property),
        ("testp", [property, "f64"]) => test_f64(property),
        _ => None,
    }
}

/// The width of a type of `selp` and `slct`.
fn width(ty: &str) -> Option<u32> {
    Some(match ty {
        "b16" | "u16" | "s16" => 16,
        "b32" | "u32" | "s32" | "f32" => 32,
        "b64" | "u64" | "s64" | "f64" => 64,
        _ => return None,
    })
}

fn by_predicate(ty: &str) -> Option<Form> {
    Some(match width(ty)? {
        16 => three(|a: u16, b, p| if p { a } else { b }),
        32 => three(|a: u32, b, p| if p { a } else { b }),
        _ => three(|a: u64, b, p| if p { a } else { b }),
    })
}

fn by_sign(ty: &str) -> Option<Form> {
    Some(match width(ty)? {
        16 => three(|a: u16, b, c: i32| if c >= 0 { a } else { b }),
        32 => three(|a: u32, b, c: i32| if c >= 0 { a } else { b }),
        _ => three(|a: u64, b, c: i32| if c >= 0 { a } else { b }),
    })
}

fn by_float(ty: &str) -> Option<Form> {
    Some(match width(ty)? {
        16 => three(|a: u16, b, c: f32| if c >= 0.0 { a } else { b }),
        32 => three(|a: u32, b, c: f32| if c >= 0.0 { a } else { b }),
        _ => three(|a: u64, b, c: f32| if c >= 0.0 { a } else { b }),
    })
}

/// A negative subnormal number is flushed to −0, which is not less than zero.
fn by_float_ftz(ty: &str) -> Option<Form> {
    Some(match width(ty)? {
        16 => three(|a: u16, b, c| if flush(c) >= 0.0 { a } else { b }),
        32 => three(|a: u32, b, c| if flush(c) >= 0.0 { a } else { b }),
        _ => three(|a: u64, b, c| if flush(c) >= 0.0 { a } else { b }),
    })
}

fn test_f32(property: &str) -> Option<Form> {
    Some(match property {
        "finite" => one(f32::is_finite),
        "infinite" => one(f32::is_infinite),
        "number" => one(|a: f32| !a.is_nan()),
        "notanumber" => one(f32::is_nan),
        "normal" => one(f32::is_normal),
        "subnormal" => one(f32::is_subnormal),
        _ => return None,
    })
}

fn test_f64(property: &str) -> Option<Form> {
    Some(match property {
        "finite" => one(f64::is_finite),
        "infinite" => one(f64::is_infinite),
        "number" => one(|a: f64| !a.is_nan()),
        "notanumber" => one(f64::is_nan),
        "normal" => one(f64::is_normal),
        "subnormal" => one(f64::is_subnormal),
        _ => return None,
    })
}
