// Elements by their place in a tensor, counted in logical order: take, and its transpose put.
//
// Each kernel has two walks: one over the index, and one to find a place in x with any strides.
#include "atomic.cuh"

// Elements that are only moved are bits: one kernel for each size in bytes.
typedef unsigned char b1;
typedef unsigned short b2;
typedef unsigned b4;
typedef unsigned long long b8;
typedef int i32;

#define WALK_OF(NAME) const __grid_constant__ Walk<1> of_##NAME

__device__ inline i64 found(const Walk<1>& walk, i64 place) {
    i64 at[1];
    walk.find(static_cast<unsigned>(place), at);
    return at[0];
}

// y[i] = the element of x at place index[i]; y is packed.
//
// Mapping: one thread an element of y, 256 threads a block.
// Moves: each element of the index and of y once, and one element of x for each of y.
// Why this version: what is read is known only after the index has been read.
template <typename T>
__device__ void take(
    const T* x, const i64* index, T* y, const Walk<1>& of_x, const Walk<1>& of_index) {
    const unsigned i = thread_number();
    if (i >= of_index.count) return;
    y[i] = x[found(of_x, index[found(of_index, i)])];
}

// The element of x at place index[i] becomes src[i]; of equal places, that of the largest i: what
// a loop would leave there. Threads have no order, so that the winner must be found out first:
//   put_clear   winner[place] = 0, for the places that are used
//   put_claim   winner[place] = the largest i that wants the place
//   put         the winner writes
// There is a number for each element of x in `winner`; it need not be filled before.
//
// Mapping: all three have one thread an element of the index, 256 threads a block.
// Moves: the index three times, each time with 4 bytes of `winner` an element, and src and x once.
// Why this version: maxima of integers are the same in every order, so that the result is certain.
extern "C" __global__ void put_clear(const i64* index, int* winner, WALK_OF(index)) {
    const unsigned i = thread_number();
    if (i >= of_index.count) return;
    // Atomic, since several threads may write the 0 at one place.
    atomicExch(&winner[index[found(of_index, i)]], 0);
}

extern "C" __global__ void put_claim(const i64* index, int* winner, WALK_OF(index)) {
    const unsigned i = thread_number();
    if (i >= of_index.count) return;
    atomicMax(&winner[index[found(of_index, i)]], static_cast<int>(i));
}

// Operand 0 of the walk is the index, operand 1 is src.
template <typename T>
__device__ void put(T* x, const i64* index, const T* src, const int* winner, const Walk<1>& of_x,
                    const Walk<2>& walk) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[2];
    walk.find(i, at);
    const i64 place = index[at[0]];
    if (winner[place] == static_cast<int>(i)) x[found(of_x, place)] = src[at[1]];
}

// src[i] is added to the element of x at place index[i]. x is of the type that is computed with:
// half types are added up in float and rounded later, once.
//
// Mapping: one thread an element of the index, 256 threads a block.
// Moves: each element of the index and of src once; for each, one element of x is read and written
// where it lies, in the L2 cache.
// Why this version: that of scatter_add in index.cu, and what atomic.cuh says of sums holds here.
template <typename T>
__device__ void put_add(Compute<T>* x, const i64* index, const T* src, const Walk<1>& of_x,
                        const Walk<2>& walk) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[2];
    walk.find(i, at);
    add_at(&x[found(of_x, index[at[0]])], widen(src[at[1]]));
}

#define MOVES(T)                                                                         \
    extern "C" __global__ void take_##T(const T* x, const i64* index, T* y, WALK_OF(x),  \
                                        WALK_OF(index)) {                                \
        take(x, index, y, of_x, of_index);                                               \
    }                                                                                    \
    extern "C" __global__ void put_##T(T* x, const i64* index, const T* src,             \
                                       const int* winner, WALK_OF(x), WALK(2)) {         \
        put(x, index, src, winner, of_x, walk);                                          \
    }
MOVES(b1) MOVES(b2) MOVES(b4) MOVES(b8)

#define PUT_ADD(T)                                                                       \
    extern "C" __global__ void put_add_##T(Compute<T>* x, const i64* index, const T* src, \
                                           WALK_OF(x), WALK(2)) {                        \
        put_add(x, index, src, of_x, walk);                                              \
    }
PUT_ADD(f32) PUT_ADD(f16) PUT_ADD(bf16) PUT_ADD(i64) PUT_ADD(i32)
