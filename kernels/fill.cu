// Fresh tensors made where they are to be, instead of copied there.
//
// Mapping: one thread an element, 256 threads a block.
// Moves: each element once, and reads nothing.
// Why this version: a copy from the host takes some 10 us however small it is, a launch 3.
#include "elementwise.cuh"

// Each element has these bits.
#define FILL(T)                                                                    \
    extern "C" __global__ void fill_##T(T* y, unsigned count, b8 bits) {           \
        const unsigned i = thread_number();                                        \
        if (i < count) y[i] = static_cast<T>(bits);                                \
    }
SIZES(FILL)

// 0, 1, 2, ..
#define ARANGE(NAME, T, F)                                                         \
    extern "C" __global__ void NAME##_##T(T* y, unsigned count) {                  \
        const unsigned i = thread_number();                                        \
        if (i < count) y[i] = narrow<T>(F);                                        \
    }
ALL(ARANGE, arange, i)
ARANGE(arange, f64, i)
