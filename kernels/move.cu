// Elements laid out anew: as they are, as another type, or chosen from two tensors. They are moved
// in the logical order of operands with any strides, also negative ones: then x points to the last
// element, and a dimension is walked backwards (flip).
//
// Mapping: one thread an element of y, 256 threads a block; the writes of neighbours lie side by
// side, and their reads do if x is packed.
// Moves: each element of x and y once; where: of the condition, of y, and of a or b.
// Why this version: as binary.cu.
#include "elementwise.cuh"

template <typename T> __device__ void copy(const T* x, T* y, const Walk<1>& walk) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[1];
    walk.find(i, at);
    y[i] = x[at[0]];
}
#define COPY(T) \
    extern "C" __global__ void copy_##T(const T* x, T* y, WALK(1)) { copy(x, y, walk); }
SIZES(COPY)

// y = a where the condition holds, else b. Only the one that is taken is read.
template <typename T>
__device__ void where(const bool* condition, const T* a, const T* b, T* y, const Walk<3>& walk) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[3];
    walk.find(i, at);
    y[i] = condition[at[0]] ? a[at[1]] : b[at[2]];
}
#define WHERE(T)                                                                          \
    extern "C" __global__ void where_##T(const bool* condition, const T* a, const T* b, T* y, \
                                         WALK(3)) {                                  \
        where(condition, a, b, y, walk);                                                  \
    }
SIZES(WHERE)
