// Elements by their place in a tensor, counted in logical order: take, and its transpose put.
//
// Each kernel has two walks: one over the index, and one to find a place in x, whatever x's strides.
#include "common.cuh"

typedef int i32;
// Elements that are only moved are bits: one kernel for each size in bytes.
typedef unsigned char b1;
typedef unsigned short b2;
typedef unsigned b4;
typedef unsigned long long b8;

__device__ inline i64 position(const Walk<1>& of_x, i64 place) {
    i64 at[1];
    of_x.find(static_cast<unsigned>(place), at);
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
    i64 at[1];
    of_index.find(i, at);
    y[i] = x[position(of_x, index[at[0]])];
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
extern "C" __global__ void put_clear(const i64* index, int* winner, Walk<1> of_index) {
    const unsigned i = thread_number();
    if (i >= of_index.count) return;
    i64 at[1];
    of_index.find(i, at);
    // Atomic, since several threads may write the 0 at one place.
    atomicExch(&winner[index[at[0]]], 0);
}

extern "C" __global__ void put_claim(const i64* index, int* winner, Walk<1> of_index) {
    const unsigned i = thread_number();
    if (i >= of_index.count) return;
    i64 at[1];
    of_index.find(i, at);
    atomicMax(&winner[index[at[0]]], static_cast<int>(i));
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
    if (winner[place] == static_cast<int>(i)) x[position(of_x, place)] = src[at[1]];
}

// The addition to a place that other threads may add to as well; see index.cu.
template <typename T> __device__ void add_at(T* at, T x) { atomicAdd(at, x); }
template <> __device__ inline void add_at<i64>(i64* at, i64 x) {
    atomicAdd(reinterpret_cast<b8*>(at), static_cast<b8>(x));
}

// src[i] is added to the element of x at place index[i]. x is of the type that is computed with:
// half types are added up in float and rounded later, once.
//
// Mapping: one thread an element of the index, 256 threads a block.
// Moves: each element of the index and of src once; for each, one element of x is read and written
// where it lies, in the L2 cache.
// Why this version: see scatter_add in index.cu, also for what it means that the additions have no
// order: of more than two floats for one place, the last bits of the sum may differ from run to run.
template <typename T>
__device__ void put_add(Compute<T>* x, const i64* index, const T* src, const Walk<1>& of_x,
                        const Walk<2>& walk) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[2];
    walk.find(i, at);
    add_at(&x[position(of_x, index[at[0]])], widen(src[at[1]]));
}

#define MOVES(T)                                                                    \
    extern "C" __global__ void take_##T(                                            \
        const T* x, const i64* index, T* y, Walk<1> of_x, Walk<1> of_index) {       \
        take(x, index, y, of_x, of_index);                                          \
    }                                                                               \
    extern "C" __global__ void put_##T(                                             \
        T* x, const i64* index, const T* src, const int* winner, Walk<1> of_x, Walk<2> walk) { \
        put(x, index, src, winner, of_x, walk);                                     \
    }
MOVES(b1) MOVES(b2) MOVES(b4) MOVES(b8)

#define PUT_ADD(T)                                                                  \
    extern "C" __global__ void put_add_##T(                                         \
        Compute<T>* x, const i64* index, const T* src, Walk<1> of_x, Walk<2> walk) { \
        put_add(x, index, src, of_x, walk);                                         \
    }
PUT_ADD(f32) PUT_ADD(f16) PUT_ADD(bf16) PUT_ADD(i64) PUT_ADD(i32)
