// The types of elements beyond those that are computed with, and a result whose type is chosen
// at run time: one kernel then serves a sum of f16 that becomes an f16 and one that becomes an f32.
#pragma once
#include "common.cuh"

typedef int i32;

enum ElementType { TYPE_F32, TYPE_F16, TYPE_BF16, TYPE_I64, TYPE_I32, TYPE_U8, TYPE_BOOL };

__device__ inline f32 infinity() { return __uint_as_float(0x7f800000); }
__device__ inline f32 square(f32 x) { return x * x; }

// y[i] = x, rounded once.
__device__ inline void store(void* y, unsigned i, f32 x, int type) {
    if (type == TYPE_F32) static_cast<f32*>(y)[i] = x;
    else if (type == TYPE_F16) static_cast<f16*>(y)[i] = narrow<f16>(x);
    else static_cast<bf16*>(y)[i] = narrow<bf16>(x);
}
__device__ inline void store(void* y, unsigned i, i64 x, int type) {
    if (type == TYPE_I64) static_cast<i64*>(y)[i] = x;
    else if (type == TYPE_I32) static_cast<i32*>(y)[i] = static_cast<i32>(x);
    else if (type == TYPE_U8) static_cast<u8*>(y)[i] = static_cast<u8>(x);
    else static_cast<u8*>(y)[i] = x != 0;
}
