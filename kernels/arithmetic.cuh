// Powers, and division that gives whole numbers, as src/dtype/arithmetic.rs has them.
#pragma once
#include "common.cuh"

// a to the power of b, by the bits of b: it is the product of those of a, a^2, a^4, .. whose bit
// is set. Of a negative power, 1 / a^b, only that of 1 and -1 has no fraction to cut off.
template <typename T> __device__ T power(T a, T b) {
    if (b < 0) return a == 1 ? 1 : a != T(-1) ? 0 : b & 1 ? a : 1;
    T y = 1;
    #pragma unroll 1
    for (; b > 0; b >>= 1) {
        if (b & 1) y = y * a;
        a = a * a;
    }
    return y;
}
__device__ inline float power(float a, float b) { return powf(a, b); }

// Powers that a few exact operations give are computed by these; all threads take one branch.
template <typename T> __device__ T power_of_constant(T x, T c) { return power(x, c); }
__device__ inline float power_of_constant(float x, float c) {
    if (c == 2.0f) return x * x;
    if (c == 3.0f) return x * x * x;
    if (c == 0.5f) return sqrtf(x);
    if (c == -0.5f) return 1.0f / sqrtf(x);
    if (c == -1.0f) return 1.0f / x;
    if (c == -2.0f) return 1.0f / (x * x);
    return powf(x, c);
}

// Whether a quotient with this rest lies below the one that was cut off towards zero.
template <typename T> __device__ bool is_below(T rest, T b) {
    return rest != 0 && (rest < 0) != (b < 0);
}

// The host has refused integers that are divided by 0. The lowest integer by -1 does not fit into
// its type, and division has no result for it; here, as on the CPU, it wraps around.
template <typename T> __device__ T trunc_divide(T a, T b) { return b == T(-1) ? T(-a) : T(a / b); }
__device__ inline u8 trunc_divide(u8 a, u8 b) { return a / b; }
__device__ inline float trunc_divide(float a, float b) { return truncf(a / b); }

template <typename T> __device__ T rest_of(T a, T b) { return b == T(-1) ? T(0) : T(a % b); }
__device__ inline u8 rest_of(u8 a, u8 b) { return a % b; }
__device__ inline float rest_of(float a, float b) { return fmodf(a, b); }

// a - b * floor(a / b): it has the sign of b.
template <typename T> __device__ T remainder_of(T a, T b) {
    const T rest = rest_of(a, b);
    return is_below(rest, b) ? T(rest + b) : rest;
}

// a / b rounded down.
template <typename T> __device__ T floor_divide(T a, T b) {
    return trunc_divide(a, b) - is_below(rest_of(a, b), b);
}
// From the exact remainder: the rounded quotient of 1 and 0.1 is 10, but 0.1 is a little more than
// a tenth and goes into 1 only nine times.
__device__ inline float floor_divide(float a, float b) {
    if (b == 0.0f) return a / b;
    const float rest = fmodf(a, b);
    const float quotient = (a - rest) / b - is_below(rest, b);
    if (quotient == 0.0f) return copysignf(0.0f, a / b);
    const float floor = floorf(quotient);
    return quotient - floor > 0.5f ? floor + 1.0f : floor;
}
