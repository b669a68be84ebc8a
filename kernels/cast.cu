// Elements as another type, laid out anew in logical order; x has any strides.
//
// Mapping: one thread an element of y, 256 threads a block.
// Moves: each element of x and y once.
// Why this version: eight types become eight others in 64 ways. There is one kernel for each result,
// and the type of x is a number of the launch: all threads take one branch, which costs little
// beside the trip to memory.
#include "elementwise.cuh"

// The rules. To an integer: cut off towards zero, the nearest end of the range beyond it, and 0
// for NaN; from a wider integer its low bits. To bool: whether it is not 0. To a half type through
// float, so that a double is rounded twice, as on the CPU.
template <typename To> struct Cast {
    static __device__ To of(f64 x) { return saturated(x); }
    static __device__ To of(f32 x) { return saturated(x); }
    static __device__ To of(i64 x) { return static_cast<To>(x); }

    template <typename From> static __device__ To saturated(From x) {
        constexpr bool is_signed = To(-1) < To(0);
        constexpr To most = is_signed ? To(~(1ull << (8 * sizeof(To) - 1))) : To(-1);
        constexpr To least = is_signed ? To(-most - 1) : To(0);
        if (x != x) return 0;
        if (x <= static_cast<From>(least)) return least;
        // The float of the largest integer is that integer, or the power of two above it.
        return x >= static_cast<From>(most) ? most : static_cast<To>(x);
    }
};
template <> struct Cast<f64> {
    template <typename From> static __device__ f64 of(From x) { return static_cast<f64>(x); }
};
template <> struct Cast<f32> {
    template <typename From> static __device__ f32 of(From x) { return static_cast<f32>(x); }
};
template <> struct Cast<bool> {
    template <typename From> static __device__ bool of(From x) { return x != 0; }
};
template <> struct Cast<f16> {
    template <typename From> static __device__ f16 of(From x) { return narrow<f16>(float(x)); }
};
template <> struct Cast<bf16> {
    template <typename From> static __device__ bf16 of(From x) { return narrow<bf16>(float(x)); }
};

// The types by number, in the order of the engine's DType.
enum Type { F64, F32, F16, BF16, I64, I32, U8, BOOL };

template <typename To>
__device__ void cast(const void* x, To* y, const Walk<1>& walk, int from) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[1];
    walk.find(i, at);
    const i64 k = at[0];
    switch (from) {
        case F64: y[i] = Cast<To>::of(static_cast<const f64*>(x)[k]); break;
        case F32: y[i] = Cast<To>::of(static_cast<const f32*>(x)[k]); break;
        case F16: y[i] = Cast<To>::of(widen(static_cast<const f16*>(x)[k])); break;
        case BF16: y[i] = Cast<To>::of(widen(static_cast<const bf16*>(x)[k])); break;
        case I64: y[i] = Cast<To>::of(static_cast<const i64*>(x)[k]); break;
        case I32: y[i] = Cast<To>::of(i64(static_cast<const i32*>(x)[k])); break;
        case U8: y[i] = Cast<To>::of(i64(static_cast<const u8*>(x)[k])); break;
        case BOOL: y[i] = Cast<To>::of(i64(static_cast<const bool*>(x)[k])); break;
    }
}

#define CAST(NAME, T, F)                                                                     \
    extern "C" __global__ void NAME##_##T(const void* x, T* y, WALK(1), int from) { F; }
ALL(CAST, to, cast(x, y, walk, from))
CAST(to, f64, cast(x, y, walk, from))
