// y = f(a, b), element by element, with any strides: a broadcast operand has strides of 0.
//
// Mapping: one thread an element of y, 256 threads a block; neighbours read and write neighbours.
// Moves: each element of a, b and y once, if the operands are packed.
// Why this version: with no data used twice there is nothing to keep; the kernel is as fast as
// memory is. One thread an element keeps 32 loads of a warp side by side.
#include "common.cuh"

template <typename T, typename F>
__device__ void binary(const T* a, const T* b, T* y, const Walk<2>& walk, F f) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[2];
    walk.find(i, at);
    y[i] = narrow<T>(f(widen(a[at[0]]), widen(b[at[1]])));
}

// One kernel a type: NAME_f32 and so on.
#define OF_TYPE(NAME, T, F)                                                         \
    extern "C" __global__ void NAME##_##T(const T* a, const T* b, T* y, Walk<2> walk) { \
        binary(a, b, y, walk, [](Compute<T> a, Compute<T> b) -> Compute<T> { return F; }); \
    }
#define FLOATS(NAME, F) OF_TYPE(NAME, f32, F) OF_TYPE(NAME, f16, F) OF_TYPE(NAME, bf16, F)
#define NUMBERS(NAME, F) FLOATS(NAME, F) OF_TYPE(NAME, i64, F)

NUMBERS(add, a + b)
