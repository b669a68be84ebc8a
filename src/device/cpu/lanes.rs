//! The innermost loops of arithmetic: one row of elements, several to an instruction.

use std::mem::MaybeUninit;

use crate::device::cpu::parallel::Loop;

/// A function of what is computed with.
#[derive(Clone, Copy)]
pub struct Computed<F>(pub F);

/// out = f(x)
pub struct Each<'a, C, F> {
    pub x: &'a [C],
    pub out: &'a mut [MaybeUninit<C>],
    pub f: Computed<F>,
}

impl<C: Copy, F: Fn(C) -> C> Loop for Each<'_, C, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            out.write((self.f.0)(x));
        }
    }
}

/// out = f(a, b)
pub struct Pairs<'a, C, F> {
    pub a: &'a [C],
    pub b: &'a [C],
    pub out: &'a mut [MaybeUninit<C>],
    pub f: Computed<F>,
}

impl<C: Copy, F: Fn(C, C) -> C> Loop for Pairs<'_, C, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((out, &a), &b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            out.write((self.f.0)(a, b));
        }
    }
}
