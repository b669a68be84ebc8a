// x changed where it is, by an operand of its shape; both with any strides. No element of x is
// shown twice, and y lies elsewhere: the host sees to both.
//
// Mapping: one thread an element, 256 threads a block.
// Moves: each element of y once, and of x twice, there and back; copy_ only writes x; masked_fill_
// reads the mask and writes what it hides.
// Why this version: as binary.cu, without the memory for a result.
#include "elementwise.cuh"

template <typename T, typename F>
__device__ void update(T* x, const T* y, const Walk<2>& walk, F f) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[2];
    walk.find(i, at);
    x[at[0]] = narrow<T>(f(widen(x[at[0]]), widen(y[at[1]])));
}

// x += alpha y
#define ADD(NAME, T, F)                                                                     \
    extern "C" __global__ void NAME##_##T(T* x, const T* y, WALK(2), Constant<T> number) { \
        const Compute<T> alpha = number;                                                    \
        update(x, y, walk, [alpha](Compute<T> x, Compute<T> y) -> Compute<T> { return F; }); \
    }
ALL(ADD, add_, x + y * alpha)

// x = x y
#define MUL(NAME, T, F)                                                                     \
    extern "C" __global__ void NAME##_##T(T* x, const T* y, WALK(2)) {                 \
        update(x, y, walk, [](Compute<T> x, Compute<T> y) -> Compute<T> { return F; });     \
    }
ALL(MUL, mul_, x * y)

// x = y
#define COPY(T)                                                                             \
    extern "C" __global__ void copy__##T(T* x, const T* y, WALK(2)) {                  \
        const unsigned i = thread_number();                                                 \
        if (i >= walk.count) return;                                                        \
        i64 at[2];                                                                          \
        walk.find(i, at);                                                                   \
        x[at[0]] = y[at[1]];                                                                \
    }
SIZES(COPY)

// x = the number with these bits, where the mask holds
#define MASKED_FILL(T)                                                                      \
    extern "C" __global__ void masked_fill__##T(T* x, const bool* mask, WALK(2), b8 bits) { \
        const unsigned i = thread_number();                                                 \
        if (i >= walk.count) return;                                                        \
        i64 at[2];                                                                          \
        walk.find(i, at);                                                                   \
        if (mask[at[1]]) x[at[0]] = static_cast<T>(bits);                                   \
    }
SIZES(MASKED_FILL)
