// Elements by their index along one dimension: gather, and its transpose scatter_add.
//
// index_select and index_add are the same two kernels: an index that names whole slices is an
// index for each element that is repeated along the other dimensions, with strides of 0.
#include "atomic.cuh"

// Elements that are only moved are bits: one kernel for each size in bytes.
typedef unsigned char b1;
typedef unsigned short b2;
typedef unsigned b4;
typedef unsigned long long b8;
typedef int i32;

// Where x has the element that number i of the index means. Operand 0 of the walk is x with a
// stride of 0 in the dimension that the index decides about; there x steps by `step`.
template <int N>
__device__ i64 indexed(const Walk<N>& walk, unsigned i, const i64* index, i64 step, i64 (&at)[N]) {
    walk.find(i, at);
    return at[0] + index[at[1]] * step;
}

// y[i, j] = x[index[i, j], j] for dimension 0, and so on; y is packed.
//
// Mapping: one thread an element of y, 256 threads a block.
// Moves: each element of the index and of y once, and one element of x for each of y.
// Why this version: what is read is known only after the index has been read, so that nothing can
// be planned. Neighbours in a row of an embedding read neighbours in memory; along the last
// dimension, 32 lanes may need 32 sectors.
template <typename T>
__device__ void gather(const T* x, const i64* index, T* y, const Walk<2>& walk, i64 step) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[2];
    const i64 from = indexed(walk, i, index, step, at);
    y[i] = x[from];
}

// y[index[i, j], j] += src[i, j] for dimension 0, and so on. y is packed, has been filled before,
// and is of the type that is computed with: half types are added up in float and rounded later,
// once.
//
// Mapping: one thread an element of src, 256 threads a block.
// Moves: each element of the index and of src once; for each, one element of y is read and written
// where it lies, in the L2 cache.
// Why this version: an atomic addition needs no order among the elements, and gives none: see
// atomic.cuh. Whole numbers, and places with at most one summand, get the CPU's bits. The
// alternative, to sort by the index first, takes several kernels.
template <typename T>
__device__ void scatter_add(
    Compute<T>* y, const i64* index, const T* src, const Walk<3>& walk, i64 step) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[3];
    const i64 to = indexed(walk, i, index, step, at);
    add_at(&y[to], widen(src[at[2]]));
}

#define GATHER(T)                                                                        \
    extern "C" __global__ void gather_##T(const T* x, const i64* index, T* y, WALK(2),   \
                                          i64 step) {                                    \
        gather(x, index, y, walk, step);                                                 \
    }
GATHER(b1) GATHER(b2) GATHER(b4) GATHER(b8)

#define SCATTER_ADD(T)                                                                   \
    extern "C" __global__ void scatter_add_##T(Compute<T>* y, const i64* index,          \
                                               const T* src, WALK(3), i64 step) {        \
        scatter_add(y, index, src, walk, step);                                          \
    }
SCATTER_ADD(f32) SCATTER_ADD(f16) SCATTER_ADD(bf16) SCATTER_ADD(i64) SCATTER_ADD(i32)
