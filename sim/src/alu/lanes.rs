//! Forms from functions on one lane: `two(f32_add)` is the form that does so on 32 lanes.
//!
//! The functions are closures and function items that capture nothing, and so have no size: the
//! type alone says what to call. Each loop is compiled twice, once for any processor and once for
//! those with AVX2, where LLVM makes code that computes 8 lanes an instruction.

use std::marker::PhantomData;

use super::value::{Output, Value};
use super::{Class, Form, Run, Slots};

/// The function of a type without size, out of nothing but the type.
#[inline(always)]
#[expect(unsafe_code, reason = "a function pointer cannot carry a closure, but its type can")]
fn summon<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0) };
    // SAFETY: F has no bytes, so that any aligned pointer is one to an F; and every caller of a
    // loop was made by a builder below, which was given an F, of which this is a copy.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}

/// One loop over the lanes of a warp.
pub(super) trait Loop: 'static {
    /// The type whose module it is compiled with.
    type Home: Home;
    /// Whether it runs too seldom to be compiled twice.
    const RARE: bool = false;
    /// The body, as of [`Run`].
    fn go(registers: &mut [u64], slots: &Slots, mask: u32);
}

/// Any type, as the owner of loops. The compiler puts a function of a trait into the unit of code
/// of the type's module: so the families of instructions are compiled side by side.
pub(super) trait Home: 'static {
    /// A loop for any processor.
    fn plain<L: Loop>(registers: &mut [u64], slots: &Slots, mask: u32) {
        L::go(registers, slots, mask);
    }

    /// A loop for those that [`has_vectors`] is true of.
    fn wide<L: Loop>(registers: &mut [u64], slots: &Slots, mask: u32);
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "code for AVX2 may run only where AVX2 is")]
impl<T: 'static> Home for T {
    fn wide<L: Loop>(registers: &mut [u64], slots: &Slots, mask: u32) {
        #[inline]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        fn vector<L: Loop>(registers: &mut [u64], slots: &Slots, mask: u32) {
            L::go(registers, slots, mask);
        }
        // SAFETY: `choose` is the only place that names this function, after `has_vectors`.
        unsafe { vector::<L>(registers, slots, mask) }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl<T: 'static> Home for T {
    fn wide<L: Loop>(registers: &mut [u64], slots: &Slots, mask: u32) {
        L::go(registers, slots, mask);
    }
}

/// Whether this processor has the instructions that [`Home::wide`] is compiled with.
#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    let integer = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
    let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("lzcnt");
    let float = is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
    integer && bits && float && is_x86_feature_detected!("popcnt")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vectors() -> bool {
    false
}

/// Calls a closure, which is best inlined, with the instructions that this processor has.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "code for AVX2 may run only where AVX2 is")]
#[inline(always)]
pub(crate) fn with_vectors<R>(f: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
    fn vector<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
    if !has_vectors() {
        return f();
    }
    // SAFETY: `has_vectors` has just said that this processor can run it.
    unsafe { vector(f) }
}

/// Calls a closure.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn with_vectors<R>(f: impl FnOnce() -> R) -> R {
    f()
}

fn choose<L: Loop>() -> Run {
    if const { L::RARE } || !has_vectors() {
        return L::Home::plain::<L>;
    }
    L::Home::wide::<L>
}

/// The sources of an instruction, as a tuple of their types.
pub(super) trait Sources: Copy + 'static {
    /// Their classes.
    const CLASSES: &'static [Class];
    /// The registers that hold them.
    type Views<'a>: Copy;
    /// Finds the registers.
    fn views<'a>(registers: &'a [u64], slots: &Slots) -> Self::Views<'a>;
    /// The values of one lane.
    fn lane(views: Self::Views<'_>, lane: usize) -> Self;
}

impl<A: Value> Sources for (A,) {
    const CLASSES: &'static [Class] = &[A::CLASS];
    type Views<'a> = A::Source<'a>;

    #[inline(always)]
    fn views<'a>(registers: &'a [u64], slots: &Slots) -> A::Source<'a> {
        A::source(registers, slots.sources[0])
    }

    #[inline(always)]
    fn lane(a: A::Source<'_>, lane: usize) -> (A,) {
        (A::lane(a, lane),)
    }
}

impl<A: Value, B: Value> Sources for (A, B) {
    const CLASSES: &'static [Class] = &[A::CLASS, B::CLASS];
    type Views<'a> = (A::Source<'a>, B::Source<'a>);

    #[inline(always)]
    fn views<'a>(registers: &'a [u64], slots: &Slots) -> Self::Views<'a> {
        let [a, b, ..] = slots.sources;
        (A::source(registers, a), B::source(registers, b))
    }

    #[inline(always)]
    fn lane((a, b): Self::Views<'_>, lane: usize) -> (A, B) {
        (A::lane(a, lane), B::lane(b, lane))
    }
}

impl<A: Value, B: Value, C: Value> Sources for (A, B, C) {
    const CLASSES: &'static [Class] = &[A::CLASS, B::CLASS, C::CLASS];
    type Views<'a> = (A::Source<'a>, B::Source<'a>, C::Source<'a>);

    #[inline(always)]
    fn views<'a>(registers: &'a [u64], slots: &Slots) -> Self::Views<'a> {
        let [a, b, c, _] = slots.sources;
        (A::source(registers, a), B::source(registers, b), C::source(registers, c))
    }

    #[inline(always)]
    fn lane((a, b, c): Self::Views<'_>, lane: usize) -> (A, B, C) {
        (A::lane(a, lane), B::lane(b, lane), C::lane(c, lane))
    }
}

impl<A: Value, B: Value, C: Value, D: Value> Sources for (A, B, C, D) {
    const CLASSES: &'static [Class] = &[A::CLASS, B::CLASS, C::CLASS, D::CLASS];
    type Views<'a> = ((A::Source<'a>, B::Source<'a>), (C::Source<'a>, D::Source<'a>));

    #[inline(always)]
    fn views<'a>(registers: &'a [u64], slots: &Slots) -> Self::Views<'a> {
        let [a, b, c, d] = slots.sources;
        let first = (A::source(registers, a), B::source(registers, b));
        (first, (C::source(registers, c), D::source(registers, d)))
    }

    #[inline(always)]
    fn lane(((a, b), (c, d)): Self::Views<'_>, lane: usize) -> (A, B, C, D) {
        (A::lane(a, lane), B::lane(b, lane), C::lane(c, lane), D::lane(d, lane))
    }
}

/// The loop over a function of a code and the sources, in the module of H.
struct Each<H, F, S, R, const RARE: bool>(PhantomData<(H, F, S, R)>);

impl<H, F, S, R, const RARE: bool> Loop for Each<H, F, S, R, RARE>
where
    H: 'static,
    F: Fn(u32, S) -> R + Copy + 'static,
    S: Sources,
    R: Output,
{
    type Home = H;
    const RARE: bool = RARE || R::SECOND.is_some();

    #[inline(always)]
    fn go(registers: &mut [u64], slots: &Slots, mask: u32) {
        let f = summon::<F>();
        let views = S::views(registers, slots);
        let result = R::collect(
            #[inline(always)]
            |i| f(slots.code, S::lane(views, i)),
        );
        R::write(result, registers, slots, mask);
    }
}

/// The form of a loop that yields an `R`.
pub(super) fn build<R: Output, L: Loop>(sources: &'static [Class], code: u32) -> Form {
    Form {
        target: R::First::CLASS,
        second: R::SECOND,
        sources,
        bits: R::First::BITS,
        signed: R::First::SIGNED,
        code,
        run: choose::<L>(),
    }
}

fn each<const RARE: bool, H, S, R, F>(_home: &H, code: u32, _f: F) -> Form
where
    H: 'static,
    F: Fn(u32, S) -> R + Copy + 'static,
    S: Sources,
    R: Output,
{
    build::<R, Each<H, F, S, R, RARE>>(S::CLASSES, code)
}

/// The form that computes `f` of one source.
pub(super) fn one<A: Value, R: Output>(f: impl Fn(A) -> R + Copy + 'static) -> Form {
    each::<false, _, _, R, _>(
        &f,
        0,
        #[inline(always)]
        move |_, (a,)| f(a),
    )
}

/// The form that computes `f` of two sources.
pub(super) fn two<A: Value, B: Value, R: Output>(f: impl Fn(A, B) -> R + Copy + 'static) -> Form {
    each::<false, _, _, R, _>(
        &f,
        0,
        #[inline(always)]
        move |_, (a, b)| f(a, b),
    )
}

/// The form that computes `f` of three sources.
pub(super) fn three<A: Value, B: Value, C: Value, R: Output>(
    f: impl Fn(A, B, C) -> R + Copy + 'static,
) -> Form {
    each::<false, _, _, R, _>(
        &f,
        0,
        #[inline(always)]
        move |_, (a, b, c)| f(a, b, c),
    )
}

/// The form that computes `f` of four sources.
pub(super) fn four<A: Value, B: Value, C: Value, D: Value, R: Output>(
    f: impl Fn(A, B, C, D) -> R + Copy + 'static,
) -> Form {
    each::<false, _, _, R, _>(
        &f,
        0,
        #[inline(always)]
        move |_, (a, b, c, d)| f(a, b, c, d),
    )
}

/// A form that runs seldom, compiled once: `f` is also given a code, which says what would else be
/// many functions.
pub(super) fn rare_one<A: Value, R: Output>(
    code: u32,
    f: impl Fn(u32, A) -> R + Copy + 'static,
) -> Form {
    each::<true, _, _, R, _>(&f, code, move |code, (a,)| f(code, a))
}

/// As [`rare_one`], of two sources.
pub(super) fn rare_two<A: Value, B: Value, R: Output>(
    code: u32,
    f: impl Fn(u32, A, B) -> R + Copy + 'static,
) -> Form {
    each::<true, _, _, R, _>(&f, code, move |code, (a, b)| f(code, a, b))
}

/// As [`rare_one`], of three sources.
pub(super) fn rare_three<A: Value, B: Value, C: Value, R: Output>(
    code: u32,
    f: impl Fn(u32, A, B, C) -> R + Copy + 'static,
) -> Form {
    each::<true, _, _, R, _>(&f, code, move |code, (a, b, c)| f(code, a, b, c))
}
