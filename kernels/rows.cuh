// Rows of a tensor, each of them walked along by a row of threads (see warp.cuh).
#pragma once
#include "common.cuh"

// Where a single operand has element number i: Walk::find in half as much code.
__device__ inline i64 place(const Walk<1>& walk, unsigned i) {
    i64 at = 0;
    #pragma unroll 1
    for (int d = walk.rank - 1; d > 0; d--) {
        const unsigned rest = i / walk.size[d];
        at += (i - rest * walk.size[d]) * walk.stride[0][d];
        i = rest;
    }
    return at + i * walk.stride[0][0];
}

// The rows of N operands of one shape, (.., len).
template <int N> struct Rows {
    Walk<N> outer;      // where each row begins
    i64 step[N];        // from an element of a row to the next one
    unsigned len;

    __device__ unsigned count() const { return outer.count; }
};

// The row that this thread works on. It may be one that does not exist: where a warp is enough
// for a row, the last block has more warps than there are rows, and the rest of them leave.
__device__ inline unsigned row_number() { return blockIdx.x * blockDim.y + threadIdx.y; }
