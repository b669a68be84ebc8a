// Where a comparison of a and b holds, as bool, with any strides.
//
// Mapping: one thread an element of y, 256 threads a block.
// Moves: each element of a and b once, and one byte of y.
// Why this version: as binary.cu. There is no kernel for "greater": a > b is b < a, so the host
// exchanges the operands. A comparison with NaN is false, so the opposite of "less" would not do.
#include "elementwise.cuh"

template <typename T, typename F>
__device__ void compare(const T* a, const T* b, bool* y, const Walk<2>& walk, F holds) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[2];
    walk.find(i, at);
    y[i] = holds(widen(a[at[0]]), widen(b[at[1]]));
}

#define COMPARE(NAME, T, F)                                                                \
    extern "C" __global__ void NAME##_##T(const T* a, const T* b, bool* y, WALK(2)) { \
        compare(a, b, y, walk, [](Compute<T> a, Compute<T> b) { return F; });              \
    }
#define ALL_AND_F64(NAME, F) ALL(COMPARE, NAME, F) COMPARE(NAME, f64, F)

ALL_AND_F64(eq, a == b)
ALL_AND_F64(ne, a != b)
ALL_AND_F64(lt, a < b)
ALL_AND_F64(le, a <= b)
