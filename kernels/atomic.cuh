// The addition to a place that other threads may add to as well: one step for the memory, in which
// nobody comes between. For floats it means that sums have no order: of three floats for one place,
// another two may come first in the next run, and the last bits differ.
#pragma once
#include "common.cuh"

template <typename T> __device__ void add_at(T* at, T x) { atomicAdd(at, x); }

// CUDA has none with a sign; the bits of a sum are the same.
template <> __device__ inline void add_at<i64>(i64* at, i64 x) {
    atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(x));
}
