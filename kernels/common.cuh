// What all kernels share: the number types, and where the elements of strided operands lie.
//
// Half types are stored in 16 bits and computed with in float, as on the CPU: each result is
// rounded once. Counts of elements and positions in the logical order are 32 bits wide, since a
// GPU divides those several times faster; the host refuses larger tensors. Distances in memory
// have 64 bits.
#pragma once

typedef float f32;
typedef long long i64;
typedef unsigned char u8;

// The types of elements as the host names them: IEEE binary16, and the upper half of a float.
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };

// The type that an element is computed with.
template <typename T> struct ComputeOf { typedef T type; };
template <> struct ComputeOf<f16> { typedef float type; };
template <> struct ComputeOf<bf16> { typedef float type; };
template <typename T> using Compute = typename ComputeOf<T>::type;

template <typename T> __device__ Compute<T> widen(T x) { return x; }
__device__ inline float widen(f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
__device__ inline float widen(bf16 x) { return __uint_as_float(unsigned(x.bits) << 16); }

// Rounds to nearest, ties to even.
template <typename T> __device__ T narrow(Compute<T> x) { return x; }
template <> __device__ inline f16 narrow<f16>(float x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
template <> __device__ inline bf16 narrow<bf16>(float x) {
    const unsigned bits = __float_as_uint(x);
    // The fraction of a NaN must not be rounded away: that would leave an infinity.
    if (x != x) return bf16{static_cast<unsigned short>(bits >> 16 | 0x40)};
    const unsigned half = 0x7fff + (bits >> 16 & 1);
    return bf16{static_cast<unsigned short>((bits + half) >> 16)};
}

// The shape that N operands have in common, and how far apart each one's elements lie.
// Neighbouring dimensions that all operands step through as one have been made one by the host,
// so that the common case, everything packed, has a single dimension.
enum { MAX_RANK = 8 };
template <int N> struct Walk {
    unsigned count;                 // elements in all
    int rank;                       // dimensions, at least one
    unsigned size[MAX_RANK];
    i64 stride[N][MAX_RANK];        // in elements

    // Where the operands have element number i of the logical order.
    __device__ void find(unsigned i, i64 (&at)[N]) const {
        for (int k = 0; k < N; k++) at[k] = 0;
        // From the last dimension on, counted upwards: downwards the compiler unrolls it all the same.
        #pragma unroll 1
        for (int passed = 1; passed < rank; passed++) {
            const int d = rank - passed;
            const unsigned index = i % size[d];
            i /= size[d];
            for (int k = 0; k < N; k++) at[k] += index * stride[k][d];
        }
        for (int k = 0; k < N; k++) at[k] += i * stride[k][0];
    }
};

// A walk as the parameter of a kernel. All threads read one copy: without __grid_constant__ a small
// one is first copied into the local memory of each.
#define WALK(N) const __grid_constant__ Walk<N> walk

// The number of this thread among all threads of a one-dimensional grid.
__device__ inline unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }
