//! How a value of a Rust type lies in the registers of a warp.

use super::{Class, Slots};

/// A type that an operand of an instruction can have.
pub(super) trait Value: Copy + 'static {
    /// The class of a register that holds it.
    const CLASS: Class;
    /// How many bits it has.
    const BITS: u32;
    /// Whether it is a signed integer.
    const SIGNED: bool;
    /// A source: the lanes of a register, by reference, or the bits of a predicate.
    type Source<'a>: Copy;
    /// A result, before it is written: what the lanes of a register hold.
    type Result;

    /// The register at word `at`.
    fn source(registers: &[u64], at: u32) -> Self::Source<'_>;
    /// The value in one lane of it.
    fn lane(source: Self::Source<'_>, lane: usize) -> Self;
    /// The results of 32 lanes, computed one by one.
    fn of_lanes(lane: impl Fn(usize) -> Self) -> Self::Result;
    /// Writes the lanes in `mask` to the register at word `at`.
    fn store(result: Self::Result, registers: &mut [u64], at: u32, mask: u32);
}

impl Value for bool {
    const CLASS: Class = Class::P;
    const BITS: u32 = 1;
    const SIGNED: bool = false;
    type Source<'a> = u32;
    type Result = u32;

    #[inline(always)]
    fn source(registers: &[u64], at: u32) -> u32 {
        registers[at as usize] as u32
    }

    #[inline(always)]
    fn lane(source: u32, lane: usize) -> bool {
        source >> lane & 1 != 0
    }

    #[inline(always)]
    fn of_lanes(lane: impl Fn(usize) -> bool) -> u32 {
        let mut bits = 0;
        for i in 0..32 {
            bits |= u32::from(lane(i)) << i;
        }
        bits
    }

    #[inline(always)]
    fn store(result: u32, registers: &mut [u64], at: u32, mask: u32) {
        let word = &mut registers[at as usize];
        *word = u64::from(*word as u32 & !mask | result & mask);
    }
}

/// What an instruction computes in a lane: a value, or a value and a flag.
pub(super) trait Output: Copy + 'static {
    /// The type of the first result.
    type First: Value;
    /// The class of the second.
    const SECOND: Option<Class>;
    /// The results of 32 lanes.
    type Results;
    /// Computes them, lane by lane.
    fn collect(lane: impl Fn(usize) -> Self) -> Self::Results;
    /// Writes the lanes in `mask`.
    fn write(results: Self::Results, registers: &mut [u64], slots: &Slots, mask: u32);
}

impl<T: Value> Output for T {
    type First = T;
    const SECOND: Option<Class> = None;
    type Results = T::Result;

    #[inline(always)]
    fn collect(lane: impl Fn(usize) -> T) -> T::Result {
        T::of_lanes(lane)
    }

    #[inline(always)]
    fn write(results: T::Result, registers: &mut [u64], slots: &Slots, mask: u32) {
        T::store(results, registers, slots.target, mask);
    }
}

impl<T: Value, U: Value> Output for (T, U) {
    type First = T;
    const SECOND: Option<Class> = Some(U::CLASS);
    type Results = (T::Result, U::Result);

    #[inline(always)]
    fn collect(lane: impl Fn(usize) -> (T, U)) -> (T::Result, U::Result) {
        (T::of_lanes(|i| lane(i).0), U::of_lanes(|i| lane(i).1))
    }

    /// The second result first: where the text names none, its register may be any.
    #[inline(always)]
    fn write(results: Self::Results, registers: &mut [u64], slots: &Slots, mask: u32) {
        U::store(results.1, registers, slots.second, mask);
        T::store(results.0, registers, slots.target, mask);
    }
}

/// The two sizes of a lane of a register.
pub(super) trait Slot: bytemuck::Pod {
    /// The class of the register.
    const CLASS: Class;
    /// A lane before it is computed.
    const ZERO: Self;
    /// The low bits of a word.
    fn of_bits(bits: u64) -> Self;
}

impl Slot for u32 {
    const CLASS: Class = Class::B32;
    const ZERO: u32 = 0;
    #[inline(always)]
    fn of_bits(bits: u64) -> u32 {
        bits as u32
    }
}

impl Slot for u64 {
    const CLASS: Class = Class::B64;
    const ZERO: u64 = 0;
    #[inline(always)]
    fn of_bits(bits: u64) -> u64 {
        bits
    }
}

/// A type that lies in the low bits of a lane.
pub(super) trait Lane: Copy + 'static {
    /// The size of the lane.
    type Slot: Slot;
    /// As of [`Value`].
    const BITS: u32;
    /// As of [`Value`].
    const SIGNED: bool = false;
    /// The value in a lane; bits above its width are ignored.
    fn from_lane(lane: Self::Slot) -> Self;
    /// The lane of a value, zero-extended.
    fn to_lane(self) -> Self::Slot;

    /// As of [`Value::of_lanes`].
    #[inline(always)]
    fn collect(lane: impl Fn(usize) -> Self) -> [Self::Slot; 32] {
        let mut result = [Self::Slot::ZERO; 32];
        for (i, out) in result.iter_mut().enumerate() {
            *out = lane(i).to_lane();
        }
        result
    }
}

impl<T: Lane> Value for T {
    const CLASS: Class = T::Slot::CLASS;
    const BITS: u32 = T::BITS;
    const SIGNED: bool = T::SIGNED;
    type Source<'a> = &'a [T::Slot; 32];
    type Result = [T::Slot; 32];

    #[inline(always)]
    fn source(registers: &[u64], at: u32) -> &[T::Slot; 32] {
        let words = &registers[at as usize..][..Self::CLASS.words()];
        bytemuck::cast_slice(words).first_chunk().unwrap()
    }

    #[inline(always)]
    fn lane(source: &[T::Slot; 32], lane: usize) -> T {
        T::from_lane(source[lane])
    }

    #[inline(always)]
    fn of_lanes(lane: impl Fn(usize) -> T) -> [T::Slot; 32] {
        <T as Lane>::collect(lane)
    }

    #[inline(always)]
    fn store(result: [T::Slot; 32], registers: &mut [u64], at: u32, mask: u32) {
        let words = &mut registers[at as usize..][..Self::CLASS.words()];
        let target: &mut [T::Slot; 32] = bytemuck::cast_slice_mut(words).first_chunk_mut().unwrap();
        if mask == u32::MAX {
            *target = result;
            return;
        }
        for i in 0..32 {
            target[i] = if mask >> i & 1 != 0 { result[i] } else { target[i] };
        }
    }
}

/// One more type of the host: its lane, whether it is signed, and the ways there and back. These
/// are casts, because a generic copy of bytes is not inlined everywhere, and then no vector.
macro_rules! lane {
    ($type:ty, $slot:ty, $signed:literal, $from:expr, $to:expr) => {
        impl Lane for $type {
            type Slot = $slot;
            const BITS: u32 = 8 * size_of::<$type>() as u32;
            const SIGNED: bool = $signed;

            #[inline(always)]
            fn from_lane(lane: $slot) -> $type {
                $from(lane)
            }

            #[inline(always)]
            fn to_lane(self) -> $slot {
                $to(self)
            }
        }
    };
}

lane!(u8, u32, false, |lane| lane as u8, u32::from);
// An 8-bit result lies in a register of 16 bits at least, sign-extended to 16 (§9.4.1).
lane!(i8, u32, true, |lane| lane as i8, |x| u32::from(x as i16 as u16));
lane!(u16, u32, false, |lane| lane as u16, u32::from);
lane!(i16, u32, true, |lane| lane as i16, |x| u32::from(x as u16));
lane!(u32, u32, false, |lane| lane, |x| x);
lane!(i32, u32, true, |lane| lane as i32, |x| x as u32);
lane!(f32, u32, false, f32::from_bits, f32::to_bits);
lane!(u64, u64, false, |lane| lane, |x| x);
lane!(i64, u64, true, |lane| lane as i64, |x| x as u64);
lane!(f64, u64, false, f64::from_bits, f64::to_bits);
