// y = the sum, product, maximum, minimum, sum of |x|, sum of (x - mean)^2 or maximum of |x| over
// some dimensions of x.
//
// Mapping: see reduce.cuh.
// Moves: each element of x once; of y, one element for each kept one (in two passes also the
// parts, at most 256 blocks of them, written and read).
// Why this version: a reduction does one addition for each element it loads, so memory is the
// limit, and all that matters is that neighbours read neighbours and that there are enough blocks.
//
// Floating-point numbers are joined in f32: each thread a few hundred of them, then the threads
// pairwise. The error of a sum stays below about (elements a thread + 16) * 2^-24 times the sum of
// |x|, and what is seen in practice is far below. Integers and bool are joined in i64.
#include "reduce.cuh"

template <typename T> struct WideOf { typedef i64 type; };
template <> struct WideOf<f32> { typedef f32 type; };
template <> struct WideOf<f16> { typedef f32 type; };
template <> struct WideOf<bf16> { typedef f32 type; };
template <typename T> using Wide = typename WideOf<T>::type;

__device__ inline f32 finished(f32 x, const Finish& finish) {
    x = x / finish.divisor;
    return finish.root ? sqrtf(x) : x;
}
__device__ inline i64 finished(i64 x, const Finish&) { return x; }

// NaN if one is NaN: it is not equal to itself.
template <typename A> __device__ A larger(A a, A b) { return a > b || a != a ? a : b; }
template <typename A> __device__ A smaller(A a, A b) { return a < b || a != a ? a : b; }

__device__ inline void lowest(f32& x) { x = -infinity(); }
__device__ inline void lowest(i64& x) { x = 0x8000000000000000; }
__device__ inline void highest(f32& x) { x = infinity(); }
__device__ inline void highest(i64& x) { x = 0x7fffffffffffffff; }

// One kernel a type. NOTHING sets `start`, LOAD is what becomes of an element x, and JOIN joins
// a and b.
#define OF_TYPE(NAME, T, NOTHING, LOAD, JOIN)                                           \
    extern "C" __global__ void NAME##_##T(                                              \
        const T* from, const f32* mean, void* y, Reduction r, Finish finish) {          \
        typedef Wide<T> W;                                                              \
        W start;                                                                        \
        NOTHING;                                                                        \
        auto load = [=](i64 at, unsigned, unsigned k) -> W {                            \
            const W x = widen(from[at]);                                                \
            return LOAD;                                                                \
        };                                                                              \
        auto join = [](W a, W b) -> W { return JOIN; };                                 \
        reduce(r, start, load, join, [=](unsigned i, W x) {                             \
            store(y, i, finished(x, finish), finish.to);                                \
        });                                                                             \
    }
#define FLOATS(NAME, NOTHING, LOAD, JOIN)       \
    OF_TYPE(NAME, f32, NOTHING, LOAD, JOIN)     \
    OF_TYPE(NAME, f16, NOTHING, LOAD, JOIN)     \
    OF_TYPE(NAME, bf16, NOTHING, LOAD, JOIN)
#define NUMBERS(NAME, NOTHING, JOIN)            \
    FLOATS(NAME, NOTHING, x, JOIN)              \
    OF_TYPE(NAME, i64, NOTHING, x, JOIN)        \
    OF_TYPE(NAME, i32, NOTHING, x, JOIN)        \
    OF_TYPE(NAME, u8, NOTHING, x, JOIN)

NUMBERS(sum, start = 0, a + b)
NUMBERS(prod, start = 1, a * b)
NUMBERS(max, lowest(start), larger(a, b))
NUMBERS(min, highest(start), smaller(a, b))
FLOATS(sum_abs, start = 0, fabsf(x), a + b)
FLOATS(max_abs, start = 0, fabsf(x), larger(a, b))
FLOATS(sum_squares, start = 0, square(x - (mean ? mean[k] : 0)), a + b)
