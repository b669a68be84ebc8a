//! The innermost loops: one row of elements at a time, several elements to an instruction.

use std::mem::MaybeUninit;

use crate::device::cpu::parallel::Loop;
use crate::dtype::Element;

/// A function of one element that is always put into its loop. A closure is only if the compiler
/// finds it small enough, and then a long formula would cost a call, and no vectors, an element.
pub trait Function<X, Y>: Copy + Sync {
    /// f(x)
    fn call(self, x: X) -> Y;
}

/// A function of two elements that is always put into its loop.
pub trait Function2<A, B, Y>: Copy + Sync {
    /// f(a, b)
    fn call(self, a: A, b: B) -> Y;
}

/// A closure that is small enough.
#[derive(Clone, Copy)]
pub struct Plain<F>(pub F);

impl<X, Y, F: Fn(X) -> Y + Copy + Sync> Function<X, Y> for Plain<F> {
    #[inline(always)]
    fn call(self, x: X) -> Y {
        (self.0)(x)
    }
}

impl<A, B, Y, F: Fn(A, B) -> Y + Copy + Sync> Function2<A, B, Y> for Plain<F> {
    #[inline(always)]
    fn call(self, a: A, b: B) -> Y {
        (self.0)(a, b)
    }
}

/// A function of what is computed with, between stored elements.
#[derive(Clone, Copy)]
pub struct Computed<F>(pub F);

impl<T: Element, F: Fn(T::Compute) -> T::Compute + Copy + Sync> Function<T, T> for Computed<F> {
    #[inline(always)]
    fn call(self, x: T) -> T {
        T::of_compute((self.0)(x.to_compute()))
    }
}

impl<T: Element, F> Function2<T, T, T> for Computed<F>
where
    F: Fn(T::Compute, T::Compute) -> T::Compute + Copy + Sync,
{
    #[inline(always)]
    fn call(self, a: T, b: T) -> T {
        T::of_compute((self.0)(a.to_compute(), b.to_compute()))
    }
}

/// out = f(x), elements side by side.
pub struct Each<'a, X, Y, F> {
    pub x: &'a [X],
    pub out: &'a mut [MaybeUninit<Y>],
    pub f: F,
}

impl<X: Copy, Y, F: Function<X, Y>> Loop for Each<'_, X, Y, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            out.write(self.f.call(x));
        }
    }
}

/// out = f(x), elements of x `step` apart; all of them the same one if that is 0.
pub struct EachApart<'a, X, Y, F> {
    pub x: &'a [X],
    pub step: usize,
    pub out: &'a mut [MaybeUninit<Y>],
    pub f: F,
}

impl<X: Copy, Y, F: Function<X, Y>> Loop for EachApart<'_, X, Y, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (n, out) in self.out.iter_mut().enumerate() {
            out.write(self.f.call(self.x[n * self.step]));
        }
    }
}

/// out = f(a, b), elements side by side.
pub struct Pairs<'a, A, B, Y, F> {
    pub a: &'a [A],
    pub b: &'a [B],
    pub out: &'a mut [MaybeUninit<Y>],
    pub f: F,
}

impl<A: Copy, B: Copy, Y, F: Function2<A, B, Y>> Loop for Pairs<'_, A, B, Y, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((out, &a), &b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            out.write(self.f.call(a, b));
        }
    }
}

/// out = f(a, b), elements any number of steps apart.
pub struct PairsApart<'a, A, B, Y, F> {
    pub a: &'a [A],
    pub b: &'a [B],
    pub steps: (usize, usize),
    pub out: &'a mut [MaybeUninit<Y>],
    pub f: F,
}

impl<A: Copy, B: Copy, Y, F: Function2<A, B, Y>> Loop for PairsApart<'_, A, B, Y, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // One number beside a row is read once.
        match self.steps {
            (1, 0) => {
                let b = self.b[0];
                for (out, &a) in self.out.iter_mut().zip(self.a) {
                    out.write(self.f.call(a, b));
                }
            }
            (0, 1) => {
                let a = self.a[0];
                for (out, &b) in self.out.iter_mut().zip(self.b) {
                    out.write(self.f.call(a, b));
                }
            }
            (i, j) => {
                for (n, out) in self.out.iter_mut().enumerate() {
                    out.write(self.f.call(self.a[n * i], self.b[n * j]));
                }
            }
        }
    }
}
