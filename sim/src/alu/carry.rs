//! Arithmetic on parts of long integers, with the carry flag: §9.7.2, and the high half of a
//! product.
//!
//! The flag is the carry of a sum and the borrow of a difference.

use super::lanes::{four, three, two};
use super::value::Lane;
use super::{Class, Form};

/// An integer whose product fits twice its width.
pub(super) trait Integer: Lane {
    /// The high half of a product.
    fn high(a: Self, b: Self) -> Self;
}

/// The high half of the product of two integers.
#[inline(always)]
pub(super) fn high<T: Integer>(a: T, b: T) -> T {
    T::high(a, b)
}

impl Integer for u16 {
    #[inline(always)]
    fn high(a: u16, b: u16) -> u16 {
        ((u32::from(a) * u32::from(b)) >> 16) as u16
    }
}

impl Integer for i16 {
    #[inline(always)]
    fn high(a: i16, b: i16) -> i16 {
        ((i32::from(a) * i32::from(b)) >> 16) as i16
    }
}

impl Integer for u32 {
    #[inline(always)]
    fn high(a: u32, b: u32) -> u32 {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }
}

impl Integer for i32 {
    #[inline(always)]
    fn high(a: i32, b: i32) -> i32 {
        ((i64::from(a) * i64::from(b)) >> 32) as i32
    }
}

impl Integer for u64 {
    #[inline(always)]
    fn high(a: u64, b: u64) -> u64 {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }
}

impl Integer for i64 {
    #[inline(always)]
    fn high(a: i64, b: i64) -> i64 {
        ((i128::from(a) * i128::from(b)) >> 64) as i64
    }
}

/// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc` and `madc`.
pub(super) fn form(name: &str, rest: &[&str]) -> Option<Form> {
    let form = match (name, rest) {
        ("add" | "addc" | "sub" | "subc", [flags @ .., "u32" | "s32"]) => sum32(name, flags)?,
        ("add" | "addc" | "sub" | "subc", [flags @ .., "u64" | "s64"]) => sum64(name, flags)?,
        ("mad" | "madc", [half, flags @ .., ty]) => product(name, half, flags, ty)?,
        _ => return None,
    };
    // To the loops the carry is one more predicate; to the executor it is not in the text.
    let sources: &[Class] = match form.sources {
        [Class::B32, Class::B32, Class::P] => &[Class::B32, Class::B32, Class::Carry],
        [Class::B64, Class::B64, Class::P] => &[Class::B64, Class::B64, Class::Carry],
        [Class::B32, .., Class::P] => &[Class::B32, Class::B32, Class::B32, Class::Carry],
        [Class::B64, .., Class::P] => &[Class::B64, Class::B64, Class::B64, Class::Carry],
        without => without,
    };
    Some(Form { sources, second: form.second.map(|_| Class::Carry), ..form })
}

fn sum32(name: &str, modifiers: &[&str]) -> Option<Form> {
    Some(match (name, modifiers) {
        ("add", ["cc"]) => two(|a, b| add32(a, b, false)),
        ("addc", ["cc"]) => three(add32),
        ("addc", []) => three(|a, b, c| add32(a, b, c).0),
        ("sub", ["cc"]) => two(|a, b| sub32(a, b, false)),
        ("subc", ["cc"]) => three(sub32),
        ("subc", []) => three(|a, b, c| sub32(a, b, c).0),
        _ => return None,
    })
}

fn sum64(name: &str, modifiers: &[&str]) -> Option<Form> {
    Some(match (name, modifiers) {
        ("add", ["cc"]) => two(|a, b| add64(a, b, false)),
        ("addc", ["cc"]) => three(add64),
        ("addc", []) => three(|a, b, c| add64(a, b, c).0),
        ("sub", ["cc"]) => two(|a, b| sub64(a, b, false)),
        ("subc", ["cc"]) => three(sub64),
        ("subc", []) => three(|a, b, c| sub64(a, b, c).0),
        _ => return None,
    })
}

#[inline(always)]
fn add32(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, sum >> 32 != 0)
}

#[inline(always)]
fn sub32(a: u32, b: u32, borrow: bool) -> (u32, bool) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(borrow));
    (difference as u32, difference >> 32 != 0)
}

#[inline(always)]
fn add64(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    (sum as u64, sum >> 64 != 0)
}

#[inline(always)]
fn sub64(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let difference = u128::from(a).wrapping_sub(u128::from(b)).wrapping_sub(u128::from(borrow));
    (difference as u64, difference >> 64 != 0)
}

fn product(name: &str, half: &str, modifiers: &[&str], ty: &str) -> Option<Form> {
    let flags = (name == "madc", modifiers == ["cc"]);
    if !modifiers.is_empty() && modifiers != ["cc"] || flags == (false, false) {
        return None;
    }
    Some(match (half, ty) {
        ("lo", "u32" | "s32") => mad32(flags, u32::wrapping_mul),
        ("hi", "u32") => mad32(flags, high::<u32>),
        ("hi", "s32") => mad32(flags, |a, b| high(a as i32, b as i32) as u32),
        ("lo", "u64" | "s64") => mad64(flags, u64::wrapping_mul),
        ("hi", "u64") => mad64(flags, high::<u64>),
        ("hi", "s64") => mad64(flags, |a, b| high(a as i64, b as i64) as u64),
        _ => return None,
    })
}

/// Half a product of 32-bit integers and a sum; `flags` say whether it reads and writes the carry.
fn mad32(flags: (bool, bool), half: impl Fn(u32, u32) -> u32 + Copy + 'static) -> Form {
    match flags {
        (false, _) => three(move |a, b, c| add32(half(a, b), c, false)),
        (true, true) => four(move |a, b, c, carry| add32(half(a, b), c, carry)),
        (true, false) => four(move |a, b, c, carry| add32(half(a, b), c, carry).0),
    }
}

/// As [`mad32`], of 64 bits.
fn mad64(flags: (bool, bool), half: impl Fn(u64, u64) -> u64 + Copy + 'static) -> Form {
    match flags {
        (false, _) => three(move |a, b, c| add64(half(a, b), c, false)),
        (true, true) => four(move |a, b, c, carry| add64(half(a, b), c, carry)),
        (true, false) => four(move |a, b, c, carry| add64(half(a, b), c, carry).0),
    }
}
