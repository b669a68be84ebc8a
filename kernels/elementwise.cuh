// What the elementwise kernels share: the lists of types that a function is compiled for, and how
// a number of the program reaches a kernel.
#pragma once
#include "common.cuh"

typedef double f64;
typedef int i32;

// A number of the program beside elements of type T: the host has made it a T, and passes it in a
// type that holds every T.
template <typename T> struct ConstantOf { typedef i64 type; };
template <> struct ConstantOf<f32> { typedef float type; };
template <> struct ConstantOf<f16> { typedef float type; };
template <> struct ConstantOf<bf16> { typedef float type; };
template <typename T> using Constant = typename ConstantOf<T>::type;

// KERNEL is a macro that makes one kernel of a name, a type and a formula; these make one for each
// type of a list. Formulas are in C: integers narrower than int are computed as int and cut to
// their size, so they wrap around; for bool, + is "or", * is "and" and - is "differ".
#define FLOATS(KERNEL, NAME, F) \
    KERNEL(NAME, f32, F) KERNEL(NAME, f16, F) KERNEL(NAME, bf16, F)
#define INTEGERS(KERNEL, NAME, F) \
    KERNEL(NAME, i64, F) KERNEL(NAME, i32, F) KERNEL(NAME, u8, F)
#define NUMBERS(KERNEL, NAME, F) FLOATS(KERNEL, NAME, F) INTEGERS(KERNEL, NAME, F)
#define BITS(KERNEL, NAME, F) INTEGERS(KERNEL, NAME, F) KERNEL(NAME, bool, F)
#define ALL(KERNEL, NAME, F) NUMBERS(KERNEL, NAME, F) KERNEL(NAME, bool, F)

// A NaN is the larger of two numbers, and the smaller: so it does not get lost.
template <typename T> __device__ T larger(T a, T b) { return a > b || a != a ? a : b; }
template <typename T> __device__ T smaller(T a, T b) { return a < b || a != a ? a : b; }

// What is only moved needs no type but a size: four kernels do for eight types.
typedef unsigned char b1;
typedef unsigned short b2;
typedef unsigned b4;
typedef unsigned long long b8;
#define SIZES(KERNEL) KERNEL(b1) KERNEL(b2) KERNEL(b4) KERNEL(b8)
